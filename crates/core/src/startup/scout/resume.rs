//! Scouted Resume: what an earlier connection knew of the path is tested by a train in one round
//! trip, where Careful Resume believes half of it.
//!
//! ```text
//! first train acknowledged, which did not say that the target is all, and the RTT as it was:
//!     a round with target + train = saved/2, or the pipe that this train showed if that is less;
//!     its own train asks for twice that
//! that train acknowledged:
//!   passed:       target = 8/7 pipe, from target to what was asked for
//!   showed room:  target = pipe, up to that
//!   otherwise:    as in any other round of Scout, but the first train that is not noise ends it
//! loss before all of that round is acknowledged:  Scout's landing, and the hint was wrong
//! ```
//!
//! Published (RFC 9959): what is saved and when it is worth it (section 4.1), the checks of the
//! path (section 4.2), and no more than half of it before any of it is acknowledged (section 4.3).
//! Ours: the train at the whole rate, by which the second half is allowed a round trip earlier or
//! not at all, and the landing in the place of the Safe Retreat.

use crate::hint::{PathHint, TEN_MINUTES};
use crate::knob::RATIO_ONE;
use crate::policy::Entry;
use crate::startup::careful_resume::Saved;
use crate::units::{Bytes, Span, mul_div};
use crate::view::View;

/// What was saved, and how far it has been tested.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resume {
    /// The knob.
    pub(super) on: bool,
    saved: Option<Saved>,
    tested: Tested,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tested {
    NotYet,
    /// This window is what the train of the round asks for.
    Now(Bytes),
    /// The train has been judged; what left before this position is not acknowledged yet.
    Until(Bytes),
    Refuted,
}

impl Resume {
    /// The knob's default.
    pub(super) const OFF: Self = Self { on: false, saved: None, tested: Tested::NotYet };

    /// What was saved is used once, by the first slow start of a connection.
    pub(super) fn enter(&mut self, why: Entry) {
        self.saved = None;
        if why == Entry::Connect {
            self.tested = Tested::NotYet;
        }
    }

    pub(super) fn inform(&mut self, hint: &PathHint, view: &View) {
        // Ours: all that a round delivered, also of a connection that never left slow start, of
        // which RFC 9959 section 4.1 saves half: Scout's window grows to what trains have shown.
        if let PathHint::Own(last) = hint
            && self.on
        {
            self.saved = Saved::of_window(last.per_round, hint, TEN_MINUTES, view);
        }
    }

    /// The most that may leave before any of it is acknowledged, if something was saved of this
    /// path. It is told once.
    pub(super) fn jump(&mut self, view: &View) -> Option<Bytes> {
        // RFC 9959 sections 4.2 and 4.3.
        let saved = self.saved.take().filter(|saved| saved.is_of_path(view))?;
        (view.rtt.smoothed > Span(0)).then(|| saved.jump())
    }

    /// A round with this window tests twice `jump`. It returns the rate of its train in that of the
    /// round, in millionths.
    pub(super) fn begin(&mut self, jump: Bytes, window: Bytes) -> u64 {
        let saved = jump * 2;
        self.tested = Tested::Now(saved);
        mul_div(saved.0, RATIO_ONE, window.0)
    }

    /// A train has been acknowledged. The most that the window may become, if it was the one that
    /// tested what was saved.
    pub(super) fn end(&mut self, view: &View) -> Option<Bytes> {
        let saved = self.tested()?;
        self.tested = Tested::Until(view.snd_nxt);
        Some(saved)
    }

    /// The window that is being tested.
    pub(super) fn tested(&self) -> Option<Bytes> {
        if let Tested::Now(saved) = self.tested { Some(saved) } else { None }
    }

    /// Something was lost. RFC 9959 section 4.5: of what was resumed, the hint was wrong.
    pub(super) fn meet_congestion(&mut self, view: &View) {
        if self.is_on_its_way(view) {
            self.tested = Tested::Refuted;
        }
    }

    /// Something of what was resumed is not acknowledged.
    pub(super) fn is_on_its_way(&self, view: &View) -> bool {
        match self.tested {
            Tested::Now(_) => true,
            Tested::Until(end) => view.acked < end,
            Tested::NotYet | Tested::Refuted => false,
        }
    }

    pub(super) fn is_refuted(&self) -> bool {
        self.tested == Tested::Refuted
    }
}
