//! What the recording of a trial holds: what the trial is, then a line for each connection.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::Path;

use firstflight_kernel::trial::judge::{By, ConnectionRecord, Judge, Outcome, prefix_of};
use serde::{Deserialize, Serialize};

/// A connection.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// When it was reported, in seconds since the trial began.
    pub(super) after_s: f64,
    /// The minute in which it began, since the machine was started.
    pub(super) minute: u64,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    /// It was dealt the control that is tried, whether or not it got it.
    pub(super) tried: bool,
    /// Its control when it was reported.
    pub(super) control: String,
    /// The kernel refused the control that was dealt.
    pub(super) refused: bool,
    pub(super) time_to_bytes_s: Option<f64>,
    pub(super) bytes_at_age: f64,
    pub(super) srtt_s: f64,
    pub(super) acked_bytes: u64,
    pub(super) sent_again_bytes: u64,
    pub(super) timeouts: u32,
    /// It closed before both sides had finished.
    pub(super) broken_off: bool,
}

impl Line {
    pub(super) fn outcome(&self) -> Outcome {
        let seen = ConnectionRecord {
            time_to_bytes: self.time_to_bytes_s,
            bytes_at_age: self.bytes_at_age,
            rtt: self.srtt_s,
            acked: self.acked_bytes,
            sent_again: self.sent_again_bytes,
            timeouts: self.timeouts,
            broken: self.broken_off,
        };
        let prefix = prefix_of(self.remote.ip());
        Outcome { treated: self.tried, prefix, minute: self.minute, values: seen.values() }
    }
}

/// The first line: what the trial is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) schema: String,
    pub(super) control: String,
    pub(super) against: String,
    pub(super) share: f64,
    pub(super) to: String,
    pub(super) port: Option<u16>,
    pub(super) by: String,
    pub(super) bytes: u64,
    pub(super) age_s: f64,
    /// Older recordings do not have it.
    #[serde(default = "two_percent")]
    pub(super) tolerance: f64,
    pub(super) seed: u32,
}

const fn two_percent() -> f64 {
    0.02
}

impl Head {
    /// A judge without a connection yet.
    pub(super) fn judge(&self) -> Judge {
        let all = [By::Prefix, By::Time].into_iter().find(|by| by_word(*by) == self.by);
        Judge::new(all.unwrap_or(By::Connection), self.share, self.tolerance)
    }
}

pub(super) const fn by_word(by: By) -> &'static str {
    match by {
        By::Connection => "connection",
        By::Prefix => "prefix",
        By::Time => "time",
    }
}

/// Reads a recording: how many bytes of it are whole lines, and its last connection. `each` gets
/// every connection with its line.
pub(super) fn read(
    path: &Path,
    head: impl FnOnce(Head) -> Result<(), String>,
    mut each: impl FnMut(&Line, &[u8]) -> Result<(), String>,
) -> Result<(u64, Option<Line>), String> {
    let file = firstflight_outside::open(path, MOST).map_err(|problem| problem.to_string())?;
    let (mut file, mut head) = (BufReader::new(file), Some(head));
    let (mut whole, mut last, mut text) = (0, None, Vec::new());
    loop {
        text.clear();
        let read = (&mut file).take(LONGEST).read_until(b'\n', &mut text);
        let read = read.map_err(|error| error.to_string())?;
        if !text.ends_with(b"\n") {
            if read as u64 == LONGEST {
                return Err("a line without an end".to_owned());
            }
            break;
        }
        if let Some(head) = head.take() {
            let found: Head = serde_json::from_slice(&text)
                .map_err(|_| "its first line is none of a trial's".to_owned())?;
            if found.schema != SCHEMA {
                return Err(format!("schema is \"{}\"; accepted: \"{SCHEMA}\"", found.schema));
            }
            head(found)?;
        } else {
            let line: Line = serde_json::from_slice(&text)
                .map_err(|error| format!("after {whole} bytes: {error}"))?;
            each(&line, &text)?;
            last = Some(line);
        }
        whole += read as u64;
    }
    Ok((whole, last))
}

pub(super) const SCHEMA: &str = "firstflight/trial-recording@1";
/// Largest recording that is read, in bytes: that of a hundred million connections.
const MOST: u64 = 1 << 35;
/// Longest line of a recording, in bytes.
const LONGEST: u64 = 1 << 16;
