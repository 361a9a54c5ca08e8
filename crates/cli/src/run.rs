//! `run`: one scenario file on one transport.

use std::path::PathBuf;

use firstflight_answers::measure::conditions;
use firstflight_answers::{Checked, check, scenario};
use firstflight_report::{Column, Table, Verdict, terminal};
use firstflight_results::RunResult;
use firstflight_runner::Logs;
use firstflight_scenario::{Document, Scenario};
use firstflight_transports::Transport;

use crate::captures::Captures;
use crate::failure::{Failure, Status};
use crate::page::About;
use crate::shared::{Common, Recorders, Use, carry_out};
use crate::{output, summary, trace};

/// Run a scenario file
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The scenario file, in TOML; `-` is standard input
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    #[command(flatten)]
    common: Common,
    /// Write quinn's own qlog of every flow over QUIC here, packet by packet, for qvis and `show`
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,
    /// Write what passes the senders of each run here, as pcap, for tcpdump, Wireshark and `show`
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Write a data file of flent for each run here: what flows deliver, cwnd and RTT over time
    #[arg(long, value_name = "DIR")]
    flent: Option<PathBuf>,
}

const EXAMPLES: &str = "\
A path flag replaces the value in the file; --flows, --size and --start-jitter replace that of the
first group of flows. The exit code is 1 if an [expect] does not hold.

Examples:
  firstflight run scenario.toml
  firstflight run scenario.toml --seed 2 --rtt 200ms --json
  firstflight run scenario.toml --out report --trace traces
  sed s/40Mbps/80Mbps/ scenario.toml | firstflight run -
  firstflight run scenario.toml --on quic --qlog logs
  firstflight show logs/astart.flow-0.quinn.sqlog
  firstflight run scenario.toml --pcap captures && tcpdump -r captures/astart.pcap

A small scenario:
  controls = [\"newreno\", \"astart\"]
  duration = \"20s\"
  [path]
  rate = \"40Mbps\"
  rtt = \"100ms\"
  [expect]
  timeouts = \"== 0\"";

/// Runs the command.
pub(crate) fn run(args: &Args) -> Result<Status, Failure> {
    let transport = args.common.on.transport()?;
    let logs = args.qlog.clone().map(Logs::new);
    if logs.is_some() && transport.name() == "linux" {
        let problem = "--qlog belongs to `--on quic`, and to flows that name QUIC; accepted \
                       elsewhere: --trace";
        return Err(Failure::Usage(problem.to_owned()));
    }
    let document = match args.scenario.as_os_str() == "-" {
        true => Document::from_standard_input()?,
        false => Document::load(&args.scenario)?,
    };
    let scenario = scenario(document, &args.common.path.0, &*transport)?;
    check_folders(args, &*transport, &scenario)?;
    let captures = args.pcap.as_deref().map(Captures::new);
    let _lock = args.common.lock_out()?;
    let purpose = match args.flent {
        Some(_) => Use::Traces,
        None => args.common.purpose(false),
    };
    let recorders = Recorders { logs: logs.as_ref(), captures: captures.as_ref() };
    let report = carry_out(&scenario, &*transport, purpose, recorders);
    let has_room = || logs.as_ref().map_or(Ok(()), |logs| Ok(logs.check_room()?));
    let report = report.or_else(|failure| has_room().and(Err(failure)))?;
    let runs: Vec<&RunResult> = report.runs.iter().map(|run| &run.result).collect();
    let checked = check(&scenario, &runs);
    let expected = checked.as_ref().map(expected);
    let failed = checked.as_ref().is_some_and(|checked| !checked.unmet.is_empty());
    if args.common.json {
        output::print(&report.results().to_json()?)?;
    } else if !args.common.csv_to_stdout() {
        let screen = output::screen();
        let mut text = summary::text(&report, screen);
        if let Some(table) = &expected {
            text = format!("{text}\n{}", terminal::table(table, screen));
        }
        output::print(&text)?;
    }
    for unmet in checked.iter().flat_map(|checked| &checked.unmet) {
        output::complain(&format!("not as expected: {unmet}"));
    }
    args.common.write(
        &report,
        &About {
            title: scenario.title.clone().unwrap_or_else(|| scenario.name.clone()),
            subtitle: match &scenario.source {
                Some(source) => format!("{source}; {}", conditions(&report)),
                None => conditions(&report),
            },
            expectations: expected.as_ref(),
        },
    )?;
    if let Some(logs) = &logs {
        output::note(&logs.summary());
    }
    if let Some(folder) = &args.flent {
        let files = trace::flent::write(folder, &report)?;
        output::note(&format!("flent: {files} files in {}", folder.display()));
    }
    if let Some(captures) = &captures {
        output::note(&captures.summary());
    }
    has_room()?;
    Ok(match (report.interrupted, failed) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::Unmet,
        (false, false) => Status::Done,
    })
}

/// Finds out before anything runs whether all files can be had and written.
fn check_folders(
    args: &Args,
    transport: &dyn Transport,
    scenario: &Scenario,
) -> Result<(), Failure> {
    args.common.check_directories()?;
    if args.pcap.is_some() {
        Captures::check(transport.name(), &transport.complete(scenario)?)?;
    }
    let folders = [("--qlog", &args.qlog), ("--pcap", &args.pcap), ("--flent", &args.flent)];
    for (flag, folder) in folders {
        if let Some(folder) = folder {
            output::check_directory(flag, folder)?;
        }
    }
    Ok(())
}

/// The conditions, a row each.
fn expected(checked: &Checked) -> Table {
    let columns = ["control", "field", "expected", "measured", "verdict"].map(Column::text);
    let mut table = Table::new("expectations", "Expected of the results", columns);
    for one in &checked.expectations {
        let verdict = if one.holds { Verdict::Pass } else { Verdict::Fail };
        let texts = [&one.control, &one.field, &one.expected, &one.measured];
        table.push(texts.map(|text| text.clone().into()).into_iter().chain([verdict.into()]));
    }
    table
}
