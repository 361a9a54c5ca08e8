//! A judgement that was stored, and what a new one does worse or better.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use firstflight_scenario::Rule;
use serde::Deserialize;

use crate::judgement::{Judgement, SCHEMA};
use crate::rules::Verdict;

/// What `judge --json` printed before, as far as a new judgement is compared with it.
#[derive(Clone, Debug, Deserialize)]
pub struct Baseline {
    schema: String,
    version: String,
    control: String,
    on: String,
    scenarios: Vec<Stored>,
}

#[derive(Clone, Debug, Deserialize)]
struct Stored {
    id: String,
    verdicts: BTreeMap<String, Verdict>,
}

/// What changed, in the order of the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Changes {
    /// Rules that rank lower now.
    pub worse: Vec<Change>,
    /// Rules of scenarios that both have which rank higher now.
    pub better: Vec<Change>,
    /// How many scenarios of the stored judgement the new one leaves out.
    pub left_out: usize,
}

/// A rule of a scenario whose verdict is not the stored one. Its `Display` is as in
/// `A1-one-flow R2 gentle: pass before, now fail`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The scenario's name.
    pub scenario: &'static str,
    /// The rule.
    pub rule: Rule,
    /// What the stored judgement says; a scenario or a rule that it does not have was not asked.
    pub before: Verdict,
    /// What the new one says.
    pub now: Verdict,
}

impl Baseline {
    /// Reads the document.
    ///
    /// # Errors
    /// What was found and what is accepted; the caller names the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let accepted = format!("accepted: what `judge --json` prints (\"schema\": \"{SCHEMA}\")");
        match serde_json::from_str::<Self>(text) {
            Ok(read) if read.schema == SCHEMA => Ok(read),
            Ok(read) => {
                Err(format!("schema: found \"{}\"; {accepted}", read.schema.escape_debug()))
            }
            Err(error) => Err(format!("{error}; {accepted}")),
        }
    }

    /// Compares the scenarios of the new judgement with their verdicts before.
    pub fn changes(&self, judgement: &Judgement) -> Changes {
        let known = |id: &str| self.scenarios.iter().find(|stored| stored.id == id);
        let left_out = self.scenarios.iter();
        let left_out = left_out.filter(|it| judgement.scenarios.iter().all(|new| new.id != it.id));
        let mut changes = Changes { left_out: left_out.count(), ..Changes::default() };
        for judged in &judgement.scenarios {
            let stored = known(&judged.id);
            for rule in Rule::ALL {
                let before = stored.and_then(|stored| stored.verdicts.get(rule.name()).copied());
                let now = judged.verdicts.get(rule.name()).copied();
                let [before, now] = [before, now].map(|it| it.unwrap_or(Verdict::NotAsked));
                let change = Change { scenario: judged.name, rule, before, now };
                match rank(now).cmp(&rank(before)) {
                    Ordering::Less => changes.worse.push(change),
                    Ordering::Greater if stored.is_some() => changes.better.push(change),
                    Ordering::Equal | Ordering::Greater => {}
                }
            }
        }
        changes
    }
}

/// A rule that held and is not asked any more is worse, as is one that fails and was not asked.
fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Fail => 0,
        Verdict::NotAsked => 1,
        Verdict::Pass => 2,
    }
}

/// Shows whose judgement it is: `hystart on sim, version 0.1.0`.
impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}, version {}", self.control, self.on, self.version)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { scenario, rule, before, now } = self;
        let title = rule.title();
        write!(f, "{scenario} {rule} {title}: {} before, now {}", before.name(), now.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_judgement_is_refused_with_what_is_accepted() {
        for (text, found) in [
            ("", "EOF"),
            ("{}", "missing field"),
            (
                r#"{"schema": "firstflight/list@1", "version": "", "control": "", "on": "",
                    "scenarios": []}"#,
                "schema: found \"firstflight/list@1\"",
            ),
        ] {
            let refused = Baseline::parse(text).unwrap_err();
            assert!(refused.contains(found), "{refused}");
            assert!(refused.contains("accepted: what `judge --json` prints"), "{refused}");
        }
    }
}
