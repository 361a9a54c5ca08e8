//! Samples over time: what measures and plots read of them, and no more of it in memory.
//!
//! A reproduction holds all of its runs until the report is written, and samples are nearly all of
//! that. Half of their columns are for `--trace` and for people who look at single runs.

use firstflight_results::Series;
use firstflight_runner::Run;

/// The columns that are read, of flows, of links and of scripts.
const READ: [&str; 12] = [
    "time_s",
    "cwnd_packets",
    "ssthresh_packets",
    "in_flight_packets",
    "delivered_packets",
    "lg_rtt_min",
    "lg_re",
    "lg_restarts",
    "queue_packets",
    "carried_bytes",
    "round",
    "place",
];

/// A column by its name, which must be among those that are kept.
pub(crate) fn column<'a>(
    samples: &'a Series,
    name: &'a str,
) -> Option<impl Iterator<Item = Option<f64>> + 'a> {
    debug_assert!(READ.contains(&name), "`{name}` is not kept in memory; see READ");
    samples.column(name)
}

/// The run with the columns that are read.
pub(crate) fn kept(mut run: Run) -> Run {
    for samples in run.flows.iter_mut().chain(&mut run.queues) {
        *samples = samples.only(&READ);
    }
    run
}

#[cfg(test)]
mod tests {
    use firstflight_results::RunResult;

    use super::*;

    #[test]
    fn only_what_is_read_is_held_in_memory() {
        let mut all = Series::new(["time_s", "flow", "cwnd_packets", "westwood_ere"]);
        all.push(&[Some(0.5), Some(0.0), Some(2.0), None]);
        let run = kept(Run::new(RunResult::default(), vec![all], Vec::new()));
        assert_eq!(run.flows[0].columns(), ["time_s", "cwnd_packets"]);
        let cwnd: Vec<_> = column(&run.flows[0], "cwnd_packets").unwrap().collect();
        assert_eq!(cwnd, [Some(2.0)]);
    }
}
