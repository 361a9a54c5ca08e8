//! What a sweep says in short: each control over all points, with intervals over the replicas.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use firstflight_outside::AtomicFile;
use firstflight_results::statistics::mean_and_interval;
use firstflight_results::{Table, Value};
use serde::Serialize;

use crate::SweepError;
use crate::store::format_of;

/// What a sweep says about its controls, in the order of their appearance.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Distinct points.
    pub points: u64,
    /// Rows: flows of all runs.
    pub rows: u64,
    /// One entry per control.
    pub controls: Vec<ControlSummary>,
}

/// A control over all points.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ControlSummary {
    /// Its name as given.
    pub alias: String,
    /// Seeds, the replicas of every point.
    pub seeds: u64,
    /// Flows that had an end and did not reach it.
    pub unfinished: u64,
    /// Points at which no control was better by more than 1 %: in completion time, or in throughput
    /// where a flow of the point has no end or did not reach it.
    pub best_at: u64,
    /// Mean completion time of the flows that were done, s.
    pub completion_time_s: Interval,
    /// Mean throughput of the flows, bit/s.
    pub throughput_bps: Interval,
    /// Mean drops of a run at the bottleneck.
    pub bottleneck_drops: Interval,
    /// Mean exit window over BDP of the flows that left start-up.
    pub exit_window_over_bdp: Interval,
}

/// A mean, and half the width of its 95 % confidence interval by Student's t over the replicas: of
/// each seed the mean over all points is one value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Interval {
    /// `None` if nothing was measured.
    pub mean: Option<f64>,
    /// `None` with fewer than two seeds.
    pub half_95: Option<f64>,
}

const MEASURES: [&str; 4] =
    ["completion_time_s", "throughput_bps", "bottleneck_drops", "exit_window_over_bdp"];
const COMPLETION: usize = 0;
const THROUGHPUT: usize = 1;

impl Summary {
    /// The summary of the finished sweep in a folder.
    ///
    /// # Errors
    /// A folder without a sweep or without its table.
    pub fn of(dir: &Path) -> Result<Self, SweepError> {
        let format = format_of(dir)?;
        let path = dir.join(format!("flows.{}", format.name()));
        if !path.exists() {
            let problem = "the sweep in it is not finished; accepted: a finished one, which the \
                           same `firstflight sweep GRID.toml` makes of it, or --merge after the \
                           last shard"
                .to_owned();
            return Err(SweepError::Folder { path: dir.to_owned(), problem });
        }
        let mut writing = Writing { to: None, state: State::default() };
        format.read(&path, |table| writing.add(&table))?;
        writing.finish()
    }

    /// A summary to be, which writes a row per point and control into a file.
    pub(crate) fn writing(path: &Path) -> Result<Writing, SweepError> {
        let file = AtomicFile::create(path).map_err(SweepError::write(path))?;
        let mut to = csv::Writer::from_writer(file.file().map_err(SweepError::write(path))?);
        let mut names = vec!["point".to_owned(), "alias".to_owned(), "seeds".to_owned()];
        for measure in MEASURES {
            names.extend([measure.to_owned(), format!("{measure}_half_95")]);
        }
        let fault = |error| SweepError::csv(path)(error);
        to.write_record(&names).map_err(fault)?;
        Ok(Writing { to: Some((file, to)), state: State::default() })
    }
}

/// Takes rows point by point, so that one point is in memory at a time.
pub(crate) struct Writing {
    to: Option<(AtomicFile, csv::Writer<File>)>,
    state: State,
}

#[derive(Default)]
struct State {
    point: String,
    /// The runs of the present point: by control, then by seed.
    here: Vec<(String, BTreeMap<u64, Run>)>,
    /// Points that are over.
    points: u64,
    /// Rows that have come.
    rows: u64,
    /// Sums over the points, by control.
    totals: Vec<Total>,
}

/// A control at a point with one seed.
#[derive(Clone, Default)]
struct Run {
    measures: [Mean; 4],
    flows: u64,
    unfinished: u64,
}

#[derive(Default)]
struct Total {
    alias: String,
    seeds: BTreeMap<u64, [Mean; 4]>,
    unfinished: u64,
    best_at: u64,
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn value(self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
}

impl Writing {
    pub(crate) fn add(&mut self, table: &Table) -> Result<(), SweepError> {
        let at = |name: &str, row| table.column(name).map_or(Value::Null, |column| column.at(row));
        let text = |name: &str, row| match at(name, row) {
            Value::Text(text) => text.to_owned(),
            _ => String::new(),
        };
        for row in 0..table.len() {
            let point = text("point", row);
            if point != self.state.point {
                self.close()?;
                self.state.point = point;
            }
            let alias = text("alias", row);
            let here = &mut self.state.here;
            let control = here.iter().position(|(name, _)| *name == alias).unwrap_or_else(|| {
                here.push((alias, BTreeMap::new()));
                here.len() - 1
            });
            let Value::Count(seed) = at("seed", row) else { continue };
            let run = here[control].1.entry(seed).or_default();
            for (mean, name) in run.measures.iter_mut().zip(MEASURES) {
                match at(name, row) {
                    Value::Number(number) => mean.add(number),
                    Value::Count(count) => mean.add(count as f64),
                    _ => {}
                }
            }
            run.flows += 1;
            let open = at("completion_time_s", row) == Value::Null;
            run.unfinished += u64::from(open && at("size_bytes", row) != Value::Null);
            self.state.rows += 1;
        }
        Ok(())
    }

    /// The present point is over.
    fn close(&mut self) -> Result<(), SweepError> {
        let here = std::mem::take(&mut self.state.here);
        if here.is_empty() {
            return Ok(());
        }
        self.state.points += 1;
        let best = best(&here);
        for (at, (alias, runs)) in here.iter().enumerate() {
            let totals = &mut self.state.totals;
            let known = totals.iter().position(|total| total.alias == *alias);
            let total = known.unwrap_or_else(|| {
                totals.push(Total { alias: alias.clone(), ..Total::default() });
                totals.len() - 1
            });
            let total = &mut totals[total];
            total.best_at += u64::from(best.contains(&at));
            for (seed, run) in runs {
                total.unfinished += run.unfinished;
                let sums = total.seeds.entry(*seed).or_default();
                for (sum, mean) in sums.iter_mut().zip(run.measures) {
                    mean.value().into_iter().for_each(|value| sum.add(value));
                }
            }
            self.write(alias, runs)?;
        }
        Ok(())
    }

    fn write(&mut self, alias: &str, runs: &BTreeMap<u64, Run>) -> Result<(), SweepError> {
        let Some((file, to)) = &mut self.to else { return Ok(()) };
        let mut cells = vec![self.state.point.clone(), alias.to_owned(), runs.len().to_string()];
        let cell = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        for measure in 0..MEASURES.len() {
            let interval = interval(runs.values().map(|run| run.measures[measure]));
            cells.extend([cell(interval.mean), cell(interval.half_95)]);
        }
        to.write_record(&cells).map_err(|error| SweepError::write(file.path())(error.into()))
    }

    pub(crate) fn finish(mut self) -> Result<Summary, SweepError> {
        self.close()?;
        if let Some((file, mut to)) = self.to.take() {
            let path = file.path().to_owned();
            to.flush().and_then(|()| file.finish()).map_err(SweepError::write(&path))?;
        }
        let State { points, rows, totals, .. } = self.state;
        Ok(Summary { points, rows, controls: totals.into_iter().map(Total::summary).collect() })
    }
}

impl Total {
    fn summary(self) -> ControlSummary {
        let of = |measure: usize| interval(self.seeds.values().map(|sums| sums[measure]));
        ControlSummary {
            seeds: self.seeds.len() as u64,
            unfinished: self.unfinished,
            best_at: self.best_at,
            completion_time_s: of(COMPLETION),
            throughput_bps: of(THROUGHPUT),
            bottleneck_drops: of(2),
            exit_window_over_bdp: of(3),
            alias: self.alias,
        }
    }
}

fn interval(values: impl Iterator<Item = Mean>) -> Interval {
    let values: Vec<f64> = values.filter_map(Mean::value).collect();
    let (mean, half_95) = mean_and_interval(&values);
    Interval { mean, half_95 }
}

/// The controls within 1 % of the best one at a point.
fn best(here: &[(String, BTreeMap<u64, Run>)]) -> Vec<usize> {
    let runs = || here.iter().flat_map(|(_, runs)| runs.values());
    let done = runs().all(|run| run.measures[COMPLETION].count as u64 == run.flows);
    // Larger is better.
    let score = |runs: &BTreeMap<u64, Run>| {
        let of = |measure: usize| interval(runs.values().map(|run| run.measures[measure])).mean;
        match done {
            true => of(COMPLETION).map(|time| 1.0 / time.max(f64::MIN_POSITIVE)),
            false => of(THROUGHPUT),
        }
    };
    let scores: Vec<f64> = here.iter().map(|(_, runs)| score(runs).unwrap_or(0.0)).collect();
    let most = scores.iter().copied().fold(0.0, f64::max);
    (0..scores.len()).filter(|at| scores[*at] * 1.01 >= most).collect()
}
