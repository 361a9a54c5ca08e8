//! Halfback (Li, Dong and Godfrey, CoNEXT 2015): a short flow leaves evenly over one RTT, and what
//! is not acknowledged then leaves again, from its end backwards.
//!
//! What it believes: a short flow that is spread over an RTT harms nobody, and repeating its second
//! half while the first is acknowledged is faster than finding out what was lost. What it does:
//!
//! ```text
//! begin:    cwnd = the flow, at most 141 KB, paced over one RTT
//! each ACK: the last packet that is neither acknowledged nor repeated leaves again, until the two
//!           meet; nothing new leaves
//! then:     new data fills the window at the rate of the first flight; slow start
//! ```
//!
//! Published: the idea, the order and that at most half of the packets are repeated (abstract). The
//! 141 KB are from memory. Inferred: a policy does not see how long the flow is, so that `flow` is
//! what is spread, and a shorter flow leaves at the same rate. A loss that is found while packets
//! are repeated is answered as JumpStart answers it, whose first flight this is. A loss that a
//! repeat mends before it is found is not answered.
//!
//! Which packet leaves again, the transport decides ([`Facilities::REPEATS`]): what acknowledges a
//! repeated packet is ambiguous to its loss repair. Where it cannot, Halfback is refused.

use crate::card::{Card, Listed};
use crate::event::{Ack, Loss};
use crate::knob::{Amount, Knob, KnobOf, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::opening;
use crate::policy::{Answer, Entry, Observer, Startup, Step};
use crate::startup::JumpStart;
use crate::startup::jump_start::Jump;
use crate::units::{Bytes, Rate};
use crate::view::{View, Window};

/// A flight over one RTT, repeated from its end, then slow start.
#[derive(Clone, Copy, Debug)]
pub struct Halfback {
    jump: JumpStart,
    /// The window that is to come back when ACKs and repeats have met.
    held: Option<Bytes>,
    /// Since then: the rate at which new data fills it.
    refills: Option<Rate>,
}

impl Listed for Halfback {
    const CARD: Card = Card::new(
        "halfback",
        "a short flow over one RTT, repeated from its end until ACKs and repeats meet",
        "Li and others, CoNEXT 2015",
    )
    .with("newreno")
    .about(
        "Which packets of its first flight are acknowledged.",
        "To repeat the second half of a short flow is faster than to find out what of it was lost.",
        "Up to half of what it sends is sent for nothing; where the first flight fills the buffer, \
         the repeats queue behind it.",
    )
    .knobs(Self::KNOBS);
}

impl Observer for Halfback {
    fn needs(&self) -> Needs {
        self.jump.needs() | Needs::required(Facilities::REPEATS | Facilities::SENT)
    }

    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.jump.on_ack(ack, view);
    }

    fn on_loss(&mut self, loss: &Loss, view: &View) {
        self.jump.on_loss(loss, view);
    }

    fn on_further_loss(&mut self, loss: &Loss, view: &View) {
        self.jump.on_further_loss(loss, view);
    }
}

impl Startup for Halfback {
    fn once(&self) -> bool {
        true
    }

    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.jump.open(default, mss)
    }

    fn begin(&mut self, view: &View) -> Step {
        self.jump.begin(view)
    }

    fn enter(&mut self, why: Entry, view: &View) {
        (self.held, self.refills) = (None, None);
        self.jump.enter(why, view);
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let window = view.window;
        // Ours: new data fills the window at the rate of the first flight.
        if let Some(rate) = self.refills {
            if view.in_flight + ack.acked + view.mss < window.cwnd {
                return window.hold().paced(rate);
            }
            self.refills = None;
        }
        match self.jump.jump {
            // CoNEXT 2015 (abstract): each ACK lets one packet leave again, from the end backwards,
            // and nothing new leaves until both meet.
            Some(Jump { bytes, .. }) if self.repeats(view) && view.snd_nxt >= bytes => {
                self.held.get_or_insert(window.cwnd);
                return Window { cwnd: view.in_flight.max(view.mss), ..window }.hold();
            }
            Some(Jump { rate, .. }) => self.refills = self.held.map(|_| rate),
            None => {}
        }
        match (self.held.take(), self.refills) {
            (Some(cwnd), Some(rate)) => Window { cwnd, ..window }.hold().paced(rate),
            _ => self.jump.step(ack, view),
        }
    }

    fn answer(&mut self, loss: &Loss, view: &View) -> Answer {
        // Ours: a loss is answered as JumpStart does, whose flight this is.
        (self.held, self.refills) = (None, None);
        self.jump.answer(loss, view)
    }

    fn recovering(&mut self, ack: &Ack, view: &View) -> Step {
        self.jump.recovering(ack, view)
    }

    fn land_further(&mut self, loss: &Loss, view: &View) -> Window {
        self.jump.land_further(loss, view)
    }

    fn landed_at(&mut self, view: &View) -> Bytes {
        self.jump.landed_at(view)
    }

    /// As long as what was delivered and what was repeated are less than the flight.
    fn repeats(&self, view: &View) -> bool {
        // CoNEXT 2015 (abstract): until ACKs and repeats have met, at most half of the packets.
        let repeated = view.sent - view.snd_nxt;
        self.jump.jump.is_some_and(|jump| jump.delivered + repeated < jump.bytes)
    }
}

impl Default for Halfback {
    fn default() -> Self {
        let mut jump = JumpStart::default();
        jump.most = Amount::Bytes(FLOW);
        Self { jump, held: None, refills: None }
    }
}

impl Knobs for Halfback {
    const ROWS: &'static [KnobOf<Self>] = &[
        opening(|p| &mut p.jump.opening),
        Knob::new("flow")
            .means("what leaves evenly over the first RTT")
            .window(|p| &mut p.jump.most),
    ];
}

/// The first flight, in bytes.
const FLOW: u64 = 141_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::LossKind;
    use crate::policy::Pace;
    use crate::testing::{MSS, ack, view};
    use crate::units::{Instant, Span};

    /// A connection whose first flight has left, all 141 packets of it.
    fn begun() -> (Halfback, View) {
        let (mut policy, mut view) = (Halfback::default(), view(10, Bytes::MAX));
        let step = policy.begin(&view);
        assert_eq!(step.window.cwnd, Bytes(141_000));
        assert_eq!(step.pacing_set().map(|pace| pace.rate.0), Some(1_410_000));
        view.window = step.window;
        (view.snd_nxt, view.sent, view.in_flight) = (MSS * 141, MSS * 141, MSS * 141);
        (policy, view)
    }

    fn acked(policy: &mut Halfback, view: &mut View, segments: u64) -> Step {
        view.in_flight -= MSS * segments;
        let ack = ack(view, segments);
        policy.on_ack(&ack, view);
        let step = policy.step(&ack, view);
        view.window = step.window;
        step
    }

    #[test]
    fn it_repeats_until_acks_and_repeats_meet_and_sends_nothing_new_meanwhile() {
        let (mut policy, mut view) = begun();
        for arrived in 1..=70 {
            let step = acked(&mut policy, &mut view, 1);
            assert_eq!((step.window.cwnd, step.pace), (MSS * (141 - arrived), Pace::Default));
            assert!(policy.repeats(&view), "{arrived}");
            view.sent += MSS;
        }
        let step = acked(&mut policy, &mut view, 1);
        assert!(!policy.repeats(&view), "the one in the middle");
        assert_eq!(step.window.cwnd, MSS * 141);
        assert_eq!(step.pacing_set().map(|pace| pace.rate.0), Some(1_410_000));
        let rest = acked(&mut policy, &mut view, 70);
        assert_eq!((rest.window.cwnd, rest.pace), (MSS * 141, step.pace), "nothing new came yet");
        // Full but for a segment.
        (view.in_flight, view.sent, view.snd_nxt) = (MSS * 140, MSS * 351, MSS * 281);
        let full = acked(&mut policy, &mut view, 1);
        assert_eq!((full.window.cwnd, full.pace), (MSS * 142, Pace::Default), "slow start");
    }

    #[test]
    fn what_of_the_flight_has_not_left_leaves_first() {
        let (mut policy, mut view) = begun();
        (view.snd_nxt, view.sent) = (MSS * 140, MSS * 140);
        let step = acked(&mut policy, &mut view, 1);
        assert_eq!((step.window.cwnd, step.pacing_set().is_some()), (MSS * 141, true));
    }

    #[test]
    fn a_loss_that_is_found_ends_nothing_and_a_timeout_ends_it() {
        let (mut policy, mut view) = begun();
        let _ = acked(&mut policy, &mut view, 1);
        let loss = |kind| Loss::of(Instant(0), kind, MSS, MSS);
        policy.on_loss(&loss(LossKind::Recovery), &view);
        assert!(matches!(policy.answer(&loss(LossKind::Recovery), &view), Answer::Land(_)));
        assert!(policy.repeats(&view));
        assert_eq!(policy.answer(&loss(LossKind::Timeout), &view), Answer::Leave);
        policy.enter(Entry::Timeout, &view);
        assert!(!policy.repeats(&view));
        view.window.cwnd = MSS;
        assert_eq!(acked(&mut policy, &mut view, 1).window.cwnd, MSS * 2);
    }

    #[test]
    fn without_an_rtt_it_is_slow_start() {
        let (mut policy, mut view) = (Halfback::default(), view(10, Bytes::MAX));
        view.rtt.smoothed = Span(0);
        assert_eq!(policy.begin(&view), view.window.hold());
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 11);
        assert!(!policy.repeats(&view));
    }

    /// JumpStart's landing, whose flight it is.
    #[test]
    fn half_of_what_was_delivered_of_the_flight_is_left_after_losses() {
        let (mut policy, mut view) = begun();
        let _ = acked(&mut policy, &mut view, 10);
        let loss = Loss::of(Instant(0), LossKind::Recovery, MSS, MSS);
        policy.on_loss(&loss, &view);
        let _ = policy.answer(&loss, &view);
        assert_eq!(policy.landed_at(&view), MSS * 5);
    }
}
