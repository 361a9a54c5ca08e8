//! What the judge says of Scout in the catalogue of scenarios, and where it breaks a rule.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

use firstflight_judge::Judgement;
use firstflight_scenario::Rule;

use super::{FAST, GENTLE, REFERENCE};
use crate::judge::{fails_in, simulated, tallies};

/// Scout, and whom it is compared with.
const JUDGED: [&str; 4] = ["scout", REFERENCE, GENTLE, FAST];

/// How often each rule holds, and every verdict against Scout with the others that break the same
/// rule there.
pub(super) fn tables(root: &Path) -> Result<String, Box<dyn Error>> {
    let judgements = simulated(root, &JUDGED).map_err(|stop| stop.message)?;
    Ok(format!("{}\n{}", counts(&judgements), broken(&judgements)))
}

fn counts(judgements: &[Judgement]) -> String {
    let rules = Rule::ALL.map(Rule::name);
    let mut text =
        format!("| control | {} |\n|---|{}\n", rules.join(" | "), "---|".repeat(rules.len()));
    for judgement in judgements {
        let _ = writeln!(text, "| {} | {} |", judgement.control, tallies(judgement).join(" | "));
    }
    text
}

fn broken(judgements: &[Judgement]) -> String {
    let Some((scout, others)) = judgements.split_first() else { return String::new() };
    let mut text = "| scenario | rule | why | breaks it, too |\n|---|---|---|---|\n".to_owned();
    for (place, judged) in scout.scenarios.iter().enumerate() {
        for rule in Rule::ALL.into_iter().filter(|rule| fails_in(judged, *rule)) {
            let too = others.iter().filter(|other| fails_in(&other.scenarios[place], rule));
            let too: Vec<&str> = too.map(|other| other.control.as_str()).collect();
            let why = judged.reasons.get(rule.name()).map_or("", String::as_str);
            let (id, title, too) = (&judged.id, &judged.title, too.join(", "));
            let _ = writeln!(text, "| {id}: {title} | {rule} | {why} | {too} |");
        }
    }
    text
}
