//! What the rows become.

use std::fmt::Display;

use firstflight_control::quantity::{Size, Threshold, Time, Window};
use serde::Serialize;

use super::Kind;
use crate::profile::{EcnFeedback, FastOpen, LinuxRelease, Pacer, Receiver, Recovery, Timer};

/// The type of a key's values.
pub(crate) trait Typed: Copy + PartialEq + Display + Serialize {
    /// How it is written.
    const KIND: Kind;

    /// The value, if it is a time: results have it in nanoseconds.
    fn time(self) -> Option<Time> {
        None
    }

    /// The value, if it is a size: results have it in bytes.
    fn size(self) -> Option<Size> {
        None
    }
}

impl Typed for bool {
    const KIND: Kind = Kind::Switch;
}

impl Typed for u64 {
    const KIND: Kind = Kind::Count;
}

impl Typed for Window {
    const KIND: Kind = Kind::Quantity;
}

impl Typed for Threshold {
    const KIND: Kind = Kind::Quantity;
}

impl Typed for Time {
    const KIND: Kind = Kind::Quantity;

    fn time(self) -> Option<Time> {
        Some(self)
    }
}

impl Typed for Size {
    const KIND: Kind = Kind::Quantity;

    fn size(self) -> Option<Size> {
        Some(self)
    }
}

/// Types whose values are words.
macro_rules! words {
    ($($type:ty),+) => {$(
        impl Typed for $type {
            const KIND: Kind = Kind::Word(<$type>::NAMES);
        }
    )+};
}

words!(Recovery, FastOpen, EcnFeedback, Timer, Receiver, LinuxRelease, Pacer);

/// Declares keys once. A row is
///
/// `/// doc`, `key: type in range = [linux, rfc, ns2, quic], release value, hidden value; support;`
///
/// The range is that of a count. A release of ns-2 stands where its value is not that of the next
/// newer one. Results leave a `hidden` value out, with `usual hidden` that of the profile.
macro_rules! keys {
    (
        $(#[$about:meta])* $given:ident, $values:ident, $table:ident, $part:ident:
        $(
            $(#[doc = $doc:literal])+
            $key:ident: $type:ident $(in $range:tt)?
                = [$linux:expr, $rfc:expr, $ns2:expr, $quic:expr]
                $(, v2_26 $v2_26:expr)? $(, v2_1b6 $v2_1b6:expr)?
                $(, hidden $hidden:expr)? $(, usual $usual:ident)?;
                $support:expr;
        )+
    ) => {
        $(#[$about])*
        #[doc = "\n\nAs written; `None` is \"not written\"."]
        #[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
        #[non_exhaustive]
        pub struct $given {
            $($(#[doc = $doc])+ pub $key: Option<$type>,)+
        }

        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $values {
            $($(#[doc = $doc])+ pub $key: $type,)+
        }

        /// Its keys.
        pub const $table: &[Key] = &[$(Key {
            name: stringify!($key),
            doc: concat!($($doc, "\n"),+),
            kind: <$type as Typed>::KIND,
            support: $support,
            value: |constants| constants.$part.$key.to_string(),
            given: |endpoint| endpoint.$part.$key.map(|value| value.to_string()),
        }),+];

        impl $given {
            pub(crate) fn read(fields: &mut Fields<'_>) -> Result<Self, ScenarioError> {
                Ok(Self { $($key: keys!(@read fields $key $(in $range)?),)+ })
            }

            /// The value of every key: the written one, or else that of `values`.
            pub(crate) fn or(&self, values: &$values) -> $values {
                $values { $($key: self.$key.unwrap_or(values.$key),)+ }
            }

            /// What is written here, or else what is written there.
            #[allow(dead_code, reason = "the keys of all endpoints have one place only")]
            pub(crate) fn over(&self, other: &Self) -> Self {
                Self { $($key: self.$key.or(other.$key),)+ }
            }
        }

        impl $values {
            pub(crate) const LINUX: Self = Self { $($key: $linux,)+ };
            pub(crate) const RFC: Self = Self { $($key: $rfc,)+ };
            pub(crate) const NS2: Self = Self { $($key: $ns2,)+ };
            pub(crate) const QUIC: Self = Self { $($key: $quic,)+ };
            pub(crate) const NS2_2_26: Self = {
                #[allow(unused_mut, reason = "these keys may not have changed")]
                let mut old = Self::NS2;
                $($(old.$key = $v2_26;)?)+
                old
            };
            pub(crate) const NS2_2_1B6: Self = {
                let mut old = Self::NS2_2_26;
                $($(old.$key = $v2_1b6;)?)+
                old
            };

            /// The keys whose values are not those of `base`, with what is found instead.
            pub fn changed(&self, base: &Self) -> Vec<(&'static Key, String)> {
                let found = [$((self.$key != base.$key).then(|| self.$key.to_string())),+];
                $table.iter().zip(found).filter_map(|(key, found)| Some((key, found?))).collect()
            }

            /// The values that are times.
            #[allow(dead_code, reason = "a group of flows sets none")]
            pub(crate) fn times(&self) -> impl Iterator<Item = (&'static str, Time)> + use<> {
                let times = [$((stringify!($key), Typed::time(self.$key))),+];
                times.into_iter().filter_map(|(key, time)| Some((key, time?)))
            }
        }

        impl $values {
            /// Writes what results show, where the profile has these `usual` values.
            #[allow(
                dead_code,
                unused_variables,
                reason = "results have the keys of a group of flows in bytes"
            )]
            pub(crate) fn serialize_into<M: SerializeMap>(
                &self,
                map: &mut M,
                usual: &Self,
            ) -> Result<(), M::Error> {
                $(
                    let is_shown = true
                        $(&& self.$key != $hidden)?
                        $(&& keys!(@differs $usual self.$key, usual.$key))?;
                    match (Typed::time(self.$key), Typed::size(self.$key)) {
                        _ if !is_shown => {}
                        (Some(time), _) => {
                            map.serialize_entry(concat!(stringify!($key), "_ns"), &time.ns())?;
                        }
                        (_, Some(size)) => {
                            let key = concat!(stringify!($key), "_bytes");
                            map.serialize_entry(key, &size.bytes())?;
                        }
                        _ => map.serialize_entry(stringify!($key), &self.$key)?,
                    }
                )+
                Ok(())
            }
        }
    };
    (@differs hidden $found:expr, $usual:expr) => { $found != $usual };
    (@read $fields:ident $key:ident) => { $fields.read(stringify!($key))? };
    (@read $fields:ident $key:ident in $range:tt) => {
        $fields.count(stringify!($key), $range)?
    };
}

pub(super) use keys;
