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
    /// The smallest RTT (`v_baseRTT_`).
    base_rtt: Span,
    /// The sum of the round's samples (`v_sumRTT_`).
    sum_rtt: Span,
    /// Their number (`v_cntRTT_`).
    cnt_rtt: u64,
    /// The round ends when more than this is acknowledged (`v_begseq_`).
    begseq: Bytes,
    /// When the round began (`v_begtime_`).
    begtime: Instant,
    /// The first round has begun.
    begun: bool,
    /// Segments queued, as of the last decision.
    diff: i64,
    /// This ACK ends a round.
    decides: bool,
}

impl VegasDiff {
    /// Nothing seen yet.
    pub const fn new() -> Self {
        Self {
            base_rtt: Span::MAX,
            sum_rtt: Span(0),
            cnt_rtt: 0,
            begseq: Bytes(0),
            begtime: Instant(0),
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
        (self.base_rtt, self.sum_rtt, self.cnt_rtt) = (rtt, rtt, 1);
        (self.begun, self.begtime) = (true, view.now);
    }

    /// The first data leaves: without a handshake it begins the first round.
    #[inline]
    pub fn on_begin(&mut self, view: &View) {
        if !self.begun {
            self.begun = true;
            self.begtime = view.now;
        }
    }

    /// Takes an ACK in.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.decides = false;
        if ack.acked == Bytes(0) {
            return;
        }
        if view.acked > self.begseq {
            self.end_round(view);
        }
        if let Some(rtt) = ack.rtt {
            self.base_rtt = self.base_rtt.min(rtt);
            self.sum_rtt += rtt;
            self.cnt_rtt += 1;
        }
    }

    /// Reports `vegas_diff` (segments; 0 where negative) and `vegas_base_rtt` (ns).
    pub fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("vegas_diff", self.diff.max(0) as u64);
        report("vegas_base_rtt", self.base_rtt.reported());
    }

    fn end_round(&mut self, view: &View) {
        // `VegasTcpAgent::recv()`, once per RTT: the mean RTT of the round, or the round's length.
        let elapsed = view.now.since(self.begtime);
        let rtt = if self.cnt_rtt > 0 { self.sum_rtt / self.cnt_rtt } else { elapsed };
        let sent = view.snd_nxt - self.begseq;
        (self.sum_rtt, self.cnt_rtt) = (Span(0), 0);
        (self.begseq, self.begtime) = (view.snd_nxt, view.now);
        if rtt == Span(0) {
            return;
        }
        // As there, a round of one segment sets baseRTT, up or down.
        self.base_rtt = if sent <= view.mss { rtt } else { self.base_rtt.min(rtt) };
        let outstanding = view.snd_nxt - view.acked + view.mss;
        self.diff = queued_segments(outstanding, sent, self.base_rtt, rtt, view.mss);
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

/// Whether the connection uses its window, so that it may grow: at most two segments of it are not
/// outstanding, as ns-2's agent counts them, before this ACK.
#[inline]
pub(crate) fn is_used(view: &View) -> bool {
    view.window.cwnd - (view.snd_nxt - view.acked + view.mss) <= view.mss * UNUSED_SEGMENTS
}

/// Unused segments beyond which the window does not grow.
const UNUSED_SEGMENTS: u64 = 2;

/// The smallest window of Vegas, in segments.
pub(crate) const MIN_SEGMENTS: u64 = 2;

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
