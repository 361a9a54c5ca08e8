//! Rebuilds the tables, figures and stated numbers of the papers and judges every claim.
//!
//! The papers are data: one file per figure or table under `papers/`, in the format that
//! `papers/README.md` explains, compiled into the program. This crate reads them, runs the
//! scenarios, measures, judges and draws; no expectation of a paper stands in its code. Rows of the
//! lab run on a transport that the caller hands in.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use firstflight_reproduce::{Options, reproduce};
//!
//! let outcome = reproduce(&Options {
//!     select: &["S0-T1c".to_owned()],
//!     out: None,
//!     cache: None,
//!     stop: &AtomicBool::new(false),
//!     progress: &|_| {},
//!     figure_width: Default::default(),
//!     command_line: String::new(),
//!     quick: false,
//!     lab: None,
//! })?;
//! assert_eq!(outcome.rows[0].id, "S0-T1c");
//! # Ok::<(), firstflight_reproduce::ReproduceError>(())
//! ```

mod cache;
mod check;
pub mod command;
mod error;
mod execute;
mod file;
mod job;
mod lab;
mod lab_record;
mod line;
mod load_gauge;
mod markdown;
mod measure;
mod model;
mod number;
mod page;
mod paper;
mod plot;
mod recorded;
mod reduce;
mod row;
mod samples;
mod select;
mod validate;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use firstflight_report::{ReportError, Width, write_dir, write_file};
use firstflight_results::{ClaimRow, Reproduction};
use firstflight_runner::Transport;

use cache::Cache;
use check::Done;
use file::{Claim, On};
use job::Jobs;
use page::{About, Finished};
use paper::{Expanded, FILES, Paper};
use select::{Chosen, choose};

pub use error::ReproduceError;
pub use execute::Progress;
pub use file::schema;
pub use line::{Line, RowKind};
pub use markdown::markdown;
pub use page::sign;
pub use recorded::{Comparison, compared};

/// What to reproduce, and where to put it.
pub struct Options<'a> {
    /// Papers (`astart`, `S0`), figures and tables (`figure09`), claims (`S0-T1a`) or beginnings
    /// of claims (`S0-T1`); everything when empty.
    pub select: &'a [String],
    /// The folder for the report; without it no report is made.
    pub out: Option<&'a Path>,
    /// Where finished runs are kept; `cache` under `out` when not given, nowhere without either.
    pub cache: Option<&'a Path>,
    /// Becomes true when the reproduction is to stop.
    pub stop: &'a AtomicBool,
    /// Called when a run begins, and when it is finished.
    pub progress: &'a (dyn Fn(Progress<'_>) + Sync),
    /// The command line, for the report.
    pub command_line: String,
    /// How wide the figures beside the report are.
    pub figure_width: Width,
    /// One seed per run instead of several.
    pub quick: bool,
    /// Runs the rows of the lab, if the user asked for them: they may take real time.
    pub lab: Option<&'a dyn Transport>,
}

/// What a reproduction yields.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The claims asked for, in the order of the papers; when interrupted, those whose runs are
    /// finished.
    pub rows: Vec<ClaimRow>,
    /// Whether it was stopped before all runs were finished.
    pub interrupted: bool,
    /// The report's page, if one was asked for.
    pub report: Option<PathBuf>,
    /// Runs finished, those found in the cache included.
    pub finished: usize,
    /// Runs that were needed.
    pub total: usize,
    /// Runs found in the cache.
    pub cached: usize,
    /// Where finished runs are kept.
    pub cache: Option<PathBuf>,
}

impl Outcome {
    /// After an interruption, what is kept and how to go on, in a sentence.
    pub fn how_to_go_on(&self) -> String {
        let Self { finished, total, rows, .. } = self;
        let judged = rows.len();
        let count = match finished {
            0 => format!("none of {total} runs finished, {judged} claims judged that take none"),
            _ => format!("{finished} of {total} runs finished, {judged} claims judged"),
        };
        match &self.cache {
            Some(dir) => format!(
                "{count}; kept in {}, and the same command goes on from there",
                dir.display()
            ),
            None => format!("{count}; with --out DIR finished runs are kept, to go on from"),
        }
    }
}

/// Reproduces what is selected.
///
/// # Errors
/// A selection that names nothing, an output that cannot be written (found before anything runs),
/// a paper file that is wrong, or a run that fails.
pub fn reproduce(options: &Options<'_>) -> Result<Outcome, ReproduceError> {
    let papers = paper::load(FILES, options.quick)?;
    validate::validate(&papers)?;
    reproduce_papers(&papers, options)
}

/// Whether the words of a selection name a row of the lab by its full id, or an experiment with
/// such rows.
///
/// # Errors
/// A selection that names nothing, or a paper file that is wrong.
pub fn names_lab(select: &[String]) -> Result<bool, ReproduceError> {
    let papers = paper::load(FILES, true)?;
    choose(&papers, select)?;
    let is_of_lab = |expanded: &Expanded, claim: &Claim| {
        let places = claim.places(expanded).unwrap_or_default();
        places.into_iter().any(|(_, variant)| variant.on == On::Linux)
    };
    Ok(papers.iter().flat_map(|paper| &paper.experiments).any(|expanded| {
        let named = |name: &str| select.iter().any(|word| word.eq_ignore_ascii_case(name));
        let claims =
            expanded.data.claims.iter().filter(|claim| named(&expanded.stem) || named(&claim.id));
        claims.into_iter().any(|claim| is_of_lab(expanded, claim))
    }))
}

/// Whether the words of a selection name claims, figures or tables, and not whole papers alone.
///
/// # Errors
/// A paper file that is wrong.
fn names_parts(select: &[String]) -> Result<bool, ReproduceError> {
    let papers = paper::load(FILES, true)?;
    let names = |word: &str, head: &file::Head| {
        [&head.name, &head.id].iter().any(|name| name.eq_ignore_ascii_case(word))
    };
    Ok(select.iter().any(|word| !papers.iter().any(|paper| names(word, &paper.head))))
}

fn reproduce_papers(papers: &[Paper], options: &Options<'_>) -> Result<Outcome, ReproduceError> {
    let chosen = choose(papers, options.select)?;
    let jobs = jobs(papers, &chosen, options.out.is_some())?;
    if let Some(out) = options.out {
        probe(out)?;
    }
    let dir = options.cache.map(Path::to_owned).or(options.out.map(|out| out.join("cache")));
    let cache = dir.as_deref().map(Cache::open).transpose()?;
    let Options { stop, progress, lab, .. } = *options;
    let executed = execute::execute(jobs.list(), cache.as_ref(), lab, stop, progress)?;
    let done = Done { jobs: &jobs, runs: &executed.runs };
    let finished: Vec<Finished<'_>> =
        chosen.iter().map(|chosen| finish(papers, chosen, done)).collect();
    let rows = finished.iter().flat_map(|each| &each.rows).cloned();
    let mut outcome = Outcome {
        rows: rows.collect(),
        interrupted: executed.interrupted,
        finished: executed.runs.iter().flatten().count(),
        total: executed.total,
        cached: executed.cached,
        cache: dir,
        ..Outcome::default()
    };
    if let Some(out) = options.out {
        let files = write(out, &finished, done, &outcome, options)?;
        outcome.report = files.into_iter().next();
    }
    Ok(outcome)
}

/// What the chosen claims read and, for a report, what the figures around them show.
fn jobs(papers: &[Paper], chosen: &[Chosen], drawn: bool) -> Result<Jobs, ReproduceError> {
    let mut jobs = Jobs::default();
    for each in chosen {
        let expanded = &papers[each.paper].experiments[each.experiment];
        let wrong = |problem: String| ReproduceError::paper(&expanded.path, problem);
        for claim in each.claims.iter().map(|index| &expanded.data.claims[*index]) {
            for (case, variant) in claim.places(expanded).map_err(wrong)? {
                jobs.add(expanded, case, variant)?;
            }
        }
        for plot in expanded.data.plots.iter().filter(|_| drawn) {
            for (case, variant) in plot.variants(expanded).map_err(wrong)? {
                jobs.add(expanded, case, variant)?;
            }
        }
    }
    Ok(jobs)
}

/// Judges the chosen claims of one experiment whose runs are finished.
fn finish<'a>(papers: &'a [Paper], chosen: &Chosen, done: Done<'_>) -> Finished<'a> {
    let paper = &papers[chosen.paper];
    let expanded = &paper.experiments[chosen.experiment];
    let claims = chosen.claims.iter().map(|index| &expanded.data.claims[*index]);
    let rows = claims.filter_map(|claim| row::judge(paper, expanded, claim, done));
    Finished { paper, expanded, rows: rows.collect() }
}

/// Finds out before anything runs that the output can be written.
fn probe(out: &Path) -> Result<(), ReproduceError> {
    let probe = out.join(".probe");
    write_file(&probe, "")?;
    fs::remove_file(&probe).map_err(ReportError::write(&probe))?;
    Ok(())
}

/// Every file of the report, the page first.
fn write(
    out: &Path,
    finished: &[Finished<'_>],
    done: Done<'_>,
    outcome: &Outcome,
    options: &Options<'_>,
) -> Result<Vec<PathBuf>, ReproduceError> {
    let missing = if outcome.interrupted {
        format!("Interrupted: {}.", outcome.how_to_go_on())
    } else {
        String::new()
    };
    let about = About {
        command: &options.command_line,
        missing,
        quick: options.quick,
        runs: outcome.finished,
    };
    let page = page::page(finished, done, &about).figure_width(options.figure_width);
    let document = Reproduction { rows: outcome.rows.clone() };
    let mut json = serde_json::to_string_pretty(&document)?;
    json.push('\n');
    let mut others = vec![(PathBuf::from("rows.json"), json)];
    for case in finished.iter().flat_map(|each| &each.expanded.cases) {
        let file = format!("{}.toml", case.scenario.name);
        others.push((Path::new("scenarios").join(file), case.scenario.to_toml()));
    }
    Ok(write_dir(out, &page, others)?)
}
