//! `scenarios`: the catalogue by which `judge` judges, listed, explained and drawn.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use firstflight_judge::{Entry, GROUPS, found};
use firstflight_report::{Column, Table, digits, terminal, wrapped};
use firstflight_scenario::{Scenario, Time};
use firstflight_transports::SIM;
use serde_json::json;

use crate::failure::{Failure, Status};
use crate::shared::{Recorders, Use, carry_out};
use crate::{document, figures, output, summary};

/// List the scenarios of the catalogue; with a name, explain one and draw the references on it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A scenario such as wifi or C1, or A3 for A3a and A3b
    name: Option<String>,
    /// Only the scenarios of a group, A to G
    #[arg(long, value_name = "LETTER")]
    group: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Print the scenario's file, for `run` and to be changed
    #[arg(long, requires = "name", conflicts_with = "json")]
    file: bool,
}

const EXAMPLES: &str = "\
`firstflight judge` runs a control on all of them; docs/judge.md has the rules.

Examples:
  firstflight scenarios
  firstflight scenarios --group F
  firstflight scenarios wifi
  firstflight scenarios wifi --file > mine.toml && firstflight run mine.toml --rtt 20ms
  firstflight scenarios --json | jq -r '.scenarios[].name'";

/// Runs the command.
pub(crate) fn scenarios(args: &Args) -> Result<Status, Failure> {
    let mut entries = found("scenarios", args.name.as_slice())?;
    let group = found("--group", args.group.as_slice())?;
    entries.retain(|entry| group.iter().any(|of| of.id == entry.id));
    if args.json {
        output::print(&document(&entries)?)?;
    } else if args.file {
        // One after the other they would be no file.
        output::print(entries.first().map_or("", |entry| entry.toml))?;
    } else if args.name.is_some() {
        for entry in &entries {
            output::print(&explained(entry))?;
            output::print(&picture(&entry.scenario)?)?;
        }
    } else {
        output::print(&listed(&entries))?;
    }
    Ok(Status::Done)
}

/// A table for each group.
fn listed(entries: &[Entry]) -> String {
    let mut text = String::new();
    for group in GROUPS {
        let of_group = || entries.iter().filter(|entry| entry.letter() == group.letter);
        if of_group().next().is_none() {
            continue;
        }
        let title = format!("{}. {}", group.letter, group.title);
        let columns = ["name", "scenario", "rules"].map(Column::text);
        let mut table = Table::new(format!("group-{}", group.letter), title, columns);
        for entry in of_group() {
            table.push([entry.name.into(), entry.title().into(), rules(entry).into()]);
        }
        let _ = writeln!(text, "{}", terminal::table(&table, output::screen()));
    }
    text.push_str(
        "`firstflight scenarios NAME` explains one, `firstflight judge CONTROL` runs all.\n",
    );
    text
}

fn rules(entry: &Entry) -> String {
    entry.head.rules.iter().map(|rule| rule.name()).collect::<Vec<_>>().join(" ")
}

/// All that the head of a scenario says.
fn explained(entry: &Entry) -> String {
    let head = &entry.head;
    let width = output::screen().width;
    let mut text = format!("{}: {}\n", entry.name, entry.title());
    let seconds = |time: Time| format!("{} s", digits(time.seconds(), 3));
    let published = head.published.iter();
    let published: Vec<String> =
        published.map(|(name, time)| format!("{name} {}", seconds(*time))).collect();
    let mut parts = vec![
        ("", head.about.clone()),
        ("Why it matters: ", head.why.clone()),
        ("Expected: ", head.expected.clone()),
        ("What it does not show: ", head.shows_not.clone()),
        ("Source: ", entry.source().to_owned()),
        ("Rules: ", rules(entry)),
    ];
    if let Some(bound) = head.bound {
        parts.push(("Published bound: ", seconds(bound)));
    }
    if !published.is_empty() {
        parts.push(("Published times: ", published.join(", ")));
    }
    for (name, part) in parts {
        let _ = writeln!(text, "\n{}", wrapped(&format!("{name}{part}"), width, "  ").trim_end());
    }
    text
}

/// The references on it, drawn as far as one can tell single flows apart.
fn picture(scenario: &Scenario) -> Result<String, Failure> {
    let mut scenario = scenario.clone();
    scenario.runs = None;
    let report = carry_out(&scenario, &SIM, Use::Terminal, Recorders::default())?;
    let screen = output::screen();
    let figure = figures::window_and_queue(&report);
    let drawn = figure.map(|figure| format!("\n{}", terminal::figure(&figure, screen)));
    Ok(format!("{}\n{}", drawn.unwrap_or_default(), summary::text(&report, screen)))
}

/// What `--json` prints.
fn document(entries: &[Entry]) -> Result<String, Failure> {
    let one = |entry: &Entry| {
        let head = &entry.head;
        let published = head.published.iter().map(|(name, time)| (name, time.seconds()));
        json!({
            "id": entry.id,
            "name": entry.name,
            "group": entry.letter(),
            "title": entry.title(),
            "source": entry.source(),
            "about": head.about,
            "why": head.why,
            "expected": head.expected,
            "shows_not": head.shows_not,
            "rules": head.rules,
            "bound_s": head.bound.map(Time::seconds),
            "published_s": published.collect::<BTreeMap<_, _>>(),
            "seeds": entry.scenario.runs.unwrap_or(1),
            "toml": entry.toml,
        })
    };
    let groups: BTreeMap<_, _> = GROUPS.iter().map(|group| (group.letter, group.title)).collect();
    let scenarios: Vec<_> = entries.iter().map(one).collect();
    let content = json!({ "groups": groups, "scenarios": scenarios });
    document::document("firstflight/scenarios@1", content)
}
