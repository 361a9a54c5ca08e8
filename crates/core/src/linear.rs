//! Linear growth, one segment per window of ACKs (RFC 5681 section 3.1, equation 3), and the cut to
//! half (equation 4): what Reno and all that differ from it in a part share.

use crate::event::{Ack, Loss, LossKind};
use crate::policy::Step;
use crate::units::{Bytes, mul_div};
use crate::view::{View, Window};

/// Hands out `mss * mss / cwnd` bytes per ACK and carries the remainder of the division, so that
/// growth does not stop at windows where the quotient rounds to zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinearGrowth {
    /// What the division has left; by what is acknowledged, the bytes that count toward the next
    /// segment (`snd_cwnd_cnt`).
    remainder: u64,
}

impl LinearGrowth {
    /// Begins to count what is acknowledged anew, with `acked` of it.
    #[cold]
    pub(crate) fn begin(&mut self, acked: Bytes) {
        self.remainder = acked.0;
    }

    /// The increase for one ACK, in bytes.
    #[inline(always)]
    pub fn per_ack(&mut self, view: &View) -> Bytes {
        self.per_ack_at(view, view.window.cwnd)
    }

    /// The increase for an ACK of so many bytes: one segment once a window of whole segments of
    /// them has come (RFC 3465 section 2.1). What has come beyond that counts toward the next: in
    /// the window it would be lost where the flight limits growth. What was counted for a window
    /// larger than this one is worth a segment, and no more (`tcp_cong_avoid_ai`).
    #[inline(always)]
    pub fn per_acked(&mut self, acked: Bytes, view: &View) -> Bytes {
        let window = view.window.cwnd.whole_segments(view.mss).0.max(1);
        let ahead = self.remainder >= window;
        let counted = Bytes(if ahead { 0 } else { self.remainder }) + acked;
        self.remainder = counted.0 % window;
        view.mss * (u64::from(ahead) + counted.0 / window)
    }

    /// The increase for one ACK from a window `cwnd` noted earlier, as Vegas notes it once per RTT.
    #[inline(always)]
    pub fn per_ack_at(&mut self, view: &View, cwnd: Bytes) -> Bytes {
        self.share(mul_div(view.mss.0, view.mss.0, 1), cwnd)
    }

    /// `num / den` times the increase for one ACK, as Hybla does; `den` 0 counts as 1.
    pub fn per_ack_times(&mut self, view: &View, num: u64, den: u64) -> Bytes {
        let square = mul_div(view.mss.0, view.mss.0, 1);
        self.share(mul_div(square, num, den), view.window.cwnd)
    }

    #[inline(always)]
    fn share(&mut self, square: u64, cwnd: Bytes) -> Bytes {
        let mut all = Bytes(square);
        all += Bytes(self.remainder);
        let cwnd = cwnd.0.max(1);
        self.remainder = all.0 % cwnd;
        Bytes(all.0 / cwnd)
    }
}

/// One segment per RTT; below ssthresh, where a recovery may leave cwnd, one per ACK (RFC 5681
/// section 3.1: slow start is for cwnd below ssthresh).
#[inline(always)]
pub(crate) fn additive_increase(linear: &mut LinearGrowth, ack: &Ack, view: &View) -> Step {
    let window = view.window;
    if window.cwnd < window.ssthresh {
        return window.grow(view.slow_start_growth(ack));
    }
    window.grow(linear.per_ack(view))
}

/// Half the flight stays (RFC 5681 section 3.1, equation 4).
pub(crate) fn halve(loss: &Loss, view: &View) -> Window {
    let answered = loss.answered && loss.kind == LossKind::Timeout;
    // A segment that times out twice is not a second sign of congestion (RFC 5681 section 3.1).
    let half = if answered { view.window.ssthresh } else { loss.flight / 2 };
    Window { cwnd: half, ssthresh: half }
}
