//! What is measured of a run for its verdicts, and the mean of several.

use firstflight_results::statistics;
use firstflight_results::{FlowResult, LabFigures, Series};
use firstflight_runner::{Report, Run};
use firstflight_scenario::{Complete, FlowGroup, Scenario};
use serde::{Deserialize, Serialize};

/// Declares the measures: name, unit, meaning.
macro_rules! measures {
    ($($name:ident [$unit:literal] $meaning:literal;)+) => {
        /// What was measured, a mean over the seeds; `None` is "did not happen in every run", or
        /// "there is none".
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(default)]
        #[non_exhaustive]
        pub struct Measured {
            $(#[doc = $meaning] pub $name: Option<f64>,)+
        }

        /// Name, unit and meaning of each, in order.
        pub const MEASURES: &[(&str, &str, &str)] = &[$((stringify!($name), $unit, $meaning)),+];

        impl Measured {
            /// The values, in the order of [`MEASURES`].
            pub fn values(&self) -> [Option<f64>; MEASURES.len()] {
                [$(self.$name),+]
            }

            /// The mean of several runs: of a measure that one of them lacks there is none.
            pub fn mean(runs: &[Self]) -> Self {
                let mean = |of: fn(&Self) -> Option<f64>| {
                    let values: Option<Vec<f64>> = runs.iter().map(of).collect();
                    statistics::mean(values?)
                };
                Self { $($name: mean(|run| run.$name)),+ }
            }
        }
    };
}

measures! {
    completion_s ["s"]
        "The time in which 95 % of the transfers under judgement were done; of files the mean time";
    done_share [""]
        "How many of the transfers under judgement were done within the run";
    lost_packets ["packets"]
        "Packets of all flows that the bottleneck dropped, but those lost at random";
    lost_share [""]
        "Those packets over all that were sent";
    peak_queue_packets ["packets"]
        "The most packets waiting at the bottleneck";
    queue_p95_packets ["packets"]
        "What the queue held or less in 95 % of the time in which the flows under judgement sent";
    exit_time_s ["s"]
        "When start-up was left for the first time";
    exit_window_over_bdp [""]
        "The window then, over what the path holds";
    time_to_90_percent_bdp_s ["s"]
        "When 90 % of what the path holds was in flight for the first time";
    timeouts [""]
        "Retransmission timeouts of the flows under judgement";
    others_share [""]
        "The others' share of what arrived while all flows sent";
    others_completion_s ["s"]
        "When the last of the others was done, from its start";
    others_packets ["packets"]
        "What others without an end delivered from the start of the flows under judgement on";
}

/// A run for the catalogue: its measures, why start-up ended, and curves to draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeptRun {
    pub(crate) measured: Measured,
    pub(crate) exit_reason: Option<String>,
    pub(crate) curves: Curves,
    /// Why programs under judgement came to nothing.
    #[serde(default)]
    pub(crate) broken: Option<String>,
    /// Why the numbers may be the lab's and not the control's.
    #[serde(default)]
    pub(crate) in_doubt: Option<String>,
}

/// The first flow under judgement and the bottleneck over time, thinned.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Curves {
    /// Seconds and cwnd in packets.
    pub window: Vec<(f64, f64)>,
    /// Seconds and packets waiting.
    pub queue: Vec<(f64, f64)>,
    /// When the flow was done, or the run.
    pub end_s: f64,
}

/// Which flows are under judgement: those that take the control of the run.
fn own_flows(scenario: &Scenario, complete: &Complete) -> Vec<bool> {
    let groups = scenario.groups();
    let groups = groups.iter().zip(&complete.flows);
    groups.flat_map(|(group, flow)| vec![group.control.is_none(); flow.count as usize]).collect()
}

impl KeptRun {
    /// Its numbers alone.
    pub(crate) fn without_curves(self) -> Self {
        Self { curves: Curves::default(), ..self }
    }

    /// Measures the only run of a report.
    pub(crate) fn of(scenario: &Scenario, report: &Report) -> Option<Self> {
        let run = report.runs.first()?;
        let own = own_flows(scenario, &report.scenario);
        let seen = Seen { complete: &report.scenario, run, own: &own };
        let first = seen.of(true).next()?;
        let startup = &first.0.startup;
        let drops = run.result.bottleneck.drops - run.result.bottleneck.random_losses;
        let sent: u64 = run.result.flows.iter().map(|flow| flow.counts.sent_packets).sum();
        let (completion_s, done_share) = seen.completion(scenario);
        // A kernel's own instructions take microseconds, which are not the control's.
        let is_of_kernel = run.result.lab.is_some();
        let completion_s =
            completion_s.map(|s| if is_of_kernel { (s * 1e3).round() / 1e3 } else { s });
        let measured = Measured {
            completion_s,
            done_share,
            lost_packets: Some(drops as f64),
            lost_share: Some(drops as f64 / sent.max(1) as f64),
            peak_queue_packets: run.result.bottleneck.peak_queue_packets.map(|most| most as f64),
            queue_p95_packets: seen.queue_p95(),
            exit_time_s: startup.exit_time_s,
            exit_window_over_bdp: startup.exit_window_over_bdp,
            time_to_90_percent_bdp_s: startup.time_to_bdp_s.at_90,
            timeouts: Some(seen.of(true).map(|(flow, _)| flow.counts.timeouts as f64).sum()),
            others_share: seen.others_share(),
            others_completion_s: seen.others_completion(),
            others_packets: seen.others_packets(),
        };
        let exit_reason = startup.exit_reason.clone();
        let queue = seen.queue().map(|queue| points(queue, "queue_packets")).unwrap_or_default();
        let window = first.1.map(|flow| points(flow, "cwnd_packets")).unwrap_or_default();
        let end_s = seen.end(first.0);
        let curves = Curves { window: thin(window, end_s), queue: thin(queue, end_s), end_s };
        let is_of_programs = run.result.lab.as_ref().is_some_and(|lab| lab.generator == PROGRAMS);
        let broken = run.result.note.clone().filter(|_| is_of_programs && completion_s.is_none());
        let in_doubt = run.result.lab.as_ref().and_then(late);
        Some(Self { measured, exit_reason, curves, broken, in_doubt })
    }
}

/// What is said of an emulated link that was not in time.
fn late(lab: &LabFigures) -> Option<String> {
    let is_late = matches!(lab.timing.as_str(), "degraded" | "invalid");
    is_late.then(|| {
        let late_ms = lab.late_p99_us / 1e3;
        let timing = &lab.timing;
        format!("one packet of a hundred left the emulated link {late_ms:.1} ms late ({timing})")
    })
}

/// A run with its traces.
struct Seen<'a> {
    complete: &'a Complete,
    run: &'a Run,
    own: &'a [bool],
}

impl<'a> Seen<'a> {
    /// The flows under judgement or the others, with their traces where there are any.
    fn of(&self, own: bool) -> impl Iterator<Item = (&'a FlowResult, Option<&'a Series>)> {
        let traces = &self.run.flows;
        let flows = self.run.result.flows.iter().enumerate().map(|(id, f)| (f, traces.get(id)));
        flows.zip(self.own).filter(move |(_, is)| **is == own).map(|(flow, _)| flow)
    }

    /// When a flow was done, or the run.
    fn end(&self, flow: &FlowResult) -> f64 {
        let done = flow.completion_time_s.map(|time| flow.start_s + time);
        done.unwrap_or(self.run.result.duration_s)
    }

    /// The time by which 95 % were done, if all were, and how many were; nothing without an end.
    fn completion(&self, scenario: &Scenario) -> (Option<f64>, Option<f64>) {
        let files: Option<Vec<f64>> =
            self.of(true).map(|(flow, _)| Some(flow.files?.mean_time_s)).collect();
        if let Some(times) = files {
            let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
            let any = mean > 0.0;
            return (any.then_some(mean), Some(f64::from(u8::from(any))));
        }
        let groups = scenario.groups();
        let ends = |group: &FlowGroup| group.size.is_some() || !group.writes.is_empty();
        if groups.iter().any(|group| group.control.is_none() && !ends(group)) {
            return (None, None);
        }
        let times: Vec<Option<f64>> =
            self.of(true).map(|(flow, _)| flow.completion_time_s).collect();
        let mut done: Vec<f64> = times.iter().flatten().copied().collect();
        let share = done.len() as f64 / times.len().max(1) as f64;
        let all = done.len() == times.len();
        (all.then(|| nearest_rank(&mut done, 0.95)).flatten(), Some(share))
    }

    /// The trace of the slowest link's queue.
    fn queue(&self) -> Option<&'a Series> {
        self.run.queues.get(self.complete.slowest_link())
    }

    /// From the first start of the flows under judgement to their last end.
    fn own_time(&self) -> (f64, f64) {
        let from = self.of(true).map(|(flow, _)| flow.start_s).fold(f64::INFINITY, f64::min);
        (from, self.of(true).map(|(flow, _)| self.end(flow)).fold(0.0, f64::max))
    }

    fn queue_p95(&self) -> Option<f64> {
        let (from, until) = self.own_time();
        let all = points(self.queue()?, "queue_packets").into_iter();
        let within = all.filter(|(time, _)| (from..=until).contains(time));
        nearest_rank(&mut within.map(|(_, held)| held).collect::<Vec<_>>(), 0.95)
    }

    /// What all flows but those under judgement have; where there are none but those, what all but
    /// the first have. Many flows have no two sides.
    fn others_share(&self) -> Option<f64> {
        let flows = &self.run.result.flows;
        if !(2..=MOST_SIDES).contains(&flows.len()) {
            return None;
        }
        let from = flows.iter().map(|flow| flow.start_s).fold(0.0, f64::max);
        let until = flows.iter().map(|flow| self.end(flow)).fold(f64::INFINITY, f64::min);
        let alone = self.own.iter().all(|own| *own);
        let mut sides = [0.0; 2];
        for (id, series) in self.run.flows.iter().enumerate() {
            let other = if alone { id > 0 } else { !self.own[id] };
            sides[usize::from(other)] += delivered(series, from, until);
        }
        let all = sides[0] + sides[1];
        (until > from && all > 0.0).then(|| sides[1] / all)
    }

    fn others_completion(&self) -> Option<f64> {
        let times: Option<Vec<f64>> =
            self.of(false).map(|(flow, _)| flow.completion_time_s).collect();
        times?.into_iter().reduce(f64::max)
    }

    /// What others without an end delivered.
    fn others_packets(&self) -> Option<f64> {
        let (from, until) = (self.own_time().0, self.run.result.duration_s);
        let endless = self.of(false).filter(|(flow, _)| flow.completion_time_s.is_none());
        let each: Option<Vec<f64>> =
            endless.map(|(_, series)| Some(delivered(series?, from, until))).collect();
        each.filter(|each| !each.is_empty()).map(|each| each.iter().sum())
    }
}

/// Packets delivered within a time.
fn delivered(series: &Series, from: f64, until: f64) -> f64 {
    let at = |time: f64| {
        let all = points(series, "delivered_packets");
        let before = all.iter().take_while(|(sampled, _)| *sampled <= time);
        before.last().map_or(0.0, |(_, packets)| *packets)
    };
    at(until) - at(from)
}

/// A column over time, without what is missing.
fn points(series: &Series, column: &str) -> Vec<(f64, f64)> {
    let (Some(times), Some(values)) = (series.column("time_s"), series.column(column)) else {
        return Vec::new();
    };
    times.zip(values).filter_map(|(time, value)| Some((time?, value?))).collect()
}

/// The points up to an end, no more than a picture shows.
fn thin(mut points: Vec<(f64, f64)>, end: f64) -> Vec<(f64, f64)> {
    points.retain(|(time, _)| *time <= end);
    let every = points.len().div_ceil(DRAWN).max(1);
    points.into_iter().step_by(every).collect()
}

/// The value that a share of all do not exceed, by its rank; none of none.
fn nearest_rank(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the list")]
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

/// What results call the programs that send, where they are not ours.
const PROGRAMS: &str = "programs";
/// With more flows than this there are no two sides to share a path, and no share is measured.
const MOST_SIDES: usize = 8;
/// Points of a curve.
const DRAWN: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_of_what_every_run_has() {
        let run = |completion_s, lost| Measured {
            completion_s,
            lost_packets: Some(lost),
            ..Measured::default()
        };
        let mean = Measured::mean(&[run(Some(1.0), 2.0), run(None, 4.0)]);
        assert_eq!((mean.completion_s, mean.lost_packets), (None, Some(3.0)));
        assert_eq!(Measured::mean(&[]), Measured::default());
    }

    #[test]
    fn numbers_of_a_late_link_are_in_doubt() {
        let of = |timing: &str| {
            let timing = timing.to_owned();
            late(&LabFigures { timing, late_p99_us: 7_250.0, ..LabFigures::default() })
        };
        assert_eq!(["valid", "unknown"].map(of), [None, None]);
        let [degraded, invalid] = ["degraded", "invalid"].map(|timing| of(timing).unwrap());
        assert!(degraded.ends_with("7.2 ms late (degraded)"), "{degraded}");
        assert!(invalid.ends_with("(invalid)"), "{invalid}");
    }

    #[test]
    fn the_95_percent_of_twenty_are_nineteen() {
        let mut values: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(nearest_rank(&mut values, 0.95), Some(19.0));
        assert_eq!(nearest_rank(&mut [4.0, 2.0], 0.95), Some(4.0));
        assert_eq!(nearest_rank(&mut [], 0.95), None);
    }

    #[test]
    fn what_was_delivered_within_a_time_is_counted_from_the_samples_before_it() {
        let mut series = Series::new(["time_s", "delivered_packets"]);
        for (time, packets) in [(0.0, 0.0), (1.0, 10.0), (2.0, 30.0), (3.0, 60.0)] {
            series.push(&[Some(time), Some(packets)]);
        }
        assert_eq!(delivered(&series, 1.0, 2.5), 20.0);
        assert_eq!(delivered(&series, -1.0, 9.0), 60.0);
    }
}
