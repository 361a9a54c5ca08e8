//! `reproduce`: the papers' tables, figures and stated numbers, beside what is measured here.

mod verdicts;

use std::path::{Path, PathBuf};

use firstflight_report::{Width, write_file};
use firstflight_results::{ClaimRow, Reproduction, Verdict};
use firstflight_terminal::progress::Progress;
use firstflight_terminal::{Failure, Status, command_line, interrupt, output};

use firstflight_runner::Transport;

use crate::{Comparison, Options, Outcome, ReproduceError};

/// Rebuild the papers' tables and figures and judge every claim
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A paper (astart), a figure or table (table1), a claim (S0-T1a) or the beginning of claims
    /// (S0-T1); everything if none is given
    #[arg(value_name = "PAPER|ID")]
    select: Vec<String>,
    /// Print the rows as one JSON document
    #[arg(long)]
    json: bool,
    /// Print a table of every value of every claim, as for single claims, figures and tables; of
    /// whole papers only what failed is printed otherwise
    #[arg(long, conflicts_with = "json")]
    tables: bool,
    /// Write report.html, figures, data, scenarios and rows.json here [default:
    /// firstflight-out/reproduce, and below it for a selection]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Width of the figures beside the report, as SVG and PDF, such as 88mm for a column [default:
    /// 720px]
    #[arg(long, value_name = "WIDTH")]
    figure_width: Option<Width>,
    /// Write every claim with expected, measured and verdict into one Markdown document
    #[arg(long, value_name = "FILE", conflicts_with = "quick")]
    markdown: Option<PathBuf>,
    /// Keep finished runs here, to go on after an interruption [default: cache below --out, or
    /// firstflight-out/reproduce/cache]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// One seed per run instead of several
    #[arg(long)]
    quick: bool,
    /// Exit with 1 if any claim fails, though the repository records that it does
    #[arg(long)]
    strict: bool,
    /// Run the rows of the lab too: the running kernel's TCP in real time, one run after the other
    /// (root; ten minutes). Otherwise they show the values of the last lab. A row or figure of the
    /// lab that is named in full needs no flag
    #[arg(long)]
    lab: bool,
}

const OUT: &str = "firstflight-out/reproduce";

const EXAMPLES: &str = "\
The exit code is 0 if every verdict is the one that the repository records, failing claims included,
and 1 if one differs (--strict: if any verdict is `fail`). It is 3 if rows of the lab were asked for
that this machine cannot run. Finished runs are kept: after an interruption the same command does
only the runs that are left, and after a complete run it only reads the stored results.

Examples:
  firstflight reproduce
  firstflight reproduce astart --out report
  firstflight reproduce table1 S0-F5
  firstflight reproduce --markdown papers.md
  firstflight reproduce figure17               the lab, simulated and on Linux
  firstflight reproduce figure17 --virtual-time   the same on a kernel in qemu, without root
  firstflight reproduce --json | jq -r '.rows[] | select(.verdict == \"fail\") | .id'";

impl Args {
    /// Checks before anything runs that all can be written. Returns whether rows of the lab are
    /// asked for.
    ///
    /// # Errors
    /// A place that cannot be written, or a selection that names nothing.
    pub fn check(&self) -> Result<bool, Failure> {
        output::check_directory("--out", &self.out())?;
        if let Some(cache) = self.cache() {
            output::check_directory("--cache", &cache)?;
        }
        if let Some(file) = &self.markdown {
            output::check_file("--markdown", file)?;
        }
        Ok(self.lab || crate::names_lab(&self.select)?)
    }

    /// Runs the command, the rows of the lab in `lab`.
    ///
    /// # Errors
    /// A run that failed, an output that cannot be written, or rows of the lab that were asked for
    /// and that this machine cannot run.
    pub fn run(&self, lab: Option<&dyn Transport>) -> Result<Status, Failure> {
        let progress = Progress::of_work();
        let reached = |run: crate::Progress<'_>| {
            progress.set(run.work_done as usize, run.work_total as usize);
            progress.say(&format!("run {} of {}, {}", run.done, run.total, run.name));
        };
        let _lock = output::lock_out(Some(&self.out()))?;
        let stopping = "stopping: the runs that have begun are finished and kept";
        let outcome = crate::reproduce(&Options {
            select: &self.select,
            out: Some(&self.out()),
            cache: self.cache().as_deref(),
            stop: interrupt::listen_saying(stopping),
            figure_width: self.figure_width.unwrap_or_default(),
            progress: &reached,
            command_line: command_line::typed(),
            quick: self.quick,
            lab,
        })?;
        drop(progress);
        print_outcome(self, &outcome)?;
        if outcome.interrupted {
            output::complain(&format!("interrupted: {}", outcome.how_to_go_on()));
        }
        let comparison = crate::compared(&outcome.rows)?;
        let status = status(self, &outcome, &comparison, lab.is_some())?;
        if !outcome.interrupted {
            output::note(&in_words(self, &comparison, status));
        }
        Ok(status)
    }

    fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| default_folder(&self.select))
    }

    /// Where finished runs are kept; `None` for the place below `--out`. Selections have reports of
    /// their own and share what they ran.
    fn cache(&self) -> Option<PathBuf> {
        let usual = || self.out.is_none().then(|| Path::new(OUT).join("cache"));
        self.cache.clone().or_else(usual)
    }
}

impl From<ReproduceError> for Failure {
    fn from(error: ReproduceError) -> Self {
        match error {
            // Input and output are the user's, all else is the program's own.
            ReproduceError::Report(error) => error.into(),
            ReproduceError::Unknown { .. } => Self::Usage(error.to_string()),
            _ => Self::Broke(error.to_string()),
        }
    }
}

/// Prints the rows and writes the document, as they were asked for.
fn print_outcome(args: &Args, outcome: &Outcome) -> Result<(), Failure> {
    if args.json {
        let document = Reproduction { rows: outcome.rows.clone() };
        let text = serde_json::to_string_pretty(&document).map_err(ReproduceError::from)?;
        output::print(&(text + "\n"))?;
    } else {
        let render = if args.tables || crate::names_parts(&args.select)? {
            verdicts::text
        } else {
            verdicts::in_short
        };
        output::print(&render(&outcome.rows, output::screen()))?;
    }
    if let Some(report) = &outcome.report {
        output::note_report(report);
    }
    match &args.markdown {
        Some(file) if outcome.interrupted => {
            output::note(&format!("{}: not written, claims are missing", file.display()));
        }
        Some(file) => write_file(file, crate::markdown(&outcome.rows)?)?,
        None => {}
    }
    Ok(())
}

/// Where the report goes if nothing is said: a part does not replace the whole.
fn default_folder(select: &[String]) -> PathBuf {
    match output::file_name(&select.join("-")) {
        name if name.is_empty() => PathBuf::from(OUT),
        name => Path::new(OUT).join(name),
    }
}

/// The last line: what the exit code means.
fn in_words(args: &Args, comparison: &Comparison, status: Status) -> String {
    let Comparison { failing, differing, .. } = comparison;
    let code = status.code();
    if !differing.is_empty() {
        let quick = if args.quick { " (--quick has one seed per run)" } else { "" };
        let all = differing.join("; ");
        return format!("exit code {code}: not as the repository records it{quick}: {all}");
    }
    match (failing, args.strict) {
        (0, _) => format!("exit code {code}: every verdict is the recorded one"),
        (failing, false) => format!(
            "exit code {code}: every verdict is the recorded one, {} that {} too",
            if *failing == 1 { "the one".to_owned() } else { format!("the {failing}") },
            if *failing == 1 { "fails" } else { "fail" },
        ),
        (failing, true) => {
            format!("exit code {code}: {} as recorded (--strict)", verb(*failing))
        }
    }
}

fn verb(failing: usize) -> String {
    match failing {
        1 => "1 row fails".to_owned(),
        many => format!("{many} rows fail"),
    }
}

/// An interruption counts more than a verdict, and that more than a row that was asked of a machine
/// that cannot run it.
fn status(
    args: &Args,
    outcome: &Outcome,
    comparison: &Comparison,
    lab_asked: bool,
) -> Result<Status, Failure> {
    let has = |verdict: Verdict| outcome.rows.iter().any(|row| row.verdict == verdict);
    if outcome.interrupted {
        return Ok(Status::Interrupted);
    }
    if !comparison.differing.is_empty() || args.strict && has(Verdict::Fail) {
        return Ok(Status::Unmet);
    }
    // What nothing here can judge has no checks, and no other machine would help.
    let left = |row: &&ClaimRow| row.verdict == Verdict::NotRun && !row.checks.is_empty();
    let left = outcome.rows.iter().filter(left).count();
    if lab_asked && left > 0 {
        return Err(Failure::Lacks(format!("{left} rows of the lab were not run; each says why")));
    }
    Ok(Status::Done)
}
