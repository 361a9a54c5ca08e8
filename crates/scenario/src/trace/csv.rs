//! Columns of plain numbers with a heading that names them and their units: `time_s,rate_mbps`,
//! `time_ms,rate_kbps,delay_ms`. Times rise from 0.

use std::str::FromStr;
use std::sync::Arc;

use firstflight_control::quantity::{Rate, Time};

use super::Delays;
use super::lines::{Lines, Problem};

/// Names of columns and the units of their numbers.
type Columns = &'static [(&'static str, &'static str)];

/// Times in nanoseconds with values from then on.
type Steps = Arc<[(u64, u64)]>;

pub(super) fn rates(mut lines: Lines) -> Result<(Steps, String), Problem> {
    let steps = read(&mut lines, RATES, |text, unit| match is_zero(text) {
        true => Some(0),
        false => Some(quantity::<Rate>(text, unit)?.bps()),
    })?;
    if steps.iter().all(|(_, rate)| *rate == 0) {
        return Err(lines.wrong("nothing would ever be sent; accepted: a rate above 0"));
    }
    Ok((steps, lines.digest()))
}

pub(super) fn delays(mut lines: Lines) -> Result<(Delays, String), Problem> {
    let steps = read(&mut lines, DELAYS, |text, unit| {
        Some(quantity::<Time>(text, unit)?.ns()).filter(|ns| *ns <= HOUR_NS)
    })?;
    Ok((Delays { steps, period_ns: None }, lines.digest()))
}

/// The column of times and the first of these others.
fn read(
    lines: &mut Lines,
    wanted: Columns,
    value: impl Fn(&str, &str) -> Option<u64>,
) -> Result<Steps, Problem> {
    let heading = lines.next()?.unwrap_or_default().to_owned();
    let columns: Vec<&str> = heading.split(',').map(str::trim).collect();
    let find = |named: Columns| {
        let mut all = named.iter();
        all.find_map(|(name, unit)| Some((columns.iter().position(|at| at == name)?, *unit)))
    };
    let is_known =
        |name: &&&str| [TIMES, RATES, DELAYS].iter().any(|all| all.iter().any(|(n, _)| n == *name));
    let unknown = columns.iter().find(|name| !is_known(name));
    let (Some(times), Some(values), None) = (find(TIMES), find(wanted), unknown) else {
        return Err(lines.found(&heading, &accepted(wanted)));
    };
    let mut steps: Vec<(u64, u64)> = Vec::new();
    while let Some(line) = lines.next()? {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let of = |(at, unit): (usize, &'static str)| Some((*fields.get(at)?, unit));
        let time = of(times).and_then(|(text, unit)| Some(quantity::<Time>(text, unit)?.ns()));
        let found = of(values).and_then(|(text, unit)| value(text, unit));
        let whole = fields.len() == columns.len();
        let (Some(time), Some(found), true) = (time, found, whole) else {
            let (text, what) = (line.to_owned(), columns.join(","));
            return Err(lines.found(&text, &format!("numbers in range under {what}")));
        };
        let rises = steps.last().map_or(time == 0, |(last, _)| time > *last);
        if !rises {
            let text = line.to_owned();
            return Err(lines.found(&text, "times that rise from 0"));
        }
        steps.push((time, found));
    }
    if steps.is_empty() {
        return Err(lines.wrong("no line follows; accepted: one from time 0 on, or more"));
    }
    Ok(steps.into())
}

fn accepted(wanted: Columns) -> String {
    let names =
        |columns: Columns| columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
    format!("a heading of columns, {}, and {}", names(TIMES), names(wanted))
}

/// A plain number in a unit, exactly.
fn quantity<T: FromStr>(text: &str, unit: &str) -> Option<T> {
    format!("{text}{unit}").parse().ok()
}

fn is_zero(text: &str) -> bool {
    text.contains('0') && text.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

const TIMES: Columns = &[("time_s", "s"), ("time_ms", "ms")];
const RATES: Columns = &[("rate_bps", "bps"), ("rate_kbps", "kbps"), ("rate_mbps", "Mbps")];
const DELAYS: Columns = &[("delay_s", "s"), ("delay_ms", "ms"), ("delay_us", "us")];
const HOUR_NS: u64 = 3_600_000_000_000;
