//! Westwood+'s bandwidth estimate: what was acknowledged in an RTT, once per RTT, smoothed twice
//! (Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas
//! TCP congestion control", Computer Communication Review, 2004), as Linux has it
//! (`tcp_westwood.c`).
//!
//! ```text
//! when now - start > max(RTT, 50 ms):
//!     s = arrived / (now - start),  n = (7 n + s) / 8,  rate = (7 rate + n) / 8
//! ```
//!
//! with the newest RTT sample; the first sample fills both filters. The ACK that ends an interval
//! counts in the next one. Taking one sample per ACK is what made the first Westwood overestimate
//! when ACKs come in bursts.
//!
//! Linux forgets the smallest RTT after a timeout and takes the next sample for it; so does this.
//!
//! Departures: an ACK is credited by what the transport says it delivered; Linux' own count differs
//! by a segment where an ACK fills a hole. Rates are bytes per second, not bytes per clock tick.

use crate::event::{Ack, Loss, LossKind};
use crate::units::{Bytes, Instant, Rate, Span};
use crate::view::View;

/// The estimate. It must see every ACK and every loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct RatePerRtt {
    /// Beginning of the interval (`rtt_win_sx`); `None` before anything happened.
    rtt_win_sx: Option<Instant>,
    /// Acknowledged in it (`bk`).
    bk: Bytes,
    /// The estimate smoothed once (`bw_ns_est`).
    bw_ns_est: Rate,
    /// That smoothed once more (`bw_est`).
    bw_est: Rate,
    /// The smallest RTT since the last timeout (`rtt_min`); zero before the first sample.
    rtt_min: Span,
}

impl RatePerRtt {
    /// The estimate; zero before the first interval is over.
    pub const fn rate(&self) -> Rate {
        self.bw_est
    }

    /// What the path holds at that rate without a queue.
    pub const fn window(&self) -> Bytes {
        self.bw_est.over(self.rtt_min)
    }

    /// The connection is open.
    pub fn begin(&mut self, now: Instant) {
        self.rtt_win_sx.get_or_insert(now);
    }

    /// Takes an ACK in.
    #[inline]
    pub fn on_ack(&mut self, ack: &Ack, view: &View) {
        // `westwood_update_window()`: a sample per RTT, of 50 ms at least.
        let start = *self.rtt_win_sx.get_or_insert(ack.now);
        let elapsed = ack.now.since(start);
        if view.rtt.latest > Span(0) && elapsed > view.rtt.latest.max(SHORTEST) {
            self.sample(self.bk.per(elapsed));
            (self.rtt_win_sx, self.bk) = (Some(ack.now), Bytes(0));
        }
        self.bk += ack.credited;
        if let Some(rtt) = ack.rtt {
            self.rtt_min = if self.rtt_min == Span(0) { rtt } else { self.rtt_min.min(rtt) };
        }
    }

    /// Takes a loss in.
    pub fn on_loss(&mut self, loss: &Loss) {
        // `tcp_westwood_event()`, CA_EVENT_LOSS: `reset_rtt_min`.
        if loss.kind == LossKind::Timeout {
            self.rtt_min = Span(0);
        }
    }

    fn sample(&mut self, rate: Rate) {
        // `westwood_filter()`: the first sample fills both filters; then `westwood_do_filter()`,
        // 7/8 and 1/8.
        if self.bw_ns_est == Rate(0) && self.bw_est == Rate(0) {
            (self.bw_ns_est, self.bw_est) = (rate, rate);
            return;
        }
        self.bw_ns_est = (self.bw_ns_est * 7 + rate) / 8;
        self.bw_est = (self.bw_est * 7 + self.bw_ns_est) / 8;
    }
}

/// No interval is shorter (`TCP_WESTWOOD_RTT_MIN`).
const SHORTEST: Span = Span::from_millis(50);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ack, view};

    /// One ACK every `gap_ms` for a segment of 1000 bytes.
    fn after(acks: u64, gap_ms: u64) -> RatePerRtt {
        let mut rate = RatePerRtt::default();
        let mut view = view(10, Bytes::MAX);
        rate.begin(Instant(0));
        for i in 1..=acks {
            view.now = Instant(i * gap_ms * 1_000_000);
            rate.on_ack(&ack(&view, 1), &view);
        }
        rate
    }

    #[test]
    fn the_first_interval_is_the_estimate() {
        assert_eq!(after(10, 10).rate(), Rate(0));
        // The 11th ACK comes after 110 ms and ends an interval in which ten segments arrived.
        assert_eq!(after(11, 10).rate(), Rate(90_909));
        assert_eq!(after(11, 10).window(), Bytes(9_090));
    }

    #[test]
    fn two_filters_of_an_eighth_each_follow() {
        let mut rate =
            RatePerRtt { bw_ns_est: Rate(800), bw_est: Rate(800), ..RatePerRtt::default() };
        rate.sample(Rate(1_600));
        assert_eq!((rate.bw_ns_est, rate.bw_est), (Rate(900), Rate(812)));
    }

    #[test]
    fn a_timeout_forgets_the_smallest_rtt() {
        let mut rate = after(11, 10);
        let (now, lost) = (Instant(1 << 30), Bytes(1_000));
        let loss = |kind| Loss::of(now, kind, lost, lost);
        rate.on_loss(&loss(LossKind::Recovery));
        assert!(rate.window() > Bytes(0));
        rate.on_loss(&loss(LossKind::Timeout));
        let mut late = view(10, Bytes::MAX);
        late.rtt.latest = Span::from_millis(300);
        rate.on_ack(&ack(&late, 1), &late);
        assert_eq!(rate.window(), Rate(90_909).over(Span::from_millis(300)));
    }

    #[test]
    fn a_filter_at_zero_with_one_that_is_not_goes_on() {
        let of = |bw_ns_est, bw_est| {
            let mut rate = RatePerRtt { bw_ns_est, bw_est, ..RatePerRtt::default() };
            rate.sample(Rate(1_600));
            (rate.bw_ns_est.0, rate.bw_est.0)
        };
        assert_eq!(of(Rate(0), Rate(800)), (200, 725));
        assert_eq!(of(Rate(800), Rate(0)), (900, 112));
    }

    #[test]
    fn without_an_rtt_no_interval_ends() {
        let (mut rate, mut view) = (RatePerRtt::default(), view(10, Bytes::MAX));
        view.rtt.latest = Span(0);
        for ms in [0, 60, 120] {
            view.now = Instant(ms * 1_000_000);
            rate.on_ack(&Ack { rtt: None, ..ack(&view, 1) }, &view);
        }
        assert_eq!(rate.rate(), Rate(0));
    }
}
