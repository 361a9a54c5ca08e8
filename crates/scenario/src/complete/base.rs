//! Quantities as results have them: whole numbers in base units.

use firstflight_control::quantity::{Rate, Size, Time};
use firstflight_link::Buffer;
use serde::{Serialize, Serializer};

use super::Setting;

/// Writes a quantity in its base unit: bit/s, nanoseconds, bytes.
pub(super) fn base<T: Base, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    value.base().serialize(serializer)
}

/// What has a form in base units.
pub(super) trait Base {
    fn base(&self) -> impl Serialize;
}

impl Base for Rate {
    fn base(&self) -> impl Serialize {
        self.bps()
    }
}

impl Base for Size {
    fn base(&self) -> impl Serialize {
        self.bytes()
    }
}

impl Base for Time {
    fn base(&self) -> impl Serialize {
        self.ns()
    }
}

impl<T: Base> Base for Option<T> {
    fn base(&self) -> impl Serialize {
        self.as_ref().map(T::base)
    }
}

impl<T: Base> Base for [T; 2] {
    fn base(&self) -> impl Serialize {
        self.each_ref().map(T::base)
    }
}

impl<T: Base> Base for Setting<T> {
    fn base(&self) -> impl Serialize {
        self.value.base()
    }
}

impl Base for Buffer {
    fn base(&self) -> impl Serialize {
        /// A buffer without a limit is written as `null`.
        #[derive(Serialize)]
        #[serde(rename_all = "lowercase")]
        enum Room {
            Packets(u64),
            Bytes(u64),
        }
        match *self {
            Self::Packets(packets) => Some(Room::Packets(packets)),
            Self::Bytes(bytes) => Some(Room::Bytes(bytes)),
            Self::Unlimited => None,
        }
    }
}
