//! A number of milliseconds a line: LeoCC's delay traces, where each holds for ten milliseconds,
//! and recorded delays.

use firstflight_control::quantity::Time;

use super::lines::{Lines, Problem};
use super::{Delays, Recorded};

/// One-way delays, each of which holds for ten milliseconds.
pub(super) fn delays(mut lines: Lines) -> Result<(Delays, String), Problem> {
    let mut steps: Vec<(u64, u64)> = Vec::new();
    let mut at = 0;
    while let Some(delay) = next(&mut lines)? {
        if steps.last().is_none_or(|(_, last)| *last != delay) {
            steps.push((at, delay));
        }
        at += INTERVAL_NS;
    }
    if steps.is_empty() {
        return Err(lines.wrong(format!("the file is empty; accepted: {ACCEPTED}")));
    }
    Ok((Delays { steps: steps.into(), period_ns: Some(at) }, lines.digest()))
}

/// Delays without times.
pub(super) fn recorded(mut lines: Lines) -> Result<(Recorded, String), Problem> {
    let mut all = Vec::new();
    while let Some(delay) = next(&mut lines)? {
        all.push(delay);
    }
    if all.is_empty() {
        return Err(lines.wrong(format!("the file is empty; accepted: {ACCEPTED}")));
    }
    Ok((all.into(), lines.digest()))
}

fn next(lines: &mut Lines) -> Result<Option<u64>, Problem> {
    let Some(line) = lines.next()? else { return Ok(None) };
    let time: Option<Time> = format!("{line}ms").parse().ok();
    match time.filter(|time| *time <= HOUR) {
        Some(time) => Ok(Some(time.ns())),
        None => {
            let text = line.to_owned();
            Err(lines.found(&text, ACCEPTED))
        }
    }
}

const ACCEPTED: &str = "a number of milliseconds, 0 to 3600000";
const INTERVAL_NS: u64 = 10_000_000;
const HOUR: Time = Time::from_ms(3_600_000);
