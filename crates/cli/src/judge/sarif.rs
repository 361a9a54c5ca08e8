//! The rules that do not hold as results of a static analysis (SARIF 2.1.0), which forges show
//! beside a change.

use firstflight_answers as answers;
use firstflight_judge::{Changes, Judgement, select};
use firstflight_scenario::Rule;
use serde_json::json;

use crate::failure::Failure;

/// The text of the document; `changes` are those since a stored judgement.
///
/// # Errors
/// A number that is none.
pub(super) fn sarif(judgement: &Judgement, changes: Option<&Changes>) -> Result<String, Failure> {
    let Judgement { control, on, .. } = judgement;
    let failed = judgement.scenarios.iter().flat_map(|judged| {
        judged.failed().map(move |(rule, why)| (judged.name, judged.title.as_str(), rule, why))
    });
    let results = failed.map(|(name, title, rule, why)| {
        let is_new = |changes: &Changes| {
            changes.worse.iter().any(|it| it.scenario == name && it.rule == rule)
        };
        let mut result = json!({
            "ruleId": rule.name(),
            "ruleIndex": rule as usize,
            "level": "error",
            "message": {
                "text": format!("{control} on {name} ({title}): not {}: {why}", rule.title()),
            },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": { "uri": format!("scenarios/catalogue/{name}.toml") },
                    "region": { "startLine": asked_in(name) },
                },
            }],
            // It identifies the result in another run.
            "partialFingerprints": {
                "firstflight/v1": format!("{control}/{on}/{name}/{rule}"),
            },
        });
        if let Some(changes) = changes {
            result["baselineState"] = json!(if is_new(changes) { "new" } else { "unchanged" });
        }
        result
    });
    let rules = Rule::ALL.map(|rule| {
        json!({
            "id": rule.name(),
            "name": rule.title(),
            "shortDescription": { "text": format!("The control is {}", rule.title()) },
        })
    });
    let driver =
        json!({ "name": "firstflight judge", "version": judgement.version, "rules": rules });
    // Sections 3.13 to 3.29 of the standard; keys are as it writes them.
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "automationDetails": { "id": format!("firstflight/{control}/{on}") },
            "results": results.collect::<Vec<_>>(),
        }],
    });
    Ok(answers::json(&log)?)
}

/// The line of the scenario's file that lists the rules, from 1.
fn asked_in(scenario: &str) -> usize {
    let entries = select(&[scenario.to_owned()]).unwrap_or_default();
    let mut lines = entries.iter().flat_map(|entry| entry.toml.lines());
    lines.position(|line| line.starts_with("rules")).map_or(1, |line| line + 1)
}
