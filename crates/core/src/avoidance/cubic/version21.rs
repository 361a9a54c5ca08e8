//! How CUBIC 2.1 counts (`bictcp_update`, `bictcp_cong_avoid` and `bictcp_acked` of Linux 2.6.22,
//! which ns-2.35's TCP/Linux compiles): whole packets, whole milliseconds, one packet more after so
//! many ACKs, whatever each of them acknowledges.

use super::decrease::Decrease;
use super::{Epoch, Form, linux_reno_eighths, smallest_rtt};
use crate::event::LossKind;
use crate::knob::RATIO_ONE;
use crate::units::{Bytes, Span};
use crate::view::View;

/// Its counters, by the names of its source in brackets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// After so many ACKs and one more the window grows (`cnt`).
    count: u64,
    /// ACKs since it grew (`snd_cwnd_cnt`).
    waited: u32,
    /// Sixteenths of a packet that an ACK is believed to acknowledge (`delayed_ack`).
    ratio: u32,
    /// ACKs that the Reno estimate has not counted yet (`ack_cnt`).
    acks: u64,
    /// The Reno estimate, in packets (`tcp_cwnd`).
    reno: u64,
    /// The window, in packets, and the millisecond that `count` is of (`last_cwnd`, `last_time`).
    of: (u64, u64),
    /// The curve comes from a cut (`loss_cwnd` is set).
    after_cut: bool,
}

impl Growth {
    pub(super) const NEW: Self = Self {
        count: 0,
        waited: 0,
        ratio: FIRST_RATIO,
        acks: 0,
        reno: 0,
        of: (0, 0),
        after_cut: false,
    };

    /// The curve begins with this ACK, from a window of so many packets.
    pub(super) fn begin(&mut self, cwnd: u64, after_cut: bool) {
        (self.acks, self.reno) = (0, cwnd.max(1));
        self.after_cut = after_cut;
    }

    /// A loss: `bictcp_reset` after a timeout, of which nothing is left.
    pub(super) fn cut(&mut self, kind: LossKind) {
        self.waited = 0;
        if kind == LossKind::Timeout {
            *self = Self::NEW;
        }
    }

    /// ACKs for more than two packets come in Linux's state Loss only, in which it does not count.
    fn note_ratio(&mut self, packets: u64) {
        let packets = packets.min(2) as u32;
        self.ratio = self.ratio + packets - (self.ratio >> RATIO_SHIFT);
    }

    /// For a window of so many packets the estimate grows by one per `eighths / 8` of it in ACKs.
    fn follow_reno(&mut self, cwnd: u64, eighths: u64) {
        let every = (cwnd.saturating_mul(eighths) / 8).max(1);
        let grown = self.acks.saturating_sub(1) / every;
        self.acks -= grown * every;
        self.reno = self.reno.saturating_add(grown);
    }

    /// Whether the window grows with this ACK.
    fn grows(&mut self) -> bool {
        let grows = u64::from(self.waited) >= self.count;
        self.waited = if grows { 0 } else { self.waited + 1 };
        grows
    }

    /// What an ACK for `acked` adds, `t` after the curve began (`bictcp_cong_avoid`).
    pub(super) fn on_ack(
        &mut self,
        acked: Bytes,
        t: Span,
        form: &Form,
        epoch: &Epoch,
        view: &View,
    ) -> Bytes {
        let mss = view.mss.0.max(1);
        let (cwnd, now) = ((view.window.cwnd.0 / mss).max(1), view.now.0 / 1_000_000);
        // `bictcp_acked()` notes the ratio; `bictcp_update()` is skipped while the window stays and
        // `HZ / 32` has not passed.
        self.note_ratio(acked.0.div_ceil(mss));
        self.acks = self.acks.saturating_add(1);
        let (of, at) = self.of;
        if of != cwnd || now.saturating_sub(at) > STALE_MS {
            self.of = (cwnd, now);
            self.count = self.count(cwnd, t, form, epoch, view);
        }
        if self.grows() { view.mss } else { Bytes(0) }
    }

    /// `cnt` (`bictcp_update`).
    fn count(&mut self, cwnd: u64, t: Span, form: &Form, epoch: &Epoch, view: &View) -> u64 {
        let packets = |bytes: Bytes| bytes.0 / view.mss.0.max(1);
        // `bictcp_update()`, `bic_target`: the curve one smallest RTT ahead.
        let t = t + smallest_rtt(view);
        let (origin, at) = (epoch.curve.origin, epoch.curve.at(t));
        let target = packets(origin).saturating_add(packets(at - origin));
        let missing = target.saturating_sub(packets(origin - at)).saturating_sub(cwnd);
        let mut count = cwnd.checked_div(missing).unwrap_or(cwnd.saturating_mul(100));
        // `max_increment`, beyond the flat part only.
        let most = form.max_increment * (smallest_rtt(view).0 / 1_000_000);
        if epoch.curve.is_convex(t) {
            count = count.max((cwnd.saturating_mul(100)).checked_div(most).unwrap_or(0));
        }
        if !self.after_cut {
            count = BLIND_ACKS;
        }
        // `tcp_friendliness`.
        self.follow_reno(cwnd, linux_reno_eighths(form.decrease.beta));
        let ahead = self.reno.saturating_sub(cwnd);
        if let Some(most) = cwnd.checked_div(ahead).filter(|_| form.friendly) {
            count = count.min(most);
        }
        ((count << RATIO_SHIFT) / u64::from(self.ratio.max(1))).max(1)
    }
}

/// `beta`, `bic_scale` and `max_increment` of its `tcp_cubic.c`.
pub(super) const FORM: Form = Form {
    decrease: Decrease { beta: 819 * RATIO_ONE / 1024, ..Decrease::RFC9438 },
    c: 410 * RATIO_ONE / 1024,
    friendly: true,
    max_increment: 16,
};

/// `cnt` where there is no loss to go by.
const BLIND_ACKS: u64 = 50;

/// `ACK_RATIO_SHIFT`, and two packets.
const RATIO_SHIFT: u32 = 4;
const FIRST_RATIO: u32 = 2 << RATIO_SHIFT;

/// `HZ / 32`: as long as the window stays, `cnt` is worked out anew no more often.
const STALE_MS: u64 = 31;

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::super::Cubic;
    use super::*;
    use crate::event::{Ack, Loss};
    use crate::knob::{KnobValue, Knobs as _};
    use crate::policy::Avoidance as _;
    use crate::testing::{self, MSS};
    use crate::units::Instant;
    use crate::view::Phase;

    /// In milliseconds; no smallest RTT.
    fn view(cwnd: u64, ssthresh: u64, now: u64) -> View {
        let now = Instant(now * 1_000_000);
        let mut view = testing::view(cwnd, MSS * ssthresh);
        view.rtt.min = Span::MAX;
        View { now, phase: Phase::Avoidance, ..view }
    }

    fn cubic(knobs: &[(&str, KnobValue)]) -> Cubic {
        let mut cubic = Cubic::default();
        assert!(cubic.set("preset", KnobValue::Word("ns2")));
        knobs.iter().for_each(|(name, value)| assert!(cubic.set(name, *value)));
        cubic
    }

    fn loss(kind: LossKind, flight: u64) -> Loss {
        Loss::of(Instant(0), kind, MSS, MSS * flight)
    }

    /// With which ACKs, each for so many packets, the window of `cwnd` grows; they come `apart` ms
    /// after each other.
    fn grows_with(cubic: &mut Cubic, cwnd: u64, packets: u64, acks: u64, apart: u64) -> Vec<u64> {
        let ack = Ack { acked: MSS * packets, credited: MSS * packets, ..Ack::default() };
        let mut grows = |n: &u64| {
            let step = cubic.step(&ack, &view(cwnd, cwnd - 1, n * apart));
            let grown = step.window.cwnd - MSS * cwnd;
            assert!(grown == Bytes(0) || grown == MSS, "whole packets");
            grown == MSS
        };
        (1..=acks).filter(|n| grows(n)).collect()
    }

    /// `cnt` is 50, over the 31 or 32 sixteenths that an ACK is believed to stand for: 25, and an
    /// ACK more. Whether an ACK stands for one packet or two makes no difference.
    #[test]
    fn without_a_loss_to_go_by_every_26th_ack_adds_a_packet() {
        for packets in [1, 2] {
            let grown = grows_with(&mut cubic(&[]), 100, packets, 80, 0);
            assert_eq!(grown, [26, 52, 78], "{packets}");
        }
    }

    /// `snd_cwnd <= snd_ssthresh`.
    #[test]
    fn at_ssthresh_it_is_still_in_slow_start() {
        let one = Ack { acked: MSS, ..Ack::default() };
        assert_eq!(cubic(&[]).step(&one, &view(10, 10, 0)).window.cwnd, MSS * 11);
        assert_eq!(cubic(&[]).step(&one, &view(11, 10, 0)).window.cwnd, MSS * 11);
    }

    /// For 8 packets one more in 23 ACKs: with the 24th the estimate is 9, one ahead, and `cnt` is
    /// 8 / 1, over 31 sixteenths 4. It is worked out 32 ms after the last time.
    #[test]
    fn renos_estimate_hastens_growth() {
        let mut slow = cubic(&[]);
        assert_eq!(grows_with(&mut slow, 8, 1, 25, 32), [24], "24 ACKs have waited already");
        assert_eq!(grows_with(&mut slow, 8, 1, 10, 32)[0], 4, "one has waited, and then 4 must");
        let mut off = cubic(&[("friendly", KnobValue::Word("off"))]);
        assert_eq!(grows_with(&mut off, 8, 1, 26, 32), [26]);
        let mut later = cubic(&[]);
        assert_eq!(grows_with(&mut later, 8, 1, 25, 31), [25], "31 ms are not more than HZ / 32");
        let mut at_once = cubic(&[]);
        assert_eq!(grows_with(&mut at_once, 8, 1, 26, 1), [26], "the first 31 ms decide");
    }

    #[test]
    fn a_timeout_leaves_nothing_and_another_loss_a_curve() {
        let mut cubic = cubic(&[]);
        let cut = cubic.cut(&loss(LossKind::Recovery, 1_000), &view(1_000, 500, 0));
        assert_eq!(cut.cwnd, MSS * 799, "whole packets");
        // At the start the curve is where the window is: `cnt` is a hundred windows.
        assert_eq!(grows_with(&mut cubic, 799, 1, 60, 0), []);
        let _ = cubic.cut(&loss(LossKind::Timeout, 1_000), &view(1_000, 500, 0));
        assert_eq!(grows_with(&mut cubic, 799, 1, 60, 0), [26, 52]);
    }

    /// K is cbrt(201 / 0.4004), 7.95 s. After 30 s the curve is thousands of packets away, and
    /// `cnt` is 1; beyond K it is at least `cwnd / 16` per 100 ms of RTT: 49, over 31/16 it is 25.
    #[test]
    fn beyond_the_last_loss_a_second_of_rtt_limits_growth_to_160_packets() {
        let grown = |most, seconds: u64| {
            let mut cubic = cubic(&[("max_increment", KnobValue::Count(most))]);
            let _ = cubic.cut(&loss(LossKind::Recovery, 1_000), &view(1_000, 500, 0));
            let ack = Ack { acked: MSS, credited: MSS, ..Ack::default() };
            let mut now = view(799, 798, 0);
            now.rtt.min = Span::from_millis(100);
            let _ = cubic.step(&ack, &now);
            now.now = Instant(seconds * 1_000_000_000);
            (0..75).filter(|_| cubic.step(&ack, &now).window.cwnd > now.window.cwnd).count()
        };
        assert_eq!(grown(16, 30), 2, "every 26th of 76 ACKs");
        assert_eq!(grown(0, 30), 38, "every second");
        assert!(grown(16, 7) > 2, "not below it");
    }

    /// `bictcp_acked`: 32 + (1 - 2), then 31 + (2 - 1).
    #[test]
    fn the_ratio_of_acks_moves_by_a_sixteenth() {
        let mut growth = Growth::NEW;
        let mut after = |packets| {
            growth.note_ratio(packets);
            growth.ratio
        };
        assert_eq!([after(1), after(1), after(2), after(3)], [31, 31, 32, 32]);
    }

    /// 5 s ahead the curve is at 1000 - 0.4 * 2.95^3, 190 packets and a bit above the window: `cnt`
    /// is 799 / 191, over 31 sixteenths 2, and an ACK more.
    #[test]
    fn the_curve_is_looked_up_one_smallest_rtt_ahead() {
        let mut cubic = cubic(&[]);
        let _ = cubic.cut(&loss(LossKind::Recovery, 1_000), &view(1_000, 500, 0));
        let ack = Ack { acked: MSS, credited: MSS, ..Ack::default() };
        let mut now = view(799, 798, 0);
        now.rtt.min = Span::from_secs(5);
        let grown = (0..9).filter(|_| cubic.step(&ack, &now).window.cwnd > now.window.cwnd).count();
        assert_eq!(grown, 3);
    }
}
