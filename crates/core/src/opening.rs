//! How a connection begins: the first window and the first ssthresh, as far as the user sets them
//! for a policy; otherwise they are the endpoint's.

use crate::knob::{Amount, AnyKnobs, Knob, KnobKind, KnobOf, Knobs};
use crate::units::Bytes;
use crate::view::Window;

/// The values of the knobs `iw` and `ssthresh`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    iw: Option<Amount>,
    ssthresh: Option<Amount>,
}

impl Opening {
    /// The first window, where `default` is the endpoint's.
    pub(crate) fn window(&self, default: Window, mss: Bytes) -> Window {
        Window {
            cwnd: self.iw.map_or(default.cwnd, |iw| iw.bytes(mss)),
            ssthresh: self.ssthresh.map_or(default.ssthresh, |ssthresh| ssthresh.bytes(mss)),
        }
    }

    /// The first window for a policy that raises ssthresh itself. Where the endpoint has no
    /// ssthresh it is 32 segments, because without one the policy would be slow start. Only the
    /// knob can ask for none.
    pub(crate) fn window_to_raise(&self, default: Window, mss: Bytes) -> Window {
        let none = default.ssthresh == Bytes::MAX;
        let ssthresh = if none { mss * FIRST_SSTHRESH_SEGMENTS } else { default.ssthresh };
        self.window(Window { ssthresh, ..default }, mss)
    }
}

impl Knobs for Opening {
    const ROWS: &'static [KnobOf<Self>] =
        &[IW.if_set(|p| &mut p.iw), SSTHRESH.if_set(|p| &mut p.ssthresh)];
}

/// The rows of both knobs.
pub(crate) const fn opening<P>(at: fn(&mut P) -> &mut dyn AnyKnobs) -> KnobOf<P> {
    KnobOf::part(Opening::KNOBS, at)
}

/// The rows of both knobs of a start-up that finds its own end ([`crate::card::Card::own_end`]).
pub(crate) const fn opening_of_own_end<P>(at: fn(&mut P) -> &mut dyn AnyKnobs) -> KnobOf<P> {
    KnobOf::part(&[IW, OWN_END_SSTHRESH], at)
}

/// The knob for the initial window.
pub(crate) const IW: Knob =
    Knob::new("iw").means("initial window").by_default("the endpoint's").of_kind(KnobKind::Window);

/// The knob for the initial ssthresh.
pub(crate) const SSTHRESH: Knob = Knob::new("ssthresh")
    .means("initial ssthresh; none means unlimited")
    .by_default("the endpoint's")
    .of_kind(KnobKind::Threshold);

/// The knob for the initial ssthresh of a start-up that finds its own end.
pub(crate) const OWN_END_SSTHRESH: Knob = SSTHRESH.by_default("none, or the scenario's");

/// 32 KB in packets of 1000 bytes, NewReno's plateau in the figures of the Astart paper.
const FIRST_SSTHRESH_SEGMENTS: u64 = 32;
