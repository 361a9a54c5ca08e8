//! TCP Westwood's loss response on the Eligible Rate Estimate, as the Astart paper (section II.B)
//! and the Agile Probing paper (section II) give it; Reno's growth.
//!
//! What it believes: at a loss the path still has room for what the estimate says. What it does:
//!
//! ```text
//! three duplicate ACKs: ssthresh = ERE RTTmin, cwnd = min(cwnd, ssthresh)
//! timeout:              ssthresh = max(2, ERE RTTmin), cwnd = 1
//! ```
//!
//! in whole segments, never under two. Where the start-up publishes an estimate, Westwood uses that
//! one, and RTTmin as that estimate knows it. Where a knob of Westwood's estimate is set, it keeps
//! an estimate of its own.
//!
//! With `lg=on` it asks for start-up again whenever [`LoadGauge`] finds the load light, which with
//! Astart as start-up is TCP Westwood with Agile Probing. The window and ssthresh stay as they are
//! then: Astart grows linearly until its estimate exceeds ssthresh, and if that is beyond cwnd too,
//! exponentially.
//!
//! Departures: the ns-2 module's extra divisor after a timeout is left out, as both papers do not
//! have it. Without a single RTT sample there is nothing to go by, and half the flight stays.

use crate::card::{Card, Listed};
use crate::estimate::ere::PRESETS;
use crate::estimate::ere::{Ere, EreKnobs};
use crate::estimate::load_gauge::{LoadGauge, LoadGaugeKnobs};
use crate::event::{Ack, Loss};
use crate::knob::{Knob, KnobOf, KnobValue, Knobs, Words};
use crate::linear::{LinearGrowth, additive_increase};
use crate::policy::{Avoidance, Found, Observer, Step};
use crate::units::{Bytes, Span};
use crate::view::{View, Window};

/// Reno's growth, and a cut to what the path has room for.
#[derive(Clone, Debug)]
pub struct Westwood {
    ere: Ere,
    source: Source,
    linear: LinearGrowth,
    gauge: LoadGauge,
}

/// Which rate estimate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The start-up's, if it has one.
    Shared,
    /// The avoidance's own.
    Own,
}

impl Westwood {
    fn shares(&self, view: &View) -> bool {
        self.source == Source::Shared && view.eligible.is_some()
    }

    /// Updates an estimate of its own. Not inlined, so that who shares the start-up's does not pay
    /// for it.
    #[inline(never)]
    fn estimate(&mut self, ack: Ack, view: &View) {
        self.ere.on_ack(&ack, view);
    }

    /// The window the path has room for, once an RTT is known.
    fn room(&self, view: &View) -> Option<Bytes> {
        if view.rtt.min == Span::MAX {
            return None;
        }
        // Astart paper, section II.B: `ERE * RTTmin`.
        Some(match view.eligible {
            Some(estimate) if self.source == Source::Shared => estimate.window(view.rtt.min),
            _ => self.ere.over(self.ere.rtt_min(view)),
        })
    }
}

impl Listed for Westwood {
    const CARD: Card = Card::new(
        "westwood",
        "one segment more per RTT, a cut to the estimated rate",
        "Wang and others, Globecom 2002",
    )
    .in_kernel("westwood")
    .knobs(Self::KNOBS);
}

impl Observer for Westwood {
    #[inline(always)]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        if !self.shares(view) {
            self.estimate(*ack, view);
        }
        self.gauge.on_ack(ack, view);
    }

    /// Its own estimator's, all zero while the start-up's is used, and Load Gauge's where it is on.
    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.ere.gauges(["westwood_ere", "westwood_re", "westwood_tk"], report);
        self.gauge.gauges(report);
    }
}

impl Avoidance for Westwood {
    fn enter(&mut self, _found: &Found, view: &View) {
        self.gauge.restart(view.now);
    }

    #[inline(always)]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // Agile Probing paper, section III; growth is RFC 5681's.
        self.gauge.judge(view);
        additive_increase(&mut self.linear, ack, view)
    }

    fn cut(&mut self, loss: &Loss, view: &View) -> Window {
        self.gauge.restart(loss.now);
        // Astart paper, section II.B: `ssthresh = ERE * RTTmin`, `cwnd = min(cwnd, ssthresh)`, at
        // least two segments. After a timeout the mechanism makes cwnd one segment.
        let room = self.room(view).unwrap_or(loss.flight / 2);
        let ssthresh = room.whole_segments(view.mss).max(view.mss * MIN_SEGMENTS);
        Window { cwnd: view.window.cwnd.min(ssthresh), ssthresh }
    }

    #[inline]
    fn wants_reprobe(&self) -> bool {
        self.gauge.is_light()
    }
}

impl Default for Westwood {
    fn default() -> Self {
        Self {
            ere: Ere::new(EreKnobs::FIGURES),
            source: Source::Shared,
            linear: LinearGrowth::default(),
            gauge: LoadGauge::new(LoadGaugeKnobs::OFF),
        }
    }
}

impl Knobs for Westwood {
    const ROWS: &'static [KnobOf<Self>] = &[
        // Of the estimate and of Load Gauge.
        Knob::new("preset")
            .means(
                "figures: N = 3, tmin = 15ms, lg.eps = 0.8, fits the published throughputs; paper: \
                 N = 10, tmin = 0s, lg.eps = 0.6; ns2: paper with Umax over all samples, tick = \
                 lg.tick = 10ms, ns-2's clock; per-packet: filter = packets, tmin = 1ms, lg.eps = \
                 0.6, for paced senders and thinned ACKs",
            )
            .preset(Words {
                all: PRESETS,
                get: |_| None,
                set: |p, word| {
                    p.ere.set("preset", KnobValue::Word(word));
                    p.gauge.knobs.take_preset(word);
                },
            }),
        KnobOf::part(LoadGaugeKnobs::KNOBS, |p| &mut p.gauge.knobs),
        KnobOf::part(EreKnobs::OTHERS, |p| &mut p.ere),
    ];

    fn on_set(&mut self, knob: &str) {
        if EreKnobs::KNOBS.iter().any(|of_estimate| of_estimate.name == knob) {
            self.source = Source::Own;
        }
    }
}

/// The smallest ssthresh.
const MIN_SEGMENTS: u64 = 2;
