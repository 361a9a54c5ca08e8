//! Differences that stand, each with its reason: `validation/explained.toml`.

use serde::Deserialize;

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
}
