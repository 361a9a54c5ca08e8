//! `show`: a connection's start-up, drawn from its qlog, and judged where its path is known.

mod beside;
mod drawing;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use firstflight_qlog::{Connection, Evidence, Log, Summary};
use firstflight_report::{Page, Section, terminal, write_dir};
use firstflight_scenario::Time;
use serde::Serialize;

use beside::Judged;

use crate::failure::{Failure, Status};
use crate::words::whole;
use crate::{command_line, output};

/// Draw a connection's start-up from its qlog
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A qlog that any stack wrote: .sqlog or .qlog, version 0.3, older or newer
    #[arg(value_name = "FILE.sqlog")]
    file: PathBuf,
    /// Which connection of the log, from 1 [default: the one with most events]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    connection: Option<usize>,
    /// Draw up to this time [default: three times as long as start-up took]
    #[arg(long, value_name = "TIME")]
    until: Option<Time>,
    /// Draw the connection to its end
    #[arg(long, conflicts_with = "until")]
    all: bool,
    #[command(flatten)]
    path: beside::PathArgs,
    /// Print the start-up as one JSON document
    #[arg(long)]
    json: bool,
    /// Write report.html, figures, data and show.json here
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
When start-up ended is taken from the best that the log has: a change of the congestion
controller's state, a window that reached ssthresh, or a cut of the window near a loss.

With --rate and --rtt the references of `judge` run in the simulator on that path with as many
bytes, and the start-up is called early (below 0.9 BDP), late (beyond path and buffer), lossy (more
lost than with slow start), limited by the application, or fine.

Examples:
  firstflight show client.sqlog
  firstflight show server.qlog --connection 2 --until 2s
  firstflight show client.sqlog --all --out report && xdg-open report/report.html
  firstflight show client.sqlog --rate 50Mbps --rtt 40ms --buffer 1bdp
  firstflight show client.sqlog --json | jq .startup.exit";

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    qlog_version: &'a str,
    title: &'a str,
    vantage: &'a str,
    connection: usize,
    connections: usize,
    skipped_records: usize,
    truncated: bool,
    startup: &'a Summary,
    /// The comparison with the references; there is none unless a path was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged: Option<&'a Judged>,
}

const SCHEMA: &str = "firstflight/show@1";

/// Runs the command.
pub(crate) fn show(args: &Args) -> Result<Status, Failure> {
    if let Some(out) = &args.out {
        output::check_directory("--out", out)?;
    }
    let file = args.file.display().to_string();
    let log = Log::open(&args.file)?;
    report_skipped(&file, &log);
    let (number, connection) = choose(args, &log)?;
    check_drawable(&file, connection)?;
    let summary = connection.summary();
    let judged = args.path.judge(connection, &summary)?;
    let document = Document {
        schema: SCHEMA,
        file: file.clone(),
        qlog_version: &log.version,
        title: &connection.title,
        vantage: &connection.vantage,
        connection: number,
        connections: log.connections.len(),
        skipped_records: log.skipped.len(),
        truncated: log.truncated,
        startup: &summary,
        judged: judged.as_ref(),
    };
    let json = format!("{}\n", serde_json::to_string_pretty(&document)?);
    let until_s = until(args, &summary);
    let heading = heading(&args.file, connection);
    if args.json {
        output::print(&json)?;
    } else {
        let screen = output::screen();
        let figure = drawing::figure(&heading, connection, &summary, until_s);
        let mut text = terminal::figure(&figure, screen);
        let tables = [Some(drawing::table(&summary)), judged.as_ref().map(Judged::table)];
        for table in tables.iter().flatten() {
            let _ = write!(text, "\n{}", terminal::table(table, screen));
        }
        text.push_str(&judged.as_ref().map_or(String::new(), Judged::words));
        output::print(&text)?;
    }
    if let Some(out) = &args.out {
        let command = command_line::typed();
        let figure = drawing::figure(&heading, connection, &summary, until_s);
        let section = Section::new("connection", "The connection")
            .table(drawing::table(&summary))
            .figure(figure.command(&command).caption(caption(&summary)));
        let section = match &judged {
            Some(judged) => section.table(judged.table()).text(judged.words()),
            None => section,
        };
        let page = Page::new(&heading)
            .subtitle(&connection.title)
            .section(section)
            .command(command)
            .fact("version", env!("CARGO_PKG_VERSION"))
            .fact("qlog version", &log.version);
        write_dir(out, &page, vec![("show.json".into(), json)])?;
        output::note(&format!("report: {}", out.join("report.html").display()));
    }
    Ok(Status::Done)
}

/// One line for all records that were left out, and one for a log that breaks off.
fn report_skipped(file: &str, log: &Log) {
    if let Some(first) = log.skipped.first() {
        let more = match log.skipped.len() {
            1 => String::new(),
            all => format!("; {} more records were left out", all - 1),
        };
        output::complain(&format!("left out: {first}{more}"));
    }
    if log.truncated {
        output::complain(&format!("{file} is truncated; this is what was complete of it"));
    }
}

fn choose<'a>(args: &Args, log: &'a Log) -> Result<(usize, &'a Connection), Failure> {
    let all = log.connections.len();
    let place = match args.connection {
        Some(number) => number.checked_sub(1).filter(|place| *place < all),
        None => {
            let richest = |place: &usize| log.connections[*place].events.len();
            (0..all).rev().max_by_key(richest)
        }
    };
    match place {
        Some(place) => Ok((place + 1, &log.connections[place])),
        None => Err(Failure::Usage(format!(
            "--connection {}: the log has {all} connections; accepted: 1 to {all}",
            args.connection.unwrap_or_default()
        ))),
    }
}

/// A log without a window has nothing to draw; says what it has instead.
fn check_drawable(file: &str, connection: &Connection) -> Result<(), Failure> {
    if connection.summary().initial_cwnd_bytes.is_some() {
        return Ok(());
    }
    let names: Vec<&str> = connection.names.keys().take(6).map(String::as_str).collect();
    let found = match names.as_slice() {
        [] => "no event".to_owned(),
        names if names.iter().any(|name| name.contains("metrics_updated")) => {
            format!("`{}`, but no congestion_window in them", names.join("`, `"))
        }
        names => format!("only `{}`", names.join("`, `")),
    };
    Err(Failure::Usage(format!(
        "{file}: {found}; accepted: a log with recovery:metrics_updated and its congestion_window, \
         as a sender writes it"
    )))
}

/// Until when to draw: start-up, and as much again and again to see what came of it.
fn until(args: &Args, summary: &Summary) -> f64 {
    match (&args.until, &summary.exit) {
        (Some(until), _) => until.ns() as f64 / 1e9,
        (None, Some(exit)) if !args.all => {
            let rtt_s = summary.min_rtt_ms.unwrap_or(0.0) / 1e3;
            (3.0 * exit.time_s).max(exit.time_s + ROUNDS_AFTER * rtt_s).min(summary.duration_s)
        }
        _ => summary.duration_s,
    }
}

fn heading(file: &Path, connection: &Connection) -> String {
    let name = output::plain(&file.file_name().unwrap_or(file.as_os_str()).to_string_lossy());
    match connection.vantage.as_str() {
        "" => format!("Start-up in {name}"),
        vantage => format!("Start-up in {name}, seen by the {}", output::plain(vantage)),
    }
}

fn caption(summary: &Summary) -> String {
    let how = match summary.exit.as_ref().map(|exit| exit.evidence) {
        None => "The log shows no end of start-up.",
        Some(Evidence::State) => "Start-up ended when the controller's state changed.",
        Some(Evidence::Threshold) => "Start-up ended when the window reached ssthresh.",
        Some(Evidence::Cut) => "Start-up ended when the window was cut near a loss.",
    };
    how.to_owned()
}

/// Round trips after the end of a short start-up that are drawn at least.
const ROUNDS_AFTER: f64 = 10.0;
