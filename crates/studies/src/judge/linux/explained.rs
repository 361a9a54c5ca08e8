//! The reasons for differences that stand: `oracles/judgement-linux.toml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use crate::Stop;
use crate::step;

/// Why kernel and simulator differ: by the control in the kernel, and by the scenario.
#[derive(Debug, Default, PartialEq, serde::Deserialize)]
#[serde(transparent)]
pub(super) struct Explained(BTreeMap<String, BTreeMap<String, String>>);

impl Explained {
    /// Reads the file.
    pub(super) fn read(root: &Path) -> Result<Self, Stop> {
        step::read_toml(&root.join(FILE))
    }

    /// A line for each of the scenarios, which differ under this control.
    pub(super) fn list(&self, linux: &str, ids: &[&str]) -> String {
        let mut text = String::new();
        for id in ids {
            let why = self.of(linux, id).unwrap_or("NOT EXPLAINED");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- **{id}.** {}", why.trim_end());
        }
        text
    }

    /// Why they differ there.
    pub(super) fn of(&self, linux: &str, id: &str) -> Option<&str> {
        self.0.get(linux)?.get(id).map(String::as_str)
    }
}

const FILE: &str = "oracles/judgement-linux.toml";

#[cfg(test)]
mod tests {
    use firstflight_judge::select;

    use super::super::PAIRS;
    use super::*;

    #[test]
    fn a_difference_without_a_reason_says_so() {
        let explained: Explained = toml::from_str("[linux-x]\nA6 = \"Chance.\"").unwrap();
        let said = explained.list("linux-x", &["A6", "F1a"]);
        assert_eq!(said, "- **A6.** Chance.\n- **F1a.** NOT EXPLAINED\n");
        assert_eq!(explained.list("linux-y", &["A6"]), "- **A6.** NOT EXPLAINED\n");
    }

    #[test]
    fn the_file_names_controls_and_scenarios_that_there_are() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let entries = select(&[]).unwrap();
        for (linux, reasons) in Explained::read(&root).unwrap().0 {
            assert!(PAIRS.iter().any(|pair| pair.linux == linux), "{linux}");
            for id in reasons.keys() {
                assert!(entries.iter().any(|entry| entry.id == *id), "{linux}: {id}");
            }
        }
    }
}
