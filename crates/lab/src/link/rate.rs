//! What the link carries per second: one rate, or rates that change with time.

use std::time::Duration;

use firstflight_scenario::{Rate as Quantity, Time};

/// Bits per second over time. Exact: no packet's time is rounded twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rate {
    /// From when (ns) which rate (bit/s) holds; the first starts at 0.
    steps: Vec<(u64, u64)>,
    /// After this many ns the steps begin again; `None` keeps the last rate.
    period: Option<u64>,
}

/// Why a text is no rate trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line}: {problem}; accepted: lines such as `0s 40Mbps` in rising time, perhaps at last \
     `10s repeat`"
)]
pub struct TraceError {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl Rate {
    /// One rate at all times, at least 1 bit/s.
    pub fn constant(bps: u64) -> Self {
        Self { steps: vec![(0, bps.max(1))], period: None }
    }

    /// Reads a trace: a line per change, `TIME RATE` with units, from `0s` on in rising time; a
    /// last line `TIME repeat` makes it begin again then. Blank lines and `#` comments are skipped.
    /// An outage is a low rate such as `1bps`: a link that never sends again has no virtual clock.
    ///
    /// # Errors
    /// The first line that does not read, or does not rise.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let mut rate = Self { steps: Vec::new(), period: None };
        for (index, line) in text.lines().enumerate() {
            let words = line.split('#').next().unwrap_or_default();
            if words.trim().is_empty() {
                continue;
            }
            rate.read_line(words.trim())
                .map_err(|problem| TraceError { line: index + 1, problem })?;
        }
        if rate.steps.is_empty() {
            return Err(TraceError { line: 1, problem: "no rate at all".to_owned() });
        }
        Ok(rate)
    }

    fn read_line(&mut self, line: &str) -> Result<(), String> {
        let (time, what) = line
            .split_once(char::is_whitespace)
            .ok_or_else(|| format!("found `{line}`, which is not a time and a rate"))?;
        let at = time.parse::<Time>().map_err(|error| wrong(time, &error))?.ns();
        let last = self.steps.last().map(|(last, _)| *last);
        if self.period.is_some() {
            return Err("a line after `repeat`".to_owned());
        }
        match last {
            None if at != 0 => return Err(format!("the first time is `{time}`, not 0s")),
            Some(last) if at <= last => return Err(format!("`{time}` is no later than before")),
            _ => {}
        }
        if what.trim() == "repeat" && last.is_some() {
            self.period = Some(at);
        } else {
            let rate = what.trim().parse::<Quantity>();
            let bps = rate.map_err(|error| wrong(what.trim(), &error))?.bps();
            self.steps.push((at, bps.max(1)));
        }
        Ok(())
    }

    /// The highest rate.
    pub fn peak_bps(&self) -> u64 {
        self.steps.iter().map(|(_, bps)| *bps).max().unwrap_or(1)
    }

    /// The lowest rate.
    pub fn least_bps(&self) -> u64 {
        self.steps.iter().map(|(_, bps)| *bps).min().unwrap_or(1)
    }

    /// The mean rate over a period, or over the time until the last change; of one rate, itself.
    pub fn mean_bps(&self) -> u64 {
        let end = self.period.or(self.steps.last().map(|(at, _)| *at)).unwrap_or(0);
        if self.steps.len() == 1 || end == 0 {
            return self.peak_bps();
        }
        let ends = self.steps.iter().skip(1).map(|(at, _)| *at).chain([end]);
        let bits =
            self.steps.iter().zip(ends).map(|((from, bps), until)| {
                u128::from(*bps) * u128::from(until.saturating_sub(*from))
            });
        u64::try_from(bits.sum::<u128>() / u128::from(end)).unwrap_or(u64::MAX)
    }

    /// When a sending that starts at `start` has sent `need`, in bits times 10^9; `carry` keeps
    /// what a whole nanosecond sent too much, for the next packet.
    pub(crate) fn finish(&self, start: u64, need: u128, carry: &mut u128) -> u64 {
        let mut need = need.saturating_sub(*carry);
        let mut now = start;
        loop {
            let (bps, until) = self.at(now);
            let ns = need.div_ceil(u128::from(bps));
            let room = u128::from(until.saturating_sub(now));
            if ns <= room {
                *carry = ns * u128::from(bps) - need;
                return now.saturating_add(u64::try_from(ns).unwrap_or(u64::MAX));
            }
            need -= room * u128::from(bps);
            now = until;
        }
    }

    /// The rate at a time, and until when it holds.
    fn at(&self, now: u64) -> (u64, u64) {
        let (round, place) = match self.period {
            Some(period) => (now - now % period, now % period),
            None => (0, now),
        };
        let next = self.steps.partition_point(|(from, _)| *from <= place);
        let bps = self.steps[next.saturating_sub(1)].1;
        let until = self.steps.get(next).map(|(from, _)| *from).or(self.period);
        (bps, until.map_or(u64::MAX, |until| round.saturating_add(until)))
    }
}

/// What was found and what is wrong with it; what is accepted is said of the whole line.
fn wrong(found: &str, error: &impl ToString) -> String {
    let error = error.to_string();
    let why = error.split_once("; accepted").map_or(error.as_str(), |(why, _)| why);
    format!("found `{found}`: {why}")
}

/// Nanoseconds of a duration, as all times of the link are.
pub(crate) fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGA: u128 = 1_000_000_000;

    fn send(rate: &Rate, start: u64, bytes: u128, carry: &mut u128) -> u64 {
        rate.finish(start, bytes * 8 * GIGA, carry)
    }

    #[test]
    fn a_thousand_packets_of_an_uneven_time_end_where_one_large_one_does() {
        // 1000 bytes at 30 Mbit/s take 266666.67 ns.
        let rate = Rate::constant(30_000_000);
        let (mut at, mut carry) = (0, 0);
        for _ in 0..1_000 {
            at = send(&rate, at, 1_000, &mut carry);
        }
        assert_eq!(at, send(&rate, 0, 1_000_000, &mut 0));
    }

    #[test]
    fn a_packet_across_a_change_is_sent_partly_at_each_rate() {
        let rate = Rate::parse("0s 8Mbps\n1ms 16Mbps # faster\n\n2ms repeat").unwrap();
        // 500 bytes fill the second half of the first ms; the other 500 take 250 us.
        assert_eq!(send(&rate, 500_000, 1_000, &mut 0), 1_250_000);
        // One period carries 1000 + 2000 bytes.
        assert_eq!(send(&rate, 0, 6_000, &mut 0), 4_000_000);
        assert_eq!(rate.mean_bps(), 12_000_000);
    }

    #[test]
    fn a_trace_that_does_not_read_is_refused_at_its_line() {
        let problem = |text: &str| Rate::parse(text).unwrap_err().to_string();
        assert!(problem("").starts_with("line 1: no rate at all"));
        assert!(problem("1s 1Mbps").starts_with("line 1: the first time is `1s`"));
        assert!(problem("0s 1Mbps\n0s 2Mbps").starts_with("line 2: `0s` is no later"));
        let unit = problem("0s 1Mbps\n1s 2");
        assert!(
            unit.starts_with("line 2: found `2`: a rate needs a unit; accepted: lines"),
            "{unit}"
        );
        assert_eq!(unit.matches("accepted").count(), 1, "{unit}");
        assert!(problem("0s").contains("not a time and a rate"));
        assert!(problem("0s 1Mbps\n1s repeat\n2s 1Mbps").contains("after `repeat`"));
    }
}
