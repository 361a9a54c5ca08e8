//! Traces as files: one CSV per flow and per link of every run, and a qlog per flow.

pub(crate) mod flent;
mod qlog;

use std::path::Path;

use firstflight_answers::measure::conditions;
use firstflight_outside::Names;
use firstflight_report::{ReportError, write_file};
use firstflight_results::{RunResult, Series};
use firstflight_runner::{Report, Run};
use firstflight_scenario::Complete;

use crate::failure::Failure;
use crate::output::file_name;

/// Samples over time for people's eyes, and for files.
pub(crate) const COARSE: u32 = 500;
/// Samples over time in files and reports.
pub(crate) const FINE: u32 = 2_000;
/// Rows kept over all flows of all runs, so that many flows do not take the memory.
const ROWS: u64 = 400_000;
const FEWEST: u64 = 50;

/// How many samples so many traces can have, at most `wanted`.
pub(crate) fn samples(traces: u64, wanted: u32) -> u32 {
    let fair = (ROWS / traces.max(1)).max(FEWEST);
    u32::try_from(fair).unwrap_or(u32::MAX).min(wanted)
}

/// Writes the traces of all runs under `out`; returns the number of files.
pub(crate) fn write(out: &Path, report: &Report) -> Result<usize, Failure> {
    let names = Names::default();
    let mut files = 0;
    for run in &report.runs {
        let name = names.take(&run_name(&report.scenario, &run.result), "");
        for (id, flow) in run.flows.iter().enumerate() {
            put(out, &format!("{name}.flow-{id}.csv"), flow)?;
            put_qlog(out, &format!("{name}.flow-{id}.sqlog"), report, run, id)?;
        }
        for (queue, link) in run.queues.iter().zip(&report.scenario.links) {
            put(out, &format!("{name}.link-{}.csv", file_name(&link.name)), queue)?;
        }
        files += 2 * run.flows.len() + run.queues.len().min(report.scenario.links.len());
    }
    Ok(files)
}

/// What the files of a run are called: by its control, and its seed where there are several.
pub(crate) fn run_name(complete: &Complete, run: &RunResult) -> String {
    let name = file_name(&run.alias);
    match complete.runs {
        1 => name,
        _ => format!("{name}.seed-{}", run.seed),
    }
}

fn put_qlog(out: &Path, name: &str, report: &Report, run: &Run, id: usize) -> Result<(), Failure> {
    let (Some(samples), Some(flow)) = (run.flows.get(id), run.result.flows.get(id)) else {
        return Ok(());
    };
    let title = format!("{}, flow {id}, {}", run.result.alias, run.result.transport);
    let description = format!("{}; seed {}", conditions(report), run.result.seed);
    let path = out.join(name);
    let log = qlog::log(&title, &description, samples, flow, report.scenario.packet.bytes());
    Ok(write_file(&path, log.map_err(ReportError::write(&path))?)?)
}

fn put(out: &Path, name: &str, series: &Series) -> Result<(), Failure> {
    let mut text = Vec::new();
    let path = out.join(name);
    series.write_csv(&mut text).map_err(ReportError::write(&path))?;
    Ok(write_file(&path, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_flows_have_fewer_samples_each() {
        assert_eq!(samples(4, FINE), FINE);
        assert_eq!(samples(4_000, FINE), 100);
        assert_eq!(samples(65_535, FINE), 50);
    }
}
