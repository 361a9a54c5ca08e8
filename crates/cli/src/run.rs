//! `run`: one scenario file on one transport.

use std::path::PathBuf;

use firstflight_report::terminal;
use firstflight_scenario::{Document, RunResult, Scenario};

use crate::failure::{Failure, Status};
use crate::measure::{Use, check_distinct, measure};
use crate::page::{self, About};
use crate::path_args::PathArgs;
use crate::transport::{On, Transport};
use crate::{expectations, output, summary, trace};

/// Run a scenario file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The scenario file, in TOML
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    #[command(flatten)]
    on: On,
    /// Print the results as one JSON document
    #[arg(long)]
    json: bool,
    /// Write report.html, figures, data and results.json here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write cwnd, ssthresh, in flight, srtt, delivered, gauges and queues over time here, as CSV,
    /// and a qlog per flow
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
    #[command(flatten)]
    path: PathArgs,
}

const EXAMPLES: &str = "\
Path flags replace what the file says. The exit code is 1 if an [expect] does not hold.

Examples:
  firstflight run scenario.toml
  firstflight run scenario.toml --seed 2 --rtt 200ms --json
  firstflight run scenario.toml --out report --trace traces

A small scenario:
  controls = [\"newreno\", \"astart\"]
  duration = \"20s\"
  [path]
  rate = \"40Mbps\"
  rtt = \"100ms\"
  [expect]
  flows.timeouts = \"== 0\"";

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let transport = args.on.transport()?;
    let scenario = read(args, transport)?;
    for (flag, directory) in [("--out", &args.out), ("--trace", &args.trace)] {
        if let Some(directory) = directory {
            output::check_directory(flag, directory)?;
        }
    }
    let report = measure(&scenario, transport, purpose(args))?;
    let runs: Vec<&RunResult> = report.runs.iter().map(|run| &run.result).collect();
    let checked = expectations::check(&scenario, &runs);
    if args.json {
        output::print(&report.results().to_json()?)?;
    } else {
        let screen = output::screen();
        let mut text = summary::text(&report, screen);
        if let Some(checked) = &checked {
            text = format!("{text}\n{}", terminal::table(&checked.table, screen));
        }
        output::print(&text)?;
    }
    for unmet in checked.iter().flat_map(|checked| &checked.unmet) {
        output::complain(&format!("not as expected: {unmet}"));
    }
    if let Some(out) = &args.out {
        let about = About {
            title: scenario.title.clone().unwrap_or_else(|| scenario.name.clone()),
            subtitle: scenario.source.clone().unwrap_or_else(|| summary::path(&report)),
            expectations: checked.as_ref().map(|checked| &checked.table),
        };
        output::note(&format!("report: {}", page::write(out, &report, &about)?.display()));
    }
    if let Some(out) = &args.trace {
        let files = trace::write(out, &report)?;
        output::note(&format!("traces: {files} files in {}", out.display()));
    }
    let failed = checked.is_some_and(|checked| !checked.unmet.is_empty());
    Ok(match (report.interrupted, failed) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::Unmet,
        (false, false) => Status::Done,
    })
}

/// The scenario with the flags in it, whose controls all exist.
fn read(args: &Args, transport: Transport) -> Result<Scenario, Failure> {
    let mut document = Document::load(&args.scenario)?;
    document.apply(&args.path.0)?;
    let scenario = document.scenario()?;
    scenario.check_controls(|spec| {
        transport.check_control(spec).map_err(|problem| problem.to_string())
    })?;
    check_distinct(&scenario)?;
    expectations::check_names(&scenario, transport)?;
    Ok(scenario)
}

fn purpose(args: &Args) -> Use {
    match (&args.trace, &args.out) {
        (Some(_), _) => Use::Traces,
        (None, Some(_)) => Use::Report,
        (None, None) => Use::Numbers,
    }
}
