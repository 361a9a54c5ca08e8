//! The last of the drawn paths over a kernel in virtual time.
//!
//! A guest takes ten seconds to minutes for a path. So what `papers/scout/linux.csv` has is not run
//! again, unless its line is deleted.

use std::error::Error;
use std::path::Path as File;
use std::sync::{Mutex, PoisonError};

use firstflight_report::write_file;
use firstflight_results::RunResult;
use firstflight_runner::Options;
use firstflight_scenario::Scenario;
use firstflight_transports::VirtualTime;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{FAST, GENTLE, PathRun, REFERENCE, Runs, Set, head, held_to, paths};
use crate::Stop;
use crate::runs::{guests, of_guests, on};
use crate::step::{self, announce, kernel_features};

/// `linux-cubic` is the kernel's own CUBIC; the others share an avoidance, which is not the same.
const CONTROLS: [&str; 5] = [REFERENCE, GENTLE, "linux-cubic", FAST, "scout"];

/// One run: a line of the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    rate_kbps: u64,
    rtt_us: u64,
    buffer_bdp: f64,
    size_bytes: u64,
    control: String,
    completion_s: f64,
    sent_again_packets: u64,
    delivered_packets: u64,
    peak_queue_packets: u64,
    kernel: String,
}

/// Runs the paths of which the file lacks something, small transfers first.
pub(crate) fn measure(root: &File) -> Result<(), Stop> {
    if kernel_features()?.is_empty() {
        return Err(Stop::lacks(&step::no_kernel("startups --scout --linux")));
    }
    announce("build");
    let guests = guests(GUESTS, &of_guests(root, PROGRAMS)?)
        .map_err(|error| Stop::failed(&error.to_string()))?;
    let file = root.join(FILE);
    let lines = Mutex::new(read(&file).map_err(|problem| Stop::failed(&problem))?);
    let kept = || lines.lock().unwrap_or_else(PoisonError::into_inner);
    let mut paths = paths::on_linux().paths;
    paths.sort_by_key(paths::Path::size_bytes);
    paths.into_par_iter().with_max_len(1).try_for_each(|path| {
        let controls = lacking(&kept(), &path);
        if controls.is_empty() {
            return Ok(());
        }
        let Some(fresh) = run(&guests, &path, &controls)? else {
            println!("{}: the guest is too slow for it", path.flags().join(" "));
            return Ok(());
        };
        println!("{} is measured", path.flags().join(" "));
        let mut lines = kept();
        lines.extend(fresh);
        write(&file, &lines).map_err(|problem| Stop::failed(&problem.to_string()))
    })
}

/// These controls over a path; `None` if the link, which is a program in the guest, was too slow
/// for it.
fn run(
    guests: &VirtualTime,
    path: &paths::Path,
    controls: &[&str],
) -> Result<Option<Vec<Line>>, Stop> {
    let scenario = Scenario::parse(&path.scenario(controls), "scout.toml");
    let scenario = scenario.map_err(|problem| Stop::failed(&problem.to_string()))?;
    let runs = on(guests, &scenario, Options { serial: true, ..Options::default() })?;
    let mut labs = runs.iter().map(|run| run.result.lab.as_ref());
    let keeps_up = labs.all(|lab| lab.is_some_and(|lab| lab.timing == "valid"));
    let lines = runs.iter().zip(controls);
    let lines = lines.map(|(run, control)| Line::of(path, control, &run.result));
    Ok(keeps_up.then(|| lines.collect()))
}

/// What every control did, and what Scout is held to.
pub(super) fn table(root: &File) -> Result<String, Box<dyn Error>> {
    let (set, runs) = measured(&read(&root.join(FILE))?);
    let sets = [set];
    let all = super::table(&sets, &CONTROLS, &runs, (&CONTROLS, |_| true));
    let mut bars = head("paths", &["scout"]);
    held_to(&mut bars, &sets, &CONTROLS, &runs);
    Ok(format!("{all}\n{bars}"))
}

/// The paths over which every control was run.
fn measured(lines: &[Line]) -> (Set, Runs) {
    let mut set = paths::on_linux();
    let runs: Vec<_> = set.paths.iter().map(|path| of_path(lines, path)).collect();
    let mut done = runs.iter().map(Option::is_some);
    set.paths.retain(|_| done.next() == Some(true));
    (set, vec![runs.into_iter().flatten().collect()])
}

/// The controls that were not run over a path.
fn lacking(lines: &[Line], path: &paths::Path) -> Vec<&'static str> {
    let lacks = |control: &&str| !lines.iter().any(|line| line.is_of(path, control));
    CONTROLS.into_iter().filter(lacks).collect()
}

/// What every control did on a path; `None` if one was not run.
fn of_path(lines: &[Line], path: &paths::Path) -> Option<Vec<PathRun>> {
    let line = |control: &str| lines.iter().find(|line| line.is_of(path, control));
    CONTROLS.iter().map(|control| Some(line(control)?.measured(path))).collect()
}

impl Line {
    fn is_of(&self, path: &paths::Path, control: &str) -> bool {
        let key = (self.rate_kbps, self.rtt_us, self.buffer_bdp, self.size_bytes);
        key == path.numbers() && self.control == control
    }

    fn measured(&self, path: &paths::Path) -> PathRun {
        PathRun {
            completion_s: self.completion_s,
            sent_again: 100.0 * self.sent_again_packets as f64
                / self.delivered_packets.max(1) as f64,
            queue_bdp: self.peak_queue_packets as f64 / path.bdp_packets(),
        }
    }

    fn of(path: &paths::Path, control: &str, run: &RunResult) -> Self {
        let flow = &run.flows[0];
        let (rate_kbps, rtt_us, buffer_bdp, size_bytes) = path.numbers();
        Self {
            rate_kbps,
            rtt_us,
            buffer_bdp,
            size_bytes,
            control: control.to_owned(),
            completion_s: flow.completion_time_s.unwrap_or(path.limit_s() as f64),
            sent_again_packets: flow.counts.retransmitted_packets,
            delivered_packets: flow.delivered_packets,
            peak_queue_packets: run.bottleneck.peak_queue_packets,
            kernel: run.lab.as_ref().map_or(String::new(), |lab| lab.kernel.clone()),
        }
    }
}

/// What the file has; nothing if there is none.
fn read(file: &File) -> Result<Vec<Line>, String> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let told = |error: csv::Error| format!("{}: {error}", file.display());
    csv::Reader::from_path(file)
        .map_err(told)?
        .deserialize()
        .map(|line| line.map_err(told))
        .collect()
}

/// All of them, path by path.
fn write(file: &File, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let mut lines = lines.to_vec();
    let place = |line: &Line| CONTROLS.iter().position(|control| *control == line.control);
    lines.sort_by_key(|line| (line.size_bytes, line.rate_kbps, line.rtt_us, place(line)));
    let mut writer = csv::Writer::from_writer(Vec::new());
    lines.iter().try_for_each(|line| writer.serialize(line))?;
    write_file(file, &String::from_utf8(writer.into_inner()?)?)?;
    Ok(())
}

const FILE: &str = "papers/scout/linux.csv";
const PROGRAMS: &str = "firstflight-out/scout";
const GUESTS: &str = "linux --virtual-time --link tun";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_counts_when_all_controls_have_been_run_over_it() {
        let path = paths::on_linux().paths.remove(3);
        let (rate_kbps, rtt_us, buffer_bdp, size_bytes) = path.numbers();
        let of = |control: &str| Line {
            rate_kbps,
            rtt_us,
            buffer_bdp,
            size_bytes,
            control: control.to_owned(),
            completion_s: 1.5,
            sent_again_packets: 2,
            delivered_packets: 200,
            peak_queue_packets: 9,
            kernel: "6.1".to_owned(),
        };
        let mut lines: Vec<Line> = CONTROLS[1..].iter().map(|control| of(control)).collect();
        assert!(measured(&lines).1[0].is_empty());
        assert_eq!(lacking(&lines, &path), [REFERENCE]);
        lines.push(of(REFERENCE));
        let (set, runs) = measured(&lines);
        assert_eq!((set.paths, runs[0].len()), (vec![path], 1));
        let PathRun { completion_s, sent_again, queue_bdp } = runs[0][0][4];
        assert_eq!((completion_s, sent_again), (1.5, 1.0));
        assert!(queue_bdp > 0.0);
    }

    #[test]
    fn the_file_reads_as_it_was_written() {
        let lines = read(&File::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(FILE));
        let lines = lines.unwrap();
        let file = std::env::temp_dir().join(format!("scout-linux-{}.csv", std::process::id()));
        write(&file, &lines).unwrap();
        assert_eq!(read(&file).unwrap(), lines);
        std::fs::write(&file, "rate_kbps\nfast\n").unwrap();
        assert!(read(&file).unwrap_err().contains("scout-linux-"));
        std::fs::remove_file(&file).unwrap();
    }
}
