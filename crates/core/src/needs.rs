//! What a policy needs of its transport, and what a transport provides: one set of words for both.
//!
//! A policy declares its needs once ([`crate::policy::Observer::needs`]), a transport once what it
//! provides. [`Needs::on`] compares the two: the control runs as written, runs without something it
//! would use, or cannot run there.

use core::fmt;
use core::ops::BitOr;

/// A set of things a transport can provide besides ACKs and losses.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Facilities(u32);

impl Facilities {
    /// Nothing besides ACKs and losses.
    pub const NONE: Self = Self(0);
    /// Every ACK has its time and, where one can be taken, an RTT sample.
    pub const TIMES: Self = Self(1);
    /// ACKs carry delivery-rate samples ([`crate::event::Ack::sample`]).
    pub const RATES: Self = Self(1 << 1);
    /// ACKs say when their newest packet left, and what was delivered and in flight then
    /// ([`crate::event::Ack::packet`]).
    pub const PACKETS: Self = Self(1 << 2);
    /// Congestion-experienced marks are reported ([`crate::event::Ack::marked`]).
    pub const MARKS: Self = Self(1 << 3);
    /// Packets leave at the rate that a policy sets ([`crate::pacing::Pacing`]).
    pub const PACING: Self = Self(1 << 4);
    /// Start-up is woken at a time of its own ([`crate::policy::Startup::on_wake`]).
    pub const WAKE_UPS: Self = Self(1 << 5);
    /// The window counts inside a recovery too, so that start-up can set it there
    /// ([`crate::policy::Answer::Land`]).
    pub const RECOVERY_WINDOW: Self = Self(1 << 6);
    /// The number of separate gaps that a loss made ([`crate::event::Loss::gaps`]) is exact.
    pub const GAPS: Self = Self(1 << 7);
    /// What earlier connections learned is handed over ([`crate::hint::PathHint`]).
    pub const MEMORY: Self = Self(1 << 8);
    /// Routers grant a rate before data leaves ([`crate::policy::Startup::asks`]).
    pub const GRANTS: Self = Self(1 << 9);
    /// Routers report changes of the rate ([`crate::feedback::Feedback::Change`]).
    pub const ROUTER_CHANGES: Self = Self(1 << 10);
    /// Routers report the connection's share ([`crate::feedback::Feedback::Share`]).
    pub const ROUTER_SHARES: Self = Self(1 << 11);
    /// How much has left, repeats included, is known at every ACK and every loss
    /// ([`crate::view::View::sent`]).
    pub const SENT: Self = Self(1 << 12);
    /// What is not known to be lost is sent again, the last packet first, where start-up asks for
    /// it ([`crate::policy::Startup::repeats`]).
    pub const REPEATS: Self = Self(1 << 13);
    /// Start-up is woken at a time of its own while data waits to be sent, as the timer of a pacer
    /// can do it ([`crate::policy::Startup::on_wake`]). Where nothing waits it may be woken late,
    /// or not at all. A transport with [`Facilities::WAKE_UPS`] provides this too.
    pub const PACED_WAKE_UPS: Self = Self(1 << 14);

    /// Packets leave as those of L4S, ECT(1) (RFC 9331 section 4.1), where ECN is on at all. A
    /// policy that needs this answers marks by their share.
    pub const L4S: Self = Self(1 << 15);

    /// The set as one number, a bit for each facility: for what cannot hold a Rust type.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The set that [`Facilities::bits`] gave; `None` for a number with other bits.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        if bits >> WORDS.len() == 0 { Some(Self(bits)) } else { None }
    }

    /// Whether all of `others` are in it.
    pub const fn has(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Whether nothing is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in this set or in the other.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in this set but not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// What is in both.
    #[must_use]
    pub const fn common(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Each one in it, with words that follow "needs" or "provides".
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        WORDS.iter().filter(move |(one, _)| self.has(*one)).map(|(_, words)| *words)
    }
}

impl BitOr for Facilities {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

impl fmt::Display for Facilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, words) in self.words().enumerate() {
            write!(f, "{}{words}", if place == 0 { "" } else { ", " })?;
        }
        if self.is_empty() { f.write_str("nothing") } else { Ok(()) }
    }
}

impl fmt::Debug for Facilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a policy, or a control, needs of a transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// Without these it cannot run.
    pub required: Facilities,
    /// Without these it runs, but not as its source describes.
    pub wanted: Facilities,
}

/// How a control runs on a transport, by its needs and what the transport provides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// It has all it needs.
    Full,
    /// It runs without these, which it would use.
    Degraded(Facilities),
    /// It cannot run, for want of these.
    Lacks(Facilities),
}

impl Needs {
    /// Nothing besides ACKs and losses: not even the times of ACKs.
    pub const NONE: Self = Self { required: Facilities::NONE, wanted: Facilities::NONE };
    /// The times of ACKs, which every transport has.
    pub const TIMES: Self = Self::required(Facilities::TIMES);

    /// Cannot run without `facilities`.
    pub const fn required(facilities: Facilities) -> Self {
        Self { required: facilities, wanted: Facilities::NONE }
    }

    /// These too, without which it does not run as described.
    #[must_use]
    pub const fn wanting(self, facilities: Facilities) -> Self {
        Self { wanted: self.wanted.and(facilities), ..self }
    }

    /// Everything that is required or wanted.
    pub const fn all(self) -> Facilities {
        self.required.and(self.wanted)
    }

    /// How a control with these needs runs on a transport that provides `these`.
    pub const fn on(self, these: Facilities) -> Fit {
        let lacks = self.required.without(these);
        if !lacks.is_empty() {
            return Fit::Lacks(lacks);
        }
        let missing = self.wanted.without(these);
        if missing.is_empty() { Fit::Full } else { Fit::Degraded(missing) }
    }
}

impl BitOr for Needs {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        let (required, wanted) = (self.required | other.required, self.wanted | other.wanted);
        Self { required, wanted }
    }
}

const WORDS: &[(Facilities, &str)] = &[
    (Facilities::TIMES, "the times of ACKs"),
    (Facilities::RATES, "delivery-rate samples"),
    (Facilities::PACKETS, "the state in which the acknowledged packet left"),
    (Facilities::MARKS, "ECN marks"),
    (Facilities::PACING, "pacing at a given rate"),
    (Facilities::WAKE_UPS, "a timer"),
    (Facilities::RECOVERY_WINDOW, "a window that counts during recovery"),
    (Facilities::GAPS, "the number of gaps of a loss"),
    (Facilities::MEMORY, "what earlier connections learned"),
    (Facilities::GRANTS, "routers that grant a rate"),
    (Facilities::ROUTER_CHANGES, "routers that tell changes of the rate"),
    (Facilities::ROUTER_SHARES, "routers that tell the connection's share"),
    (Facilities::SENT, "how much has been sent, repeats included"),
    (Facilities::REPEATS, "packets sent again before they are known to be lost"),
    (Facilities::PACED_WAKE_UPS, "a timer while data waits"),
    (Facilities::L4S, "packets that leave as ECT(1)"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_is_lacking_and_what_is_wanted_is_missed() {
        let needs =
            Needs::required(Facilities::GRANTS | Facilities::TIMES).wanting(Facilities::PACING);
        let all = Facilities::GRANTS | Facilities::TIMES | Facilities::PACING;
        assert_eq!(needs.on(all), Fit::Full);
        assert_eq!(needs.on(all.without(Facilities::PACING)), Fit::Degraded(Facilities::PACING));
        assert_eq!(needs.on(Facilities::TIMES), Fit::Lacks(Facilities::GRANTS));
        assert_eq!(Needs::NONE.on(Facilities::NONE), Fit::Full);
        assert_eq!((needs | Needs::TIMES).all(), all);
    }

    #[test]
    fn every_facility_has_one_bit_and_words_of_its_own() {
        let mut seen = Facilities::NONE;
        for (one, words) in WORDS {
            assert_eq!(one.0.count_ones(), 1, "{words}");
            assert!(!seen.has(*one), "{words}");
            assert_eq!(one.words().count(), 1, "{words}");
            seen = seen | *one;
        }
        assert_eq!(seen.0, (1 << WORDS.len()) - 1, "a facility without words");
        assert_eq!(Facilities::from_bits(seen.bits()), Some(seen));
        assert_eq!(Facilities::from_bits(seen.bits() + 1), None);
        assert_eq!(seen.common(Facilities::MARKS), Facilities::MARKS);
        assert!(!seen.is_empty() && Facilities::NONE.is_empty());
    }

    #[test]
    fn a_set_is_printed_as_a_list() {
        extern crate std;
        use std::string::ToString;
        let two = Facilities::MARKS | Facilities::WAKE_UPS;
        assert_eq!(two.to_string(), "ECN marks, a timer");
        assert_eq!(Facilities::NONE.to_string(), "nothing");
    }
}
