//! What kept a sender from sending more, interval by interval: the application, the receiver's
//! window, or the sender's own buffer. Where none of them did, the congestion window decided.

use serde::Serialize;

/// What held the sender back, other than its congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The application had nothing to send.
    Application,
    /// The receiver's flow control: TCP's offered window, QUIC's MAX_DATA.
    Receiver,
    /// The sender's own buffer held no more.
    SendBuffer,
}

impl Limit {
    /// In words, as `the receiver's window`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Application => "the application",
            Self::Receiver => "the receiver's window",
            Self::SendBuffer => "the send buffer",
        }
    }
}

/// An interval in which something other than the congestion window held the sender back.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Limited {
    /// What held it back.
    pub by: Limit,
    /// The begin, seconds after the first event.
    pub from_s: f64,
    /// The end, seconds after the first event.
    pub to_s: f64,
    /// The numbers that show it, in a sentence.
    pub why: String,
}

/// The intervals of a connection, in order of their begin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    all: Vec<Limited>,
}

impl Limits {
    /// Adds an interval, in milliseconds after the first event. It continues the one before if that
    /// has the same limit and ended no longer than `gap_ms` before; the newer numbers then hold.
    pub fn add(&mut self, by: Limit, from_ms: f64, to_ms: f64, gap_ms: f64, why: String) {
        let (from_s, to_s) = (from_ms / 1e3, to_ms / 1e3);
        let from_s = self.all.last().map_or(from_s, |last| from_s.max(last.to_s.min(to_s)));
        if from_s.is_nan() || to_s.is_nan() || to_s <= from_s {
            return;
        }
        if let Some(last) = self.all.last_mut()
            && (last.by == by && from_s - last.to_s <= gap_ms / 1e3)
        {
            (last.to_s, last.why) = (to_s, why);
            return;
        }
        if self.all.len() >= MOST {
            self.merge_closest();
        }
        self.all.push(Limited { by, from_s, to_s, why });
    }

    /// The intervals.
    pub fn intervals(&self) -> &[Limited] {
        &self.all
    }

    /// For how much of a time a limit held, seconds.
    pub fn held_s(&self, by: Limit, from_s: f64, to_s: f64) -> f64 {
        let of = self.all.iter().filter(|limited| limited.by == by);
        of.map(|limited| (limited.to_s.min(to_s) - limited.from_s.max(from_s)).max(0.0)).sum()
    }

    /// The limit that held at some moment of a time, the latest of several.
    pub fn within(&self, from_s: f64, to_s: f64) -> Option<&Limited> {
        self.all.iter().rev().find(|limited| limited.from_s <= to_s && limited.to_s >= from_s)
    }

    /// Leaves out what ended before a time, in milliseconds.
    pub(crate) fn forget_until(&mut self, ms: f64) {
        self.all.retain(|limited| limited.to_s > ms / 1e3);
    }

    /// Makes room: the two neighbours of one limit with the smallest gap between them become one.
    fn merge_closest(&mut self) {
        let gap = |place: &usize| {
            let (left, right) = (&self.all[*place], &self.all[*place + 1]);
            if left.by == right.by { right.from_s - left.to_s } else { f64::INFINITY }
        };
        let closest = (0..self.all.len() - 1).min_by(|a, b| gap(a).total_cmp(&gap(b)));
        if let Some(place) = closest {
            let right = self.all.remove(place + 1);
            self.all[place].to_s = right.to_s;
        }
    }
}

/// Intervals of a connection that are kept apart.
const MOST: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn add(limits: &mut Limits, by: Limit, from_ms: f64, to_ms: f64) {
        limits.add(by, from_ms, to_ms, 10.0, String::new());
    }

    #[test]
    fn neighbours_of_one_limit_are_one_interval() {
        let mut limits = Limits::default();
        add(&mut limits, Limit::Receiver, 0.0, 100.0);
        add(&mut limits, Limit::Receiver, 105.0, 200.0);
        add(&mut limits, Limit::Application, 200.0, 300.0);
        add(&mut limits, Limit::Application, 400.0, 500.0);
        let found: Vec<_> =
            limits.intervals().iter().map(|it| (it.by, it.from_s, it.to_s)).collect();
        let expected = [
            (Limit::Receiver, 0.0, 0.2),
            (Limit::Application, 0.2, 0.3),
            (Limit::Application, 0.4, 0.5),
        ];
        assert_eq!(found, expected);
        assert!((limits.held_s(Limit::Application, 0.25, 0.45) - 0.1).abs() < 1e-9);
        assert_eq!(limits.within(0.31, 0.39), None);
        assert_eq!(limits.within(0.1, 0.39).map(|it| it.by), Some(Limit::Application));
    }

    #[test]
    fn a_thousand_are_kept_and_the_closest_are_merged() {
        let mut limits = Limits::default();
        for at in 0..5000_u32 {
            add(
                &mut limits,
                Limit::Application,
                f64::from(at) * 100.0,
                f64::from(at) * 100.0 + 50.0,
            );
        }
        assert!(limits.intervals().len() <= MOST);
        assert_eq!(limits.intervals().last().map(|it| it.to_s), Some(499.95));
    }
}
