//! When two programs differ, and the differences that stand, each with its reason:
//! `validation/explained.toml`.

use serde::Deserialize;

/// How far two values may be apart: so many per cent of the other program's, or so much.
#[derive(Clone, Copy)]
pub(crate) struct Accepted {
    pub(crate) percent: f64,
    pub(crate) least: f64,
}

impl Accepted {
    pub(crate) fn holds(self, ours: f64, other: f64) -> bool {
        (ours - other).abs() <= (self.percent / 100.0 * other).max(self.least)
    }
}

/// What a comparison finds at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finding {
    Equal,
    /// A difference, and the sentence that says why.
    Explained(String),
    /// A difference that nobody has explained.
    Unexplained,
    /// A reason that has no difference to explain any more.
    Needless,
}

impl Finding {
    /// Whether the comparison fails by it.
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self, Self::Unexplained | Self::Needless)
    }
}

/// Every known difference between firstflight and another program.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explained {
    #[serde(default)]
    pub(crate) differs: Vec<Reason>,
}

/// Why ours differs from another program in some places.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// The other program, or its control.
    pub(crate) from: String,
    /// Where: points, scenarios, or what is measured there.
    pub(crate) at: Vec<String>,
    /// A word for tables that have no room for the sentence.
    #[serde(default)]
    pub(crate) name: String,
    /// The sentence.
    pub(crate) why: String,
}

impl Explained {
    /// Why ours differs from this program there.
    pub(crate) fn reason(&self, from: &str, at: &str) -> Option<&Reason> {
        let of = |reason: &&Reason| reason.from == from && reason.at.iter().any(|it| it == at);
        self.differs.iter().find(of)
    }
    /// What stands there, where ours differs from this program or does not.
    pub(crate) fn finding(&self, from: &str, at: &str, differs: bool) -> Finding {
        match (self.reason(from, at), differs) {
            (None, false) => Finding::Equal,
            (Some(reason), true) => Finding::Explained(reason.why.trim().to_owned()),
            (None, true) => Finding::Unexplained,
            (Some(_), false) => Finding::Needless,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_needs_a_reason_and_a_reason_a_difference() {
        let reasons = "[[differs]]\nfrom = 'ns-2'\nat = ['a', 'b']\nwhy = ' ties '";
        let known: Explained = toml::from_str(reasons).unwrap();
        assert_eq!(known.finding("ns-2", "b", true), Finding::Explained("ties".to_owned()));
        assert_eq!(known.finding("ns-2", "b", false), Finding::Needless);
        assert_eq!(known.finding("ns-3", "b", true), Finding::Unexplained);
        assert_eq!(known.finding("ns-2", "c", false), Finding::Equal);
    }
}
