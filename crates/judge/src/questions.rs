//! The questions that RFC 9743 asks of a new congestion control, section by section, and which
//! scenarios of the catalogue say something on each.

use crate::judgement::{Judged, Judgement};
use crate::rules::Verdict;

/// A question of RFC 9743, in our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Topic {
    /// The section.
    pub section: &'static str,
    /// What it asks.
    pub asks: &'static str,
    /// Scenarios and the rule that answers; nothing where the catalogue has no answer.
    pub evidence: &'static [(&'static str, &'static str)],
}

/// What a judgement has to say on a question.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// `pass`, `fail`, or `n/a` for what is not covered.
    pub verdict: Verdict,
    /// The scenarios with the verdict of the rule, or `not covered`.
    pub evidence: String,
}

impl Topic {
    /// The answer of a judgement. A name without its last letter means all that begin so.
    pub fn answer(&self, judgement: &Judgement) -> Answer {
        let mut evidence = Vec::new();
        let mut fails = false;
        for (wanted, rule) in self.evidence {
            for judged in judgement.scenarios.iter().filter(|judged| is_meant(judged, wanted)) {
                let verdict = judged.verdicts.get(rule).copied().unwrap_or(Verdict::NotAsked);
                if verdict != Verdict::NotAsked {
                    fails |= verdict == Verdict::Fail;
                    evidence.push(format!("{} {rule} {}", judged.id, verdict.name()));
                }
            }
        }
        let verdict = match (evidence.is_empty(), fails) {
            (true, _) => return Answer { verdict: Verdict::NotAsked, evidence: NONE.to_owned() },
            (false, true) => Verdict::Fail,
            (false, false) => Verdict::Pass,
        };
        Answer { verdict, evidence: evidence.join(", ") }
    }
}

fn is_meant(judged: &Judged, wanted: &str) -> bool {
    let number = judged.id.trim_end_matches(|c: char| c.is_ascii_lowercase());
    judged.id == wanted || number == wanted
}

const NONE: &str = "not covered";

/// A section, what it asks, and the evidence.
const fn topic(
    section: &'static str,
    asks: &'static str,
    evidence: &'static [(&'static str, &'static str)],
) -> Topic {
    Topic { section, asks, evidence }
}

/// All questions, in the order of the RFC.
pub const QUESTIONS: &[Topic] = &[
    topic(
        "5.1.1 Congestion collapse",
        "Does it back off when more is lost than can be repaired?",
        &[("F5", "R2"), ("F5", "R4")],
    ),
    topic(
        "5.1.2 Bufferbloat",
        "Does it leave long queues standing where the buffer is large?",
        &[("A4", "R2"), ("E1", "R2"), ("F6", "R3")],
    ),
    topic(
        "5.1.3 High packet loss",
        "How much does it lose, and what does it do where much is lost?",
        &[("E2", "R2"), ("B5b", "R4"), ("B6", "R4"), ("G3", "R4")],
    ),
    topic(
        "5.1.4 Fairness among its own flows",
        "How do several of its own flows share a path?",
        &[("F3", "R3")],
    ),
    topic(
        "5.1.5 Short flows",
        "What do short flows do to long ones, and how do they fare?",
        &[("F2", "R3"), ("F5a", "R1"), ("G6", "R1")],
    ),
    topic(
        "5.2.1 Existing congestion control",
        "What does it do to Reno, CUBIC and what else is widely used?",
        &[("F1", "R3"), ("F2", "R3"), ("F4", "R3")],
    ),
    topic("5.2.2 Real-time traffic", "Can a conversation go on beside it?", &[("F6", "R3")]),
    topic(
        "5.2.3 Short and long flows of others",
        "What does it do to short and long flows with other controls?",
        &[("F1", "R3"), ("F2", "R3")],
    ),
    topic("5.3.1 Principles", "Where does it depart from RFC 2914 and RFC 7141?", &[]),
    topic("5.3.2 Incremental deployment", "Does it work where only some have it?", &[]),
    topic(
        "6.1 Tail-drop queues",
        "How does it do over a range of rates, delays and buffers?",
        &[("A1", "R1"), ("A2", "R1"), ("A3", "R1"), ("A4", "R1"), ("A8", "R1"), ("E5", "R2")],
    ),
    topic("6.2 Tunnels", "What if routers cannot see the flow within a tunnel?", &[]),
    topic("6.3 Wired paths", "How does it do on a calm path?", &[("A1", "R5"), ("A2", "R5")]),
    topic(
        "6.4 Wireless paths",
        "What if losses, rate and delay are those of a radio link?",
        &[("C1", "R4"), ("C2", "R4"), ("C3", "R4"), ("C6", "R4"), ("B6", "R4")],
    ),
    topic(
        "7.1 Active queue management",
        "How does it do with CoDel, PIE and L4S, and does it answer marks?",
        &[("E3", "R1"), ("E3", "R2"), ("E4", "R1"), ("E4", "R2")],
    ),
    topic("7.2 Circuit breakers", "Does it stay within the envelope of a circuit breaker?", &[]),
    topic(
        "7.3 Varying delay",
        "What if the shortest round trip changes, or varies without a queue?",
        &[("A6", "R4"), ("A7", "R4"), ("C1", "R4"), ("C4", "R4"), ("C5", "R4"), ("D4", "R4")],
    ),
    topic("7.4 Internet of things", "Does it suit small devices on slow links?", &[("A3b", "R1")]),
    topic(
        "7.5 High delay",
        "How does it do over satellites?",
        &[("B1", "R1"), ("B3", "R1"), ("B4", "R1"), ("B5", "R1"), ("B7", "R1")],
    ),
    topic("7.6 Misbehaving nodes", "What can a peer or a router that cheats gain?", &[]),
    topic("7.7 Extreme reordering", "What if packets arrive far out of order?", &[]),
    topic(
        "7.8 Transient events",
        "What if the path is gone or crowded for a while?",
        &[("C2", "R4"), ("C3", "R4"), ("C7", "R4"), ("D3", "R4"), ("D5", "R4")],
    ),
    topic(
        "7.9 Sudden changes of the path",
        "What if rate or delay change for good?",
        &[("D1", "R4"), ("D2", "R4"), ("D4", "R4"), ("D6", "R4"), ("G5b", "R4")],
    ),
    topic("7.10 Multipath", "What if a transport uses several paths?", &[]),
    topic("7.11 Data centres", "Is it meant for data centres, and what of it?", &[]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_names_rules_that_its_scenarios_ask() {
        for topic in QUESTIONS {
            for (wanted, rule) in topic.evidence {
                let only = [(*wanted).to_owned()];
                let entries = crate::select(&only)
                    .unwrap_or_else(|problem| panic!("{}: {problem}", topic.section));
                let asks = |entry: &crate::Entry| {
                    entry.head.rules.iter().any(|asked| asked.name() == *rule)
                };
                assert!(entries.iter().any(asks), "{}: {wanted} {rule}", topic.section);
            }
        }
    }
}
