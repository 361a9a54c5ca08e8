//! What is measured of a flow and of its run: one row per quantity, under the name by which tables
//! of results, conditions of a scenario and claims of a paper all call it.

use crate::column::{Column, Kind::*, Role, Value};
use crate::{FlowResult, RunResult};

/// A quantity that is measured.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its name, type, unit and meaning.
    pub column: Column,
    /// How the values of several flows become one.
    pub over: Over,
    get: for<'a> fn(&'a RunResult, &'a FlowResult) -> Value<'a>,
}

/// How the values of several flows of a run become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// Their sum.
    Sum,
    /// Their mean; none if one of them has none.
    Mean,
    /// The largest.
    Largest,
    /// It is the run's, and all flows have the same.
    Run,
}

/// The measure of that name.
pub fn named(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|measure| measure.column.name == name)
}

impl Measure {
    /// What a flow of a run has.
    pub fn value<'a>(&self, run: &'a RunResult, flow: &'a FlowResult) -> Value<'a> {
        (self.get)(run, flow)
    }

    /// One number for some flows of a run; `None` where it did not happen, and for words.
    pub fn over<'a>(
        &self,
        run: &RunResult,
        flows: impl IntoIterator<Item = &'a FlowResult>,
    ) -> Option<f64> {
        let of = |flow: &FlowResult| match self.value(run, flow) {
            Value::Count(count) => Some(count as f64),
            Value::Number(number) => Some(number),
            Value::Text(_) | Value::Flag(_) | Value::Null => None,
        };
        if self.over == Over::Run {
            return of(&FlowResult::default());
        }
        let values: Vec<f64> = flows.into_iter().map(of).collect::<Option<_>>()?;
        match self.over {
            Over::Sum => Some(values.iter().sum()),
            Over::Largest => values.into_iter().reduce(f64::max),
            Over::Mean | Over::Run if values.is_empty() => None,
            Over::Mean | Over::Run => Some(values.iter().sum::<f64>() / values.len() as f64),
        }
    }
}

/// Declares the measures: how flows become one, type, name, unit, meaning, value; `or_null` after
/// the type where the value can be missing.
macro_rules! measures {
    ($run:ident, $flow:ident: $($over:ident $kind:ident $($null:ident)? $name:literal
        [$unit:literal] $meaning:literal = $value:expr;)+) => {
        /// All of them, in the order of the table's columns.
        pub const MEASURES: &[Measure] = &[$(Measure {
            column: Column::new(Role::Measure, $kind, $name, $unit, $meaning)$(.$null())?,
            over: Over::$over,
            get: |$run, $flow| {
                // A value is either the run's or the flow's.
                let _ = ($run, $flow);
                ($value).into()
            },
        }),+];
    };
}

measures! { run, flow:
    Mean Number "throughput_bps" ["bit/s"]
        "Payload newly delivered in order, from the flow's start until it stops or is done"
        = flow.throughput_bps;
    Mean Number "utilization" ["share"]
        "`throughput_bps` over what the path lets pass in that time"
        = flow.utilization;
    Mean Number or_null "completion_time_s" ["s"]
        "From the flow's start to the delivery of its last byte; null if that did not come"
        = flow.completion_time_s;
    Sum Count "delivered_bytes" ["bytes"]
        "Payload delivered in order until then"
        = flow.delivered_bytes;
    Sum Count "delivered_packets" ["packets"]
        "Packets delivered in order until then"
        = flow.delivered_packets;
    Sum Count "sent_packets" ["packets"]
        "Data packets sent, retransmissions included"
        = flow.sent_packets;
    Sum Count "retransmitted_packets" ["packets"]
        "Data packets sent again"
        = flow.retransmitted_packets;
    Sum Count "fast_retransmits" [""]
        "Entries into recovery"
        = flow.fast_retransmits;
    Sum Count "timeouts" [""]
        "Retransmission timeouts"
        = flow.timeouts;
    Largest Count "peak_cwnd_packets" ["packets"]
        "The largest cwnd"
        = flow.peak_cwnd_packets;
    Mean Count "final_cwnd_packets" ["packets"]
        "cwnd at the end"
        = flow.final_cwnd_packets;
    Mean Number or_null "exit_time_s" ["s"]
        "When start-up was left for the first time, after the flow's start"
        = flow.startup.exit_time_s;
    Mean Text or_null "exit_reason" [""]
        "Why: `loss`, `timeout`, `ssthresh`, `heuristic`, `ecn`"
        = flow.startup.exit_reason.as_deref();
    Mean Count or_null "exit_cwnd_packets" ["packets"]
        "cwnd at the exit, before any cut"
        = flow.startup.exit_cwnd_packets;
    Mean Number or_null "exit_window_over_bdp" [""]
        "cwnd at the exit over the BDP, of a rate that changes its mean until then"
        = flow.startup.exit_window_over_bdp;
    Mean Number or_null "inflight_over_window_at_exit" [""]
        "Packets in flight at the exit over cwnd"
        = flow.startup.inflight_over_window_at_exit;
    Mean Count or_null "drops_in_exit_round" ["packets"]
        "Packets dropped in the round of the exit"
        = flow.startup.drops_in_exit_round;
    Mean Count or_null "reductions_next_10_rtt" [""]
        "Window reductions in the ten RTTs after the exit"
        = flow.startup.reductions_next_10_rtt;
    Mean Number or_null "time_to_60_percent_bdp_s" ["s"]
        "When what was in flight first reached 60 % of the BDP, after the flow's start"
        = flow.startup.time_to_bdp_s.at_60;
    Mean Number or_null "time_to_80_percent_bdp_s" ["s"]
        "When what was in flight first reached 80 % of the BDP, after the flow's start"
        = flow.startup.time_to_bdp_s.at_80;
    Mean Number or_null "time_to_90_percent_bdp_s" ["s"]
        "When what was in flight first reached 90 % of the BDP, after the flow's start"
        = flow.startup.time_to_bdp_s.at_90;
    Sum Count "reprobes" [""]
        "How often start-up began again because the avoidance asked for it"
        = flow.startup.reprobes;
    Mean Count or_null "files" [""]
        "Files sent by a source of files"
        = flow.files.map(|files| files.count);
    Mean Number or_null "files_mean_throughput_bps" ["bit/s"]
        "Mean over the files of their payload over their time"
        = flow.files.map(|files| files.mean_throughput_bps);
    Mean Number or_null "files_mean_time_s" ["s"]
        "Mean time of a file, from opening its connection to its last byte"
        = flow.files.map(|files| files.mean_time_s);
    Run Count "bottleneck_drops" ["packets"]
        "Of the run: packets that did not leave the slowest link"
        = run.bottleneck.drops;
    Run Count "bottleneck_random_losses" ["packets"]
        "Of the run: those of them that were lost at random or by number"
        = run.bottleneck.random_losses;
    Run Number "bottleneck_utilization" ["share"]
        "Of the run: the time the slowest link was sending"
        = run.bottleneck.utilization;
    Run Count "peak_queue_packets" ["packets"]
        "Of the run: the most packets waiting there"
        = run.bottleneck.peak_queue_packets;
    Run Number "mean_queue_packets" ["packets"]
        "Of the run: time average of packets waiting there"
        = run.bottleneck.mean_queue_packets;
    Run Number "total_throughput_bps" ["bit/s"]
        "Of the run: payload of all flows over `duration_s`"
        = run.total_throughput_bps;
    Run Number "jain_index" [""]
        "Of the run: Jain's fairness index of the flows' throughputs"
        = run.jain_index;
    Run Text or_null "note" [""]
        "Of the run: what the reader must know"
        = run.note.as_deref();
    Run Text or_null "lab_timing" [""]
        "On real Linux: was the link in time: `valid`, `degraded`, `invalid`, `unknown`"
        = run.lab.as_ref().map(|lab| &*lab.timing);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_become_one_number_as_the_row_says() {
        let flow = |timeouts, peak, exit| {
            let mut flow = FlowResult { timeouts, peak_cwnd_packets: peak, ..Default::default() };
            flow.startup.exit_time_s = exit;
            flow
        };
        let flows = vec![flow(1, 20, Some(1.0)), flow(2, 10, Some(2.0))];
        let mut run = RunResult { flows, jain_index: 0.5, ..RunResult::default() };
        let of = |run: &RunResult, name: &str| named(name).unwrap().over(run, &run.flows);
        assert_eq!(of(&run, "timeouts"), Some(3.0));
        assert_eq!(of(&run, "peak_cwnd_packets"), Some(20.0));
        assert_eq!(of(&run, "exit_time_s"), Some(1.5));
        assert_eq!(of(&run, "jain_index"), Some(0.5));
        assert_eq!(of(&run, "exit_reason"), None);
        run.flows[1].startup.exit_time_s = None;
        assert_eq!(of(&run, "exit_time_s"), None, "one of them never left");
        assert!(named("exit_cwnd").is_none());
    }
}
