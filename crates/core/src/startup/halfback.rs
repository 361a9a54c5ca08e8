//! Halfback (Li, Dong and Godfrey, CoNEXT 2015): a short flow leaves evenly over one RTT, and what
//! is not acknowledged then leaves again, from its end backwards.
//!
//! What it believes: a short flow that is spread over an RTT harms nobody, and repeating its second
//! half while the first is acknowledged is faster than finding out what was lost. What it does:
//!
//! ```text
//! begin:    cwnd = the flow, at most 141 KB, paced over one RTT
//! each ACK: the last packet that is neither acknowledged nor repeated leaves again, until the two
//!           meet
//! then:     slow start
//! ```
//!
//! Published: the idea, the order and that at most half of the packets are repeated (abstract). The
//! 141 KB are from memory. Inferred: a policy does not see how long the flow is, so that `flow` is
//! what is spread; where the first flight loses data the avoidance cuts.
//!
//! Which packet leaves again is the transport's to decide, and no transport here can be told to
//! repeat what it does not know to be lost: what acknowledges a repeated packet is ambiguous to its
//! loss repair. So Halfback needs [`Facilities::REPEATS`], which none provides, and is refused
//! everywhere; without the repeats it would be JumpStart, which has a name of its own.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Amount, Knob, KnobKind, KnobValue, Knobs};
use crate::needs::{Facilities, Needs};
use crate::opening::Opening;
use crate::policy::{Entry, Observer, Startup, Step};
use crate::startup::slow_start::{IW, SSTHRESH, double};
use crate::units::{Bytes, Span};
use crate::view::{View, Window};

/// A flight over one RTT, then slow start.
#[derive(Clone, Copy, Debug)]
pub struct Halfback {
    opening: Opening,
    flow: Amount,
    /// Payload of the first flight that is not acknowledged, while it flies.
    flight: Bytes,
}

impl Listed for Halfback {
    const CARD: Card = Card::new(
        "halfback",
        "a short flow over one RTT, repeated from its end; no transport here can repeat it",
        "Li and others, CoNEXT 2015",
    )
    .with("newreno")
    .knobs(Self::KNOBS);
}

impl Observer for Halfback {
    fn needs(&self) -> Needs {
        Needs::required(Facilities::TIMES | Facilities::PACING | Facilities::REPEATS)
    }
}

impl Startup for Halfback {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window(default, mss)
    }

    fn begin(&mut self, view: &View) -> Step {
        let rtt = view.rtt.smoothed;
        let flight = self.flow.bytes(view.mss);
        if rtt == Span(0) || flight <= view.window.cwnd {
            return view.window.hold();
        }
        self.flight = flight;
        Window { cwnd: flight, ..view.window }.hold().paced(flight.per(rtt))
    }

    fn enter(&mut self, why: Entry, _view: &View) {
        if why != Entry::Connect {
            self.flight = Bytes(0);
        }
    }

    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        if self.flight == Bytes(0) {
            return double(ack, view);
        }
        self.flight -= ack.acked;
        let step = view.window.hold();
        let paced = Some(view.window.cwnd.per(view.rtt.smoothed));
        match paced.filter(|_| self.flight > Bytes(0)) {
            Some(rate) => step.paced(rate),
            None => step,
        }
    }
}

impl Default for Halfback {
    fn default() -> Self {
        Self { opening: Opening::default(), flow: Amount::Bytes(FLOW), flight: Bytes(0) }
    }
}

impl Knobs for Halfback {
    const KNOBS: &'static [Knob] = &[
        IW,
        SSTHRESH,
        Knob {
            name: "flow",
            kind: KnobKind::Window,
            default: "141 kB",
            doc: "what leaves evenly over the first RTT",
        },
    ];

    fn set(&mut self, name: &str, value: KnobValue) -> bool {
        match (name, value) {
            ("flow", KnobValue::Window(flow)) => self.flow = flow,
            _ => return self.opening.set(name, value),
        }
        true
    }

    fn value(&self, name: &str) -> Option<KnobValue> {
        match name {
            "flow" => Some(KnobValue::Window(self.flow)),
            _ => self.opening.value(name),
        }
    }
}

/// The first flight, in bytes.
const FLOW: u64 = 141_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{MSS, ack, view};

    #[test]
    fn the_first_flight_is_spread_over_one_rtt_and_slow_start_follows() {
        let (mut policy, mut view) = (Halfback::default(), view(10, Bytes::MAX));
        let step = policy.begin(&view);
        assert_eq!(step.window.cwnd, Bytes(141_000));
        assert_eq!(step.pace.map(|pace| pace.rate.0), Some(1_410_000));
        view.window = step.window;
        let held = policy.step(&ack(&view, 140), &view);
        assert_eq!((held.window.cwnd, held.pace.is_some()), (Bytes(141_000), true));
        let last = policy.step(&ack(&view, 1), &view);
        assert_eq!((last.window.cwnd, last.pace), (Bytes(141_000), None));
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 142);
    }

    #[test]
    fn without_an_rtt_or_after_a_timeout_it_is_slow_start() {
        let (mut policy, mut view) = (Halfback::default(), view(10, Bytes::MAX));
        view.rtt.smoothed = Span(0);
        assert_eq!(policy.begin(&view), view.window.hold());
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 11);
        view.rtt.smoothed = Span::from_millis(100);
        let _ = policy.begin(&view);
        policy.enter(Entry::Timeout, &view);
        assert_eq!(policy.step(&ack(&view, 1), &view).window.cwnd, MSS * 11);
    }
}
