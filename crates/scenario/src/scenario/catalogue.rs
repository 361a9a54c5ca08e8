//! What a scenario of the catalogue says of itself: `[catalogue]`. Nothing of it changes a run.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use firstflight_control::hint;
use firstflight_control::quantity::{Fraction, Time};
use serde::Serialize;

use super::Matrix;
use crate::document::{Node, Raw};
use crate::error::ScenarioError;
use crate::read::{Fields, Read};

/// The head of a scenario by which `firstflight judge` judges a control.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Catalogue {
    /// What happens, in words that a student understands.
    pub about: String,
    /// Why it matters.
    pub why: String,
    /// What is expected, with its threshold and source.
    pub expected: String,
    /// What the result does not show.
    pub shows_not: String,
    /// The rules that are asked.
    pub rules: Vec<Rule>,
    /// By what rule R3 is judged; by share and harm when not written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub safe_by: Vec<SafeBy>,
    /// A published completion time that is not to be exceeded; it then stands for rule R1.
    pub bound: Option<Time>,
    /// The largest share of the packets that may be lost, where rule R2 is to ask for it too.
    pub most_lost: Option<Fraction>,
    /// Published mean completion times by control, for comparison.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published: BTreeMap<String, Time>,
    /// Paths and sizes instead of one, over which the rules are asked as a whole.
    pub matrix: Option<Matrix>,
}

/// A rule of verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Rule {
    /// Fast: as fast as the better of HyStart++ and HyStart, or within a published bound.
    R1,
    /// Gentle: no more loss and no longer a queue than slow start.
    R2,
    /// Safe: others keep their share, and finish no later than beside slow start.
    R3,
    /// Never stuck: noise costs no more than half of slow start's time.
    R4,
    /// Pareto: no reference is as good in time, loss and queue, and better in one.
    R5,
}

/// What rule R3 looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SafeBy {
    /// The others' share of what arrives while all send.
    Share,
    /// How much longer the others take, or how much less they carry, than beside slow start.
    Harm,
    /// How long packets wait in the queue while the flow under judgement sends.
    Delay,
}

impl Rule {
    /// All of them, in order.
    pub const ALL: [Self; 5] = [Self::R1, Self::R2, Self::R3, Self::R4, Self::R5];

    /// Its name: `R1`.
    pub fn name(self) -> &'static str {
        ["R1", "R2", "R3", "R4", "R5"][self as usize]
    }

    /// What it asks of a control, in two or three words.
    pub fn title(self) -> &'static str {
        ["fast", "gentle", "safe to others", "never stuck", "not dominated"][self as usize]
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|rule| rule.name() == text);
        found.ok_or_else(|| unknown("rule", text, &Self::ALL.map(Self::name)))
    }
}

impl FromStr for SafeBy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "share" => Ok(Self::Share),
            "harm" => Ok(Self::Harm),
            "delay" => Ok(Self::Delay),
            _ => Err(unknown("measure of others", text, &["share", "harm", "delay"])),
        }
    }
}

fn unknown(what: &str, text: &str, names: &[&str]) -> String {
    let hint = hint(text, names.iter().copied());
    format!("unknown {what}{hint}; accepted: {}", names.join(", "))
}

impl Read for Catalogue {
    fn read(node: &Node) -> Result<Self, ScenarioError> {
        let mut fields = node.fields()?;
        let [about, why, expected, shows_not] = [
            required(&mut fields, "about"),
            required(&mut fields, "why"),
            required(&mut fields, "expected"),
            required(&mut fields, "shows_not"),
        ];
        let rules: Vec<Rule> = fields.list("rules")?;
        let none = fields.missing("rules", "rules = [\"R1\", \"R2\", \"R5\"]");
        let (safe_by, bound) = (fields.list("safe_by")?, fields.read("bound")?);
        let most_lost = fields.read("most_lost")?;
        let published = fields.node("published").map_or(Ok(BTreeMap::new()), times)?;
        let matrix = fields.read("matrix")?;
        fields.finish()?;
        let (about, why, expected, shows_not) = (about?, why?, expected?, shows_not?);
        if rules.is_empty() {
            return Err(none);
        }
        Ok(Self {
            about,
            why,
            expected,
            shows_not,
            rules,
            safe_by,
            bound,
            most_lost,
            published,
            matrix,
        })
    }
}

/// A text that must be there.
fn required(fields: &mut Fields<'_>, key: &'static str) -> Result<String, ScenarioError> {
    let text: Option<String> = fields.read(key)?;
    let text = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    text.ok_or_else(|| fields.missing(key, "a text"))
}

/// A time for each control.
fn times(node: &Node) -> Result<BTreeMap<String, Time>, ScenarioError> {
    let Raw::Table(entries) = &node.raw else {
        return Err(node.error("not a table; accepted: { cubic = \"4.48s\" }"));
    };
    entries.iter().map(|(control, time)| Ok((control.clone(), Time::read(time)?))).collect()
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    const HEAD: &str = "controls = ['cubic']\n[catalogue]\nabout = 'a'\nwhy = 'w'\n\
                        expected = 'e'\nshows_not = 's'\n";

    #[test]
    fn a_head_reads_back_as_it_was_written_and_is_no_part_of_the_run() {
        let text =
            format!("{HEAD}rules = ['R1', 'R3']\nbound = '0.25s'\npublished = {{ c4 = '4.54s' }}");
        let scenario = Scenario::parse(&text, "A1.toml").unwrap();
        let back = Scenario::parse(&scenario.to_toml(), "A1.toml").unwrap();
        assert_eq!(back.catalogue, scenario.catalogue);
        let bare = Scenario::parse("controls = ['cubic']", "A1.toml").unwrap();
        let base = |of: &Scenario| serde_json::to_string(&of.complete().unwrap()).unwrap();
        assert_eq!(base(&scenario), base(&bare));
    }

    #[test]
    fn a_head_that_leaves_something_out_gets_an_error_that_names_it() {
        for (text, problem) in [
            ("rules = ['R6']", "unknown rule, did you mean `R1`; accepted: R1, R2, R3, R4, R5"),
            ("", "`rules` is missing"),
            ("rules = ['R3']\nsafe_by = ['sharing']", "accepted: share, harm, delay"),
            ("rules = ['R1']\npublished = '4 s'", "accepted: { cubic = \"4.48s\" }"),
        ] {
            let found = Scenario::parse(&format!("{HEAD}{text}"), "x.toml").unwrap_err();
            assert!(found.to_string().contains(problem), "{found}");
        }
        let blank = HEAD.replace("about = 'a'", "about = ' '") + "rules = ['R1']";
        let found = Scenario::parse(&blank, "x.toml").unwrap_err().to_string();
        assert_eq!(found, "x.toml:2: catalogue: `about` is missing; accepted: a text");
    }
}
