//! The recording of a trial as it is written, so that a trial whose program was killed goes on
//! where it was.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use firstflight_kernel::trial::{Connection, Plan};
use serde::Serialize;

use super::connection::{Head, Line, SCHEMA, by_word, read};
use crate::failure::Failure;

impl Line {
    pub(super) fn new(seen: &Connection, plan: &Plan, elapsed: Duration) -> Self {
        Self {
            after_s: elapsed.as_secs_f64(),
            minute: seen.began.as_secs() / 60,
            local: seen.local,
            remote: seen.remote,
            tried: seen.treated,
            control: seen.control.clone(),
            refused: seen.error != 0,
            time_to_bytes_s: seen.time_to(plan.bytes).map(|time| time.as_secs_f64()),
            bytes_at_age: seen.bytes_at(plan.age),
            srtt_s: seen.srtt.as_secs_f64(),
            acked_bytes: seen.acked,
            sent_again_bytes: seen.sent_again,
            timeouts: seen.timeouts,
            broken_off: seen.broken,
        }
    }
}

impl Head {
    pub(super) fn of(plan: &Plan, tolerance: f64) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            control: plan.treated.control.clone(),
            against: plan.other.clone(),
            share: f64::from(plan.treated.per_mille) / 1000.,
            to: plan.treated.to.to_string(),
            port: plan.treated.port,
            by: by_word(plan.by).to_owned(),
            bytes: plan.bytes,
            age_s: plan.age.as_secs_f64(),
            tolerance,
            seed: plan.seed,
        }
    }
}

/// Where lines are written, if anywhere.
#[derive(Debug)]
pub(super) struct Record {
    file: Option<(File, PathBuf)>,
    /// The last connection of a recording that goes on. It may still be in the kernel's buffer: a
    /// command can be killed between writing it down and taking it out.
    last: Option<Line>,
}

impl Record {
    /// Opens the file, and returns how long the trial has lasted. A file that exists must be of
    /// this trial: its seed is written into `plan`, and `each` is called with every connection in
    /// it.
    pub(super) fn open(
        path: Option<&Path>,
        plan: &mut Plan,
        tolerance: f64,
        mut each: impl FnMut(&Line),
    ) -> Result<(Self, Duration), Failure> {
        let Some(path) = path else {
            return Ok((Self { file: None, last: None }, Duration::ZERO));
        };
        let options = || OpenOptions::new().append(true).create(true).open(path);
        let same = |head: Head| {
            plan.seed = head.seed;
            let wanted = Head::of(plan, tolerance);
            if head == wanted {
                return Ok(());
            }
            let shown = |head: &Head| serde_json::to_string(head).unwrap_or_default();
            Err(format!("it holds {}, not {}", shown(&head), shown(&wanted)))
        };
        let (whole, last) = match path.exists() {
            true => {
                let each = |line: &Line, _: &[u8]| {
                    each(line);
                    Ok(())
                };
                read(path, same, each).map_err(|problem| wrong(path, &problem))?
            }
            false => (0, None),
        };
        let lasted = last.as_ref().map_or(0., |line| line.after_s);
        let lasted = Duration::try_from_secs_f64(lasted).unwrap_or_default();
        let file = options().map_err(|error| failed(path, &error))?;
        // The last line may be of a program that was killed while it wrote.
        file.set_len(whole).map_err(|error| failed(path, &error))?;
        let mut record = Self { file: Some((file, path.to_owned())), last };
        if whole == 0 {
            record.write(&Head::of(plan, tolerance))?;
        }
        Ok((record, lasted))
    }

    /// Writes a connection down, if that has not been done; whether it was new.
    pub(super) fn add(&mut self, line: &Line) -> Result<bool, Failure> {
        if self.last.take().is_some_and(|last| line == &Line { after_s: line.after_s, ..last }) {
            return Ok(false);
        }
        self.write(line)?;
        Ok(true)
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), Failure> {
        let Some((file, path)) = &mut self.file else { return Ok(()) };
        let text = serde_json::to_string(line)? + "\n";
        file.write_all(text.as_bytes()).map_err(|error| failed(path, &error))
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::Lacks(format!("kernel trial: --record {}: {error}", path.display()))
}

fn wrong(path: &Path, problem: &str) -> Failure {
    Failure::Usage(format!(
        "kernel trial: --record {}: {problem}; accepted: a new file, or one of the trial that is \
         to go on",
        path.display()
    ))
}

#[cfg(test)]
pub(super) mod tests {
    use firstflight_kernel::steer::Rule;
    use firstflight_kernel::trial::judge::By;

    use super::*;

    pub(in super::super) fn plan(seed: u32) -> Plan {
        let control = "ff_scout".to_owned();
        let to = "192.0.2.0/24".parse().unwrap();
        Plan {
            treated: Rule { to, port: Some(443), per_mille: 50, control, cgroup: None },
            other: "cubic".to_owned(),
            seed,
            by: By::Connection,
            bytes: 100_000,
            age: Duration::from_secs(1),
        }
    }

    fn line(after_s: f64) -> Line {
        Line {
            after_s,
            minute: 7,
            local: "198.51.100.1:443".parse().unwrap(),
            remote: "192.0.2.9:50000".parse().unwrap(),
            tried: true,
            control: "ff_scout".to_owned(),
            refused: false,
            time_to_bytes_s: Some(0.25),
            bytes_at_age: 120_000.5,
            srtt_s: 0.04,
            acked_bytes: 150_000,
            sent_again_bytes: 50_000,
            timeouts: 1,
            broken_off: false,
        }
    }

    #[test]
    fn a_recording_goes_on_after_a_line_that_was_cut() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trial.jsonl");
        let (mut record, lasted) =
            Record::open(Some(&path), &mut plan(5), 0.02, |_| panic!()).unwrap();
        assert_eq!(lasted, Duration::ZERO);
        record.write(&line(1.5)).unwrap();
        record.write(&line(2.5)).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let (mut again, mut found) = (plan(6), Vec::new());
        let each = |line: &Line| found.push(line.outcome());
        let (mut record, lasted) = Record::open(Some(&path), &mut again, 0.02, each).unwrap();
        assert_eq!((again.seed, lasted, found.len()), (5, Duration::from_millis(1500), 1));
        let values = found[0].values;
        assert_eq!((values[0], values[3]), (Some(0.25_f64.ln()), Some(0.25)));
        assert_eq!((found[0].treated, found[0].minute), (true, 7));
        record.write(&line(2.5)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    /// The command was killed after it had written the connection and before the buffer was rid of
    /// it, so that the kernel reports it once more.
    #[test]
    fn a_connection_that_is_told_again_after_a_kill_is_written_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trial.jsonl");
        let (mut record, _) = Record::open(Some(&path), &mut plan(5), 0.02, |_| panic!()).unwrap();
        assert!(record.add(&line(1.5)).unwrap());
        let whole = std::fs::read(&path).unwrap();
        let (mut record, _) = Record::open(Some(&path), &mut plan(6), 0.02, |_| ()).unwrap();
        assert!(!record.add(&line(7.5)).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert!(record.add(&Line { minute: 8, ..line(8.5) }).unwrap());
    }

    #[test]
    fn another_trials_recording_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trial.jsonl");
        Record::open(Some(&path), &mut plan(5), 0.02, |_| ()).unwrap();
        let mut other = Plan { bytes: 1, ..plan(5) };
        let error = Record::open(Some(&path), &mut other, 0.02, |_| ()).unwrap_err().to_string();
        assert!(error.contains("accepted: a new file") && error.contains("100000"), "{error}");
        std::fs::write(&path, "{}\n").unwrap();
        let error = Record::open(Some(&path), &mut plan(5), 0.02, |_| ()).unwrap_err().to_string();
        assert!(error.contains("its first line is none of a trial's"), "{error}");
    }
}
