//! Stateful-TCP (Guo and Lee, IEEE Access 8, 2020; draft-lee-tcpm-stateful-tcp-00, Guo, Xue and
//! Lee, May 2026): the first flight is what an earlier connection measured the path to carry.
//!
//! What it believes: the bandwidth to a host changes less from one connection to the next than a
//! slow start costs. What it does:
//!
//! ```text
//! every connection:  rate, pauses left out (`estimate/gap_compensated.rs`)
//! begin:             bdp = rate * minrtt, of the earlier one
//!                    if bdp > IW: cwnd = bdp, paced at rate
//! first ACK with more than five segments in flight after it:
//!                    cwnd = max(in flight, IW), no longer paced;  HyStart from there on
//! ```
//!
//! Published: the belief, the paced start, slow start where nothing is known, and that what follows
//! the first RTT is the congestion control's own (the draft's abstract). The draft's rules were not
//! at hand beyond its abstract; those above are the authors' module for Linux (S-Cubic 1.0,
//! `bictcp_cwnd_event()` and `bictcp_acked()`), where the first ten ACKs may end the paced start
//! and the eleventh takes back to IW what no ACK has confirmed. CUBIC's HyStart follows there, and
//! here.
//!
//! Departures: the module keeps what it knows for ever and by the address's hash; here it counts
//! for `max_age` (ours: ten minutes). A connection that is over before its estimate has anything to
//! say, as one is whose data fits into the paced start, leaves a rate of zero there, so that every
//! second one begins from nothing; here it hands on the rate it was given unless it lost data
//! (ours). It ignores the receiver's window in the first RTT; here that window holds. It remembers
//! the rate of its own estimate alone; here the rate that another start-up has measured counts too
//! ([`Learned::rate`](crate::hint::Learned::rate)). Neither the module nor this takes back what was
//! lost of the first flight: the avoidance answers, and the next connection begins with what this
//! one measures.
//!
//! The kernel's memory of paths keeps no rate, and no version in C measures one.

use crate::card::{Card, Listed};
use crate::estimate::gap_compensated::GapCompensated;
use crate::event::{Ack, Loss};
use crate::hint::{PathHint, TEN_MINUTES, max_age};
use crate::knob::{KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::policy::{Entry, Found, Observer, Startup, Step};
use crate::startup::hystart::HyStart;
use crate::units::{Bytes, Rate, Span};
use crate::view::{View, Window};

/// Starts at the rate of an earlier connection, else as HyStart does.
#[derive(Clone, Copy, Debug)]
pub struct StatefulTcp {
    hystart: HyStart,
    max_age: Span,
    /// What the path carries.
    estimate: GapCompensated,
    /// The rate of the earlier connection, until something is lost.
    hinted_rate: Option<Rate>,
    /// The paced start, while it lasts.
    paced_start: Option<PacedStart>,
}

/// A first flight of the size that an earlier connection found.
#[derive(Clone, Copy, Debug)]
struct PacedStart {
    rate: Rate,
    /// The window it would have begun with.
    initial_window: Bytes,
    /// How many ACKs have come.
    acks: u32,
}

impl Listed for StatefulTcp {
    const CARD: Card = Card::new(
        "stateful-tcp",
        "starts at the rate that an earlier connection measured, paced, and goes on as HyStart",
        "draft-lee-tcpm-stateful-tcp-00; Guo and Lee, IEEE Access 2020",
    )
    .with("cubic")
    .about(
        "The rate that an earlier connection to this host measured, pauses between rounds left \
         out.",
        "The path carries what it carried a while ago.",
        "Without a memory it is HyStart. Where the path carries less than it did, the first flight \
         is lost in part; nothing is taken back. It has no version for the kernel.",
    )
    .finds_its_end()
    .knobs(Self::KNOBS);
}

impl Observer for StatefulTcp {
    fn needs(&self) -> Needs {
        self.hystart.needs().wanting(Facilities::MEMORY | Facilities::PACING)
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.estimate.on_ack(ack, view);
        self.hystart.on_ack(ack, view);
    }

    fn on_loss(&mut self, _loss: &Loss, _view: &View) {
        self.hinted_rate = None;
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        report("stateful_tcp_rate", self.estimate.rate().unwrap_or_default().0);
        self.hystart.gauges(report);
    }
}

impl Startup for StatefulTcp {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.hystart.open(default, mss)
    }

    fn inform(&mut self, hint: &PathHint, view: &View) -> Step {
        let ordinary = view.window;
        let PathHint::Own(last) = hint else { return ordinary.hold() };
        let Some(rate) = last.rate.filter(|_| last.age <= self.max_age) else {
            return ordinary.hold();
        };
        // `bictcp_cwnd_event()`: only where it is more than the ordinary first window.
        let bdp = rate.over(last.min_rtt).whole_segments(view.mss);
        if bdp <= ordinary.cwnd {
            return ordinary.hold();
        }
        self.hinted_rate = Some(rate);
        self.paced_start = Some(PacedStart { rate, initial_window: ordinary.cwnd, acks: 0 });
        Window { cwnd: bdp, ..ordinary }.hold().paced(rate)
    }

    fn enter(&mut self, why: Entry, view: &View) {
        self.paced_start = None;
        self.hystart.enter(why, view);
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Some(start) = &mut self.paced_start else { return self.hystart.step(ack, view) };
        start.acks += 1;
        let (start, mut view) = (*start, *view);
        // `bictcp_acked()`: an ACK with so much in flight ends the paced start, or the eleventh.
        let confirmed = view.in_flight > view.mss * LEAST_IN_FLIGHT;
        if !confirmed && start.acks <= MOST_ACKS {
            return self.hystart.step(ack, &view).paced(start.rate);
        }
        self.paced_start = None;
        let used = if confirmed { view.in_flight } else { Bytes(0) };
        view.window.cwnd = used.max(start.initial_window).min(view.window.cwnd);
        self.hystart.step(ack, &view)
    }

    fn found(&self, _view: &View) -> Found {
        Found { rate: self.estimate.rate().or(self.hinted_rate), ..Found::default() }
    }
}

impl Default for StatefulTcp {
    fn default() -> Self {
        Self {
            hystart: HyStart::default(),
            max_age: TEN_MINUTES,
            estimate: GapCompensated::default(),
            hinted_rate: None,
            paced_start: None,
        }
    }
}

impl Knobs for StatefulTcp {
    const ROWS: &'static [KnobOf<Self>] =
        &[KnobOf::part(HyStart::KNOBS, |p| &mut p.hystart), max_age(|p| &mut p.max_age)];
}

/// `MIN_INFLIGHT_TO_EXIT_STARTUP_PHASE`, in segments.
const LEAST_IN_FLIGHT: u64 = 5;

/// The ACKs of which one may end the paced start (`bictcp_acked()`).
const MOST_ACKS: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LossKind;
    use crate::hint::Learned;
    use crate::pacing::Pacing;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, gauge, view};

    /// What an earlier connection measured: so many segments per second, an RTT of 100 ms.
    fn hint(segments: u64, age_s: u64) -> PathHint {
        let rtt = Span::from_millis(100);
        PathHint::Own(Learned {
            window: Window { cwnd: MSS * 7, ssthresh: MSS * 7 },
            rtt,
            min_rtt: rtt,
            delivered: MSS * 1_000,
            per_round: MSS * 7,
            rate: Some(Rate(MSS.0 * segments)),
            age: Span::from_secs(age_s),
        })
    }

    /// A connection that begins with 80 segments at 800 per second, and its view.
    fn begun() -> (StatefulTcp, View) {
        let (mut policy, mut view) = (StatefulTcp::default(), view(10, Bytes::MAX));
        policy.enter(Entry::Connect, &view);
        view.window = policy.inform(&hint(800, 1), &view).window;
        (policy, view)
    }

    fn step(policy: &mut StatefulTcp, view: &mut View, in_flight: u64) -> Step {
        view.in_flight = MSS * in_flight;
        let step = policy.step(&ack(view, 1), view);
        view.window = step.window;
        step
    }

    #[test]
    fn it_starts_with_the_rate_times_the_rtt_and_paces_it() {
        let mut policy = StatefulTcp::default();
        let step = policy.inform(&hint(800, 1), &view(10, Bytes::MAX));
        assert_eq!(step.window, Window { cwnd: MSS * 80, ssthresh: Bytes::MAX });
        assert_eq!(step.pace, Pace::Set(Pacing::at(Rate(800_000))));
    }

    #[test]
    fn what_is_old_or_small_or_without_a_rate_changes_nothing() {
        let view = view(10, Bytes::MAX);
        let PathHint::Own(known) = hint(800, 1) else { unreachable!() };
        let unmeasured = PathHint::Own(Learned { rate: None, ..known });
        let shared = PathHint::Shared(known);
        for hint in [hint(800, 601), hint(100, 1), unmeasured, shared] {
            let mut policy = StatefulTcp::default();
            assert_eq!(policy.inform(&hint, &view), view.window.hold(), "{hint:?}");
            assert!(policy.paced_start.is_none());
        }
        let used = |hint| StatefulTcp::default().inform(&hint, &view).window.cwnd;
        assert_eq!([used(hint(800, 600)), used(hint(110, 1))], [MSS * 80, MSS * 11]);
    }

    #[test]
    fn the_first_ack_leaves_what_is_in_flight_unpaced() {
        let (mut policy, mut view) = begun();
        let after = step(&mut policy, &mut view, 60);
        assert_eq!((after.window.cwnd, after.pace), (MSS * 61, Pace::Default), "and slow start");
        assert_eq!(step(&mut policy, &mut view, 60).window.cwnd, MSS * 62);
        let (mut policy, mut view) = begun();
        assert_eq!(step(&mut policy, &mut view, 6).window.cwnd, MSS * 11, "not below IW");
    }

    #[test]
    fn a_source_with_little_to_send_is_back_at_iw_with_the_eleventh_ack() {
        let (mut policy, mut view) = begun();
        for acks in 1..=10 {
            let after = step(&mut policy, &mut view, 5);
            assert_eq!(after.window.cwnd, MSS * (80 + acks));
            assert_eq!(after.pace, Pace::Set(Pacing::at(Rate(800_000))));
        }
        let after = step(&mut policy, &mut view, 5);
        assert_eq!((after.window.cwnd, after.pace), (MSS * 11, Pace::Default));
    }

    #[test]
    fn a_timeout_ends_the_paced_start() {
        let (mut policy, mut view) = begun();
        policy.enter(Entry::Timeout, &view);
        view.window.cwnd = MSS;
        assert_eq!(step(&mut policy, &mut view, 60).window.cwnd, MSS * 2);
    }

    #[test]
    fn the_hinted_rate_is_handed_on_until_it_measures_or_loses_something() {
        let (mut policy, mut view) = begun();
        assert_eq!(policy.found(&view).rate, Some(Rate(800_000)));
        policy.on_loss(&Loss::of(view.now, LossKind::Recovery, MSS, MSS), &view);
        assert_eq!(policy.found(&view).rate, None);
        let (mut policy, _) = begun();
        for _ in 0..22 {
            view.now = view.now + Span::from_millis(5);
            policy.on_ack(&ack(&view, 2), &view);
        }
        assert_eq!(policy.found(&view).rate, Some(Rate(400_000)));
    }

    #[test]
    fn the_rate_that_it_measures_is_what_it_has_found() {
        let (mut policy, mut view) = (StatefulTcp::default(), view(10, Bytes::MAX));
        assert_eq!(gauge(&policy, "stateful_tcp_rate"), Some(0));
        for _ in 0..22 {
            view.now = view.now + Span::from_millis(5);
            policy.on_ack(&ack(&view, 2), &view);
        }
        assert_eq!(policy.found(&view).rate, Some(Rate(400_000)));
        assert_eq!(gauge(&policy, "stateful_tcp_rate"), Some(400_000));
    }
}
