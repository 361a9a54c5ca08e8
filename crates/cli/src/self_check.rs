//! `self-check`: what of firstflight works on this machine, each part tried once.

use std::time::Instant;

use firstflight_answers::comparison;
use firstflight_kernel::requirements::{self, Lack};
use firstflight_report::{Column, Table, terminal, wrapped};
use firstflight_runner::Options;
use firstflight_scenario::PathFlags;
use firstflight_transports::On;
use serde::Serialize;
use serde_json::json;

use crate::document::document;
use crate::failure::{Failure, Status};
use crate::progress::Progress;
use crate::{interrupt, output};

/// Tell what of firstflight works on this machine, and what the rest lacks
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Each part runs one transfer of 100 KB; nothing on this machine is changed. Virtual time may fetch
Debian's kernel, once. The exit code is 1 if a part has what it needs and fails all the same.

Examples:
  firstflight self-check
  sudo firstflight self-check             with what needs root
  firstflight self-check --json | jq -r '.parts[] | select(.works | not) | .problem'";

/// A part of firstflight, the flags behind `compare` that use it, and a control that it carries.
const TRANSPORTS: [(&str, &str, &str); 5] = [
    ("simulator", "sim", "hystart-pp"),
    ("QUIC (quinn) in virtual time", "quic", "hystart-pp"),
    ("QUIC (quinn) over sockets", "quic --real-time", "hystart-pp"),
    ("Linux's TCP in real time", "linux --link tun", "linux-cubic"),
    ("Linux's TCP in virtual time", "linux --virtual-time", "linux-cubic"),
];

/// One part, and how trying it went.
#[derive(Serialize)]
struct CheckedPart {
    part: &'static str,
    /// A command that uses it.
    command: String,
    works: bool,
    /// What the machine lacks, or what broke.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// Nothing was lacking, and it failed.
    #[serde(skip)]
    broke: bool,
    /// How long trying took, in seconds.
    seconds: f64,
}

/// Runs the command.
pub(crate) fn self_check(args: &Args) -> Result<Status, Failure> {
    let progress = Progress::new("parts", Some(TRANSPORTS.len() + 1));
    let mut parts = Vec::new();
    for (part, on, control) in TRANSPORTS {
        progress.say(part);
        let command = format!("firstflight compare {control} --on {on}");
        parts.push(CheckedPart::tried(part, command, || transfer(on, control))?);
        progress.set(parts.len(), TRANSPORTS.len() + 1);
    }
    let command = "firstflight kernel load scout".to_owned();
    parts.push(CheckedPart::tried("controls in this kernel", command, loads)?);
    drop(progress);
    let broke = parts.iter().any(|part| part.broke);
    output::print(&match args.json {
        true => document("firstflight/self-check@1", json!({ "parts": parts }))?,
        false => text(&parts),
    })?;
    Ok(if broke { Status::Unmet } else { Status::Done })
}

/// One short transfer, which must arrive.
fn transfer(on: &str, control: &str) -> Result<(), Failure> {
    let transport = On::read(on)?.transport()?;
    let path = [("--rate", "10Mbps"), ("--rtt", "20ms"), ("--size", "100KB"), ("--duration", "5s")];
    let path: PathFlags = path.into_iter().collect();
    let scenario = comparison(&[control.to_owned()], &path, &*transport)?;
    let options = Options { stop: Some(interrupt::listen()), ..Options::default() };
    let report = transport.run(&scenario, &options)?;
    if report.interrupted {
        return Err(Failure::Interrupted);
    }
    let mut flows = report.runs.iter().flat_map(|run| &run.result.flows);
    match flows.next().and_then(|flow| flow.completion_time_s) {
        Some(_) => Ok(()),
        None => Err(Failure::Broke("a transfer of 100 KB did not end within 5 s".to_owned())),
    }
}

/// What `kernel load` checks before it changes anything.
fn loads() -> Result<(), Failure> {
    if cfg!(not(feature = "kernel")) {
        return Err(Lack::Build.into());
    }
    requirements::check()?;
    Ok(requirements::check_pinning()?)
}

impl CheckedPart {
    fn tried(
        part: &'static str,
        command: String,
        attempt: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<Self, Failure> {
        let began = Instant::now();
        let outcome = attempt();
        let seconds = began.elapsed().as_secs_f64();
        let (problem, broke) = match outcome {
            Ok(()) => (None, false),
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(failure) => (Some(failure.to_string()), !matches!(failure, Failure::Lacks(_))),
        };
        Ok(Self { part, command, works: problem.is_none(), problem, broke, seconds })
    }
}

fn text(parts: &[CheckedPart]) -> String {
    let screen = output::screen();
    let columns = ["part", "", "command"].map(Column::text);
    let title = "What of firstflight works on this machine, and a command that uses it";
    let mut table = Table::new("parts", title, columns);
    for part in parts {
        let state = match (part.works, part.broke) {
            (true, _) => "works",
            (false, false) => "lacks",
            (false, true) => "fails",
        };
        let cells = [part.part, state, &part.command];
        table.push(cells.map(|cell| cell.to_owned().into()));
    }
    let problems = parts.iter().filter_map(|part| Some((part.part, part.problem.as_ref()?)));
    let problems = problems.map(|(part, problem)| {
        wrapped(&format!("{part}: {}", problem.trim_end()), screen.width, "  ")
    });
    let problems: Vec<String> = problems.collect();
    let table = terminal::table(&table, screen);
    if problems.is_empty() { table } else { format!("{table}\n{}", problems.concat()) }
}
