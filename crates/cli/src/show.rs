//! `show`: a connection's start-up, drawn from its qlog, a capture or a record of `ss`, and judged
//! where its path is known.

mod beside;
mod drawing;
mod subject;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use firstflight_qlog::{Connection, Evidence, Summary};
use firstflight_report::{Page, Section, terminal, write_dir};
use firstflight_scenario::Time;
use serde::Serialize;

use beside::Judged;
use subject::Subject;

use crate::failure::{Failure, Status};
use crate::words::whole;
use crate::{command_line, output};

/// Draw a connection's start-up from its qlog, a capture or a record of ss
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A qlog of any stack (.sqlog, .qlog), a pcap or pcapng of TCP, or the output of `ss -tin`
    /// again and again
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Which connection of the file, from 1 [default: the one with most events, or most bytes]
    #[arg(long, visible_alias = "flow", value_name = "N", value_parser = whole::<usize>)]
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
controller's state, a window that reached ssthresh, or a cut of the window near a loss. A capture
shows no window: there start-up ends with the first packet that is sent again, or when three rounds
in a row have no more in flight than a quarter above the best before.

With --rate and --rtt the references of `judge` run in the simulator on that path with as many
bytes, and the start-up is called early (below 0.9 BDP), late (beyond path and buffer), lossy (more
lost than with slow start), limited by the application, or fine.

Examples:
  firstflight show client.sqlog
  firstflight show server.qlog --connection 2 --until 2s
  firstflight show client.sqlog --all --out report && xdg-open report/report.html
  firstflight show client.sqlog --rate 50Mbps --rtt 40ms --buffer 1bdp
  tcpdump -i any -s 128 -w sent.pcap tcp port 443
  firstflight show sent.pcap --flow 2 --rate 50Mbps --rtt 40ms
  while sleep .01; do date +%s.%N; ss -tin dst 192.0.2.1; done > ss.txt
  firstflight show ss.txt --rate 50Mbps --rtt 40ms
  firstflight show client.sqlog --json | jq .startup.exit";

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    /// `qlog`, `pcap` or `ss`.
    form: &'static str,
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
    let subject = Subject::open(&args.file, args.connection)?;
    let (connection, summary) = (&subject.connection, &subject.summary);
    let judged = args.path.judge(&file, &subject)?;
    let document = Document {
        schema: SCHEMA,
        file: file.clone(),
        form: subject.form,
        qlog_version: &subject.version,
        title: &connection.title,
        vantage: &connection.vantage,
        connection: subject.number,
        connections: subject.connections,
        skipped_records: subject.skipped.len(),
        truncated: subject.truncated,
        startup: summary,
        judged: judged.as_ref(),
    };
    let json = format!("{}\n", serde_json::to_string_pretty(&document)?);
    let until_s = until(args, summary);
    let heading = heading(&args.file, connection);
    if args.json {
        output::print(&json)?;
    } else {
        let screen = output::screen();
        let figure = drawing::figure(&heading, connection, summary, until_s);
        let mut text = terminal::figure(&figure, screen);
        let tables = [Some(drawing::table(summary)), judged.as_ref().map(Judged::table)];
        for table in tables.iter().flatten() {
            let _ = write!(text, "\n{}", terminal::table(table, screen));
        }
        text.push_str(&judged.as_ref().map_or(String::new(), Judged::words));
        output::print(&text)?;
    }
    if let Some(out) = &args.out {
        let command = command_line::typed();
        let figure = drawing::figure(&heading, connection, summary, until_s);
        let section = Section::new("connection", "The connection")
            .table(drawing::table(summary))
            .figure(figure.command(&command).caption(caption(summary)));
        let section = match &judged {
            Some(judged) => section.table(judged.table()).text(judged.words()),
            None => section,
        };
        let page = Page::new(&heading)
            .subtitle(&connection.title)
            .section(section)
            .command(command)
            .fact("version", env!("CARGO_PKG_VERSION"));
        let page = match subject.version.as_str() {
            "" => page.fact("record", subject.form),
            version => page.fact("qlog version", version),
        };
        write_dir(out, &page, vec![("show.json".into(), json)])?;
        output::note(&format!("report: {}", out.join("report.html").display()));
    }
    Ok(Status::Done)
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
