//! The vocabulary of measures: what a check or a plot can ask of a run.
//!
//! Every measure is one number per run, or `None` where what it measures did not happen. Any column
//! of the table of flows is one, by its name and in its unit. The others are made of samples over
//! time, of a period or of a part of the flows; their unit is fixed, as the claims have it.

mod flows;
mod link;
mod scripted;

use firstflight_results::FlowResult;
use firstflight_results::column::Kind::{Count, Number};
use firstflight_results::measures::{self, Measure as Column};
use firstflight_results::statistics::{mean, ratio};
use firstflight_runner::Run;
use serde::de::{Deserialize, Deserializer, IntoDeserializer as _};

use flows::Flows;
pub(crate) use link::carried_by;
use link::rate_kbps;
use scripted::scripted;

use crate::load_gauge;

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case", remote = "Self")]
pub(crate) enum Measure {
    /// Mbit/s delivered in order, summed over the flows and divided by the length of the run; with
    /// `from` or `until`, acknowledged within that period.
    #[default]
    Throughput,
    /// `throughput` in percent of the bottleneck's rate.
    UtilizationPercent,
    /// Mbit/s of the flow that got least, over its own life.
    SmallestFlow,
    /// Mbit/s of the flow that got most, over its own life.
    LargestFlow,
    /// Mean over the period and the flows of cwnd, packets; at one moment if both ends are equal.
    MeanCwnd,
    /// Mean over the period and the flows of ssthresh, packets; at one moment if both ends are
    /// equal.
    MeanSsthresh,
    /// Largest sample of ssthresh within the period, packets, of any of the flows.
    MaxSsthresh,
    /// How many exponential phases begin within the period: how often cwnd falls below ssthresh.
    FastPhases,
    /// The last moment, in seconds, at which less than `level` Mbit/s was acknowledged over the
    /// second before.
    SlowUntil,
    /// On a scripted path: cwnd after an ACK or at the end of a round, packets.
    ScriptedCwnd,
    /// On a scripted path: packets queued after an ACK, or the most over a round.
    ScriptedQueue,
    /// On a scripted path: `scripted_queue` in kbit, and the sum of it over the ACKs of a round.
    ScriptedQueueKbit,
    /// On a scripted path: the number of an ACK, or of the last of a round, from 1.
    ScriptedAck,
    /// On a scripted path: when an ACK, or the last of a round, arrives, seconds.
    ScriptedTime,
    /// On a scripted path: the place of an ACK, or of the last of a round, in its round, from 0.
    ScriptedPlace,
    /// Mbit/s while a file was sent, mean over the files that were done.
    FileThroughput,
    /// Seconds a file takes, mean over the files that were done.
    FileTime,
    /// Seconds that the last file took which was done, mean over the flows.
    LastFileTime,
    /// Packets delivered over packets sent; of a source of files, for those that were done.
    UniqueOverSent,
    /// kbit/s that the first link carried over the period, from the samples: whatever entered it,
    /// sent again or lost behind it or not.
    LinkRate,
    /// Largest sample of cwnd within the period, packets, of any of the flows.
    MaxCwnd,
    /// Smallest sample of ssthresh within the period, packets, of any of the flows.
    MinSsthresh,
    /// When Load Gauge restarted first within the period, seconds.
    RestartTime,
    /// Load Gauge's achieved rate RE, mean over the period, Mbit/s.
    AchievedRate,
    /// How far RE is below cwnd/RTTmin, mean over the period, Mbit/s.
    RateGap,
    /// How fast RE grows over the period, Mbit/s per second.
    RateSlope,
    /// BDP of the first link and its propagation, packets.
    Bdp,
    /// The value of `formula`; no run is asked.
    Formula,
    /// A column of the table of flows, by its name; of several flows, as the column says.
    #[serde(skip)]
    Column(&'static str),
}

/// What selects a measure's number, beside the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Query<'a> {
    /// The flows to measure, by their place from 0; `None` for all flows.
    pub flows: Option<&'a [usize]>,
    /// Start of the period, seconds.
    pub from: Option<f64>,
    /// End of the period, seconds.
    pub until: Option<f64>,
    /// A level, in the unit of the measure that asks for it.
    pub level: Option<f64>,
    /// The ACK of a script after which to measure, from 1.
    pub ack: Option<u32>,
    /// The round of a script over which to measure, from 0.
    pub round: Option<u32>,
}

/// A run and the facts of its path that results do not carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunOnPath<'a> {
    /// The run.
    pub run: &'a Run,
    /// Rate of the bottleneck, bit/s.
    pub rate_bps: u64,
    /// Packets in flight that fill the path.
    pub bdp_packets: u64,
    /// Payload of a packet, bytes.
    pub packet_bytes: u64,
}

impl<'de> Deserialize<'de> for Measure {
    /// Reads the name of a column of numbers, or one of the measures above.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        match measures::named(&name) {
            Some(Column { column, .. }) if [Count, Number].contains(&column.kind) => {
                Ok(Self::Column(column.name))
            }
            _ => Self::deserialize(name.as_str().into_deserializer()),
        }
    }
}

impl Measure {
    /// Whether the run must keep samples over time.
    pub(crate) fn needs_samples(self, query: &Query<'_>) -> bool {
        match self {
            Self::MeanCwnd | Self::FastPhases | Self::SlowUntil | Self::RestartTime => true,
            Self::MeanSsthresh | Self::MaxSsthresh => true,
            Self::MaxCwnd | Self::AchievedRate | Self::RateGap | Self::RateSlope => true,
            Self::MinSsthresh | Self::LinkRate => true,
            Self::Throughput | Self::UtilizationPercent => {
                query.from.is_some() || query.until.is_some()
            }
            _ => false,
        }
    }

    /// Whether it measures a script rather than a network.
    pub(crate) fn is_scripted(self) -> bool {
        matches!(
            self,
            Self::ScriptedCwnd
                | Self::ScriptedQueue
                | Self::ScriptedQueueKbit
                | Self::ScriptedAck
                | Self::ScriptedTime
                | Self::ScriptedPlace
        )
    }

    /// The quantity and its unit, for axes.
    pub(crate) fn axis(self) -> (&'static str, &'static str) {
        match self {
            Self::Throughput | Self::SmallestFlow | Self::LargestFlow => ("throughput", "Mbit/s"),
            Self::UtilizationPercent => ("utilisation", "%"),
            Self::MeanCwnd => ("cwnd", "packets"),
            Self::SlowUntil => ("time", "s"),
            Self::MeanSsthresh | Self::MaxSsthresh => ("ssthresh", "packets"),
            Self::FastPhases => ("exponential phases", ""),
            Self::ScriptedCwnd => ("cwnd", "packets"),
            Self::ScriptedTime => ("time", "s"),
            Self::ScriptedQueue => ("queue", "packets"),
            Self::ScriptedQueueKbit => ("queue", "kbit"),
            Self::ScriptedAck | Self::ScriptedPlace => ("ACKs", ""),
            Self::FileThroughput => ("throughput of a transfer", "Mbit/s"),
            Self::FileTime | Self::LastFileTime => ("time of a transfer", "s"),
            Self::UniqueOverSent => ("unique packets over packets sent", ""),
            Self::LinkRate => ("carried by the first link", "kbit/s"),
            Self::MaxCwnd => ("cwnd", "packets"),
            Self::MinSsthresh => ("ssthresh", "packets"),
            Self::RestartTime => ("time", "s"),
            Self::AchievedRate | Self::RateGap => ("rate", "Mbit/s"),
            Self::RateSlope => ("growth", "Mbit/s per s"),
            Self::Bdp => ("BDP", "packets"),
            Self::Formula => ("value", ""),
            Self::Column(name) => (name, measures::named(name).map_or("", |it| it.column.unit)),
        }
    }

    /// The measure's value of a run; `None` where it did not happen.
    pub(crate) fn of(self, measured: RunOnPath<'_>, query: &Query<'_>) -> Option<f64> {
        let run = measured.run;
        let flows = Flows { run, chosen: query.flows };
        match self {
            Self::Throughput => flows.throughput(measured.packet_bytes, query),
            Self::UtilizationPercent => {
                let mbps = flows.throughput(measured.packet_bytes, query)?;
                Some(100.0 * ratio(mbps * 1e6, measured.rate_bps as f64))
            }
            Self::SmallestFlow => flows.each(mbps).reduce(f64::min),
            Self::LargestFlow => flows.each(mbps).reduce(f64::max),
            Self::MeanCwnd => flows.mean_of("cwnd_packets", query),
            Self::MeanSsthresh => flows.mean_of("ssthresh_packets", query),
            Self::MaxSsthresh => flows.samples("ssthresh_packets", query).reduce(f64::max),
            Self::FastPhases => flows.fast_phases(query),
            Self::SlowUntil => flows.slow_until(measured.packet_bytes, query),
            Self::ScriptedCwnd
            | Self::ScriptedQueue
            | Self::ScriptedQueueKbit
            | Self::ScriptedAck
            | Self::ScriptedTime
            | Self::ScriptedPlace => scripted(self, measured, query),
            Self::FileThroughput => flows.file_throughput(),
            Self::FileTime => flows.file_time(),
            Self::LastFileTime => flows.last_file_time(),
            Self::UniqueOverSent => flows.unique_over_sent(),
            Self::LinkRate => rate_kbps(measured, query),
            Self::MaxCwnd => flows.samples("cwnd_packets", query).reduce(f64::max),
            Self::MinSsthresh => flows.samples("ssthresh_packets", query).reduce(f64::min),
            Self::RestartTime => {
                load_gauge::restart(flows.traces().next()?, |time| query.holds(time))
            }
            Self::AchievedRate | Self::RateGap | Self::RateSlope => {
                let rates = load_gauge::rates(flows.traces().next()?, measured.packet_bytes);
                let rates: Vec<_> = rates.into_iter().filter(|r| query.holds(r.time)).collect();
                match self {
                    Self::AchievedRate => mean(rates.iter().map(|rates| rates.achieved)),
                    Self::RateGap => {
                        mean(rates.iter().map(|rates| rates.expected - rates.achieved))
                    }
                    _ => load_gauge::slope(&rates),
                }
            }
            Self::Bdp => Some(measured.bdp_packets as f64),
            Self::Formula => None,
            Self::Column(name) => measures::named(name)?.over(&run.result, flows.results()),
        }
    }
}

impl Query<'_> {
    fn holds(&self, time: f64) -> bool {
        self.from.is_none_or(|from| time >= from) && self.until.is_none_or(|until| time <= until)
    }
}

fn mbps(flow: &FlowResult) -> f64 {
    flow.throughput_bps / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_results::series::FLOW_COLUMNS;
    use firstflight_results::{Counts, RunResult};
    use firstflight_results::{FilesResult, Series};

    /// Two flows over 4 s: the first doubles each second and rests at ssthresh, the second is flat.
    fn run() -> Run {
        let trace = |cwnd: [f64; 5], ssthresh: [f64; 5], acked: [f64; 5]| {
            let mut series = Series::new(FLOW_COLUMNS.iter().copied());
            for i in 0..5 {
                let row = [i as f64, 0.0, cwnd[i], ssthresh[i], 0.0, 0.0, acked[i]];
                series.push(&row.map(Some));
            }
            series
        };
        let flow = |bytes: u64, timeouts| FlowResult {
            delivered_bytes: bytes,
            throughput_bps: bytes as f64 * 2.0,
            counts: Counts { timeouts, ..Counts::default() },
            ..FlowResult::default()
        };
        let flows = vec![flow(4_000_000, 0), flow(1_000_000, 2)];
        let result = RunResult { flows, duration_s: 4.0, ..RunResult::default() };
        let first = trace([1., 2., 4., 8., 8.], [4., 4., 4., 16., 16.], [0., 10., 30., 70., 150.]);
        let second = trace([2.0; 5], [2.0; 5], [0., 125., 250., 375., 500.]);
        Run::new(result, vec![first, second], Vec::new())
    }

    fn measure(measure: Measure, query: &Query<'_>) -> Option<f64> {
        let run = run();
        let (rate_bps, bdp_packets, packet_bytes) = (20_000_000, 50, 1000);
        measure.of(RunOnPath { run: &run, rate_bps, bdp_packets, packet_bytes }, query)
    }

    #[test]
    fn throughput_counts_all_flows_and_the_whole_run_unless_told_otherwise() {
        assert_eq!(measure(Measure::Throughput, &Query::default()), Some(10.0));
        assert_eq!(measure(Measure::UtilizationPercent, &Query::default()), Some(50.0));
        let one = Query { flows: Some(&[1]), ..Query::default() };
        assert_eq!(measure(Measure::Throughput, &one), Some(2.0));
        let period = Query { from: Some(2.0), until: Some(4.0), ..one };
        assert_eq!(measure(Measure::Throughput, &period), Some(1.0));
        assert_eq!(measure(Measure::LargestFlow, &Query::default()), Some(8.0));
        assert_eq!(measure(Measure::SmallestFlow, &Query::default()), Some(2.0));
        assert_eq!(measure(Measure::Column("timeouts"), &Query::default()), Some(2.0));
    }

    #[test]
    fn windows_are_read_from_the_samples() {
        let first = Query { flows: Some(&[0]), ..Query::default() };
        let moment = Query { from: Some(2.5), until: Some(2.5), ..first };
        assert_eq!(measure(Measure::MeanCwnd, &moment), Some(4.0));
        let period = Query { from: Some(1.0), until: Some(3.0), ..first };
        assert_eq!(measure(Measure::MeanCwnd, &period), Some(14.0 / 3.0));
        assert_eq!(measure(Measure::MeanSsthresh, &moment), Some(4.0));
        assert_eq!(measure(Measure::MeanSsthresh, &period), Some(8.0));
        assert_eq!(measure(Measure::MaxSsthresh, &period), Some(16.0));
        assert_eq!(measure(Measure::FastPhases, &first), Some(2.0));
        let slow = Query { level: Some(0.2), ..first };
        assert_eq!(measure(Measure::SlowUntil, &slow), Some(2.0));
        let never = Query { level: Some(0.01), ..first };
        assert_eq!(measure(Measure::SlowUntil, &never), None, "the first second has no rate yet");
        assert_eq!(measure(Measure::MaxCwnd, &Query { until: Some(2.0), ..first }), Some(4.0));
        assert_eq!(measure(Measure::MinSsthresh, &first), Some(4.0));
        assert_eq!(measure(Measure::MinSsthresh, &Query { from: Some(3.0), ..first }), Some(16.0));
    }

    #[test]
    fn files_of_all_sources_count_alike() {
        let mut run = run();
        let files = |count, mean_throughput_bps, sent_packets| {
            let (unique_packets, zero) = (90, FilesResult::default());
            let last_time_s = count as f64;
            let files = FilesResult { count, mean_throughput_bps, unique_packets, ..zero };
            Some(FilesResult { sent_packets, last_time_s, ..files })
        };
        run.result.flows[0].files = files(3, 1e6, 100);
        run.result.flows[1].files = files(1, 5e6, 140);
        let of = |run: &Run, measure: Measure| {
            let measured = RunOnPath { run, rate_bps: 1, bdp_packets: 1, packet_bytes: 1 };
            measure.of(measured, &Query::default())
        };
        assert_eq!(of(&run, Measure::FileThroughput), Some(2.0));
        assert_eq!(of(&run, Measure::UniqueOverSent), Some(0.75));
        assert_eq!(of(&run, Measure::LastFileTime), Some(2.0));
        run.result.flows.iter_mut().for_each(|flow| flow.files = None);
        assert_eq!(of(&run, Measure::FileThroughput), None);
        assert_eq!(of(&run, Measure::LastFileTime), None);
    }

    #[test]
    fn a_link_is_read_by_what_it_carried_within_a_period() {
        let mut queue = Series::new(["time_s", "queue_packets", "carried_bytes"]);
        // Intervals of half a second; in that of 1.0 s nothing came.
        for row in [[0.0, 0.0, 5e3], [0.5, 2.0, 25e3], [1.5, 0.0, 125e3]] {
            queue.push(&row.map(Some));
        }
        let mut run = run();
        run.queues = vec![queue];
        let of = |from, until| {
            let measured =
                RunOnPath { run: &run, rate_bps: 1, bdp_packets: 1, packet_bytes: 1_000 };
            Measure::LinkRate.of(measured, &Query { from, until, ..Query::default() })
        };
        assert_eq!(of(None, Some(1.0)), Some(200.0), "25 kB in a second");
        assert_eq!(of(Some(1.0), Some(1.5)), Some(0.0));
        assert_eq!(of(Some(1.0), Some(2.0)), Some(800.0));
        assert_eq!(of(None, None), Some(250.0), "over the whole run of 4 s");
    }

    #[test]
    fn a_script_is_read_by_ack_and_by_round() {
        let columns = ["time_s", "cwnd_packets", "round", "place", "queue_packets"];
        let mut trace = Series::new(columns);
        // Slow start from one packet: rounds of one, two and four ACKs.
        for (at, round, place, queue) in
            [(0, 0, 0, 1), (1, 1, 0, 2), (2, 2, 0, 2), (2, 2, 1, 3), (3, 3, 0, 2), (3, 3, 1, 3)]
        {
            let cwnd = trace.len() + 1;
            let row = [at, cwnd as i32, round, place, queue];
            trace.push(&row.map(|value| Some(f64::from(value))));
        }
        let run = Run::new(RunResult::default(), vec![trace], Vec::new());
        let of = |measure: Measure, ack, round| {
            let measured =
                RunOnPath { run: &run, rate_bps: 1, bdp_packets: 1, packet_bytes: 1_000 };
            measure.of(measured, &Query { ack, round, ..Query::default() })
        };
        assert_eq!(of(Measure::ScriptedCwnd, Some(0), None), Some(1.0));
        assert_eq!(of(Measure::ScriptedCwnd, Some(3), None), Some(4.0));
        assert_eq!(of(Measure::ScriptedTime, Some(3), None), Some(2.0));
        assert_eq!(of(Measure::ScriptedQueue, None, Some(2)), Some(3.0));
        assert_eq!(of(Measure::ScriptedQueueKbit, None, Some(2)), Some(40.0));
        assert_eq!(of(Measure::ScriptedAck, None, Some(2)), Some(3.0));
        assert_eq!(of(Measure::ScriptedPlace, None, Some(2)), Some(1.0));
        assert_eq!(of(Measure::ScriptedCwnd, None, Some(3)), None, "the round is not over");
        assert_eq!(of(Measure::ScriptedCwnd, Some(6), None), None);
    }

    #[test]
    fn what_did_not_happen_has_no_value() {
        assert_eq!(measure(Measure::Column("exit_cwnd_packets"), &Query::default()), None);
    }
}
