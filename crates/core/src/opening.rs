//! How a connection begins: the first window and the first ssthresh, as far as the user sets them
//! for a policy; otherwise they are the endpoint's.

use crate::knob::{Amount, KnobValue};
use crate::startup::slow_start::{IW, SSTHRESH};
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

    /// Sets one of the two; false for any other knob.
    pub(crate) fn set(&mut self, name: &str, value: KnobValue) -> bool {
        let KnobValue::Window(amount) = value else { return false };
        if name == IW.name {
            self.iw = Some(amount);
        } else if name == SSTHRESH.name {
            self.ssthresh = Some(amount);
        } else {
            return false;
        }
        true
    }

    /// The value of one of the two, if it is set.
    pub(crate) fn value(&self, name: &str) -> Option<KnobValue> {
        let amount = match name {
            "iw" => self.iw,
            "ssthresh" => self.ssthresh,
            _ => None,
        };
        amount.map(KnobValue::Window)
    }
}

/// 32 KB in packets of 1000 bytes, NewReno's plateau in the figures of the Astart paper.
const FIRST_SSTHRESH_SEGMENTS: u64 = 32;
