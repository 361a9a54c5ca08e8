//! Adaptive Start (Wang, Pau, Yamada, Sanadidi and Gerla, "TCP Startup Performance in Large
//! Bandwidth Delay Networks", INFOCOM 2004, section IV).
//!
//! What it believes: the Eligible Rate Estimate times the smallest RTT is a window the path has
//! room for. What it does on every ACK for new data:
//!
//! ```text
//! if ssthresh < ERE RTTmin: ssthresh = ERE RTTmin        in whole segments, never lowered here
//! if cwnd >= ssthresh:      cwnd += 1/cwnd               mini linear phase
//! else:                     cwnd += 1                    mini exponential phase
//! ```
//!
//! It does not end by itself: the linear phase is its steady state, and a later rise of the
//! estimate opens the exponential one again. A loss ends it; a timeout starts it anew.
//!
//! What the paper leaves open: the first ssthresh is the endpoint's, as its figures show a plateau
//! at NewReno's 32 KB; where the endpoint has none, 32 segments, because without a first threshold
//! this is slow start. Delayed ACKs count as one.

use crate::card::{Card, Listed};
use crate::estimate::ere::{Ere, EreKnobs};
use crate::event::Ack;
use crate::knob::{KnobOf, Knobs};
use crate::linear::LinearGrowth;
use crate::opening::{Opening, opening};
use crate::policy::{Observer, Startup, Step};
use crate::units::Bytes;
use crate::view::{Eligible, View, Window};

/// Slow start whose threshold follows the Eligible Rate Estimate up.
#[derive(Clone, Debug)]
pub struct Astart {
    ere: Ere,
    linear: LinearGrowth,
    opening: Opening,
    next_threshold: NextThreshold,
}

/// The window in whole segments next above an ssthresh: below it, an estimate does not raise that.
#[derive(Clone, Copy, Debug, Default)]
struct NextThreshold {
    ssthresh: Bytes,
    mss: Bytes,
    above: Bytes,
}

impl Listed for Astart {
    const CARD: Card = Card::new(
        "astart",
        "slow start whose ssthresh follows the estimated rate up",
        "Wang and others, INFOCOM 2004",
    )
    .with("westwood")
    .about(
        "The rate at which ACKs return, as Eligible Rate Estimate.",
        "That estimate times the smallest RTT is a window the path has room for.",
        "The estimate follows what is sent, in steps: on a long clean path with a buffer the \
         climb takes longer than slow start's.",
    )
    .in_kernel("astart")
    .knobs(Self::KNOBS);
}

impl Observer for Astart {
    #[inline(always)]
    fn on_ack(&mut self, ack: &Ack, view: &View) {
        self.ere.on_ack(ack, view);
    }

    #[inline]
    fn eligible(&self) -> Option<Eligible> {
        Some(self.ere.eligible())
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        self.ere.gauges(["ere", "re", "tk"], report);
    }
}

impl Startup for Astart {
    fn open(&self, default: Window, mss: Bytes) -> Window {
        self.opening.window_to_raise(default, mss)
    }

    #[inline(always)]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        let mut window = view.window;
        // Section IV, listing: `if ssthresh < ERE * RTTmin: ssthresh = ERE * RTTmin`.
        window.ssthresh = self.raised(window.ssthresh, view.mss);
        // Its mini linear phase, one segment per RTT.
        if window.cwnd >= window.ssthresh {
            return window.grow(self.linear.per_ack(view));
        }
        // Its mini exponential phase, one segment per ACK.
        window.grow(ack.acked.min(view.mss))
    }
}

impl Astart {
    /// ssthresh, or the estimated window if that is larger by a whole segment. The estimate that
    /// raises ssthresh is kept, because ssthresh rarely changes.
    #[inline(always)]
    fn raised(&mut self, ssthresh: Bytes, mss: Bytes) -> Bytes {
        if (ssthresh, mss) != (self.next_threshold.ssthresh, self.next_threshold.mss) {
            self.next_threshold.move_to(ssthresh, mss);
        }
        let estimated = self.ere.window();
        if estimated < self.next_threshold.above { ssthresh } else { estimated.whole_segments(mss) }
    }
}

impl NextThreshold {
    #[cold]
    #[inline(never)]
    fn move_to(&mut self, ssthresh: Bytes, mss: Bytes) {
        *self = Self { ssthresh, mss, above: ssthresh.whole_segments(mss) + mss };
    }
}

impl Astart {
    /// With these knobs of the estimate, as [`EreKnobs::PER_PACKET`] for an endpoint that paces.
    pub fn with(estimate: EreKnobs) -> Self {
        Self {
            ere: Ere::new(estimate),
            linear: LinearGrowth::default(),
            opening: Opening::default(),
            next_threshold: NextThreshold::default(),
        }
    }
}

impl Default for Astart {
    fn default() -> Self {
        Self::with(EreKnobs::FIGURES)
    }
}

impl Knobs for Astart {
    const ROWS: &'static [KnobOf<Self>] = &[
        KnobOf::part(EreKnobs::PRESET, |p| &mut p.ere),
        opening(|p| &mut p.opening),
        KnobOf::part(EreKnobs::OTHERS, |p| &mut p.ere),
    ];
}
