//! Measures of the flows of a run.

use firstflight_results::statistics::{mean, ratio};
use firstflight_results::{FilesResult, FlowResult, Series};
use firstflight_runner::Run;

use super::Query;
use crate::samples;

/// The chosen flows of a run.
#[derive(Clone, Copy)]
pub(super) struct Flows<'a> {
    pub(super) run: &'a Run,
    pub(super) chosen: Option<&'a [usize]>,
}

impl<'a> Flows<'a> {
    fn is_chosen(&self, index: usize) -> bool {
        self.chosen.is_none_or(|chosen| chosen.contains(&index))
    }

    /// Their results.
    pub(super) fn results(self) -> impl Iterator<Item = &'a FlowResult> {
        let flows = self.run.result.flows.iter().enumerate();
        flows.filter(move |(i, _)| self.is_chosen(*i)).map(|(_, flow)| flow)
    }

    /// Their samples over time.
    pub(super) fn traces(self) -> impl Iterator<Item = &'a Series> {
        let flows = self.run.flows.iter().enumerate();
        flows.filter(move |(i, _)| self.is_chosen(*i)).map(|(_, trace)| trace)
    }

    /// One number of each flow's result.
    pub(super) fn each(self, part: impl Fn(&FlowResult) -> f64) -> impl Iterator<Item = f64> {
        self.results().map(part)
    }

    /// The rate of all chosen flows together over the run or the period, in Mbit/s.
    pub(super) fn throughput(self, packet_bytes: u64, query: &Query<'_>) -> Option<f64> {
        if query.from.is_none() && query.until.is_none() {
            let bytes: u64 = self.results().map(|flow| flow.delivered_bytes).sum();
            return Some(ratio(bytes as f64 * 8.0 / 1e6, self.run.result.duration_s));
        }
        let from = query.from.unwrap_or(0.0);
        let until = query.until.unwrap_or(self.run.result.duration_s);
        let packets: Option<f64> =
            self.traces().map(|trace| Some(acked_by(trace, until)? - acked_by(trace, from)?)).sum();
        Some(ratio(packets? * packet_bytes as f64 * 8.0 / 1e6, until - from))
    }

    /// The rate while a file was sent, in Mbit/s, as a mean over the files.
    pub(super) fn file_throughput(self) -> Option<f64> {
        FilesResult::mean_over(self.results(), |files| files.mean_throughput_bps / 1e6)
    }

    /// The seconds a file takes, as a mean over the files.
    pub(super) fn file_time(self) -> Option<f64> {
        FilesResult::mean_over(self.results(), |files| files.mean_time_s)
    }

    /// The seconds that the last file took, as a mean over the flows.
    pub(super) fn last_file_time(self) -> Option<f64> {
        let last = self.results().filter_map(|flow| flow.files).filter(|files| files.count > 0);
        mean(last.map(|files| files.last_time_s))
    }

    /// The mean of a column of the samples over the period, or its value at one moment.
    pub(super) fn mean_of(self, column: &str, query: &Query<'_>) -> Option<f64> {
        let per_flow = self.traces().map(|trace| {
            if let (Some(from), Some(until)) = (query.from, query.until)
                && from >= until
            {
                return value_at(trace, column, from);
            }
            let times = samples::column(trace, "time_s")?;
            let within = times.zip(samples::column(trace, column)?);
            let within = within.filter(|(time, _)| time.is_some_and(|time| query.holds(time)));
            mean(within.filter_map(|(_, value)| value))
        });
        mean(per_flow.collect::<Option<Vec<f64>>>()?)
    }

    /// The samples of a column within the period, flow after flow.
    pub(super) fn samples(
        self,
        column: &'a str,
        query: &'a Query<'_>,
    ) -> impl Iterator<Item = f64> + 'a {
        let rows = self.traces().filter_map(move |trace| {
            Some(samples::column(trace, "time_s")?.zip(samples::column(trace, column)?))
        });
        let within = rows.flatten().filter(|(time, _)| time.is_some_and(|time| query.holds(time)));
        within.filter_map(|(_, value)| value)
    }

    /// The last moment at which the second before was below the level, of the first flow.
    pub(super) fn slow_until(self, packet_bytes: u64, query: &Query<'_>) -> Option<f64> {
        let trace = self.traces().next()?;
        let level = query.level.unwrap_or(0.0);
        let times: Vec<f64> = samples::column(trace, "time_s")?.flatten().collect();
        let mut slow = times.into_iter().filter(|time| *time >= 1.0 && query.holds(*time));
        let rate = |time: f64| {
            let packets = acked_by(trace, time)? - acked_by(trace, time - 1.0)?;
            Some(packets * packet_bytes as f64 * 8.0 / 1e6)
        };
        slow.rfind(|time| rate(*time).is_some_and(|rate| rate < level))
    }

    /// Packets delivered over packets sent, of files where the flows are sources of files.
    pub(super) fn unique_over_sent(self) -> Option<f64> {
        let packets = self.results().map(|flow| {
            flow.files.map_or((flow.delivered_packets, flow.counts.sent_packets), |files| {
                (files.unique_packets, files.sent_packets)
            })
        });
        let (unique, sent) = packets.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        (sent > 0).then(|| unique as f64 / sent as f64)
    }

    /// How often cwnd was below ssthresh anew, of the first flow.
    pub(super) fn fast_phases(self, query: &Query<'_>) -> Option<f64> {
        let trace = self.traces().next()?;
        let (Some(times), Some(cwnd), Some(ssthresh)) = (
            samples::column(trace, "time_s"),
            samples::column(trace, "cwnd_packets"),
            samples::column(trace, "ssthresh_packets"),
        ) else {
            return Some(0.0);
        };
        let mut phases = 0;
        let mut was_fast = false;
        for ((time, cwnd), ssthresh) in times.zip(cwnd).zip(ssthresh) {
            if !time.is_some_and(|time| query.holds(time)) {
                continue;
            }
            let is_fast = cwnd.unwrap_or(0.0) < ssthresh.unwrap_or(f64::INFINITY);
            phases += u32::from(is_fast && !was_fast);
            was_fast = is_fast;
        }
        Some(f64::from(phases))
    }
}

fn acked_by(trace: &Series, time: f64) -> Option<f64> {
    value_at(trace, "delivered_packets", time)
}

/// The last value of a column at or before a moment; 0 before the first sample.
fn value_at(trace: &Series, column: &str, time: f64) -> Option<f64> {
    let rows = samples::column(trace, "time_s")?.zip(samples::column(trace, column)?);
    let before = rows.take_while(|(at, _)| at.is_some_and(|at| at <= time));
    Some(before.last().and_then(|(_, value)| value).unwrap_or(0.0))
}
