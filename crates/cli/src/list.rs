//! `list`: everything that has a name.

mod catalogue;
mod detail;
mod named;

use std::fmt::Write as _;

use firstflight_report::terminal;
use firstflight_report::{Column, Table, wrapped};

use crate::failure::{Failure, Status};
use crate::output;
use catalogue::{Catalogue, Policy};

/// List controls, knobs, profiles and path flags; with a name, all about it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A start-up, avoidance, alias, profile or path flag, a control such as astart+newreno, or a
    /// system as one of the papers calls it
    name: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

const CONTROL: &str = "<start-up>[(knob=value,...)][+<avoidance>[(knob=value,...)]]";

const EXAMPLES: &str = "\
Examples:
  firstflight list
  firstflight list astart
  firstflight list 'HighSpeed TCP'
  firstflight list --json | jq -r '.startups[].name'";

/// Runs the command.
pub(crate) fn list(args: &Args) -> Result<Status, Failure> {
    let catalogue = catalogue(args.name.as_deref())?;
    let text = match (args.json, &args.name) {
        (true, _) => json(&catalogue)?,
        (false, Some(_)) => detail::text(&catalogue),
        (false, None) => overview(&catalogue),
    };
    output::print(&text)?;
    Ok(Status::Done)
}

/// Everything that has a name, or what has this one.
pub(crate) fn catalogue(name: Option<&str>) -> Result<Catalogue, Failure> {
    let mut catalogue = Catalogue::new();
    if let Some(name) = name {
        catalogue.narrow(name)?;
    }
    Ok(catalogue)
}

/// The document of `--json`.
pub(crate) fn json(catalogue: &Catalogue) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(catalogue)? + "\n")
}

fn overview(catalogue: &Catalogue) -> String {
    let screen = output::screen();
    let mut text = wrapped(&format!("A control is {CONTROL}, or an alias."), screen.width, "  ");
    for around in &catalogue.around {
        text.push_str(&wrapped(
            &format!("{}: {}.", around.written, around.summary),
            screen.width,
            "  ",
        ));
    }
    text.push('\n');
    let tables = [
        startups(catalogue),
        policies("Avoidances", &catalogue.avoidances),
        aliases(catalogue),
        named(catalogue),
        kernels_own(catalogue),
        quinn(catalogue),
        profiles(catalogue),
        path_flags(catalogue),
    ];
    for table in tables {
        let _ = writeln!(text, "{}", terminal::table(&table, screen));
    }
    text.push_str("`firstflight list NAME` tells what each knob accepts and does.\n");
    text
}

/// As [`policies`], with the avoidance that follows each.
fn startups(catalogue: &Catalogue) -> Table {
    let mut table = policies("Start-ups", &catalogue.startups);
    table.columns.insert(3, Column::text("goes on with"));
    for (row, startup) in table.rows.iter_mut().zip(&catalogue.startups) {
        row.insert(3, startup.goes_on_with.unwrap_or_default().into());
    }
    table
}

fn policies(title: &str, policies: &[Policy]) -> Table {
    let columns = ["name", "what it does", "source", "knobs", "runs on"].map(Column::text);
    let mut table = Table::new("policies", title, columns);
    for policy in policies {
        let knobs: Vec<&str> = policy.knobs.iter().map(|knob| knob.name).collect();
        table.push([
            policy.name.into(),
            policy.summary.into(),
            policy.source.into(),
            knobs.join(", ").into(),
            transports(policy).into(),
        ]);
    }
    table
}

/// `sim, quic (degraded)`: the last where it does without something that its source describes.
pub(super) fn transports(policy: &Policy) -> String {
    let name = |name: &&str| match policy.degraded_on.contains_key(name) {
        true => format!("{name} (degraded)"),
        false => (*name).to_owned(),
    };
    policy.transports.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn quinn(catalogue: &Catalogue) -> Table {
    let columns = ["control", "what it does", "source", "runs on"].map(Column::text);
    let mut table = Table::new("quinn", "Controls that come with quinn", columns);
    for own in &catalogue.quinn {
        table.push([own.name.into(), own.summary.into(), own.source.into(), "quic".into()]);
    }
    table
}

fn aliases(catalogue: &Catalogue) -> Table {
    let columns = ["alias", "control", "source", "runs on"].map(Column::text);
    let mut table = Table::new("aliases", "Aliases", columns);
    for alias in &catalogue.aliases {
        let runs_on = alias.transports.join(", ");
        table.push([alias.name.into(), alias.control.into(), alias.source.into(), runs_on.into()]);
    }
    table
}

/// What the papers call it, for their readers.
fn named(catalogue: &Catalogue) -> Table {
    let columns = ["name in a paper", "papers", "here"].map(Column::text);
    let mut table = Table::new("named", "Names in the papers", columns);
    for named in &catalogue.named {
        let here = match (named.here, named.note) {
            (Some(here), Some(note)) => format!("{here}: {note}"),
            (Some(here), None) => here.to_owned(),
            (None, note) => format!("no control: {}", note.unwrap_or_default()),
        };
        table.push([named.name.into(), named.papers.join(", ").into(), here.into()]);
    }
    table
}

fn kernels_own(catalogue: &Catalogue) -> Table {
    let columns = ["control", "what it does", "source", "this kernel"].map(Column::text);
    let mut table = Table::new("kernels-own", "The kernel's own (--on linux)", columns);
    for own in &catalogue.kernels_own {
        let here = if own.here { "has it" } else { "has it not" };
        table.push([own.name.into(), own.summary.into(), own.source.into(), here.into()]);
    }
    table
}

/// The profiles as columns: what differs is seen at a glance.
fn profiles(catalogue: &Catalogue) -> Table {
    let heads = catalogue.profiles.iter().map(|profile| Column::text(profile.name.as_str()));
    let columns = std::iter::once(Column::text("constant")).chain(heads);
    let mut table = Table::new("profiles", "Profiles of the endpoints (--profile)", columns);
    let constants = catalogue.profiles.first().map_or(&[][..], |profile| &profile.constants);
    for (row, constant) in constants.iter().enumerate() {
        let values = catalogue.profiles.iter().map(|p| p.constants[row].value.clone().into());
        table.push(std::iter::once(constant.name.into()).chain(values));
    }
    table
}

fn path_flags(catalogue: &Catalogue) -> Table {
    let columns = ["flag", "default", "what it sets"].map(Column::text);
    let mut table = Table::new("path-flags", "Path flags of compare and run", columns);
    for flag in &catalogue.path_flags {
        table.push([flag.name.into(), flag.default.into(), flag.help.into()]);
    }
    table
}
