//! What programs logged of themselves: the end of start-up, and the window over time.

use std::fs;
use std::path::{Path, PathBuf};

use firstflight_qlog::{Connection, Log};
use firstflight_results::Series;
use firstflight_runner::{Report, Run};

/// Adds what the largest qlog of a folder has to the only run of a report. What cannot be read is
/// noted.
pub(super) fn add(folder: &Path, report: &mut Report) {
    let link = &report.scenario.links[0];
    let packet = report.scenario.packet.bytes().max(1);
    let bdp = report.scenario.bdp_bytes(&[0], link.rate.bps());
    let Some((run, path)) = report.runs.first_mut().zip(largest(folder)) else { return };
    match Log::open(&path, None) {
        Ok(log) => add_log(&log.connection, run, packet, bdp),
        Err(error) => {
            let noted = run.result.note.take().into_iter().chain([error.to_string()]);
            run.result.note = Some(noted.collect::<Vec<_>>().join("; "));
        }
    }
}

fn add_log(connection: &Connection, run: &mut Run, packet: u64, bdp: u64) {
    let Some(flow) = run.result.flows.first_mut() else { return };
    let startup = &mut flow.startup;
    if let Some(exit) = connection.summary.exit.clone() {
        let over_bdp = |cwnd: u64| cwnd as f64 / bdp.max(1) as f64;
        startup.exit_time_s = Some(exit.time_s);
        startup.exit_reason = exit.reason;
        startup.exit_cwnd_packets = exit.cwnd_bytes.map(|cwnd| cwnd / packet);
        startup.exit_window_over_bdp = exit.cwnd_bytes.map(over_bdp);
    }
    if run.flows.is_empty() {
        run.flows.push(Series::new(["time_s", "cwnd_packets"]));
    }
    let series = &mut run.flows[0];
    let columns = series.columns().to_vec();
    for (at, cwnd) in connection.curves(f64::INFINITY).cwnd.points() {
        let row = columns.iter().map(|column| match &**column {
            "time_s" => Some(flow.start_s + at),
            "cwnd_packets" => Some(cwnd / packet as f64),
            _ => None,
        });
        series.push(&row.collect::<Vec<_>>());
    }
}

/// The largest file of a folder; of equals the first by name.
fn largest(folder: &Path) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.flatten();
    let sized = files.filter_map(|file| Some((file.metadata().ok()?.len(), file.path())));
    let mut all: Vec<(u64, PathBuf)> = sized.collect();
    all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    all.into_iter().next().map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_lab::programs;
    use firstflight_scenario::Scenario;

    /// A report of two programs that came to nothing, with what a folder's logs have.
    fn logged(files: &[(&str, &[u8])]) -> Report {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let text = "controls = ['linux-reno']\n[[flow]]\nsize = '1MB'";
        let complete = programs::complete(&Scenario::parse(text, "x.toml").unwrap()).unwrap();
        let mut report = Report::new(complete, vec![programs::failed("ended".into())], false);
        add(folder.path(), &mut report);
        report
    }

    #[test]
    fn the_largest_log_tells_the_window_and_the_end_of_start_up() {
        let aioquic = include_bytes!("../../../fuzz/seeds/qlog/aioquic.qlog");
        let report = logged(&[("a.qlog", b"smaller"), ("b.qlog", aioquic)]);
        let run = &report.runs[0];
        let startup = &run.result.flows[0].startup;
        assert_eq!(startup.exit_cwnd_packets, Some(17), "17.3 kB");
        assert!((startup.exit_time_s.unwrap() - 0.179).abs() < 0.001, "{startup:?}");
        let first = run.flows[0].column("cwnd_packets").and_then(|mut all| all.next());
        assert_eq!(first, Some(Some(12.0)));
        assert_eq!(run.result.note.as_deref(), Some("ended"));
    }

    #[test]
    fn what_is_no_log_is_noted_and_no_log_is_none() {
        let note = |report: Report| report.runs[0].result.note.clone().unwrap();
        assert!(note(logged(&[("a.qlog", b"no log")])).starts_with("ended; "));
        assert_eq!(note(logged(&[])), "ended");
    }
}
