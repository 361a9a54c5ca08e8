//! How a connection begins: the first window and the first ssthresh, as far as the user sets them
//! for a policy; otherwise they are the endpoint's.

use crate::knob::{Amount, KnobValue};
use crate::startup::slow_start::{IW, SSTHRESH};
use crate::units::Bytes;

/// The values of the knobs `iw` and `ssthresh`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Opening {
    iw: Option<Amount>,
    ssthresh: Option<Amount>,
}

impl Opening {
    /// The first window, where `default` is the endpoint's.
    pub(crate) fn window(&self, default: Bytes, mss: Bytes) -> Bytes {
        self.iw.map_or(default, |iw| iw.bytes(mss))
    }

    /// The first ssthresh, where `default` is the endpoint's.
    pub(crate) fn ssthresh(&self, default: Bytes, mss: Bytes) -> Bytes {
        self.ssthresh.map_or(default, |ssthresh| ssthresh.bytes(mss))
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
}
