//! Reno and NewReno congestion avoidance (RFC 5681 section 3.1): one segment more per RTT, half the
//! flight at a loss. Whether a second loss in the same window is a new one is for the recovery
//! algorithm of the transport to say (RFC 6582), so both names share this policy.
//!
//! With the knob `sums=double` the window is kept as ns-2.35 keeps it (`double.rs`), whose
//! last bits decide with which ACK a packet more may leave.

use crate::card::{Card, Listed};
use crate::double::DoubleWindow;
use crate::event::{Ack, Loss, LossKind};
use crate::knob::{Knob, KnobValue, Knobs, SUMS, sums};
use crate::linear::LinearGrowth;
use crate::needs::Needs;
use crate::policy::{Avoidance, Observer, Step};
use crate::view::{View, Window};

/// Additive increase, multiplicative decrease by one half.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewReno {
    linear: LinearGrowth,
    double: Option<DoubleWindow>,
}

impl Listed for NewReno {
    const CARD: Card = Card::new(
        "newreno",
        "one segment more per RTT, half the flight at a loss",
        "RFC 5681, RFC 6582",
    )
    .in_kernel("new_reno")
    .knobs(Self::KNOBS);
}

impl Observer for NewReno {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Avoidance for NewReno {
    #[inline(always)]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let Window { cwnd, ssthresh } = view.window;
        match &mut self.double {
            Some(double) if cwnd >= ssthresh => {
                let now = double.at(cwnd, view.mss);
                view.window.grow(double.set(now.plus(now.inverse()), view.mss) - cwnd)
            }
            _ => additive_increase(&mut self.linear, ack, view),
        }
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        let window = halve(loss, view);
        let cwnd = view.window.cwnd;
        if let Some(double) = self.double.as_mut().filter(|_| window.cwnd == cwnd / 2) {
            let half = double.at(cwnd, view.mss).half();
            double.set(half, view.mss);
        }
        window
    }
}

impl Knobs for NewReno {
    const KNOBS: &'static [Knob] = &[SUMS];

    fn set(&mut self, name: &str, value: KnobValue) -> bool {
        match (name, value) {
            ("sums", KnobValue::Word("exact")) => self.double = None,
            ("sums", KnobValue::Word("double")) => self.double = Some(DoubleWindow::new()),
            _ => return false,
        }
        true
    }

    fn value(&self, name: &str) -> Option<KnobValue> {
        (name == SUMS.name).then_some(sums(self.double.is_some()))
    }
}

/// One segment per RTT; below ssthresh, where a recovery may leave cwnd, one per ACK (RFC 5681
/// section 3.1: slow start is for cwnd below ssthresh).
#[inline(always)]
pub(crate) fn additive_increase(linear: &mut LinearGrowth, ack: &Ack, view: &View) -> Step {
    let window = view.window;
    if window.cwnd < window.ssthresh {
        return window.grow(ack.acked.min(view.mss));
    }
    window.grow(linear.per_ack(view))
}

/// Half the flight stays (RFC 5681 section 3.1, equation 4).
pub(crate) fn halve(loss: &Loss, view: &View) -> Window {
    let again = loss.again && loss.kind == LossKind::Timeout;
    // A segment that times out twice is not a second sign of congestion (RFC 5681 section 3.1).
    let half = if again { view.window.ssthresh } else { loss.flight / 2 };
    Window { cwnd: half, ssthresh: half }
}
