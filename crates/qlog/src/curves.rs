//! A connection over time, ready to be drawn, in bounded memory.

use crate::event::{Event, What};

/// Curves over time in seconds after the first event.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Curves {
    /// Congestion window, bytes.
    pub cwnd: Curve,
    /// Slow-start threshold, bytes.
    pub ssthresh: Curve,
    /// Bytes in flight.
    pub in_flight: Curve,
    /// Smoothed RTT, milliseconds.
    pub smoothed_rtt: Curve,
    /// RTT samples, milliseconds.
    pub latest_rtt: Curve,
    /// Smallest RTT, milliseconds.
    pub min_rtt: Curve,
    /// Packets lost since the start; a point per loss.
    pub lost: Curve,
    /// Bytes sent since the start; a point per packet.
    pub sent: Curve,
}

impl Curves {
    /// Takes an event, which is not before any that was taken.
    pub(crate) fn take(&mut self, event: &Event) {
        let at = event.at_ms / 1e3;
        let put = |curve: &mut Curve, value: Option<f64>| {
            if let Some(value) = value {
                curve.push(at, value);
            }
        };
        match &event.what {
            What::Metrics(metrics) => {
                put(&mut self.cwnd, metrics.congestion_window.map(|bytes| bytes as f64));
                put(&mut self.ssthresh, metrics.ssthresh.map(|bytes| bytes as f64));
                put(&mut self.in_flight, metrics.bytes_in_flight.map(|bytes| bytes as f64));
                put(&mut self.smoothed_rtt, metrics.smoothed_rtt_ms);
                put(&mut self.latest_rtt, metrics.latest_rtt_ms);
                put(&mut self.min_rtt, metrics.min_rtt_ms);
            }
            What::Lost(batch) => self.lost.add(at, batch.packets as f64),
            What::Sent(packet) => self.sent.add(at, packet.length.unwrap_or(0) as f64),
            What::State(_) | What::Received(_) | What::Credit(_) => {}
        }
    }

    /// Forgets the RTTs: those before the first answer are guesses.
    pub(crate) fn forget_rtts(&mut self) {
        for curve in [&mut self.smoothed_rtt, &mut self.latest_rtt, &mut self.min_rtt] {
            *curve = Curve::default();
        }
    }

    /// The curves up to a time in seconds.
    #[must_use]
    pub fn until(&self, until_s: f64) -> Self {
        let cut = |curve: &Curve| curve.until(until_s);
        Self {
            cwnd: cut(&self.cwnd),
            ssthresh: cut(&self.ssthresh),
            in_flight: cut(&self.in_flight),
            smoothed_rtt: cut(&self.smoothed_rtt),
            latest_rtt: cut(&self.latest_rtt),
            min_rtt: cut(&self.min_rtt),
            lost: cut(&self.lost),
            sent: cut(&self.sent),
        }
    }
}

/// One curve. Up to 8,192 points are kept as they came. Of more, each interval of a two-thousandth
/// of the time until then keeps its first, least, largest and last point: a picture up to any time
/// looks the same, and memory grows with the logarithm of the time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    points: Vec<(f64, f64)>,
    /// Where the newest interval begins among the points, once there are intervals.
    newest: Option<usize>,
}

impl Curve {
    /// The points in order of time.
    pub fn points(&self) -> &[(f64, f64)] {
        &self.points
    }

    /// Adds a point, which is not before any other.
    fn push(&mut self, at: f64, value: f64) {
        if self.newest.is_none() {
            self.points.push((at, value));
            if self.points.len() > EXACT {
                let all = std::mem::take(&mut self.points);
                self.newest = Some(0);
                all.into_iter().for_each(|(at, value)| self.thin(at, value));
            }
        } else {
            self.thin(at, value);
        }
    }

    /// Adds a point that is so much above the last one.
    fn add(&mut self, at: f64, more: f64) {
        let before = self.points.last().map_or(0.0, |(_, value)| *value);
        self.push(at, before + more);
    }

    fn thin(&mut self, at: f64, value: f64) {
        let begin = self.newest.unwrap_or(0);
        let first = self.points.get(begin).map(|(first, _)| *first);
        if first.is_none_or(|first| at > first + (at * WIDTH).max(LEAST_S)) {
            self.newest = Some(self.points.len());
            self.points.push((at, value));
            return;
        }
        self.points.push((at, value));
        let interval = &self.points[begin..];
        if interval.len() > 4 {
            // One of the points between first and last is neither the least nor the largest.
            let between = 1..interval.len() - 1;
            let value = |place: &usize| interval[*place].1;
            let least = between.clone().min_by(|a, b| value(a).total_cmp(&value(b)));
            let largest = between.clone().rev().max_by(|a, b| value(a).total_cmp(&value(b)));
            let spare = between.clone().find(|it| Some(*it) != least && Some(*it) != largest);
            self.points.remove(begin + spare.unwrap_or(1));
        }
    }

    fn until(&self, until_s: f64) -> Self {
        let end = self.points.partition_point(|(at, _)| *at <= until_s);
        Self { points: self.points[..end].to_vec(), newest: None }
    }
}

/// Points that are kept as they came.
const EXACT: usize = 8192;
/// The width of an interval, as a share of the time until then.
const WIDTH: f64 = 1.0 / 2000.0;
/// The least width of an interval, seconds.
const LEAST_S: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_points_are_kept_as_they_are() {
        let mut curve = Curve::default();
        (0..EXACT).for_each(|at| curve.push(at as f64, -(at as f64)));
        assert_eq!(curve.points().len(), EXACT);
    }

    #[test]
    fn of_many_points_first_last_and_extremes_of_each_interval_stay() {
        let mut curve = Curve::default();
        for at in 0..2_000_000_u32 {
            let spike = if at == 1_234_567 { 1e9 } else { f64::from(at % 100) };
            curve.push(f64::from(at) / 1e5, spike);
        }
        let points = curve.points();
        assert!(points.len() < 100_000, "{}", points.len());
        assert!(points.is_sorted_by(|a, b| a.0 <= b.0));
        assert!(points.contains(&(12.345_67, 1e9)), "the spike is drawn");
        assert_eq!(points.last(), Some(&(19.999_99, 99.0)));
        // Where start-up is, at a hundredth of the time, the picture is as fine.
        let early = curve.until(0.2);
        assert!(early.points().len() > 4_000, "{}", early.points().len());
    }
}
