//! What held a TCP sender back, interval by interval, as a capture shows it.

use firstflight_qlog::{Limit, Limits};

/// The intervals of each limit.
#[derive(Debug, Default)]
pub(crate) struct LimitIntervals {
    receiver: Limits,
    application: Limits,
    /// Rounds with one and the same amount in flight: the send buffer, or a window that Linux does
    /// not use to the last byte.
    flat: Limits,
    full_window: Option<FullWindow>,
    pauses: Option<Pauses>,
}

/// Times near each other in which nothing was in flight.
#[derive(Clone, Copy, Debug)]
struct Pauses {
    from_ns: u64,
    to_ns: u64,
    all_ns: u64,
    times: u64,
}

/// A time in which the receiver's window had no room.
#[derive(Clone, Copy, Debug)]
struct FullWindow {
    from_ns: u64,
    to_ns: u64,
    /// The smallest and the largest window, bytes.
    windows: (u64, u64),
}

impl LimitIntervals {
    /// The receiver's window of so many bytes had no room for a segment.
    pub(crate) fn by_window(&mut self, from_ns: u64, to_ns: u64, window: u64, gap_ns: u64) {
        if let Some(full) = &mut self.full_window {
            if from_ns <= full.to_ns.saturating_add(gap_ns) {
                full.to_ns = to_ns;
                full.windows = (full.windows.0.min(window), full.windows.1.max(window));
                return;
            }
            self.end_full_window();
        }
        self.full_window = Some(FullWindow { from_ns, to_ns, windows: (window, window) });
    }

    fn end_full_window(&mut self) {
        let Some(FullWindow { from_ns, to_ns, windows }) = self.full_window.take() else { return };
        let window = match windows {
            (least, most) if least == most => kb(most),
            (least, most) => format!("{} to {}", kb(least), kb(most)),
        };
        let why = format!(
            "the receiver offered a window of {window}, which had room for less than a segment"
        );
        self.receiver.add(Limit::Receiver, ms(from_ns), ms(to_ns), 0.0, why);
    }

    /// Nothing was in flight, and nothing was sent.
    pub(crate) fn by_application(&mut self, from_ns: u64, to_ns: u64, gap_ns: u64) {
        if let Some(pauses) = &mut self.pauses {
            if from_ns <= pauses.to_ns.saturating_add(gap_ns) {
                pauses.to_ns = to_ns;
                pauses.all_ns += to_ns - from_ns;
                pauses.times += 1;
                return;
            }
            self.end_pauses();
        }
        self.pauses = Some(Pauses { from_ns, to_ns, all_ns: to_ns - from_ns, times: 1 });
    }

    fn end_pauses(&mut self) {
        let Some(Pauses { from_ns, to_ns, all_ns, times }) = self.pauses.take() else { return };
        let why = match times {
            1 => format!("nothing was in flight for {:.2} ms", ms(all_ns)),
            _ => format!("nothing was in flight {times} times, for {:.2} ms in all", ms(all_ns)),
        };
        self.application.add(Limit::Application, ms(from_ns), ms(to_ns), 0.0, why);
    }

    /// As much was in flight in every round.
    pub(crate) fn flat(&mut self, by: Limit, from_ns: u64, to_ns: u64, why: String) {
        self.flat.add(by, ms(from_ns), ms(to_ns), 0.0, why);
    }

    /// All intervals, in order of their begin.
    pub(crate) fn finish(mut self) -> Limits {
        self.end_full_window();
        self.end_pauses();
        let all = [&self.receiver, &self.application, &self.flat];
        let mut all: Vec<_> = all.iter().flat_map(|limits| limits.intervals()).collect();
        all.sort_by(|a, b| a.from_s.total_cmp(&b.from_s));
        let mut limits = Limits::default();
        for it in all {
            limits.add(it.by, it.from_s * 1e3, it.to_s * 1e3, 0.0, it.why.clone());
        }
        limits
    }
}

pub(crate) fn kb(bytes: u64) -> String {
    format!("{:.1} kB", bytes as f64 / 1e3)
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}
