//! A number of milliseconds a line: LeoCC's delay traces, where each holds for ten milliseconds,
//! and recorded delays.

use firstflight_control::quantity::Time;

use super::lines::{Lines, Problem};
use super::{Delays, Recorded};

/// One-way delays, each of which holds for ten milliseconds.
pub(super) fn delays(first: String, mut lines: Lines) -> Result<(Delays, String), Problem> {
    let mut steps: Vec<(u64, u64)> = Vec::new();
    let mut at = 0;
    for delay in each(first, &mut lines) {
        let delay = delay?;
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
pub(super) fn recorded(first: String, mut lines: Lines) -> Result<(Recorded, String), Problem> {
    let all: Vec<u64> = each(first, &mut lines).collect::<Result<_, _>>()?;
    if all.is_empty() {
        return Err(lines.wrong(format!("the file is empty; accepted: {ACCEPTED}")));
    }
    Ok((all.into(), lines.digest()))
}

/// The numbers of all lines, in nanoseconds.
fn each(first: String, lines: &mut Lines) -> impl Iterator<Item = Result<u64, Problem>> {
    let mut first = Some(first).filter(|line| !line.is_empty());
    std::iter::from_fn(move || {
        let line = match first.take() {
            Some(line) => line,
            None => match lines.next() {
                Ok(line) => line?.to_owned(),
                Err(problem) => return Some(Err(problem)),
            },
        };
        let time: Option<Time> = format!("{line}ms").parse().ok();
        let time = time.filter(|time| *time <= HOUR).map(Time::ns);
        Some(time.ok_or_else(|| lines.found(&line, ACCEPTED)))
    })
}

const ACCEPTED: &str = "a number of milliseconds, 0 to 3600000";
const INTERVAL_NS: u64 = 10_000_000;
const HOUR: Time = Time::from_ms(3_600_000);
