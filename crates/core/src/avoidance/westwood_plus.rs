//! Westwood+ as Linux has it (`tcp_westwood.c`; Grieco and Mascolo, Computer Communication Review,
//! 2004): Reno's growth, and a window set to what the path carried.
//!
//! What it believes: at a loss the path still has room for the rate it carried, over the RTT
//! without a queue ([`crate::estimate::rate_per_rtt`]). What it does with `w = max(2, rate *
//! RTTmin)` in whole segments:
//!
//! ```text
//! loss found by duplicate ACKs:  half, as Reno, during recovery; then ssthresh = cwnd = w
//! timeout:                       ssthresh = w, cwnd = 1
//! ```
//!
//! Published: all of it. With slow start it is Linux' `westwood`; the system of the Astart and
//! Agile Probing papers is [`crate::avoidance::Westwood`], which has a finer estimate and cuts at
//! once.
//!
//! Departures: the end of recovery is the first ACK after it, and the growth limits of the sender
//! hold there. Linux takes `w` as of the end of recovery, and so does this.

use crate::card::{Card, Listed};
use crate::estimate::rate_per_rtt::RatePerRtt;
use crate::event::{Ack, Loss, LossKind};
use crate::knob::Knobs;
use crate::linear::{LinearGrowth, additive_increase, halve};
use crate::policy::{Avoidance, Observer, Step};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Reno's growth, and a window set to the rate over the smallest RTT after a loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct WestwoodPlus {
    rate: RatePerRtt,
    linear: LinearGrowth,
    /// A recovery is on; its end sets the window.
    recovering: bool,
}

impl WestwoodPlus {
    fn room(&self, view: &View) -> Bytes {
        // `tcp_westwood_bw_rttmin()`: at least two segments.
        self.rate.window().whole_segments(view.mss).max(view.mss * MIN_SEGMENTS)
    }
}

impl Listed for WestwoodPlus {
    const CARD: Card = Card::new(
        "westwood-plus",
        "one segment more per RTT, after a loss the rate of the last RTTs",
        "Grieco and Mascolo, 2004; Linux tcp_westwood.c",
    )
    .knobs(Self::KNOBS);
}

impl Observer for WestwoodPlus {
    fn on_handshake(&mut self, view: &View) {
        self.rate.begin(view.now);
    }

    fn on_begin(&mut self, view: &View) {
        self.rate.begin(view.now);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.rate.on_ack(ack, view);
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("westwood_plus_rate", self.rate.rate().0);
    }
}

impl Avoidance for WestwoodPlus {
    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // `tcp_westwood_event()`, CA_EVENT_COMPLETE_CWR: both become `bw * rtt_min`.
        if core::mem::take(&mut self.recovering) {
            let room = self.room(view);
            return Window { cwnd: room, ssthresh: room }.hold();
        }
        additive_increase(&mut self.linear, ack, view)
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // `tcp_westwood_event()`, CA_EVENT_LOSS: ssthresh alone. A recovery begins with Reno's
        // half.
        let room = self.room(view);
        self.recovering = loss.kind == LossKind::Recovery;
        self.rate.on_loss(loss);
        match loss.kind {
            LossKind::Timeout => Window { ssthresh: room, ..view.window },
            LossKind::Mark => Window { cwnd: view.window.cwnd.min(room), ssthresh: room },
            LossKind::Recovery => halve(loss, view),
        }
    }
}

impl Knobs for WestwoodPlus {}

/// The smallest window it sets.
const MIN_SEGMENTS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};
    use crate::units::Instant;

    /// It has seen an ACK for a segment every millisecond for four seconds: 1 MB/s, 100 segments.
    fn warm() -> WestwoodPlus {
        let mut policy = WestwoodPlus::default();
        let mut view = view(300, Bytes::MAX);
        for i in 0..4_000 {
            view.now = Instant(i * 1_000_000);
            policy.on_ack(&ack(&view, 1), &view);
        }
        policy
    }

    fn loss(kind: LossKind) -> Loss {
        Loss::of(Instant(0), kind, MSS, MSS * 300)
    }

    #[test]
    fn a_loss_halves_and_the_end_of_recovery_sets_the_window_to_what_the_path_carried() {
        let (mut policy, at_loss) = (warm(), view(300, Bytes::MAX));
        assert_eq!(policy.cut(&loss(LossKind::Recovery), &at_loss).cwnd, MSS * 150);
        let after = view(150, MSS * 150);
        let window = policy.step(&ack(&after, 1), &after).window;
        // An interval ends with the first ACK beyond 100 ms, so 100 ms count 99 or 100 ACKs.
        assert!((98..=100).contains(&(window.cwnd.0 / MSS.0)), "{window:?}");
        assert_eq!(window.cwnd, window.ssthresh);
        let grown = policy.step(&ack(&after, 1), &after).window.cwnd - after.window.cwnd;
        assert_eq!(grown, MSS / 150, "only once");
    }

    #[test]
    fn a_timeout_sets_ssthresh_only_and_never_under_two() {
        let window = warm().cut(&loss(LossKind::Timeout), &view(300, Bytes::MAX));
        assert_eq!(window.cwnd, MSS * 300);
        assert!((98..=100).contains(&(window.ssthresh.0 / MSS.0)), "{window:?}");
        let unseen = WestwoodPlus::default().cut(&loss(LossKind::Timeout), &view(300, Bytes::MAX));
        assert_eq!(unseen.ssthresh, MSS * 2);
    }

    #[test]
    fn the_first_interval_begins_with_the_handshake_or_the_first_data() {
        let rate = |begin: &dyn Fn(&mut WestwoodPlus, &View)| {
            let (mut policy, mut view) = (WestwoodPlus::default(), view(10, Bytes::MAX));
            begin(&mut policy, &view);
            for ms in [60, 120] {
                view.now = Instant(ms * 1_000_000);
                policy.on_ack(&ack(&view, 6), &view);
            }
            crate::testing::gauge(&policy, "westwood_plus_rate")
        };
        // Six segments in 120 ms, or none yet in the 60 ms since the first ACK.
        assert_eq!(rate(&|policy, view| policy.on_handshake(view)), Some(50_000));
        assert_eq!(rate(&|policy, view| policy.on_begin(view)), Some(50_000));
        assert_eq!(rate(&|_, _| ()), Some(0));
    }
}
