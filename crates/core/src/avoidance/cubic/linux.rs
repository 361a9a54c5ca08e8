//! How the window grows in `tcp_cubic.c` of Linux 6.1 (`bictcp_update`): a packet more for every
//! `cnt` acknowledged, worked out of whole packets.

use super::decrease::Decrease;
use super::{Epoch, Form, linux_reno_eighths, smallest_rtt};
use crate::curve::FRACTION;
use crate::event::LossKind;
use crate::knob::RATIO_ONE;
use crate::units::{Bytes, Span};
use crate::view::View;

/// The state of `tcp_cong_avoid_ai`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Acknowledged and not yet counted toward a packet (`snd_cwnd_cnt`), in bytes.
    pub(super) remainder: u64,
}

impl Growth {
    pub(super) const NEW: Self = Self { remainder: 0 };

    /// The curve begins. After a cut the ACK that ended the recovery counts with the first.
    pub(super) fn begin(&mut self, cut: bool) {
        if !cut {
            self.remainder = 0;
        }
    }

    /// The ACK that ends a recovery is the first to tell of one packet (`tcp_cong_control`).
    pub(super) fn cut(&mut self, kind: LossKind, mss: Bytes) {
        match kind {
            LossKind::Recovery => self.remainder = mss.0,
            LossKind::Mark => self.remainder = 0,
            LossKind::Timeout => {}
        }
    }

    /// What an ACK for `acked` adds, `t` after the curve began.
    pub(super) fn on_ack(
        &mut self,
        acked: Bytes,
        t: Span,
        form: &Form,
        epoch: &mut Epoch,
        view: &View,
    ) -> Bytes {
        let packets = |bytes: Bytes| bytes.0 / view.mss.0.max(1);
        let cwnd = packets(view.window.cwnd).max(1);
        // `tcp_cwnd`: a packet more for 15/8 of a window of them (`beta_scale`).
        let eighths = linux_reno_eighths(form.decrease.beta);
        let per_packet = (cwnd.saturating_mul(eighths) / 8).max(1);
        let more = acked.0.saturating_mul(1 << FRACTION) / per_packet;
        epoch.w_est = epoch.w_est.saturating_add(more);
        // `bic_target`: `delta`, whole packets, is taken off `bic_origin_point` or added to it.
        let (origin, at) = (epoch.curve.origin, epoch.curve.at(t + smallest_rtt(view)));
        let target = packets(origin).saturating_add(packets(at - origin));
        let target = target.saturating_sub(packets(origin - at));
        // TCP friendliness: `tcp_cwnd` is a target too. At the target or beyond, `100 * cwnd`.
        let estimate = if form.friendly { epoch.w_est >> FRACTION } else { 0 };
        let missing = target.max(packets(Bytes(estimate))).saturating_sub(cwnd);
        let count = cwnd.checked_div(missing).unwrap_or(cwnd.saturating_mul(100));
        let most = if epoch.w_max == Bytes(0) { BLIND_COUNT } else { u64::MAX };
        let count = count.min(most).max(LEAST_COUNT);
        // `tcp_cong_avoid_ai()`.
        let product = acked.0.saturating_add(self.remainder);
        self.remainder = product % count;
        Bytes(product / count)
    }
}

/// `beta` and `bic_scale` of `tcp_cubic.c`.
pub(super) const FORM: Form = Form {
    decrease: Decrease { beta: 717 * RATIO_ONE / 1024, ..Decrease::RFC9438 },
    c: 410 * RATIO_ONE / 1024,
    friendly: true,
    max_increment: 0,
};

/// Without a loss to go by (`last_max_cwnd` is 0), `cnt` is 20 at most.
const BLIND_COUNT: u64 = 20;

/// `cnt` is at least 2: the window grows by half per RTT at most.
const LEAST_COUNT: u64 = 2;

#[cfg(test)]
mod tests {
    use super::super::tests::{ack, loss, view};
    use super::super::{Cubic, Source};
    use super::*;
    use crate::knob::{KnobValue, Knobs as _};
    use crate::policy::Avoidance as _;
    use crate::testing::MSS;

    fn linux() -> Cubic {
        let mut cubic = Cubic::default();
        assert!(cubic.set("preset", KnobValue::Word("linux")));
        cubic
    }

    fn growth(cubic: &mut Cubic) -> &mut Growth {
        let Source::Linux(growth) = &mut cubic.source else { unreachable!() };
        growth
    }

    /// `bictcp_update`: `cnt` is 20 at most while there is no `last_max_cwnd`, so that 20 segments
    /// acknowledged add one; after a loss Reno's estimate adds 8/15 of one per window, also beyond
    /// the window before the loss.
    #[test]
    fn linux_grows_by_a_twentieth_until_a_loss_and_then_as_reno_at_least() {
        let mut cubic = linux();
        assert_eq!(cubic.beta(), 700_195);
        let step = cubic.step(&ack(), &view(100, 50, 0));
        assert_eq!(step.window.cwnd, Bytes(100_050));
        assert!(cubic.set("c", KnobValue::Ratio(1_000)));
        let _ = cubic.cut(&loss(LossKind::Recovery, 10), &view(10, 5, 0));
        let grown = |cubic: &mut Cubic, cwnd: u64| {
            let mut now = view(7, 7, 1);
            now.window.cwnd = Bytes(cwnd);
            cubic.step(&ack(), &now).window.cwnd.0
        };
        // 7 is less than three whole packets below 10, so that 8 is next: cnt is 7. The first ACK
        // counts with the one that ended the recovery.
        assert_eq!(grown(&mut cubic, 7_000), 7_000 + 2_000 / 7);
        growth(&mut cubic).remainder = 0;
        let seven: u64 = (0..7).map(|_| grown(&mut cubic, 7_000) - 7_000).sum();
        assert_eq!(seven, 1_000, "nothing is lost by rounding");
        // 15 ACKs for windows of 8 make 8/15 of a window's ACKs.
        cubic.epoch.w_est = 10_000 << FRACTION;
        growth(&mut cubic).remainder = 0;
        let _ = (0..15).map(|_| grown(&mut cubic, 8_000)).count();
        assert_eq!(cubic.epoch.w_est >> FRACTION, 10_999, "beyond the window before the cut");
        cubic.epoch.w_est = 10_900 << FRACTION;
        growth(&mut cubic).remainder = 0;
        assert_eq!(grown(&mut cubic, 8_000), 8_000 + 1_000 / 4, "to 10: cnt is 8 / 2");
        let cut = cubic.cut(&loss(LossKind::Timeout, 10), &view(10, 5, 0));
        assert_eq!(cut.cwnd, MSS * 7, "7.002 in whole packets");
        assert_eq!(cubic.step(&ack(), &view(100, 50, 0)).window.cwnd, Bytes(100_050));
    }

    /// K is cbrt(30 / 0.4004), 4.2 s: in 5 s the curve is back at 100, 30 above the window, and
    /// `cnt` is 70 / 30. Two packets count with the first ACK: the one that ended the recovery too.
    #[test]
    fn linux_looks_the_curve_up_one_smallest_rtt_ahead() {
        let mut cubic = linux();
        let _ = cubic.cut(&loss(LossKind::Recovery, 100), &view(100, 50, 0));
        let mut now = view(70, 70, 0);
        now.rtt.min = Span::from_secs(5);
        assert_eq!(cubic.step(&ack(), &now).window.cwnd, Bytes(71_000));
    }

    /// `bictcp_recalc_ssthresh`: 717/1024 of eleven packets, not of eleven and a half.
    #[test]
    fn linux_cuts_whole_packets() {
        let mut now = view(11, 5, 0);
        now.window.cwnd = Bytes(11_500);
        let lost = crate::event::Loss { flight: Bytes(11_500), ..loss(LossKind::Recovery, 11) };
        assert_eq!(linux().cut(&lost, &now).cwnd, MSS * 7);
    }

    /// `tcp_enter_loss` sets `snd_cwnd_cnt` to zero: the first ACK after it counts alone.
    #[test]
    fn linux_forgets_with_a_timeout_what_was_acknowledged_toward_a_packet() {
        let mut cubic = linux();
        growth(&mut cubic).remainder = 900;
        let _ = cubic.cut(&loss(LossKind::Timeout, 100), &view(100, 50, 0));
        assert_eq!(cubic.step(&ack(), &view(100, 50, 0)).window.cwnd, Bytes(100_050));
    }
}
