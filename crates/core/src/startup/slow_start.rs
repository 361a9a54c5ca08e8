//! Slow start (RFC 5681 section 3.1): one segment more for every ACK until cwnd reaches ssthresh.
//!
//! What it believes: the path holds ssthresh. What it does: doubles the window every RTT when every
//! segment is acknowledged, and grows by half with delayed ACKs.

use crate::event::Ack;
use crate::knob::{Amount, Knob, KnobKind, KnobValue, Knobs};
use crate::policy::{Observer, Startup, Step};
use crate::units::Bytes;
use crate::view::View;

/// Slow start with an initial window and an initial ssthresh of its own, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowStart {
    iw: Option<Amount>,
    ssthresh: Option<Amount>,
}

impl Observer for SlowStart {}

impl Startup for SlowStart {
    fn initial_window(&self, default: Bytes, mss: Bytes) -> Bytes {
        self.iw.map_or(default, |iw| iw.bytes(mss))
    }

    fn initial_ssthresh(&self, default: Bytes, mss: Bytes) -> Bytes {
        self.ssthresh.map_or(default, |ssthresh| ssthresh.bytes(mss))
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        double(ack, view)
    }
}

impl Knobs for SlowStart {
    const KNOBS: &'static [Knob] = &[
        Knob {
            name: "iw",
            kind: KnobKind::Window,
            default: "the endpoint's",
            doc: "initial window",
        },
        Knob {
            name: "ssthresh",
            kind: KnobKind::Window,
            default: "the endpoint's",
            doc: "initial ssthresh; none means unlimited",
        },
    ];

    fn set(&mut self, name: &str, value: KnobValue) -> bool {
        match (name, value) {
            ("iw", KnobValue::Window(iw)) => self.iw = Some(iw),
            ("ssthresh", KnobValue::Window(ssthresh)) => self.ssthresh = Some(ssthresh),
            _ => return false,
        }
        true
    }
}

/// The rule itself, which other policies use below their thresholds: at most one segment an ACK.
#[inline]
pub(crate) fn double(ack: &Ack, view: &View) -> Step {
    let window = view.window;
    if window.cwnd >= window.ssthresh {
        return window.hold().until_threshold();
    }
    window.grow(ack.acked.min(view.mss)).until_threshold()
}
