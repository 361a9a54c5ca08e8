//! Differences with a reason (`explained.toml`).

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explained {
    #[serde(default)]
    differs: Vec<Reason>,
}

/// Why two controllers differ in something at some points.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reason {
    /// Point and measure, as in `hystart-s2n exit`.
    at: Vec<String>,
    /// Why they differ there.
    pub(crate) why: String,
}

impl Explained {
    pub(crate) fn read() -> Result<Self, toml::de::Error> {
        toml::from_str(include_str!("../explained.toml"))
    }

    pub(crate) fn reason(&self, at: &str) -> Option<&str> {
        let of = |reason: &&Reason| reason.at.iter().any(|it| it == at);
        self.differs.iter().find(of).map(|reason| reason.why.trim())
    }

    /// All points and measures with a reason.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.differs.iter().flat_map(|reason| &reason.at).map(String::as_str)
    }
}
