//! What compares the controls of a report: the path in words, rates in a unit for people, a number
//! for the flows of a run.

use firstflight_results::{FilesResult, RunResult};
use firstflight_runner::Report;

use crate::endpoints;

/// The network and the endpoints in words.
pub fn conditions(report: &Report) -> String {
    format!("{}{}; {}", report.scenario.path(), flows(report), endpoints::in_force(report))
}

/// `, 4 flows`, where there are several.
pub fn flows(report: &Report) -> String {
    match report.scenario.flow_count() {
        1 => String::new(),
        flows => format!(", {flows} flows"),
    }
}

/// What the link that lets the least pass carries on average over the run, in bit/s.
pub fn bottleneck_bps(report: &Report) -> u64 {
    report.scenario.path_bps(&[report.scenario.slowest_link()])
}

/// A unit in which the path's rate is a number of a few digits.
pub struct Scale {
    /// `kbps`, `Mbps` or `Gbps`.
    pub unit: &'static str,
    /// One of the unit in bit/s.
    pub bps: f64,
}

impl Scale {
    /// The unit for the rates of this report.
    pub fn of(report: &Report) -> Self {
        match bottleneck_bps(report) {
            0..1_000_000 => Self { unit: "kbps", bps: 1e3 },
            1_000_000..10_000_000_000 => Self { unit: "Mbps", bps: 1e6 },
            _ => Self { unit: "Gbps", bps: 1e9 },
        }
    }
}

/// A single flow is measured over its own life, several over the whole run.
pub fn throughput(run: &RunResult) -> f64 {
    match run.flows.as_slice() {
        [flow] => flow.throughput_bps,
        _ => run.total_throughput_bps,
    }
}

/// The mean over all files of all sources of a run; `None` if none was done.
pub fn over_files(run: &RunResult, value: fn(&FilesResult) -> f64) -> Option<f64> {
    FilesResult::mean_over(run.flows.iter(), value)
}
