//! The reasons for differences that stand: `oracles/explained.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::point::Point;
use super::study::read;
use crate::Stop;

/// What is known about differences.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explained {
    /// Differences from ns-2: a sentence for each point.
    pub(crate) points: BTreeMap<String, String>,
    /// Why drawn points of an agent under a release differ from ns-2: a sentence for each.
    #[serde(default)]
    pub(crate) drawn: Vec<Kind>,
    /// Differences from ns-3: causes by name, each with its points.
    pub(crate) ns3: BTreeMap<String, Cause>,
    /// Differences from ns-3 need a cause; those of random points have none.
    #[serde(skip)]
    pub(crate) ns3_counts: bool,
}

/// Points of one agent in one release of ns-2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Kind {
    alg: String,
    release: String,
    why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cause {
    /// The explanation, for the reader of the file.
    #[serde(rename = "why")]
    _why: String,
    /// The points that it explains.
    points: Vec<String>,
}

impl Explained {
    /// Reads the file.
    pub(crate) fn read(path: &Path, ns3_counts: bool) -> Result<Self, Stop> {
        let (text, wrong) = read(path)?;
        let explained: Self = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        Ok(Self { ns3_counts, ..explained })
    }

    /// Why points of this one's kind differ from ns-2.
    pub(crate) fn kind(&self, point: &Point) -> Option<&str> {
        let is =
            |kind: &&Kind| kind.alg == point.text("alg") && kind.release == point.text("release");
        self.drawn.iter().find(is).map(|kind| kind.why.as_str())
    }

    /// The name of the cause of a point's difference from ns-3.
    pub(crate) fn ns3_cause(&self, id: &str) -> Option<&str> {
        let named = |(_, cause): &(&String, &Cause)| cause.points.iter().any(|point| point == id);
        self.ns3.iter().find(named).map(|(name, _)| name.as_str())
    }

    /// One point, for tests.
    #[cfg(test)]
    pub(crate) fn example(id: &str, cause: Option<&str>, ns3_counts: bool) -> Self {
        let points = vec![id.to_owned()];
        let ns3 = cause.map(|name| (name.to_owned(), Cause { _why: String::new(), points }));
        Self { ns3: ns3.into_iter().collect(), ns3_counts, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::point;
    use super::*;

    #[test]
    fn a_kind_is_of_one_agent_in_one_release() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let explained = Explained::read(&root.join("oracles/explained.toml"), false).unwrap();
        let has = |alg, release| {
            let point = point::example_with("a", &[("alg", alg), ("release", release)]);
            explained.kind(&point).is_some()
        };
        assert!(has("vegas", "2.1b6"));
        assert!(!has("vegas", "2.26") && !has("sack", "2.1b6"));
    }

    #[test]
    fn the_repositorys_file_is_understood_and_names_no_point_twice() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let explained = Explained::read(&root.join("oracles/explained.toml"), true).unwrap();
        let mut named: Vec<&String> =
            explained.ns3.values().flat_map(|cause| &cause.points).collect();
        named.sort();
        assert!(named.windows(2).all(|pair| pair[0] != pair[1]), "{named:?}");
        let points = std::fs::read_to_string(root.join("oracles/points.toml")).unwrap();
        for id in named.into_iter().chain(explained.points.keys()) {
            assert!(points.contains(&format!("\n{id} = ")), "{id} is no point");
        }
    }
}
