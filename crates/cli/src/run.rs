//! `run`: one scenario file on one transport.

use std::path::PathBuf;

use firstflight_quic_sim::{LogTo, Quic};
use firstflight_report::terminal;
use firstflight_runner::ForeignFlow;
use firstflight_scenario::{Document, RunResult, Scenario};

use crate::failure::{Failure, Status};
use crate::logs::Logs;
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
    /// Write quinn's own qlog of every flow over QUIC here, packet by packet, for qvis and `show`
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,
    #[command(flatten)]
    path: PathArgs,
}

const EXAMPLES: &str = "\
Path flags replace what the file says. The exit code is 1 if an [expect] does not hold.

Examples:
  firstflight run scenario.toml
  firstflight run scenario.toml --seed 2 --rtt 200ms --json
  firstflight run scenario.toml --out report --trace traces
  firstflight run scenario.toml --on quic --qlog logs
  firstflight show logs/astart.flow-0.quinn.sqlog

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
    if args.qlog.is_some() && !transport.has_virtual_quic() {
        let problem = "--qlog belongs to `--on quic` in virtual time; accepted elsewhere: --trace, \
                       and `firstflight send --qlog` over sockets";
        return Err(Failure::Usage(problem.to_owned()));
    }
    let scenario = read(args, transport)?;
    let directories = [("--out", &args.out), ("--trace", &args.trace), ("--qlog", &args.qlog)];
    for (flag, directory) in directories {
        if let Some(directory) = directory {
            output::check_directory(flag, directory)?;
        }
    }
    let logs = args.qlog.clone().map(Logs::new);
    let open = logs.as_ref().map(|logs| move |flow: &ForeignFlow<'_>| logs.open(flow));
    let quic = Quic { log_to: open.as_ref().map(|open| open as &LogTo<'_>) };
    let report = measure(&scenario, transport, purpose(args), Some(&quic))?;
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
    if let Some(logs) = &logs {
        output::note(&logs.summary());
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
