//! A connection that was recorded, with its curves, and the references on its path over it.

use std::io::Cursor;

use firstflight_answers::show::{Document, cautions, check, named};
use firstflight_answers::{Judged, KnownPath, json};
use firstflight_qlog::Curve;
use firstflight_record::{Recorded, read};
use firstflight_runner::{Options, RunError, Simulator, Transport as _};
use serde::{Deserialize, Serialize};

use crate::compared::{Drawn, drawn, over};
use crate::question::{alone, compact, wrong};

/// The path of the connection, as a user names it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Path {
    rate: String,
    rtt: String,
    buffer: Option<String>,
}

/// A record as a picture and in words.
#[derive(Debug, Serialize)]
struct Shown<'a> {
    document: Document<'a>,
    named: String,
    cautions: Vec<String>,
    words: Option<String>,
    /// The payload of a packet by which bytes become packets.
    packet_bytes: u64,
    connections: Vec<&'a str>,
    cwnd: Points<'a>,
    ssthresh: Points<'a>,
    in_flight: Points<'a>,
    smoothed_rtt: Points<'a>,
    lost: Points<'a>,
    sent: Points<'a>,
    references: Vec<Drawn>,
}

type Points<'a> = &'a [(f64, f64)];

/// The document of `show --json`.
pub(crate) fn document(name: &str, file: &[u8]) -> Result<String, RunError> {
    let recorded = recorded(name, file, None)?;
    check(name, &recorded)?;
    json(&Document::of(name, &recorded, None))
}

/// Reads a record, and runs the references where the path is known.
pub(crate) fn shown(
    name: &str,
    file: &[u8],
    connection: Option<usize>,
    path: Option<&Path>,
    samples: u32,
) -> Result<String, RunError> {
    let recorded = recorded(name, file, connection)?;
    check(name, &recorded)?;
    let mut references = Vec::new();
    let judged = path.map(|path| judged(name, &recorded, path, samples, &mut references));
    let judged = judged.transpose()?;
    let curves = recorded.connection.curves(f64::INFINITY);
    let mut cautions = cautions(name, &recorded);
    cautions.extend(judged.iter().filter_map(|judged| judged.caution.clone()));
    cautions
        .extend(recorded.connection.hidden.iter().map(|why| format!("Start-up is hidden: {why}.")));
    let points = Curve::points;
    compact(&Shown {
        document: Document::of(name, &recorded, judged.as_ref()),
        named: named(&recorded),
        cautions,
        words: judged.as_ref().map(Judged::words),
        packet_bytes: recorded.mss.unwrap_or(QUIC_BYTES),
        connections: recorded.all.iter().map(|listed| &*listed.title).collect(),
        cwnd: points(&curves.cwnd),
        ssthresh: points(&curves.ssthresh),
        in_flight: points(&curves.in_flight),
        smoothed_rtt: points(&curves.smoothed_rtt),
        lost: points(&curves.lost),
        sent: points(&curves.sent),
        references,
    })
}

fn recorded(name: &str, file: &[u8], number: Option<usize>) -> Result<Recorded, RunError> {
    read(name, Cursor::new(file), number).map_err(|error| wrong(&error.to_string()))
}

/// The references on the path, over the time that the record shows.
fn judged(
    name: &str,
    recorded: &Recorded,
    path: &Path,
    samples: u32,
    curves: &mut Vec<Drawn>,
) -> Result<Judged, RunError> {
    let Path { rate, rtt, buffer } = path;
    let known = KnownPath { rate, rtt, buffer: buffer.as_deref() };
    known.judge(name, recorded, &Simulator::TCP, |scenario| {
        let whole = scenario.complete()?.duration.seconds();
        let part = recorded.connection.summary.duration_s.max(1e-3);
        let options = Options { samples: Some(over(whole, part, samples)), ..alone() };
        let report = Simulator::TCP.run(scenario, &options)?;
        *curves = drawn(&report);
        Ok(report)
    })
}

/// A full packet of a QUIC stack that has not said its size (RFC 9000 section 14.1).
const QUIC_BYTES: u64 = 1200;
