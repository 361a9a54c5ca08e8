//! Knobs: the named parameters of a policy, described as data so that the command line, scenario
//! files and `list` all read the same table.

use crate::units::{Bytes, Span};

/// One parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Name as users write it.
    pub name: &'static str,
    /// What it accepts.
    pub kind: KnobKind,
    /// Its value when not set, in words or as a value.
    pub default: &'static str,
    /// What it does, with its source.
    pub doc: &'static str,
}

/// What a knob accepts.
#[derive(Clone, Copy, Debug)]
pub enum KnobKind {
    /// A whole number in this range, both ends included.
    Count(u64, u64),
    /// A window: packets or bytes.
    Window,
    /// A window that can also be none, for no limit.
    Threshold,
    /// A length of time in this range, both ends included.
    Time(Span, Span),
    /// A decimal number in this range, in millionths, both ends included.
    Ratio(u64, u64),
    /// One word of this list.
    Word(&'static [&'static str]),
}

/// A value for a knob, already within its kind's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnobValue {
    /// For [`KnobKind::Count`].
    Count(u64),
    /// For [`KnobKind::Window`] and [`KnobKind::Threshold`].
    Window(Amount),
    /// For [`KnobKind::Time`].
    Time(Span),
    /// For [`KnobKind::Ratio`], in millionths.
    Ratio(u64),
    /// For [`KnobKind::Word`]: the word itself, from the knob's own list.
    Word(&'static str),
}

/// A window as users state it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Whole segments.
    Segments(u64),
    /// Bytes.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

/// A policy whose parameters can be set by name.
pub trait Knobs {
    /// All of its knobs. A knob named `preset`, if any, comes first and is set first.
    const KNOBS: &'static [Knob];

    /// Sets one; false if the policy has no knob of that name and kind.
    fn set(&mut self, name: &str, value: KnobValue) -> bool;

    /// The value in force, presets included; `None` for a knob that is not set where the endpoint
    /// decides, for a preset that is told by the other knobs, and from a policy that does not tell.
    /// A policy with a version for the kernel tells every knob that this version reads.
    fn value(&self, _name: &str) -> Option<KnobValue> {
        None
    }
}

/// The value of [`SUMS`].
pub(crate) const fn sums(double: bool) -> KnobValue {
    KnobValue::Word(if double { "double" } else { "exact" })
}

/// A switch as the words `on` and `off`.
pub(crate) const fn switch(on: bool) -> KnobValue {
    KnobValue::Word(if on { "on" } else { "off" })
}

impl Amount {
    /// In bytes, for segments of `mss`.
    pub fn bytes(self, mss: Bytes) -> Bytes {
        match self {
            Self::Segments(count) => mss * count,
            Self::Bytes(bytes) => Bytes(bytes),
            Self::Unlimited => Bytes::MAX,
        }
    }
}

/// The knobs of a policy that is built of parts: the lists of `parts`, one after another.
///
/// For constants: a total other than `N` does not compile.
pub const fn joined<const N: usize>(parts: &[&[Knob]]) -> [Knob; N] {
    let mut all = [SUMS; N];
    let (mut part, mut at, mut next) = (0, 0, 0);
    while part < parts.len() {
        if at < parts[part].len() {
            all[next] = parts[part][at];
            (at, next) = (at + 1, next + 1);
        } else {
            (part, at) = (part + 1, 0);
        }
    }
    assert!(next == N, "as many knobs as the parts have");
    all
}

/// One, in the millionths of [`KnobKind::Ratio`].
pub const RATIO_ONE: u64 = 1_000_000;

/// How the growth of a window by a part of a segment rounds; of the policies ns-2.35 has.
pub const SUMS: Knob = Knob {
    name: "sums",
    kind: KnobKind::Word(&["exact", "double"]),
    default: "exact",
    doc: "how growth rounds; double: in double precision, as ns-2.35 does",
};
