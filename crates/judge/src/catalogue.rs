//! The scenarios of the catalogue, as they are compiled in.

use firstflight_control::hint;
use firstflight_scenario::{Catalogue, Scenario, ScenarioError};

/// A scenario of the catalogue.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Its code: the group's letter, a number, and a letter where there are several: `A3b`. What is
    /// kept of a scenario is found by it.
    pub id: String,
    /// The code and what it is: `A3b-very-slow-line`, the file's name.
    pub name: &'static str,
    /// The file.
    pub toml: &'static str,
    /// The file as read.
    pub scenario: Scenario,
    /// What it says of itself.
    pub head: Catalogue,
}

/// A group of scenarios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// Its letter, with which the names of its scenarios begin.
    pub letter: &'static str,
    /// What its scenarios have in common.
    pub title: &'static str,
}

/// The groups, in order.
pub const GROUPS: [Group; 7] = [
    Group { letter: "A", title: "One flow on a clean path" },
    Group { letter: "B", title: "Long delay" },
    Group { letter: "C", title: "Noise: jitter, aggregation, dead times" },
    Group { letter: "D", title: "The path changes" },
    Group { letter: "E", title: "Queues other than drop-tail, very small and very large" },
    Group { letter: "F", title: "Others on the path" },
    Group { letter: "G", title: "Applications and memories" },
];

impl Entry {
    fn read(name: &'static str, toml: &'static str) -> Result<Self, ScenarioError> {
        let mut scenario = Scenario::parse(toml, name)?;
        let Some(head) = scenario.catalogue.clone() else {
            let problem = "no [catalogue]".to_owned();
            return Err(ScenarioError::Unreadable { file: name.to_owned(), problem });
        };
        let (id, _) = name.split_once('-').unwrap_or((name, ""));
        scenario.name = id.to_owned();
        Ok(Self { id: id.to_owned(), name, toml, scenario, head })
    }

    /// The letter of its group.
    pub fn letter(&self) -> &str {
        self.id.get(..1).unwrap_or_default()
    }

    /// One line for people.
    pub fn title(&self) -> &str {
        self.scenario.title.as_deref().unwrap_or_default()
    }

    /// Who reported or proposed it.
    pub fn source(&self) -> &str {
        self.scenario.source.as_deref().unwrap_or_default()
    }

    /// What it is, without the code: `very-slow-line`.
    fn word(&self) -> &str {
        self.name.get(self.id.len() + 1..).unwrap_or_default()
    }

    /// Whether a group, a name, its code, its word, or a code without its last letter means it, in
    /// either case.
    fn is_meant(&self, wanted: &str) -> bool {
        let number = self.id.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let all = [self.name, &self.id, self.word(), number, self.letter()];
        all.iter().any(|of| of.eq_ignore_ascii_case(wanted))
    }
}

/// All scenarios, in the order of their names.
///
/// # Errors
/// A file that does not read, which no released program has.
pub fn whole() -> Result<Vec<Entry>, ScenarioError> {
    FILES.iter().map(|(name, toml)| Entry::read(name, toml)).collect()
}

/// The scenarios that are meant, in the order of the catalogue; all of them if none is given. A
/// group (`B`), a code (`A3b`), a code without its last letter (`A3`), a word (`very-slow-line`) or
/// both (`A3b-very-slow-line`) mean some, in either case.
///
/// # Errors
/// What means no scenario, with the nearest that does.
pub fn select(only: &[String]) -> Result<Vec<Entry>, String> {
    let entries = whole().map_err(|error| error.to_string())?;
    for wanted in only {
        if !entries.iter().any(|entry| entry.is_meant(wanted)) {
            let known = entries.iter().flat_map(|entry| [&entry.id, entry.word(), entry.name]);
            let hint = hint(wanted, known);
            let letters = GROUPS.map(|group| group.letter).join(", ");
            return Err(format!(
                "found \"{}\", which is no scenario of the catalogue{hint}; accepted: a group \
                 ({letters}), a name such as A3b or very-slow-line, or A3 for all that begin so",
                wanted.escape_debug()
            ));
        }
    }
    let meant = |entry: &Entry| only.is_empty() || only.iter().any(|name| entry.is_meant(name));
    Ok(entries.into_iter().filter(meant).collect())
}

/// Names and texts of the files.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(only: &[&str]) -> Vec<String> {
        let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
        select(&only).unwrap().into_iter().map(|entry| entry.id).collect()
    }

    #[test]
    fn a_group_a_number_and_a_name_each_mean_what_begins_so() {
        assert_eq!(ids(&["a3"]), ["A3a", "A3b"]);
        assert_eq!(ids(&["A3b", "B4"]), ["A3b", "B4"]);
        assert_eq!(ids(&["Very-slow-line", "b4-satellite-small-file"]), ["A3b", "B4"]);
        let group = ids(&["F"]);
        assert!(group.len() >= 10 && group.iter().all(|id| id.starts_with('F')), "{group:?}");
        assert_eq!(ids(&[]).len(), FILES.len());
    }

    #[test]
    fn what_is_no_scenario_is_refused_with_the_nearest_name() {
        let found = select(&["A33b".to_owned()]).unwrap_err();
        assert!(found.starts_with("found \"A33b\""), "{found}");
        assert!(found.contains("did you mean `A3b`"), "{found}");
        let found = select(&["wify".to_owned()]).unwrap_err();
        assert!(found.contains("did you mean `wifi`"), "{found}");
    }

    #[test]
    fn a_word_means_one_scenario() {
        for entry in whole().unwrap() {
            assert_eq!(ids(&[entry.word()]), [entry.id.as_str()], "{}", entry.name);
        }
    }

    #[test]
    fn every_file_belongs_to_a_group_and_says_what_a_reader_must_know() {
        for entry in whole().unwrap() {
            let known = GROUPS.iter().any(|group| group.letter == entry.letter());
            assert!(known && !entry.title().is_empty() && !entry.source().is_empty(), "{entry:?}");
            let names: Vec<_> = entry.scenario.controls.iter().map(|c| c.text.as_str()).collect();
            assert_eq!(names, crate::REFERENCES, "{}: the references", entry.id);
        }
    }
}
