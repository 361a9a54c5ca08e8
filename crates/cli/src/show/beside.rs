//! A connection's log beside the references, which the simulator runs on the path that was named.

use std::fmt::Write as _;

use firstflight_judge::REFERENCES;
use firstflight_judge::own_log::{Found, Seen, findings};
use firstflight_qlog::Summary;
use firstflight_report::{Cell, Column, Table, digits};
use firstflight_runner::Run;
use firstflight_scenario::{PathFlags, Rate, Resolved, ResolvedBuffer};
use serde::Serialize;

use super::subject::Subject;
use crate::failure::Failure;
use crate::shared::{Use, carry_out};
use crate::transport::Transport;
use crate::{compare, output};

/// The path on which the connection was.
#[derive(Debug, clap::Args)]
pub(super) struct PathArgs {
    /// Judge the start-up on a bottleneck of this rate
    #[arg(long, value_name = "RATE", requires = "rtt")]
    rate: Option<String>,
    /// The path's RTT without a queue
    #[arg(long, value_name = "TIME", requires = "rate")]
    rtt: Option<String>,
    /// The bottleneck's buffer [default: 1bdp]
    #[arg(long, value_name = "BUFFER", requires = "rate")]
    buffer: Option<String>,
}

/// A log beside the references.
#[derive(Debug, Serialize)]
pub(super) struct Judged {
    /// The path's bandwidth-delay product, bytes.
    bdp_bytes: u64,
    /// Its buffer, bytes.
    buffer_bytes: u64,
    /// What the references carry: what the log has sent and not declared lost, or as much as the
    /// path carries in its time where the log has no packets, bytes.
    size_bytes: u64,
    /// What was found.
    findings: Vec<Found>,
    /// The log.
    log: Beside,
    /// The references, in order.
    references: Vec<Beside>,
}

/// One column of the table.
#[derive(Debug, Serialize)]
struct Beside {
    name: String,
    /// When the last byte had arrived, or the log ended, seconds.
    time_s: Option<f64>,
    /// When start-up ended, seconds.
    exit_time_s: Option<f64>,
    /// The window then over the BDP.
    exit_window_over_bdp: Option<f64>,
    /// Packets lost.
    lost_packets: Option<u64>,
}

impl PathArgs {
    /// Judges the connection, if a path was named.
    ///
    /// # Errors
    /// A quantity that is none, and an interruption.
    pub(super) fn judge(&self, file: &str, subject: &Subject) -> Result<Option<Judged>, Failure> {
        let (Some(rate), Some(rtt)) = (&self.rate, &self.rtt) else { return Ok(None) };
        if subject.udp {
            return Err(Failure::Usage(format!(
                "--rate: {file} is a capture of UDP, which shows bytes over time and no start-up; \
                 accepted: a capture of TCP, or the qlog of a QUIC stack"
            )));
        }
        let summary = &subject.summary;
        let has_packets = summary.packets_sent > 0 && summary.bytes_sent > 0;
        let arrived = summary.bytes_sent.saturating_sub(summary.bytes_lost).max(1);
        let size_bytes = if has_packets { arrived } else { carried(rate, summary.duration_s) };
        let size = format!("{size_bytes}B");
        let buffer = self.buffer.as_deref().unwrap_or("1bdp");
        let packet = subject.mss.map(|bytes| format!("{bytes}B"));
        let flags = [
            // A qlog is QUIC's.
            ("--profile", if subject.form == "qlog" { "quic" } else { "linux" }),
            ("--rate", rate),
            ("--rtt", rtt),
            ("--buffer", buffer),
            ("--size", &size),
            ("--duration", LONGEST),
        ];
        let of_tcp = packet.iter().flat_map(|packet| [("--packet", &**packet), HEADERS]);
        let flags: Vec<(&str, &str)> = flags.into_iter().chain(of_tcp).collect();
        let controls = REFERENCES.map(str::to_owned);
        let flags = PathFlags::from_iter(flags);
        let scenario = compare::scenario(&controls, &flags, &Transport::Sim)?;
        let report = carry_out(&scenario, &Transport::Sim, Use::Numbers, None)?;
        if report.interrupted {
            return Err(Failure::Interrupted);
        }
        let (bdp, buffer) = holds(&report.resolved);
        warn_of_another_path(&report.resolved, summary);
        let references: Vec<Beside> = report.runs.iter().map(Beside::reference).collect();
        let slow_start = references.first().and_then(|slow_start| slow_start.lost_packets);
        let seen = Seen {
            lost: has_packets.then_some(summary.packets_lost as f64),
            slow_start_lost: slow_start.map(|lost| lost as f64),
            ..windows(subject, bdp, buffer)
        };
        Ok(Some(Judged {
            bdp_bytes: bdp,
            buffer_bytes: buffer,
            size_bytes,
            findings: findings(&seen),
            log: Beside::log(summary, bdp, has_packets),
            references,
        }))
    }
}

/// What a path of this rate carries in a time, at least a byte: the size of a transfer whose log
/// has no packets.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn carried(rate: &str, seconds: f64) -> u64 {
    // What is no rate is refused with the scenario.
    let bps = rate.parse().map_or(0, Rate::bps);
    ((bps as f64 / 8.0 * seconds) as u64).max(1)
}

/// What the path and its buffer hold, bytes.
fn holds(resolved: &Resolved) -> (u64, u64) {
    let Some(link) = resolved.links.get(resolved.slowest_link()) else { return (0, 0) };
    let rtt_ns = resolved.flows.first().map_or(0, |flow| flow.rtt_ns);
    let bdp = u128::from(link.rate_bps) * u128::from(rtt_ns) / 8_000_000_000;
    let buffer = match link.buffer {
        ResolvedBuffer::Packets(packets) => packets.saturating_mul(resolved.wire_bytes()),
        ResolvedBuffer::Bytes(bytes) => bytes,
    };
    (u64::try_from(bdp).unwrap_or(u64::MAX), buffer)
}

/// The log's windows up to the end of start-up.
fn windows(subject: &Subject, bdp: u64, buffer: u64) -> Seen {
    let (connection, summary) = (&subject.connection, &subject.summary);
    let exit = summary.exit.as_ref();
    let curves = connection.curves(exit.map_or(summary.duration_s, |exit| exit.time_s));
    let largest = |points: &[(f64, f64)]| points.iter().map(|(_, bytes)| *bytes).reduce(f64::max);
    Seen {
        bdp: bdp as f64,
        buffer: buffer as f64,
        exit_window: exit.and_then(|exit| exit.cwnd_bytes).map(|bytes| bytes as f64),
        most_in_flight: largest(&curves.in_flight),
        largest_window: largest(&curves.cwnd),
        idle_share: subject.idle_share,
        ..Seen::default()
    }
}

/// Says so where the log's own RTT contradicts the path that was named.
fn warn_of_another_path(resolved: &Resolved, summary: &Summary) {
    let named_ms = resolved.flows.first().map_or(0, |flow| flow.rtt_ns) as f64 / 1e6;
    let Some(least_ms) = summary.min_rtt_ms else { return };
    if !(named_ms / OTHER_PATH..=named_ms * OTHER_PATH).contains(&least_ms) {
        output::complain(&format!(
            "the log's smallest RTT is {} ms, --rtt says {} ms: the verdict is of the path that \
             was named",
            digits(least_ms, 2),
            digits(named_ms, 2)
        ));
    }
}

impl Beside {
    fn reference(run: &Run) -> Self {
        let flow = run.result.flows.first();
        let startup = flow.map(|flow| &flow.startup);
        Self {
            name: run.result.alias.clone(),
            time_s: flow.and_then(|flow| flow.completion_time_s),
            exit_time_s: startup.and_then(|startup| startup.exit_time_s),
            exit_window_over_bdp: startup.and_then(|startup| startup.exit_window_over_bdp),
            lost_packets: Some(run.result.bottleneck.drops),
        }
    }

    fn log(summary: &Summary, bdp: u64, has_packets: bool) -> Self {
        let exit = summary.exit.as_ref();
        let window = exit.and_then(|exit| exit.cwnd_bytes);
        Self {
            name: "this log".to_owned(),
            time_s: Some(summary.duration_s),
            exit_time_s: exit.map(|exit| exit.time_s),
            exit_window_over_bdp: window.map(|bytes| bytes as f64 / bdp.max(1) as f64),
            lost_packets: has_packets.then_some(summary.packets_lost),
        }
    }
}

impl Judged {
    /// The log and the references, a row each.
    pub(super) fn table(&self) -> Table {
        let columns = [
            Column::text("on this path"),
            Column::number("time", "s"),
            Column::number("end of start-up", "s"),
            Column::number("cwnd then", "BDP"),
            Column::number("lost", "packets"),
        ];
        let mut table = Table::new("beside", "Beside the references", columns);
        let told = |value: Option<f64>| value.map_or("-".to_owned(), |value| digits(value, 3));
        for row in std::iter::once(&self.log).chain(&self.references) {
            let lost = row.lost_packets.map_or("-".to_owned(), |packets| packets.to_string());
            let cells = [told(row.time_s), told(row.exit_time_s), told(row.exit_window_over_bdp)];
            let cells = cells.into_iter().chain([lost]).map(Cell::from);
            table.push(std::iter::once(Cell::from(row.name.clone())).chain(cells));
        }
        table
    }

    /// What the references carried, and the findings, a line each.
    pub(super) fn words(&self) -> String {
        let why = match self.log.lost_packets {
            Some(_) => "as the log",
            None => "what the path takes in the log's time, since the log has no packets",
        };
        let size = digits(self.size_bytes as f64 / 1e6, 3);
        let first = format!("The references carry {size} MB, {why}.\n");
        self.findings.iter().fold(first, |mut text, found| {
            let _ = writeln!(text, "{}: {}", found.finding.name(), found.why);
            text
        })
    }
}

/// What a segment of TCP with time stamps adds on the link.
const HEADERS: (&str, &str) = ("--headers", "52B");
/// References that are not done by then have no time.
const LONGEST: &str = "600s";
/// The log's smallest RTT may be off by this factor before the path counts as another.
const OTHER_PATH: f64 = 1.5;
