//! The questions that RFC 9743 asks of a new congestion control, section by section, and which
//! scenarios of the catalogue say something on each. They stand in `rfc9743.toml`.

use serde::Deserialize;

use crate::judgement::{Judged, Judgement};
use crate::rules::Verdict;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Questions {
    topic: Vec<Topic>,
}

/// A question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Topic {
    /// The section.
    pub(crate) section: String,
    /// What it asks.
    pub(crate) asks: String,
    /// Each a scenario and the rule that answers: `F5 R2`.
    #[serde(default)]
    evidence: Vec<String>,
}

/// All questions, in the order of the RFC.
pub(crate) fn topics() -> Vec<Topic> {
    // A test reads the file.
    toml::from_str(FILE).unwrap_or_else(|_| Questions::default()).topic
}

impl Topic {
    /// The answer of a judgement, `n/a` for what is not covered, and the scenarios with the verdict
    /// of the rule. A name without its last letter means all that begin so.
    pub(crate) fn answer(&self, judgement: &Judgement) -> (Verdict, String) {
        let mut evidence = Vec::new();
        let mut fails = false;
        for (wanted, rule) in self.evidence() {
            for judged in judgement.scenarios.iter().filter(|judged| is_meant(judged, wanted)) {
                let verdict = judged.verdicts.get(rule).copied().unwrap_or(Verdict::NotAsked);
                if verdict != Verdict::NotAsked {
                    fails |= verdict == Verdict::Fail;
                    evidence.push(format!("{} {rule} {}", judged.id, verdict.name()));
                }
            }
        }
        let verdict = match (evidence.is_empty(), fails) {
            (true, _) => return (Verdict::NotAsked, NONE.to_owned()),
            (false, true) => Verdict::Fail,
            (false, false) => Verdict::Pass,
        };
        (verdict, evidence.join(", "))
    }

    /// Scenarios, each with the rule that answers.
    fn evidence(&self) -> impl Iterator<Item = (&str, &str)> {
        self.evidence.iter().filter_map(|both| both.split_once(' '))
    }
}

fn is_meant(judged: &Judged, wanted: &str) -> bool {
    let number = judged.id.trim_end_matches(|c: char| c.is_ascii_lowercase());
    judged.id == wanted || number == wanted
}

const NONE: &str = "not covered";
const FILE: &str = include_str!("rfc9743.toml");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_names_rules_that_its_scenarios_ask() {
        let Questions { topic } = toml::from_str(FILE).unwrap();
        assert_eq!(topic.len(), 25);
        for topic in &topic {
            assert_eq!(topic.evidence().count(), topic.evidence.len(), "{}", topic.section);
            for (wanted, rule) in topic.evidence() {
                let only = [wanted.to_owned()];
                let entries = crate::select(&only)
                    .unwrap_or_else(|problem| panic!("{}: {problem}", topic.section));
                let asks = |entry: &crate::Entry| {
                    entry.head.rules.iter().any(|asked| asked.name() == rule)
                };
                assert!(entries.iter().any(asks), "{}: {wanted} {rule}", topic.section);
            }
        }
    }
}
