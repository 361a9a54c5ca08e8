//! Knobs: the named parameters of a policy, one row each. A row says the name, what the knob does,
//! what it accepts, and which field of the policy holds it; its default is what that field has in
//! the policy's `Default`. The command line, scenario files and `list` read the rows, and setting
//! and reading a knob follow from them.
//!
//! ```
//! use firstflight_core::knob::{Knob, KnobOf, KnobValue, Knobs, words};
//!
//! #[derive(Clone)]
//! struct Policy {
//!     limit: u64,
//!     paced: bool,
//! }
//!
//! impl Knobs for Policy {
//!     const ROWS: &'static [KnobOf<Self>] = &[
//!         Knob::new("limit")
//!             .means("segments that one ACK may add")
//!             .count(1..=1_000, |p| &mut p.limit),
//!         Knob::new("pacing")
//!             .means("whether packets are paced")
//!             .word(words!(|p| p.paced, ["off" = false, "on" = true])),
//!     ];
//! }
//!
//! let mut policy = Policy { limit: 2, paced: false };
//! assert!(policy.set("limit", KnobValue::Count(0)));
//! assert!(policy.set("pacing", KnobValue::Word("on")));
//! assert_eq!(policy.value("limit"), Some(KnobValue::Count(1)), "the nearest that it accepts");
//! assert!(policy.paced && !policy.set("pacing", KnobValue::Word("sometimes")));
//! ```

use core::ops::RangeInclusive;

use crate::units::{Bytes, Span};
#[doc(inline)]
pub use crate::{presets, words};

/// One parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// Name as users write it.
    pub name: &'static str,
    /// What it accepts.
    pub kind: KnobKind,
    /// What holds when it is not set, in words; empty where the policy's own default value says it.
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

/// A policy whose parameters can be set by name, or a part of one.
pub trait Knobs: Clone + 'static {
    /// All of its knobs, in the order in which lists show them and in which they are set. A knob
    /// named `preset`, if any, comes first, and the first of its words holds when it is not set.
    const ROWS: &'static [KnobOf<Self>] = &[];

    #[doc(hidden)]
    const LIST: &'static KnobList = &KnobList::of(Self::ROWS);

    /// What lists read of the rows.
    const KNOBS: &'static [Knob] = Self::LIST.knobs();

    /// Sets one, to the nearest value that it accepts; false if the policy has no knob of that name
    /// and kind, or the knob has no such word.
    fn set(&mut self, name: &str, value: KnobValue) -> bool {
        let known = Self::ROWS.iter().any(|row| row.set(self, name, value));
        if known {
            self.on_set(name);
        }
        known
    }

    /// Does what follows from a knob that was set, where other state is computed from it.
    fn on_set(&mut self, _name: &str) {}

    /// The value in force, presets included. `None` in two cases: the knob is not set and the
    /// endpoint decides, or it is `preset`, whose effect the other knobs show.
    fn value(&self, name: &str) -> Option<KnobValue> {
        // The rows lead to fields by `&mut`, to read them too. Knobs are read a few times a run.
        let mut policy = self.clone();
        Self::ROWS.iter().find_map(|row| row.value(&mut policy, name))
    }
}

/// [`Knobs`] of a type that is not known: a part of a policy, or a policy of another crate.
pub trait AnyKnobs {
    /// [`Knobs::set`].
    fn set_knob(&mut self, name: &str, value: KnobValue) -> bool;

    /// [`Knobs::value`].
    fn knob(&self, name: &str) -> Option<KnobValue>;
}

impl<P: Knobs> AnyKnobs for P {
    fn set_knob(&mut self, name: &str, value: KnobValue) -> bool {
        self.set(name, value)
    }

    fn knob(&self, name: &str) -> Option<KnobValue> {
        self.value(name)
    }
}

/// A row: a knob and the field of the policy `P` that holds it, or some knobs of a part of it.
pub struct KnobOf<P>(Row<P>);

enum Row<P> {
    Own(Knob, Field<P>),
    OfGroup(&'static [Knob], fn(&mut P) -> &mut dyn AnyKnobs),
}

/// Where a policy keeps the value of a knob.
enum Field<P> {
    Number(fn(&mut P) -> &mut u64),
    Time(fn(&mut P) -> &mut Span),
    Window(fn(&mut P) -> &mut Amount),
    /// `None` until the knob is set.
    IfSet(fn(&mut P) -> &mut Option<Amount>),
    Word(fn(&P) -> Option<&'static str>, fn(&mut P, &'static str)),
    /// Nowhere in one piece.
    Derived(fn(&P) -> Option<KnobValue>, fn(&mut P, KnobValue)),
}

/// The words of a knob, and what they mean to the policy `P`; [`words!`] and [`presets!`] make one.
pub struct Words<P> {
    /// Every word.
    pub all: &'static [&'static str],
    /// The word in force; `None` if it follows from other knobs.
    pub get: fn(&P) -> Option<&'static str>,
    /// Puts a word of the list in force.
    pub set: fn(&mut P, &'static str),
}

impl Knob {
    /// A knob of that name. It takes no value before one of the other functions has said of which
    /// kind and where the policy keeps it.
    pub const fn new(name: &'static str) -> Self {
        Self { name, kind: KnobKind::Word(&[]), default: "", doc: "" }
    }

    /// Says what it does, with its source.
    #[must_use]
    pub const fn means(self, doc: &'static str) -> Self {
        Self { doc, ..self }
    }

    /// Says in words what holds when it is not set, where that is more than a value.
    #[must_use]
    pub const fn by_default(self, default: &'static str) -> Self {
        Self { default, ..self }
    }

    /// Sets the kind, for [`Knob::number`], [`Knob::if_set`] and [`Knob::derived`].
    #[must_use]
    pub const fn of_kind(self, kind: KnobKind) -> Self {
        Self { kind, ..self }
    }

    /// A number of the kind that was said ([`Knob::of_kind`]).
    pub const fn number<P>(self, at: fn(&mut P) -> &mut u64) -> KnobOf<P> {
        KnobOf(Row::Own(self, Field::Number(at)))
    }

    /// A whole number in this range.
    pub const fn count<P>(
        self,
        range: RangeInclusive<u64>,
        at: fn(&mut P) -> &mut u64,
    ) -> KnobOf<P> {
        let kind = KnobKind::Count(*range.start(), *range.end());
        self.of_kind(kind).number(at)
    }

    /// A decimal number in this range, in millionths.
    pub const fn ratio<P>(
        self,
        range: RangeInclusive<u64>,
        at: fn(&mut P) -> &mut u64,
    ) -> KnobOf<P> {
        let kind = KnobKind::Ratio(*range.start(), *range.end());
        self.of_kind(kind).number(at)
    }

    /// A length of time in this range.
    pub const fn time<P>(
        self,
        range: RangeInclusive<Span>,
        at: fn(&mut P) -> &mut Span,
    ) -> KnobOf<P> {
        let kind = KnobKind::Time(*range.start(), *range.end());
        KnobOf(Row::Own(self.of_kind(kind), Field::Time(at)))
    }

    /// A window.
    pub const fn window<P>(self, at: fn(&mut P) -> &mut Amount) -> KnobOf<P> {
        KnobOf(Row::Own(self.of_kind(KnobKind::Window), Field::Window(at)))
    }

    /// A window that can also be none.
    pub const fn threshold<P>(self, at: fn(&mut P) -> &mut Amount) -> KnobOf<P> {
        KnobOf(Row::Own(self.of_kind(KnobKind::Threshold), Field::Window(at)))
    }

    /// A window of the kind that was said ([`Knob::of_kind`]), where something else decides unless
    /// it is set.
    pub const fn if_set<P>(self, at: fn(&mut P) -> &mut Option<Amount>) -> KnobOf<P> {
        KnobOf(Row::Own(self, Field::IfSet(at)))
    }

    /// One of these words.
    pub const fn word<P>(self, words: Words<P>) -> KnobOf<P> {
        KnobOf(Row::Own(self.of_kind(KnobKind::Word(words.all)), Field::Word(words.get, words.set)))
    }

    /// One of these words, each of which sets other knobs; without it the first holds.
    pub const fn preset<P>(self, words: Words<P>) -> KnobOf<P> {
        self.by_default(words.all[0]).word(words)
    }

    /// A value of the kind that was given ([`Knob::of_kind`]), which is no field of the policy:
    /// `get` works it out, `set` puts an accepted one into the fields.
    pub const fn derived<P>(
        self,
        get: fn(&P) -> Option<KnobValue>,
        set: fn(&mut P, KnobValue),
    ) -> KnobOf<P> {
        KnobOf(Row::Own(self, Field::Derived(get, set)))
    }
}

/// [`Words`] that stand for the values of a field: `words!(|p| p.paced, ["off" = false, "on" =
/// true])`. A variant without a word does not compile.
#[macro_export]
macro_rules! words {
    (|$policy:ident| $field:expr, [$($word:tt = $($value:ident)::+),+ $(,)?] $(,)?) => {
        $crate::knob::Words {
            all: &[$($word),+],
            get: |$policy| Some(match $field { $($($value)::+ => $word,)+ }),
            set: |$policy, word| match word {
                $($word => $field = $($value)::+,)+
                _ => {}
            },
        }
    };
}

/// [`Words`] that set what other knobs set too, so that the word in force follows from those:
/// `presets!(|p| p.form, ["draft" = Form::DRAFT, "v2" = Form::V2])`.
#[macro_export]
macro_rules! presets {
    (|$policy:ident| $field:expr, [$($word:tt = $($value:ident)::+),+ $(,)?] $(,)?) => {
        $crate::knob::Words {
            all: &[$($word),+],
            get: |_| None,
            set: |$policy, word| match word {
                $($word => $field = $($value)::+,)+
                _ => {}
            },
        }
    };
}

impl<P> KnobOf<P> {
    /// Knobs of a part of the policy, which has rows for them.
    pub const fn part(knobs: &'static [Knob], at: fn(&mut P) -> &mut dyn AnyKnobs) -> Self {
        Self(Row::OfGroup(knobs, at))
    }

    fn set(&self, policy: &mut P, name: &str, value: KnobValue) -> bool {
        let (knob, field) = match &self.0 {
            Row::Own(knob, field) => (knob, field),
            Row::OfGroup(knobs, at) => {
                return knobs.iter().any(|knob| knob.name == name)
                    && at(policy).set_knob(name, value);
            }
        };
        let Some(value) = knob.kind.nearest(value).filter(|_| knob.name == name) else {
            return false;
        };
        match (field, value) {
            (Field::Number(at), KnobValue::Count(number) | KnobValue::Ratio(number)) => {
                *at(policy) = number;
            }
            (Field::Time(at), KnobValue::Time(span)) => *at(policy) = span,
            (Field::Window(at), KnobValue::Window(amount)) => *at(policy) = amount,
            (Field::IfSet(at), KnobValue::Window(amount)) => *at(policy) = Some(amount),
            (Field::Word(_, set), KnobValue::Word(word)) => set(policy, word),
            (Field::Derived(_, set), value) => set(policy, value),
            _ => return false,
        }
        true
    }

    fn value(&self, policy: &mut P, name: &str) -> Option<KnobValue> {
        match &self.0 {
            Row::OfGroup(knobs, at) => {
                knobs.iter().find(|knob| knob.name == name)?;
                at(policy).knob(name)
            }
            Row::Own(knob, _) if knob.name != name => None,
            Row::Own(knob, Field::Number(at)) => Some(match knob.kind {
                KnobKind::Ratio(..) => KnobValue::Ratio(*at(policy)),
                _ => KnobValue::Count(*at(policy)),
            }),
            Row::Own(_, Field::Time(at)) => Some(KnobValue::Time(*at(policy))),
            Row::Own(_, Field::Window(at)) => Some(KnobValue::Window(*at(policy))),
            Row::Own(_, Field::IfSet(at)) => at(policy).map(KnobValue::Window),
            Row::Own(_, Field::Word(get, _)) => get(policy).map(KnobValue::Word),
            Row::Own(_, Field::Derived(get, _)) => get(policy),
        }
    }
}

impl KnobKind {
    /// The value, or the nearest end of the range; `None` for one of another kind and for a word
    /// that is not in the list.
    fn nearest(self, value: KnobValue) -> Option<KnobValue> {
        match (self, value) {
            (Self::Count(low, high), KnobValue::Count(number)) => {
                Some(KnobValue::Count(number.clamp(low, high)))
            }
            (Self::Ratio(low, high), KnobValue::Ratio(number)) => {
                Some(KnobValue::Ratio(number.clamp(low, high)))
            }
            (Self::Time(low, high), KnobValue::Time(span)) => {
                Some(KnobValue::Time(span.clamp(low, high)))
            }
            (Self::Window | Self::Threshold, KnobValue::Window(_)) => Some(value),
            (Self::Word(words), KnobValue::Word(word)) => words.contains(&word).then_some(value),
            _ => None,
        }
    }
}

/// The knobs of some rows, one after another.
#[doc(hidden)]
#[derive(Debug)]
pub struct KnobList {
    all: [Knob; MOST_KNOBS],
    count: usize,
}

impl KnobList {
    const fn of<P>(rows: &[KnobOf<P>]) -> Self {
        let mut list = Self { all: [Knob::new(""); MOST_KNOBS], count: 0 };
        let mut at = 0;
        while at < rows.len() {
            match &rows[at].0 {
                Row::Own(knob, _) => list.push(*knob),
                Row::OfGroup(knobs, _) => {
                    let mut of_part = 0;
                    while of_part < knobs.len() {
                        list.push(knobs[of_part]);
                        of_part += 1;
                    }
                }
            }
            at += 1;
        }
        list
    }

    const fn push(&mut self, knob: Knob) {
        self.all[self.count] = knob;
        self.count += 1;
    }

    const fn knobs(&self) -> &[Knob] {
        self.all.split_at(self.count).0
    }
}

/// A policy with more does not compile.
const MOST_KNOBS: usize = 16;

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

/// One, in the millionths of [`KnobKind::Ratio`].
pub const RATIO_ONE: u64 = 1_000_000;

/// How the growth of a window by a part of a segment rounds; of the policies ns-2.35 has.
pub const SUMS: Knob =
    Knob::new("sums").means("how growth rounds; double: in double precision, as ns-2.35 does");

/// The words of [`SUMS`].
pub(crate) const EXACT_OR_DOUBLE: &[&str] = &["exact", "double"];
