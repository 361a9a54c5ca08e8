//! A policy's card: all that a list, a command line or a test needs to know about it, besides the
//! policy itself. Every table in this repository is made of cards.

use crate::knob::{Knob, Knobs};

/// The facts about a policy that lists, the command line and tests need.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Card {
    /// Name as users write it: lower-case letters, digits and single hyphens ([`is_writable`]).
    pub name: &'static str,
    /// What the policy does, in one line.
    pub summary: &'static str,
    /// The paper or RFC that defines it.
    pub source: &'static str,
    /// What a reader wants to know before the formulas, if it is written down.
    pub about: Option<About>,
    /// For a start-up: the avoidance it runs with when a control names none.
    pub partner: Option<&'static str>,
    /// For a start-up: it finds its own end, so that a profile's initial ssthresh does not apply to
    /// it. That ssthresh is where NewReno's slow start ends in the papers; Vegas' windows in Table
    /// 3 of the Astart paper lie beyond it.
    pub own_end: bool,
    /// The header in `crates/kernel/c` with its C version for the kernel, without `.h`; `None` if
    /// it has none.
    pub kernel: Option<&'static str>,
    /// Its knobs.
    pub knobs: &'static [Knob],
}

/// A policy in a few sentences.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// What it looks at.
    pub watches: &'static str,
    /// What it takes for granted.
    pub believes: &'static str,
    /// Where that does not hold, and what it costs there.
    pub fails: &'static str,
}

impl Card {
    /// A card without partner, own end or version for the kernel.
    pub const fn new(name: &'static str, summary: &'static str, source: &'static str) -> Self {
        let (about, partner, own_end, kernel) = (None, None, false, None);
        Self { name, summary, source, about, partner, own_end, kernel, knobs: &[] }
    }

    /// Says what it watches, what it believes and where it fails, in sentences.
    #[must_use]
    pub const fn about(
        self,
        watches: &'static str,
        believes: &'static str,
        fails: &'static str,
    ) -> Self {
        Self { about: Some(About { watches, believes, fails }), ..self }
    }

    /// Sets a start-up's usual avoidance.
    #[must_use]
    pub const fn with(self, partner: &'static str) -> Self {
        Self { partner: Some(partner), ..self }
    }

    /// Sets the knobs of the policy.
    #[must_use]
    pub const fn knobs(self, knobs: &'static [Knob]) -> Self {
        Self { knobs, ..self }
    }

    /// Marks a start-up that finds its own end.
    #[must_use]
    pub const fn finds_its_end(self) -> Self {
        Self { own_end: true, ..self }
    }

    /// Sets the header in `crates/kernel/c`, without `.h`.
    #[must_use]
    pub const fn in_kernel(self, header: &'static str) -> Self {
        Self { kernel: Some(header), ..self }
    }
}

/// A policy with a card.
pub trait Listed: Knobs + Default {
    /// Its card.
    const CARD: Card;
}

/// Whether a control's grammar can write the name: letters, digits and single hyphens, not at
/// either end. `+`, `(`, `,` and `=` separate the parts of a control.
pub const fn is_writable(name: &str) -> bool {
    let bytes = name.as_bytes();
    let (mut at, mut after_hyphen) = (0, true);
    while at < bytes.len() {
        match bytes[at] {
            b'-' if after_hyphen => return false,
            b'-' => after_hyphen = true,
            b'a'..=b'z' | b'0'..=b'9' => after_hyphen = false,
            _ => return false,
        }
        at += 1;
    }
    !after_hyphen
}

/// Whether two names are equal, as a function that can run at compile time.
pub(crate) const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Fails to compile for a table that has a name which cannot be written, or one name twice.
pub(crate) const fn check_names(table: &[Card]) {
    let mut at = 0;
    while at < table.len() {
        assert!(is_writable(table[at].name), "a policy's name cannot be written in a control");
        let mut other = 0;
        while other < at {
            assert!(!is_same(table[at].name, table[other].name), "two policies have one name");
            other += 1;
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_grammar_splits_cannot_be_written() {
        for name in ["bc", "hystart-pp", "c4", "slow-start"] {
            assert!(is_writable(name), "{name}");
        }
        for name in ["", "hystart++", "-a", "a-", "a--b", "a(b", "A", "a b", "a,b", "a=b", "é"] {
            assert!(!is_writable(name), "{name}");
        }
    }

    #[test]
    fn names_are_compared_whole() {
        assert!(is_same("dbc", "dbc") && !is_same("dbc", "bc") && !is_same("dbc", "dbd"));
    }
}
