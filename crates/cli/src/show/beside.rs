//! A connection's log beside the references, which the simulator runs on the path that was named.

use std::fmt::Write as _;

use firstflight_judge::REFERENCES;
use firstflight_judge::own_log::{Found, Seen, findings};
use firstflight_qlog::{Curve, Summary};
use firstflight_record::{Form, Recorded};
use firstflight_report::{Cell, Column, Table, digits};
use firstflight_runner::Run;
use firstflight_scenario::{PathFlags, Rate, Resolved, ResolvedBuffer};
use firstflight_transports::SIM;
use serde::Serialize;

use crate::failure::Failure;
use crate::shared::{Use, carry_out};
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
    /// path carries in its time where the log does not tell that, bytes. `None` if they were not
    /// run, because the record cannot show the start-up.
    size_bytes: Option<u64>,
    /// What was found.
    findings: Vec<Found>,
    /// The log.
    log: Beside,
    /// The log tells how many bytes arrived.
    #[serde(skip)]
    is_told: bool,
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
    pub(super) fn judge(&self, file: &str, recorded: &Recorded) -> Result<Option<Judged>, Failure> {
        let (Some(rate), Some(rtt)) = (&self.rate, &self.rtt) else { return Ok(None) };
        if recorded.udp {
            return Err(Failure::Usage(format!(
                "--rate: {file} is a capture of UDP, which shows bytes over time and no start-up; \
                 accepted: a capture of TCP, or the qlog of a QUIC stack"
            )));
        }
        let summary = &recorded.connection.summary;
        let arrived = arrived(summary);
        let size_bytes = arrived.unwrap_or_else(|| carried(rate, summary.duration_s));
        let size = format!("{size_bytes}B");
        let buffer = self.buffer.as_deref().unwrap_or("1bdp");
        let packet = recorded.mss.map(|bytes| format!("{bytes}B"));
        let flags = [
            // A qlog is QUIC's.
            ("--profile", if recorded.form == Form::Qlog { "quic" } else { "linux" }),
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
        let scenario = compare::scenario(&controls, &flags, &SIM)?;
        let hidden = recorded.connection.hidden.is_some();
        let (resolved, runs) = if hidden {
            (scenario.resolve()?, Vec::new())
        } else {
            let report = carry_out(&scenario, &SIM, Use::Numbers, None)?;
            if report.interrupted {
                return Err(Failure::Interrupted);
            }
            (report.resolved, report.runs)
        };
        warn_of_another_path(&resolved, summary);
        let references: Vec<Beside> = runs.iter().map(Beside::reference).collect();
        let seen = seen(recorded, &resolved, &references);
        Ok(Some(Judged {
            bdp_bytes: whole(seen.bdp),
            buffer_bytes: whole(seen.buffer),
            size_bytes: (!hidden).then_some(size_bytes),
            findings: findings(&seen),
            log: Beside::log(summary, whole(seen.bdp)),
            is_told: arrived.is_some(),
            references,
        }))
    }
}

/// What arrived of what was sent, if the log tells that, at least a byte.
fn arrived(summary: &Summary) -> Option<u64> {
    let sent = summary.bytes_sent.filter(|bytes| *bytes > 0)?;
    Some(sent.saturating_sub(summary.bytes_lost.unwrap_or(0)).max(1))
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

/// What the log tells, with its windows up to the end of start-up.
fn seen(recorded: &Recorded, resolved: &Resolved, references: &[Beside]) -> Seen {
    let (connection, summary) = (&recorded.connection, &recorded.connection.summary);
    let (bdp, buffer) = holds(resolved);
    let exit = summary.exit.as_ref();
    let curves = connection.curves(exit.map_or(summary.duration_s, |exit| exit.time_s));
    let largest = |curve: &Curve| curve.points().iter().map(|(_, it)| *it).reduce(f64::max);
    let slow_start = references.first().and_then(|slow_start| slow_start.lost_packets);
    let ends: Option<Vec<f64>> = references.iter().map(|reference| reference.exit_time_s).collect();
    Seen {
        hidden: connection.hidden.clone(),
        bdp: bdp as f64,
        buffer: buffer as f64,
        rtt_s: resolved.flows.first().map_or(0, |flow| flow.rtt_ns) as f64 / 1e9,
        duration_s: summary.duration_s,
        exit_s: exit.map(|exit| exit.time_s),
        exit_window: exit.and_then(|exit| exit.cwnd_bytes).map(|bytes| bytes as f64),
        most_in_flight: largest(&curves.in_flight),
        largest_window: largest(&curves.cwnd),
        limits: connection.limits.clone(),
        lost: summary.packets_lost.map(|packets| packets as f64),
        slow_start_lost: slow_start.map(|lost| lost as f64),
        slowest_reference_s: ends.and_then(|ends| ends.into_iter().reduce(f64::max)),
    }
}

/// A number of bytes that was one before.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was whole before")]
fn whole(bytes: f64) -> u64 {
    bytes as u64
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

    fn log(summary: &Summary, bdp: u64) -> Self {
        let exit = summary.exit.as_ref();
        let window = exit.and_then(|exit| exit.cwnd_bytes);
        Self {
            name: "this log".to_owned(),
            time_s: Some(summary.duration_s),
            exit_time_s: exit.map(|exit| exit.time_s),
            exit_window_over_bdp: window.map(|bytes| bytes as f64 / bdp.max(1) as f64),
            lost_packets: summary.packets_lost,
        }
    }
}

impl Judged {
    /// The log and the references, a row each; nothing where they were not run.
    pub(super) fn table(&self) -> Option<Table> {
        self.size_bytes?;
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
        Some(table)
    }

    /// What the references carried, and the findings, a line each.
    pub(super) fn words(&self) -> String {
        let first = self.size_bytes.map_or(String::new(), |bytes| {
            let why = match self.is_told {
                true => "as the log",
                false => "what the path takes in the log's time: how much arrived is not told",
            };
            format!("The references carry {} MB, {why}.\n", digits(bytes as f64 / 1e6, 3))
        });
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
