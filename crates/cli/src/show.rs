//! `show`: a connection's start-up, drawn from its qlog, a capture, a record of `ss` or of iperf3,
//! and judged where its path is known; a recording of `kernel watch` as a table.

mod drawing;
mod watched;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use firstflight_answers::show::{Document, Listing, cautions, check, named};
use firstflight_answers::{Judged, KnownPath, json};
use firstflight_qlog::{Connection, Evidence, Summary};
use firstflight_record::{Opened, Recorded, open_any};
use firstflight_report::{Cell, Column, Page, Section, Table, digits, terminal, write_dir};
use firstflight_scenario::Time;
use firstflight_transports::SIM;

use crate::failure::{Failure, Status};
use crate::kernel::{is_trial, show_trial};
use crate::shared::{Recorders, Use, carry_out};
use crate::words::whole;
use crate::{command_line, output};

/// Draw a connection's start-up from its qlog, a capture, or a record of ss or iperf3
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A qlog of any stack (.sqlog, .qlog), a pcap or pcapng of TCP, the output of `ss -tin` again
    /// and again, or of `iperf3 --json`, or a recording of `kernel watch`; packed as .gz or .zst
    /// too; - is standard input; or what `kernel trial --record` wrote
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which connection of the file, from 1 [default: the one with most events, or most bytes]
    #[arg(long, visible_alias = "flow", value_name = "N", value_parser = whole::<usize>)]
    connection: Option<usize>,
    /// List the connections of the file
    #[arg(long, conflicts_with_all = ["connection", "until", "all", "out", "rate"])]
    list: bool,
    /// Draw up to this time [default: three times as long as start-up took]
    #[arg(long, value_name = "TIME")]
    until: Option<Time>,
    /// Draw the connection to its end
    #[arg(long, conflicts_with = "until")]
    all: bool,
    /// Judge the start-up on a bottleneck of this rate
    #[arg(long, value_name = "RATE", requires = "rtt")]
    rate: Option<String>,
    /// The path's RTT without a queue
    #[arg(long, value_name = "TIME", requires = "rate")]
    rtt: Option<String>,
    /// The bottleneck's buffer [default: 1bdp]
    #[arg(long, value_name = "BUFFER", requires = "rate")]
    buffer: Option<String>,
    /// Print the start-up as one JSON document
    #[arg(long)]
    json: bool,
    /// Write report.html, figures, data and show.json here; of a recording of `kernel watch` or
    /// `kernel trial` its table, as CSV and, where this program is built with it, as Parquet
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
When start-up ended is taken from the best that the log has: a change of the congestion
controller's state, a window that reached ssthresh, or a cut of the window near a loss. A capture
shows no window: there start-up ends with the first packet that is sent again, or when three rounds
in a row have no more in flight than a quarter above the best before. What limited the sender other
than its window (application, receiver's window, send buffer) is listed interval by interval. A
record that was taken at the receiver, began in the middle or has one direction only cannot show
start-up: it says so, and is not judged.

A recording of `kernel watch` has no curve: its connections are a table, a row each, and with
--connection one of them with what each number means.

With --rate and --rtt the references of `judge` run in the simulator on that path with as many
bytes, and the start-up is called early (below 0.9 BDP), late (beyond path and buffer), slow (more
than twice the time of the slowest reference), lossy (more lost than with slow start), limited by
the application, the receiver's window or the send buffer, or fine.

Examples:
  firstflight show client.sqlog
  firstflight show server.qlog --connection 2 --until 2s
  firstflight show client.sqlog --all --out report && xdg-open report/report.html
  firstflight show client.sqlog --rate 50Mbps --rtt 40ms --buffer 1bdp
  tcpdump -i any -s 128 -w sent.pcap tcp port 443
  firstflight show sent.pcap --list
  firstflight show sent.pcap --flow 2 --rate 50Mbps --rtt 40ms
  zcat old.txt.gz | firstflight show -
  while sleep .01; do date +%s.%N; ss -tin dst 192.0.2.1; done > ss.txt
  firstflight show ss.txt --rate 50Mbps --rtt 40ms
  firstflight show client.sqlog --json | jq .startup.exit
  firstflight show connections.jsonl --out tables && duckdb -c \"from 'tables/connections.csv'\"";

/// Runs the command.
pub(crate) fn show(args: &Args) -> Result<Status, Failure> {
    let _lock = output::lock_out(args.out.as_deref())?;
    if is_trial(&args.file) {
        return trial(args);
    }
    let file = args.file.display().to_string();
    let recorded = match open_any(&args.file, args.connection)? {
        Opened::Watched(watched) => return watched::show(args, &watched),
        Opened::Recorded(recorded) => recorded,
    };
    if args.list {
        return list(args, &file, &recorded);
    }
    cautions(&file, &recorded).iter().for_each(|caution| output::complain(caution));
    check(&file, &recorded)?;
    let connection = &recorded.connection;
    let judged = judge(args, &file, &recorded)?;
    let json = json(&Document::of(&file, &recorded, judged.as_ref()))?;
    let heading = heading(&args.file, connection);
    let figure = drawing::figure(&heading, connection, until(args, &connection.summary));
    let references = judged.as_ref().and_then(reference_table);
    let tables = [Some(drawing::table(connection)), drawing::limits(connection), references];
    let words = judged.as_ref().map_or(String::new(), Judged::words);
    if args.json {
        output::print(&json)?;
    } else {
        let screen = output::screen();
        let mut text = format!("{}\n", named(&recorded));
        if let Some(taken) = &recorded.taken {
            let _ = writeln!(text, "The capture was taken {taken}");
        }
        let _ = write!(text, "\n{}", terminal::figure(&figure, screen));
        for table in tables.iter().flatten() {
            let _ = write!(text, "\n{}", terminal::table(table, screen));
        }
        output::print(&(text + &words))?;
    }
    if let Some(out) = &args.out {
        let command = command_line::typed();
        let figure = figure.command(&command).caption(caption(connection));
        let section = Section::new("connection", "The connection").figure(figure);
        let section = tables.into_iter().flatten().fold(section, Section::table).text(words);
        let page = Page::new(&heading)
            .subtitle(named(&recorded))
            .section(section)
            .command(command)
            .fact("version", env!("CARGO_PKG_VERSION"));
        let page = match recorded.version.as_str() {
            "" => page.fact("record", recorded.form.name()),
            version => page.fact("qlog version", version),
        };
        write_dir(out, &page, vec![("show.json".into(), json)])?;
        output::note_report(&out.join("report.html"));
    }
    Ok(Status::Done)
}

/// The recording of `kernel trial`, which has many connections and draws none of them.
fn trial(args: &Args) -> Result<Status, Failure> {
    let flags = [
        ("--connection", args.connection.is_some()),
        ("--list", args.list),
        ("--until", args.until.is_some()),
        ("--all", args.all),
        ("--rate", args.rate.is_some()),
    ];
    if let Some((flag, _)) = flags.into_iter().find(|(_, is_given)| *is_given) {
        return Err(Failure::Usage(format!(
            "show: {flag}: {} is the recording of a trial; accepted with it: --json, --out",
            args.file.display()
        )));
    }
    show_trial(&args.file, args.json, args.out.as_deref())
}

/// The connections of a file.
fn list(args: &Args, file: &str, recorded: &Recorded) -> Result<Status, Failure> {
    if args.json {
        output::print(&json(&Listing::of(file, recorded))?)?;
        return Ok(Status::Done);
    }
    let columns = [
        Column::text("--connection"),
        Column::text("connection"),
        Column::text("seen by"),
        Column::number("events", ""),
        Column::number("sent", "kB"),
    ];
    let mut table = Table::new("connections", format!("Connections of {file}"), columns);
    for (number, listed) in (1..).zip(&recorded.all) {
        let kb = |bytes: u64| format!("{:.1}", bytes as f64 / 1e3);
        let cells = [
            format!("{number}{}", if number == recorded.number { " (shown)" } else { "" }),
            listed.title.clone(),
            listed.vantage.clone(),
            listed.events.to_string(),
            listed.bytes.map_or("-".to_owned(), kb),
        ];
        table.push(cells.map(Cell::from));
    }
    output::print(&terminal::table(&table, output::screen()))?;
    Ok(Status::Done)
}

/// The connection beside the references, if a path was named.
fn judge(args: &Args, file: &str, recorded: &Recorded) -> Result<Option<Judged>, Failure> {
    let (Some(rate), Some(rtt)) = (&args.rate, &args.rtt) else { return Ok(None) };
    let path = KnownPath { rate, rtt, buffer: args.buffer.as_deref() };
    let run = |scenario: &_| carry_out(scenario, &SIM, Use::Numbers, Recorders::default());
    let judged = path.judge(file, recorded, &SIM, run)?;
    judged.caution.iter().for_each(|caution| output::complain(caution));
    Ok(Some(judged))
}

/// The log and the references, a row each; nothing where they were not run.
fn reference_table(judged: &Judged) -> Option<Table> {
    judged.size_bytes?;
    let columns = [
        Column::text("on this path"),
        Column::number("time", "s"),
        Column::number("end of start-up", "s"),
        Column::number("cwnd then", "BDP"),
        Column::number("lost", "packets"),
    ];
    let mut table = Table::new("beside", "Beside the references", columns);
    let cell = |value: Option<f64>| value.map_or("-".to_owned(), |value| digits(value, 3));
    for row in std::iter::once(&judged.log).chain(&judged.references) {
        let lost = row.lost_packets.map_or("-".to_owned(), |packets| packets.to_string());
        let cells = [cell(row.time_s), cell(row.exit_time_s), cell(row.exit_window_over_bdp)];
        let cells = cells.into_iter().chain([lost]).map(Cell::from);
        table.push(std::iter::once(Cell::from(row.name.clone())).chain(cells));
    }
    Some(table)
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
        "" | "unknown" => format!("Start-up in {name}"),
        vantage => format!("Start-up in {name}, seen by the {vantage}"),
    }
}

fn caption(connection: &Connection) -> String {
    if let Some(why) = &connection.hidden {
        return format!("The file cannot show start-up: {why}.");
    }
    let how = match connection.summary.exit.as_ref().map(|exit| exit.evidence) {
        None => "The file shows no end of start-up.",
        Some(Evidence::State) => "Start-up ended when the controller's state changed.",
        Some(Evidence::Threshold) => "Start-up ended when the window reached ssthresh.",
        Some(Evidence::Cut) => "Start-up ended when the window was cut near a loss.",
        Some(Evidence::Flight) => {
            "Start-up ended when a packet was sent again, or three rounds had no larger flight."
        }
    };
    how.to_owned()
}

/// Round trips after the end of a short start-up that are drawn at least.
const ROUNDS_AFTER: f64 = 10.0;
