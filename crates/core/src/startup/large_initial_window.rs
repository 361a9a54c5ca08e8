//! Large initial window: start with a window that may fill the path, and grow linearly at once. The
//! Astart paper (section V.D) compares with it on a satellite path.
//!
//! What it believes: `iw` fits. What it does: begins at `iw` with ssthresh there too, so that the
//! first ACK already meets congestion avoidance. After a timeout it is slow start, as for everyone.

use crate::card::{Card, Listed};
use crate::event::Ack;
use crate::knob::{Amount, Knob, KnobOf, Knobs};
use crate::needs::Needs;
use crate::policy::{Observer, Startup, Step};
use crate::startup::slow_start::double;
use crate::units::Bytes;
use crate::view::{View, Window};

/// A large first window instead of slow start.
#[derive(Clone, Copy, Debug)]
pub struct LargeInitialWindow {
    iw: Amount,
}

impl Listed for LargeInitialWindow {
    const CARD: Card =
        Card::new("liw", "a large first window and no slow start", "Astart paper, section V.D")
            .with("newreno")
            .about(
                "Nothing.",
                "The window it begins with fits.",
                "A guess: too much for a small path, and on a large one all growth after it is \
                 linear.",
            )
            .in_kernel("large_initial_window")
            .knobs(Self::KNOBS);
}

impl Observer for LargeInitialWindow {
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

impl Startup for LargeInitialWindow {
    fn open(&self, _default: Window, mss: Bytes) -> Window {
        // Astart paper, section V.D: ssthresh equals the initial window, so that there is no slow
        // start.
        let iw = self.iw.bytes(mss);
        Window { cwnd: iw, ssthresh: iw }
    }

    #[inline]
    fn step(&mut self, ack: &Ack, view: &View) -> Step {
        // After a timeout only (RFC 5681 section 3.1).
        double(ack, view)
    }
}

impl Default for LargeInitialWindow {
    /// 64 KB, which the paper's packets of 1000 bytes make 64 segments.
    fn default() -> Self {
        Self { iw: Amount::Segments(64) }
    }
}

impl Knobs for LargeInitialWindow {
    const ROWS: &'static [KnobOf<Self>] = &[Knob::new("iw")
        .means("initial window, and initial ssthresh with it")
        .window(|p| &mut p.iw)];
}
