//! The once-per-RTT comparison of Vegas (Brakmo, O'Malley and Peterson, SIGCOMM 1994), as ns-2.35's
//! agent makes it: how many segments of this connection wait in queues.
//!
//! A round ends when a segment sent after the last decision is acknowledged. Then, with `rtt` the
//! mean of the round's samples, `base` the smallest RTT, `sent` what was sent in the round and
//! `out` what was outstanding when this ACK arrived (what is now, and the one segment it answers):
//!
//! ```text
//! expected = out / base,  actual = sent / rtt
//! diff     = (expected - actual) base, rounded to segments
//! ```
//!
//! As in that agent, `base` is set to `rtt`, up or down, after a round of at most one segment, and
//! the ACK that ends a round gives its own RTT to the next.

use crate::event::Ack;
use crate::units::{Bytes, Instant, Span};
use crate::view::View;

/// The comparison. It must see every ACK, and wants an RTT sample with every ACK.
#[derive(Clone, Copy, Debug)]
pub struct VegasDiff {
    base: Span,
    /// Samples of the round: their sum and their number.
    sum: Span,
    count: u64,
    /// The round ends when more than this is acknowledged.
    mark: Bytes,
    marked_at: Instant,
    begun: bool,
    diff: i64,
    decides: bool,
}

impl VegasDiff {
    /// Nothing seen yet.
    pub const fn new() -> Self {
        Self {
            base: Span::MAX,
            sum: Span(0),
            count: 0,
            mark: Bytes(0),
            marked_at: Instant(0),
            begun: false,
            diff: 0,
            decides: false,
        }
    }

    /// The difference in segments, on the ACK that ends a round; `None` on all others.
    #[inline]
    pub fn decision(&self) -> Option<i64> {
        self.decides.then_some(self.diff)
    }

    /// The handshake gave the first sample.
    pub fn on_handshake(&mut self, view: &View) {
        let rtt = view.rtt.first;
        (self.base, self.sum, self.count) = (rtt, rtt, 1);
        (self.begun, self.marked_at) = (true, view.now);
    }

    /// The first data leaves: without a handshake it begins the first round.
    #[inline]
    pub fn on_begin(&mut self, view: &View) {
        if !self.begun {
            self.begun = true;
            self.marked_at = view.now;
        }
    }

    /// Takes an ACK in.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.decides = false;
        if ack.acked == Bytes(0) {
            return;
        }
        if view.acked > self.mark {
            self.end_round(view);
        }
        if let Some(rtt) = ack.rtt {
            self.base = self.base.min(rtt);
            self.sum += rtt;
            self.count += 1;
        }
    }

    /// Reports `vegas_diff` (segments; 0 where negative) and `vegas_base_rtt` (ns).
    pub fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("vegas_diff", self.diff.max(0) as u64);
        report("vegas_base_rtt", if self.base == Span::MAX { 0 } else { self.base.0 });
    }

    fn end_round(&mut self, view: &View) {
        let elapsed = view.now.since(self.marked_at);
        let rtt = if self.count > 0 { self.sum / self.count } else { elapsed };
        let sent = view.snd_nxt - self.mark;
        (self.sum, self.count) = (Span(0), 0);
        (self.mark, self.marked_at) = (view.snd_nxt, view.now);
        if rtt == Span(0) {
            return;
        }
        self.base = if sent <= view.mss { rtt } else { self.base.min(rtt) };
        let outstanding = view.snd_nxt - view.acked + view.mss;
        self.diff = queued_segments(outstanding, sent, self.base, rtt, view.mss);
        self.decides = true;
    }
}

impl Default for VegasDiff {
    fn default() -> Self {
        Self::new()
    }
}

/// `outstanding - sent * base / rtt` in segments, half a segment added and the fraction dropped.
fn queued_segments(outstanding: Bytes, sent: Bytes, base: Span, rtt: Span, mss: Bytes) -> i64 {
    let wide = |value: u64| i128::from(value.min(LARGEST));
    let rtt = wide(rtt.0).max(1);
    let queued = wide(outstanding.0) * rtt - wide(sent.0) * wide(base.0);
    let unit = rtt * wide(mss.0).max(1);
    ((2 * queued + unit) / (2 * unit)) as i64
}

/// Factors are cut here, so that twice the difference of two products fits 128 bits.
const LARGEST: u64 = u64::MAX / 4;

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(outstanding: u64, sent: u64, base_ms: u64, rtt_ms: u64) -> i64 {
        let (base, rtt) = (Span::from_millis(base_ms), Span::from_millis(rtt_ms));
        queued_segments(Bytes(outstanding), Bytes(sent), base, rtt, Bytes(1000))
    }

    #[test]
    fn nothing_queues_while_the_rtt_is_the_smallest() {
        assert_eq!(diff(10_000, 10_000, 100, 100), 0);
    }

    #[test]
    fn a_longer_rtt_shows_as_segments_in_the_queue() {
        // 10 - 10 * 100/125 = 2.
        assert_eq!(diff(10_000, 10_000, 100, 125), 2);
        // 10 - 10 * 100/118 = 1.53, which rounds up; 100/117 gives 1.45, which does not.
        assert_eq!(diff(10_000, 10_000, 100, 118), 2);
        assert_eq!(diff(10_000, 10_000, 100, 117), 1);
    }

    #[test]
    fn rounding_drops_the_fraction_toward_zero() {
        // 8 - 10 = -2, and -2 + 0.5 = -1.5 becomes -1.
        assert_eq!(diff(8_000, 10_000, 100, 100), -1);
    }
}
