//! What a loss leaves of the window, and where the curve after it turns (RFC 9438 sections 4.6 to
//! 4.8): the part of CUBIC that Cuback has too.

use crate::event::{Loss, LossKind};
use crate::knob::{Knob, KnobKind, RATIO_ONE};
use crate::policy::Found;
use crate::units::Bytes;
use crate::view::{Phase, View};

/// Multiplicative decrease and fast convergence.
#[derive(Clone, Copy, Debug)]
pub(in crate::avoidance) struct Decrease {
    /// `beta_cubic`, in millionths.
    pub(in crate::avoidance) beta: u64,
    /// What a loss during start-up leaves, in millionths; as any other loss if unset.
    pub(in crate::avoidance) startup_beta: Option<u64>,
    /// RFC 9438 section 4.7.
    pub(in crate::avoidance) fast_convergence: bool,
}

impl Decrease {
    /// RFC 9438 section 4.6: `beta_cubic` is 0.7.
    pub(in crate::avoidance) const RFC9438: Self =
        Self { beta: 700_000, startup_beta: None, fast_convergence: true };

    /// Section 4.6: `beta_cubic` of what is in flight, after a timeout too (section 4.8).
    pub(in crate::avoidance) fn ssthresh(&self, loss: &Loss, view: &View) -> Bytes {
        // A segment that times out twice is not a second sign of congestion (RFC 5681 section 3.1).
        if loss.kind == LossKind::Timeout && loss.answered {
            return view.window.ssthresh;
        }
        let beta = match view.phase {
            Phase::Startup => self.startup_beta(),
            Phase::Avoidance => self.beta,
        };
        loss.flight.scaled(beta, RATIO_ONE)
    }

    /// Section 4.7: `W_max` after a cut of `cwnd`, where it was `w_max`. A window below the last
    /// one makes room for a flow that has come.
    pub(in crate::avoidance) fn w_max(&self, cwnd: Bytes, w_max: Bytes) -> Bytes {
        let falls = self.fast_convergence && cwnd < w_max;
        if falls { cwnd.scaled(RATIO_ONE + self.beta, 2 * RATIO_ONE) } else { cwnd }
    }

    pub(in crate::avoidance) fn startup_beta(&self) -> u64 {
        self.startup_beta.unwrap_or(self.beta)
    }

    /// Section 4.3: `alpha_cubic`, segments per RTT in units of `one`, with which Reno has the same
    /// average.
    pub(in crate::avoidance) fn alpha(&self, one: u64) -> u64 {
        3 * (RATIO_ONE - self.beta) * one / (RATIO_ONE + self.beta)
    }
}

/// Where the curve of a congestion-avoidance stage comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::avoidance) enum Stage {
    /// No loss to go by since the connection began or timed out.
    Unknown,
    /// The window was cut; the curve begins with the next step.
    Cut,
    /// The curve runs, from a cut or not.
    Running,
}

/// Where the curve turns if start-up says so; `cut` if a loss has said it already. A window that
/// start-up believes the path has room for is where it turns, as that of a loss is
/// (draft-kazuho-ccwg-rapid-start, section 3.3.3 of the editor's copy). So is a measured pipe that
/// the window does not fill: no source says so, but the RFC's flat start from a window below it
/// would take the time of a loss that never was.
pub(in crate::avoidance) fn turn(found: &Found, cut: bool, view: &View) -> Option<Bytes> {
    let pipe = found.pipe.filter(|pipe| *pipe > view.window.cwnd && !cut);
    found.peak.or(pipe)
}

/// The knob for `beta_cubic`.
pub(in crate::avoidance) const BETA: Knob = Knob::new("beta")
    .means("what a loss leaves of the window")
    .of_kind(KnobKind::Ratio(RATIO_ONE / 10, 950_000));

/// The knob for what a loss during start-up leaves.
pub(in crate::avoidance) const STARTUP_BETA: Knob = Knob::new("startup_beta")
    .means("what a loss during start-up leaves of the window; neqo has 0.5")
    .by_default("beta")
    .of_kind(BETA.kind);

/// The knob for fast convergence.
pub(in crate::avoidance) const FAST_CONVERGENCE: Knob =
    Knob::new("fast_convergence").means("a loss below the last one's window makes room for others");
