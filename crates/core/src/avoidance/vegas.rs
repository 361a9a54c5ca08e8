//! Vegas' congestion avoidance and loss response (Brakmo, O'Malley and Peterson, SIGCOMM 1994), as
//! ns-2.35's agent runs them.
//!
//! What it believes: between `alpha` and `beta` segments of this connection should wait in queues.
//! What it does once per RTT ([`crate::estimate::vegas_diff`]): with more than `beta` queued it
//! takes one segment off the window, with fewer than `alpha` it spreads one segment over the ACKs
//! of the next round, the window of the decision deciding each ACK's part; otherwise it keeps the
//! window. Growth waits while more than two segments of the window are unused.
//!
//! A loss costs a quarter of the window, a loss of what was already resent half of it, and never
//! leaves fewer than two segments. A timeout leaves an ssthresh of half the window. The
//! fine-grained timeouts that find losses early are the transport's.
//!
//! With the knob `sums=double` the window's growth rounds as that agent's does
//! (`ieee_double.rs`): a round of growth from nine segments then ends just below ten.

use crate::card::{Card, Listed};
use crate::estimate::vegas_diff::{MIN_SEGMENTS, VegasDiff, is_used};
use crate::event::{Ack, Loss, LossKind};
use crate::ieee_double::{Double, DoubleWindow};
use crate::knob::{EXACT_OR_DOUBLE, Knob, KnobOf, Knobs, SUMS, Words};
use crate::linear::LinearGrowth;
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::Bytes;
use crate::view::{View, Window};

/// Keeps between `alpha` and `beta` segments queued.
#[derive(Clone, Copy, Debug)]
pub struct Vegas {
    diff: VegasDiff,
    alpha: u64,
    beta: u64,
    linear: LinearGrowth,
    /// The window at the decision to grow, while this round grows.
    grows_from: Option<Bytes>,
    /// With sums in double precision.
    double: Option<Sums>,
    /// Decides on what will be queued so many rounds from now
    /// ([`crate::avoidance::StabilizedVegas`]).
    pub(super) lead: u64,
    /// What was queued at the last decision.
    before: Option<i64>,
}

/// The window in double precision, and that window at the decision.
#[derive(Clone, Copy, Debug)]
struct Sums {
    window: DoubleWindow,
    from: Double,
}

impl Sums {
    fn new() -> Self {
        let mut window = DoubleWindow::new();
        let from = window.at(Bytes(1), Bytes(1));
        Self { window, from }
    }
}

impl Vegas {
    /// What will be queued if it goes on as in the last round.
    pub(super) fn ahead(&mut self, queued: i64) -> i64 {
        if self.lead == 0 {
            return queued;
        }
        // Ours, for [`crate::avoidance::StabilizedVegas`]; Vegas itself has no lead.
        let before = self.before.replace(queued).unwrap_or(queued);
        let lead = i64::try_from(self.lead).unwrap_or(i64::MAX);
        queued.saturating_add(queued.saturating_sub(before).saturating_mul(lead))
    }
}

impl Listed for Vegas {
    const CARD: Card =
        Card::new("vegas", "keeps a few segments queued", "Brakmo and others, SIGCOMM 1994")
            .in_kernel("vegas")
            .knobs(Self::KNOBS);
}

impl Observer for Vegas {
    fn on_handshake(&mut self, view: &View) {
        self.diff.on_handshake(view);
    }

    fn on_begin(&mut self, view: &View) {
        self.diff.on_begin(view);
    }

    #[inline]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.diff.on_ack(ack, view);
    }
}

impl Avoidance for Vegas {
    fn enter(&mut self, _found: &Found, _view: &View) {
        self.grows_from = None;
        self.before = None;
    }

    #[inline]
    fn step(&mut self, _ack: &Ack, view: &View) -> Step {
        let mut window = view.window;
        // ns-2's `VegasTcpAgent::recv()`: once per RTT, one segment less above beta, one more over
        // the next round below alpha.
        if let Some(queued) = self.diff.decision().map(|queued| self.ahead(queued)) {
            self.grows_from = (queued < self.alpha as i64).then_some(window.cwnd);
            if queued > self.beta as i64 {
                self.grows_from = None;
                window.cwnd = (window.cwnd - view.mss).max(view.mss * MIN_SEGMENTS);
            }
        }
        if let Some(sums) = &mut self.double {
            let now = sums.window.at(window.cwnd, view.mss);
            if self.diff.decision().is_some() {
                sums.from = now;
            }
        }
        let has_room = is_used(view);
        match (self.grows_from, &mut self.double) {
            (Some(_), Some(sums)) if has_room => {
                let grown = sums.window.at(window.cwnd, view.mss).plus(sums.from.inverse());
                window.grow(sums.window.set(grown, view.mss) - window.cwnd)
            }
            (Some(from), None) if has_room => window.grow(self.linear.per_ack_at(view, from)),
            _ => window.hold(),
        }
    }

    /// The share that is left where a packet is lost for the first time; one lost again halves
    /// the window.
    fn beta(&self) -> u64 {
        crate::knob::RATIO_ONE * 3 / 4
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        // ns-2's `tcp-vegas.cc`: a quarter, a half of what was resent already, two segments at the
        // least; a timeout leaves an ssthresh of half.
        let floor = view.mss * MIN_SEGMENTS;
        if let Some(sums) = &mut self.double {
            // What a cut leaves is whole segments.
            sums.window = DoubleWindow::new();
        }
        if loss.kind == LossKind::Timeout {
            return Window { cwnd: floor, ssthresh: loss.flight / 2 };
        }
        let segments = loss.flight.0 / view.mss.0;
        let left = if segments <= 3 {
            MIN_SEGMENTS
        } else if loss.again {
            segments / 2
        } else {
            segments - segments / 4
        };
        Window { cwnd: view.mss * left, ssthresh: floor }
    }
}

impl Default for Vegas {
    fn default() -> Self {
        Self {
            diff: VegasDiff::new(),
            alpha: 1,
            beta: 3,
            linear: LinearGrowth::default(),
            grows_from: None,
            double: None,
            lead: 0,
            before: None,
        }
    }
}

impl Knobs for Vegas {
    const ROWS: &'static [KnobOf<Self>] = &[
        Knob::new("alpha")
            .means("segments in queues below which the window grows")
            .count(0..=1_000, |p| &mut p.alpha),
        Knob::new("beta")
            .means("segments in queues above which the window shrinks")
            .count(0..=1_000, |p| &mut p.beta),
        SUMS.word(Words {
            all: EXACT_OR_DOUBLE,
            get: |p| Some(EXACT_OR_DOUBLE[usize::from(p.double.is_some())]),
            set: |p, word| p.double = (word == "double").then(Sums::new),
        }),
    ];
}
