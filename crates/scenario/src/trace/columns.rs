//! Columns of numbers, one entry a line: a time and what holds from then on. Commas, tabs or blanks
//! part them. Times rise from 0; a last line `10s repeat` makes all begin again then.
//!
//! A heading names the columns and their units, `time_s,rate_mbps,delay_ms`. Without one a line is
//! a time and a value with their units, `0.5s 3.2Mbps`; plain numbers of a rate trace are seconds
//! and Mbit/s, as in the traces of Pensieve (Mao and others, SIGCOMM 2017).

use std::str::FromStr;
use std::sync::Arc;

use firstflight_control::quantity::{Rate, Time};

use super::lines::{Lines, Problem};
use super::{Delays, Rates};

/// Names of columns and the units of their numbers.
type Columns = &'static [(&'static str, &'static str)];

/// Times in nanoseconds with values from then on, and when they begin again.
type Steps = (Arc<[(u64, u64)]>, Option<u64>);

/// What is read of columns.
struct Wanted {
    /// The columns that have it.
    columns: Columns,
    /// The unit of a plain number without a heading; empty where it must be written.
    unit: &'static str,
    /// An entry without a heading.
    example: &'static str,
    value: fn(&str, &str) -> Option<u64>,
}

pub(super) fn rates(first: String, mut lines: Lines) -> Result<(Rates, String), Problem> {
    let (steps, period_ns) = read(first, &mut lines, &RATES)?;
    if steps.iter().all(|(_, rate)| *rate == 0) {
        return Err(lines.wrong("nothing would ever be sent; accepted: a rate above 0"));
    }
    Ok((Rates::Steps { steps, period_ns }, lines.digest()))
}

pub(super) fn delays(first: String, mut lines: Lines) -> Result<(Delays, String), Problem> {
    let (steps, period_ns) = read(first, &mut lines, &DELAYS)?;
    Ok((Delays { steps, period_ns }, lines.digest()))
}

/// Which fields of a line are read, and the units of plain numbers in them.
struct Layout {
    fields: usize,
    time: (usize, &'static str),
    value: (usize, &'static str),
    /// What a line has, for messages.
    accepted: String,
}

impl Layout {
    /// What the first line says of all; `None` if it is an entry itself.
    fn headed(heading: &str, wanted: &Wanted) -> Option<Result<Self, String>> {
        let columns: Vec<&str> = fields(heading).collect();
        if !columns.first()?.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let find = |named: Columns| {
            let mut all = named.iter();
            all.find_map(|(name, unit)| Some((columns.iter().position(|at| at == name)?, *unit)))
        };
        let is_known = |name: &str| {
            let all = [TIMES, RATES.columns, DELAYS.columns].concat();
            all.iter().any(|(known, _)| *known == name)
        };
        let all_known = columns.iter().all(|name| is_known(name));
        Some(match (find(TIMES), find(wanted.columns), all_known) {
            (Some(time), Some(value), true) => Ok(Self {
                fields: columns.len(),
                time,
                value,
                accepted: format!("numbers in range under {}", columns.join(",")),
            }),
            _ => Err(wanted.accepted()),
        })
    }

    fn plain(wanted: &Wanted) -> Self {
        let accepted = format!("a time and what holds from then on, such as {}", wanted.example);
        Self { fields: 2, time: (0, "s"), value: (1, wanted.unit), accepted }
    }

    fn entry(&self, line: &str, wanted: &Wanted) -> Option<(u64, u64)> {
        let fields: Vec<&str> = fields(line).collect();
        let time = fields.get(self.time.0).and_then(|text| quantity::<Time>(text, self.time.1))?;
        let value = (wanted.value)(fields.get(self.value.0)?, self.value.1)?;
        (fields.len() == self.fields).then_some((time.ns(), value))
    }
}

impl Wanted {
    fn accepted(&self) -> String {
        let names = |columns: Columns| {
            columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ")
        };
        let (times, values, example) = (names(TIMES), names(self.columns), self.example);
        format!("a heading of columns, {times}, and {values}, or lines such as {example}")
    }
}

/// The times and the values of all lines.
fn read(first: String, lines: &mut Lines, wanted: &Wanted) -> Result<Steps, Problem> {
    let (layout, mut next) = match Layout::headed(&first, wanted) {
        Some(Ok(layout)) => (layout, lines.entry()?),
        Some(Err(accepted)) => return Err(lines.found(&first, &accepted)),
        None => (Layout::plain(wanted), Some(first)),
    };
    let mut steps: Vec<(u64, u64)> = Vec::new();
    while let Some(line) = next {
        let repeats = line.strip_suffix("repeat").map(|time| quantity::<Time>(time.trim(), "s"));
        let is_last = repeats.is_some();
        let entry = match repeats {
            Some(time) => time.map(|time| (time.ns(), 0)),
            None => layout.entry(&line, wanted),
        };
        let Some((time, value)) = entry else {
            return Err(lines.found(&line, &layout.accepted));
        };
        let rises = steps.last().map_or(time == 0 && !is_last, |(last, _)| time > *last);
        if !rises {
            return Err(lines.found(&line, "times that rise from 0"));
        }
        next = lines.entry()?;
        match (is_last, &next) {
            (false, _) => steps.push((time, value)),
            (true, None) => return Ok((steps.into(), Some(time))),
            (true, Some(more)) => return Err(lines.found(more, "nothing behind `repeat`")),
        }
    }
    if steps.is_empty() {
        return Err(lines.wrong("no line follows; accepted: one from time 0 on, or more"));
    }
    Ok((steps.into(), None))
}

/// The fields of a line.
pub(super) fn fields(line: &str) -> impl Iterator<Item = &str> {
    let comma = line.contains(',');
    let part = move |c: char| if comma { c == ',' } else { c.is_whitespace() };
    // Between commas a field may be empty, and counts.
    line.split(part).map(str::trim).filter(move |field| comma || !field.is_empty())
}

/// A number with its unit, or a plain one in this unit, exactly.
fn quantity<T: FromStr>(text: &str, unit: &str) -> Option<T> {
    text.parse().or_else(|_| format!("{text}{unit}").parse()).ok()
}

fn rate(text: &str, unit: &str) -> Option<u64> {
    let is_zero = text.contains('0') && text.bytes().all(|byte| matches!(byte, b'0' | b'.'));
    match is_zero || text == "none" {
        true => Some(0),
        false => Some(quantity::<Rate>(text, unit)?.bps()),
    }
}

fn delay(text: &str, unit: &str) -> Option<u64> {
    Some(quantity::<Time>(text, unit)?.ns()).filter(|ns| *ns <= HOUR_NS)
}

const TIMES: Columns = &[("time_s", "s"), ("time_ms", "ms")];
const RATES: Wanted = Wanted {
    columns: &[("rate_bps", "bps"), ("rate_kbps", "kbps"), ("rate_mbps", "Mbps")],
    unit: "Mbps",
    example: "`0.5 3.2` (s and Mbit/s) or `0.5s 3.2Mbps`",
    value: rate,
};
const DELAYS: Wanted = Wanted {
    columns: &[("delay_s", "s"), ("delay_ms", "ms"), ("delay_us", "us")],
    unit: "",
    example: "`0.5s 25ms`",
    value: delay,
};
const HOUR_NS: u64 = 3_600_000_000_000;
