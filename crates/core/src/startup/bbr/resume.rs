//! Careful Resume inside Startup, as RFC 9959 has it for BBR in an appendix: the rate of an earlier
//! connection is tried at half and watched for two rounds.
//!
//! ```text
//! as a round begins, the first window acknowledged, nothing lost or marked, the RTT as it was:
//!     probing rate = saved/2 / srtt
//! two rounds:   pace = max(nominal, probing rate)
//!               cwnd = 2 max(maxbw, probing rate) minrtt, and what else the budget adds
//! congestion, or another path, in these rounds:  Drain, whose rates count for nothing
//! ```
//!
//! Published: these rules. What was saved is `careful-resume`'s, with its checks and ten minutes of
//! life, and is refuted likewise. Inferred: a probing rate that the nominal pace has reached
//! already is not tried; a round that the source limits begins nothing; the avoidance learns that
//! rates measured in the retreat count for nothing ([`Found::tainted`](crate::policy::Found)).

use super::{Bbr, State};
use crate::event::{Ack, LossKind};
use crate::hint::{PathHint, TEN_MINUTES};
use crate::knob::RATIO_ONE;
use crate::policy::Exit;
use crate::startup::careful_resume::Saved;
use crate::units::{Rate, Span};
use crate::view::View;

/// What was saved, and how far it has been tried.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resume {
    /// The knob.
    pub(super) on: bool,
    /// What an earlier connection found, until it is used or refused.
    saved: Option<Saved>,
    /// How far its use has come.
    tried: Tried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    NotYet,
    /// Since this round, at this rate (`carefully-resuming`).
    Since(u64, Rate),
    /// It met congestion of this kind, or another path, and Drain is the Safe Retreat.
    Failed(Exit),
    /// It was acknowledged, or will not be tried.
    Over,
}

impl Resume {
    /// The knob's default.
    pub(super) const OFF: Self = Self { on: false, saved: None, tried: Tried::NotYet };

    /// For a Startup that begins: what was saved is used once.
    pub(super) fn anew(self) -> Self {
        Self { on: self.on, ..Self::OFF }
    }

    pub(super) fn inform(&mut self, hint: &PathHint, view: &View) {
        if self.on && matches!(hint, PathHint::Own(_)) {
            self.saved = Saved::of(hint, TEN_MINUTES, view);
        }
    }

    /// The probing rate while it is tried; otherwise 0.
    pub(super) fn rate(&self) -> Rate {
        if let Tried::Since(_, rate) = self.tried { rate } else { Rate(0) }
    }

    /// Why Drain is a Safe Retreat, if it is.
    pub(super) fn retreat(&self) -> Option<Exit> {
        if let Tried::Failed(why) = self.tried { Some(why) } else { None }
    }

    pub(super) fn is_refuted(&self) -> bool {
        self.retreat().is_some()
    }

    /// Something was lost or marked. Whether Startup retreats for it; before the jump it only gives
    /// up the jump (section 4.2).
    pub(super) fn meet_congestion(&mut self, kind: LossKind) -> bool {
        match self.tried {
            Tried::Since(..) => self.tried = Tried::Failed(Exit::by(kind)),
            Tried::NotYet => self.tried = Tried::Over,
            Tried::Failed(_) | Tried::Over => return false,
        }
        self.retreat().is_some()
    }
}

impl Bbr {
    /// A round of Startup begins: begins to try the saved rate, or has tried it for two rounds
    /// (RFC 9959, `carefully-resuming`).
    pub(super) fn try_saved_rate(&mut self, ack: &Ack, view: &View) {
        let Some(saved) = self.resume.saved.filter(|_| self.state == State::Startup) else {
            return;
        };
        match self.resume.tried {
            Tried::NotYet if !saved.is_of_path(view) => self.resume.tried = Tried::Over,
            Tried::NotYet => {
                let limited = ack.app_limited || ack.sample.is_some_and(|of| of.app_limited);
                let srtt = view.rtt.smoothed;
                if limited || view.delivered < self.initial_window || srtt == Span(0) {
                    return;
                }
                let rate = saved.jump().per(srtt);
                let nominal = self.bandwidth().scaled(self.form.gain, RATIO_ONE);
                let since = Tried::Since(self.model.rounds(), rate);
                self.resume.tried = if rate > nominal { since } else { Tried::Over };
            }
            Tried::Since(..) if !saved.is_of_path(view) => {
                self.resume.tried = Tried::Failed(Exit::Heuristic);
                self.state = State::Drain(self.model.rounds());
            }
            Tried::Since(round, _) if self.model.rounds() >= round + ROUNDS => {
                self.resume.tried = Tried::Over;
            }
            Tried::Since(..) | Tried::Failed(_) | Tried::Over => {}
        }
    }
}

/// Rounds for which a saved rate is tried.
const ROUNDS: u64 = 2;
