//! The rules that do not hold as results of a static analysis (SARIF 2.1.0), which forges show
//! beside a change.

use std::collections::BTreeMap;

use firstflight_judge::{Changes, Judgement, select};
use firstflight_scenario::Rule;
use serde::Serialize;

/// The document (sections 3.13 to 3.29 of the standard; keys are as it writes them).
#[derive(Serialize)]
struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run {
    tool: Tool,
    automation_details: Id,
    results: Vec<Found>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: [Described; Rule::ALL.len()],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    id: &'static str,
    name: &'static str,
    short_description: Message,
}

#[derive(Serialize)]
struct Id {
    id: String,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: [Location; 1],
    /// By what a result is known again in another run.
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_state: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Place,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
}

/// The text of the document; `changes` are those since a stored judgement.
///
/// # Errors
/// As serde's.
pub(super) fn sarif(
    judgement: &Judgement,
    changes: Option<&Changes>,
) -> Result<String, serde_json::Error> {
    let Judgement { control, on, .. } = judgement;
    let failed = judgement.scenarios.iter().flat_map(|judged| {
        judged.failed().map(move |(rule, why)| (judged.name, judged.title.as_str(), rule, why))
    });
    let results = failed.map(|(name, title, rule, why)| {
        let is_new = |changes: &Changes| {
            changes.worse.iter().any(|it| it.scenario == name && it.rule == rule)
        };
        let known = format!("{control}/{on}/{name}/{rule}");
        let artifact = Artifact { uri: format!("scenarios/catalogue/{name}.toml") };
        Found {
            rule_id: rule.name(),
            rule_index: rule as usize,
            level: "error",
            message: Message {
                text: format!("{control} on {name} ({title}): not {}: {why}", rule.title()),
            },
            locations: [Location {
                physical_location: Place {
                    artifact_location: artifact,
                    region: Region { start_line: asked_in(name) },
                },
            }],
            partial_fingerprints: [("firstflight/v1", known)].into(),
            baseline_state: changes.map(|it| if is_new(it) { "new" } else { "unchanged" }),
        }
    });
    let rules = Rule::ALL.map(|rule| Described {
        id: rule.name(),
        name: rule.title(),
        short_description: Message { text: format!("The control is {}", rule.title()) },
    });
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver { name: "firstflight judge", version: judgement.version, rules },
            },
            automation_details: Id { id: format!("firstflight/{control}/{on}") },
            results: results.collect(),
        }],
    };
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

/// The line of the scenario's file that lists the rules, from 1.
fn asked_in(scenario: &str) -> usize {
    let entries = select(&[scenario.to_owned()]).unwrap_or_default();
    let mut lines = entries.iter().flat_map(|entry| entry.toml.lines());
    lines.position(|line| line.starts_with("rules")).map_or(1, |line| line + 1)
}
