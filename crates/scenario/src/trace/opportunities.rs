//! Mahimahi's traces of opportunities to send: a line has the whole milliseconds at which 1500
//! bytes can leave, and lines do not fall. LeoCC's rate traces have the same form.

use super::Rates;
use super::lines::{Lines, Problem};

pub(super) fn read(first: String, mut lines: Lines) -> Result<(Rates, String), Problem> {
    let mut all: Vec<(u64, u32)> = Vec::new();
    let time = |line: &str| line.parse().ok().filter(|at| *at <= MOST_MS);
    let mut next = (!first.is_empty()).then(|| time(&first).ok_or(first));
    while let Some(at) = next {
        let at: u64 = at.map_err(|text| lines.found(&text, ACCEPTED))?;
        match all.last_mut() {
            Some((last, _)) if at < *last => {
                let problem = format!("{at} after {last}: earlier than the line before");
                return Err(lines.wrong(problem + "; accepted: times that do not fall"));
            }
            Some((last, count)) if at == *last => *count = count.saturating_add(1),
            _ => all.push((at, 1)),
        }
        next = lines.next()?.map(|line| time(line).ok_or_else(|| line.to_owned()));
    }
    match all.last() {
        None => Err(lines.wrong(format!("the file is empty; accepted: {ACCEPTED}"))),
        Some((0, _)) => {
            Err(lines.wrong("it ends at 0 ms, as it begins; accepted: a last line of 1 or more"))
        }
        Some(_) => Ok((Rates::Opportunities(all.into()), lines.digest())),
    }
}

const ACCEPTED: &str = "whole milliseconds of an opportunity, 0 to 43200000, or in all lines a \
    time and a rate, such as `0.5 3.2` (s and Mbit/s) or `0.5s 3.2Mbps`";
/// Twelve hours, as long as a run is.
const MOST_MS: u64 = 12 * 3_600_000;
