//! A connection's record beside the references, which run on the path that was named.

use std::fmt::Write as _;

use firstflight_judge::REFERENCES;
use firstflight_judge::findings::{Evidence, Found, findings};
use firstflight_outside::digits;
use firstflight_qlog::{Curve, Summary};
use firstflight_record::{Form, Recorded};
use firstflight_runner::{Report, Run, RunError, Transport};
use firstflight_scenario::{Complete, PathFlags, Rate, Scenario};
use serde::Serialize;

use crate::comparison;

/// The path on which a connection was recorded, as a user names it.
#[derive(Clone, Copy, Debug)]
pub struct KnownPath<'a> {
    /// The bottleneck's rate.
    pub rate: &'a str,
    /// The path's RTT without a queue.
    pub rtt: &'a str,
    /// The bottleneck's buffer; 1 BDP if none is named.
    pub buffer: Option<&'a str>,
}

/// A record beside the references.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct Judged {
    /// The path's bandwidth-delay product, bytes.
    bdp_bytes: u64,
    /// Its buffer, bytes.
    buffer_bytes: u64,
    /// What the references carry: what the log has sent and not declared lost, or as much as the
    /// path carries in its time where the log does not tell that, bytes. `None` if they were not
    /// run, because the record cannot show the start-up.
    pub size_bytes: Option<u64>,
    /// What was found.
    findings: Vec<Found>,
    /// The log.
    pub log: StartUp,
    /// The log tells how many bytes arrived.
    #[serde(skip)]
    is_size_known: bool,
    /// Why the log contradicts the path that was named.
    #[serde(skip)]
    pub caution: Option<String>,
    /// The references, in order.
    pub references: Vec<StartUp>,
}

/// The start-up of the log or of a reference.
#[derive(Debug, Serialize)]
#[non_exhaustive]
pub struct StartUp {
    /// The reference, or `this log`.
    pub name: String,
    /// When the last byte had arrived, or the log ended, seconds.
    pub time_s: Option<f64>,
    /// When start-up ended, seconds.
    pub exit_time_s: Option<f64>,
    /// The window then over the BDP.
    pub exit_window_over_bdp: Option<f64>,
    /// Packets lost.
    pub lost_packets: Option<u64>,
}

impl KnownPath<'_> {
    /// Judges a connection of a file beside the references, which `run` runs on the transport.
    ///
    /// # Errors
    /// A quantity that is none, what `run` says, and an interruption.
    pub fn judge<E: From<RunError>>(
        &self,
        file: &str,
        recorded: &Recorded,
        transport: &dyn Transport,
        run: impl FnOnce(&Scenario) -> Result<Report, E>,
    ) -> Result<Judged, E> {
        if recorded.udp {
            let problem = format!(
                "--rate: {file} is a capture of UDP, which shows bytes over time and no start-up; \
                 accepted: a capture of TCP, or the qlog of a QUIC stack"
            );
            return Err(RunError::Input(problem).into());
        }
        let summary = &recorded.connection.summary;
        let arrived = arrived(summary);
        let size_bytes = arrived.unwrap_or_else(|| carried(self.rate, summary.duration_s));
        let scenario = self.references(recorded, size_bytes, transport)?;
        let hidden = recorded.connection.hidden.is_some();
        let (complete, runs) = if hidden {
            (scenario.complete().map_err(RunError::from)?, Vec::new())
        } else {
            let report = run(&scenario)?;
            if report.interrupted {
                return Err(RunError::Interrupted.into());
            }
            (report.scenario, report.runs)
        };
        let references: Vec<StartUp> = runs.iter().map(StartUp::reference).collect();
        let seen = seen(recorded, &complete, &references);
        Ok(Judged {
            bdp_bytes: whole(seen.bdp),
            buffer_bytes: whole(seen.buffer),
            size_bytes: (!hidden).then_some(size_bytes),
            findings: findings(&seen),
            log: StartUp::log(summary, whole(seen.bdp)),
            is_size_known: arrived.is_some(),
            caution: another_path(&complete, summary),
            references,
        })
    }

    /// The references on this path, with as many bytes.
    fn references(
        &self,
        recorded: &Recorded,
        size_bytes: u64,
        transport: &dyn Transport,
    ) -> Result<Scenario, RunError> {
        let size = format!("{size_bytes}B");
        let packet = recorded.mss.map(|bytes| format!("{bytes}B"));
        let flags = [
            // A qlog is QUIC's.
            ("--profile", if recorded.form == Form::Qlog { "quic" } else { "linux" }),
            ("--rate", self.rate),
            ("--rtt", self.rtt),
            ("--buffer", self.buffer.unwrap_or("1bdp")),
            ("--size", &size),
            ("--duration", LONGEST),
        ];
        let of_tcp = packet.iter().flat_map(|packet| [("--packet", &**packet), HEADERS]);
        let flags = PathFlags::from_iter(flags.into_iter().chain(of_tcp));
        comparison(&REFERENCES.map(str::to_owned), &flags, transport)
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
fn holds(complete: &Complete) -> (u64, u64) {
    let Some(link) = complete.links.get(complete.slowest_link()) else { return (0, 0) };
    let rtt_ns = complete.flows.first().map_or(0, |flow| flow.rtt.ns());
    let bdp = u128::from(link.rate.bps()) * u128::from(rtt_ns) / 8_000_000_000;
    (u64::try_from(bdp).unwrap_or(u64::MAX), link.buffer.bytes_of(complete.wire_bytes()))
}

/// What the log tells, with its windows up to the end of start-up.
fn seen(recorded: &Recorded, complete: &Complete, references: &[StartUp]) -> Evidence {
    let (connection, summary) = (&recorded.connection, &recorded.connection.summary);
    let (bdp, buffer) = holds(complete);
    let exit = summary.exit.as_ref();
    let curves = connection.curves(exit.map_or(summary.duration_s, |exit| exit.time_s));
    let largest = |curve: &Curve| curve.points().iter().map(|(_, it)| *it).reduce(f64::max);
    let slow_start = references.first().and_then(|slow_start| slow_start.lost_packets);
    let ends: Option<Vec<f64>> = references.iter().map(|reference| reference.exit_time_s).collect();
    Evidence {
        hidden: connection.hidden.clone(),
        bdp: bdp as f64,
        buffer: buffer as f64,
        rtt_s: complete.flows.first().map_or(0, |flow| flow.rtt.ns()) as f64 / 1e9,
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

/// Whether the log's own RTT contradicts the path that was named.
fn another_path(complete: &Complete, summary: &Summary) -> Option<String> {
    let named_ms = complete.flows.first().map_or(0, |flow| flow.rtt.ns()) as f64 / 1e6;
    let least_ms = summary.min_rtt_ms?;
    let is_it = (named_ms / OTHER_PATH..=named_ms * OTHER_PATH).contains(&least_ms);
    (!is_it).then(|| {
        format!(
            "the log's smallest RTT is {} ms, --rtt says {} ms: the verdict is of the path that \
             was named",
            digits(least_ms, 2),
            digits(named_ms, 2)
        )
    })
}

impl StartUp {
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
    /// What the references carried, and the findings, a line each.
    pub fn words(&self) -> String {
        let first = self.size_bytes.map_or(String::new(), |bytes| {
            let why = match self.is_size_known {
                true => "as the log",
                false => "what the path takes in the log's time: how much arrived is not told",
            };
            format!("The references carry {} MB, {why}.\n", digits(bytes as f64 / 1e6, 3))
        });
        self.findings.iter().fold(first, |mut text, found| {
            let _ = writeln!(text, "{}: {}.", found.finding.name(), found.why);
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
