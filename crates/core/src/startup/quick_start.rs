//! Quick-Start (RFC 4782): the routers of the path grant the rate a connection begins with.
//!
//! Published: a request travels in the handshake as one of 15 rates, 40 kbit/s times 2^N. Every
//! router approves it, lowers it or refuses it; the answer comes back with the handshake's. The
//! sender takes `rate * RTT / (packet + headers)` as its window if that is more than the ordinary
//! one, sends it paced over one RTT, and when its first ACK comes counts only what it really sent.
//! A loss among that data is answered by the ordinary first window and slow start, as if nothing
//! had been granted. A refused request leaves ordinary slow start. So the ns-2.35 sender does it
//! too.
//!
//! Inferred: ssthresh is not touched, because the granted window says nothing of what the path
//! holds beyond it. The transport converts the granted rate to payload; nonces and the count of
//! routers that did not understand the request are not modelled, as every router of the simulator
//! understands it. The variant for idle times is not here.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss};
use crate::hint::PathHint;
use crate::knob::{Knob, KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::{Opening, opening};
use crate::policy::{Answer, Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::trial::Trial;
use crate::units::{Bytes, Rate};
use crate::view::{View, Window};

/// Slow start from a window that the routers granted.
#[derive(Clone, Copy, Debug)]
pub struct QuickStart {
    opening: Opening,
    /// N of the request.
    request: u64,
    /// The granted window, until its data are acknowledged.
    trial: Trial,
    /// The granted window has been sent, and no ACK for it has come.
    sending: bool,
}

impl Listed for QuickStart {
    const CARD: Card = Card::new(
        "quick-start",
        "slow start from a rate that the path's routers granted",
        "RFC 4782",
    )
    .with("newreno")
    .about(
        "The rate that the routers granted in the handshake.",
        "Routers know how much of the path is free.",
        "Every router must answer, and none of the Internet does. What is granted ends with the \
         first round trip, after which it is slow start.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for QuickStart {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::TIMES | Facilities::GRANTS).wanting(Facilities::PACING)
    }
}

impl Startup for QuickStart {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn asks(&self) -> Option<Rate> {
        // RFC 4782 section 3.1: 40 kbit/s times two to the power of the request.
        Some(Rate::from_bits_per_second(STEP_BITS << self.request))
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        let ordinary = view.window;
        let PathHint::Granted(rate) = hint else { return ordinary.hold() };
        // RFC 4782 section 4.4: `rate * RTT / (packet + headers)`, used if that is more than the
        // ordinary window, and paced over the RTT.
        let granted = rate.over(view.rtt.smoothed).whole_segments(view.mss);
        if granted <= ordinary.cwnd {
            return ordinary.hold();
        }
        self.trial = Trial::of(granted, ordinary);
        self.sending = true;
        let window = Window { cwnd: granted, ..ordinary };
        window.hold().paced(granted.per(view.rtt.smoothed))
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        if !core::mem::take(&mut self.sending) {
            return double(ack, view);
        }
        // RFC 4782 section 4.4: the RTT of the granted window is over, and only what was sent in it
        // counts.
        let sent = ack.in_flight + ack.acked;
        self.trial.shorten(view.acked + ack.in_flight);
        let window = Window { cwnd: view.window.cwnd.min(sent), ..view.window };
        double(ack, &View { window, ..*view })
    }

    fn answer(&mut self, _loss: &Loss, view: &View) -> Answer {
        // RFC 4782 section 4.6: a loss among that data is answered by the ordinary window.
        self.sending = false;
        self.trial.answer(view)
    }
}

impl Default for QuickStart {
    fn default() -> Self {
        let (opening, trial) = (Opening::default(), Trial::default());
        Self { opening, request: MOST, trial, sending: false }
    }
}

impl Knobs for QuickStart {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.opening),
        Knob::new("request")
            .means("N of the rate asked for, 40 kbit/s times 2^N: 80 kbit/s to 1.31 Gbit/s")
            .count(1..=MOST, |p| &mut p.request),
    ];
}

/// RFC 4782 section 3.1: the rate is 40,000 bit/s times 2 to the request.
const STEP_BITS: u64 = 40_000;
/// Four bits.
const MOST: u64 = 15;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LossKind;
    use crate::knob::KnobValue;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};
    use crate::units::Instant;

    /// 4 Mbit/s granted over 100 ms: 50 segments.
    fn granted() -> (QuickStart, Step) {
        let mut policy = QuickStart::default();
        let step = policy.inform(&PathHint::Granted(Rate(500_000)), &view(2, MSS * 200));
        (policy, step)
    }

    fn loss() -> Loss {
        let (kind, now) = (LossKind::Recovery, Instant(0));
        Loss::of(now, kind, MSS, MSS * 50)
    }

    #[test]
    fn it_asks_for_one_of_the_rates_of_the_option() {
        let mut policy = QuickStart::default();
        assert_eq!(policy.asks(), Some(Rate(1_310_720_000 / 8)));
        assert!(policy.set("request", KnobValue::Count(1)));
        assert_eq!(policy.asks(), Some(Rate(80_000 / 8)));
    }

    #[test]
    fn the_window_is_the_granted_rate_times_the_rtt_and_paced_at_it() {
        let (_, step) = granted();
        assert_eq!(step.window, Window { cwnd: MSS * 50, ssthresh: MSS * 200 });
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(500_000))));
        let mut policy = QuickStart::default();
        let less = policy.inform(&PathHint::Granted(Rate(20_000)), &view(2, MSS * 200));
        assert_eq!(less, view(2, MSS * 200).window.hold());
    }

    #[test]
    fn the_first_ack_leaves_what_was_really_sent_and_one_more() {
        let (mut policy, _) = granted();
        let view = View { acked: MSS, in_flight: MSS * 30, ..view(50, MSS * 200) };
        let step = policy.step(&ack(&view, 1), &view);
        assert_eq!(step.window.cwnd, MSS * 32);
        let view = View { window: step.window, acked: MSS * 2, ..view };
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 33);
        // Of the 50 granted, 31 were sent: a loss after those is an ordinary one.
        let mut other = policy;
        let at = |acked| View { acked: MSS * acked, ..view };
        assert!(matches!(policy.answer(&loss(), &at(30)), Answer::Retreat(_)));
        assert_eq!(other.answer(&loss(), &at(31)), Answer::Leave);
    }

    #[test]
    fn a_loss_of_the_granted_window_is_answered_by_the_ordinary_one() {
        let (mut policy, step) = granted();
        let view = View { window: step.window, ..view(50, MSS * 200) };
        let back = Window { cwnd: MSS * 2, ssthresh: MSS * 200 };
        assert_eq!(policy.answer(&loss(), &view), Answer::Retreat(back));
        // From there it is slow start.
        let view = View { window: back, acked: MSS * 50, ..view };
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 3);
    }
}
