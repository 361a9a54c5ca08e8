//! What `run` and `compare` share: the last checks, the work with its progress, and its end.

use std::path::{Path, PathBuf};

use firstflight_report::{Width, write_file};
use firstflight_results::{Partial, RunResult};
use firstflight_runner::{Logs, Options, Passed, Report};
use firstflight_scenario::{Complete, Scenario};
use firstflight_transports::{On, Transport};

use crate::captures::Captures;
use crate::failure::Failure;
use crate::page::{self, About};
use crate::path_args::PathArgs;
use crate::progress::Progress;
use crate::{interrupt, output, trace};

/// The flags of both.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) on: On,
    /// Print the results as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Write report.html, figures, data and results.json here
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Width of the figures that --out writes, as SVG and PDF, such as 88mm for a column [default:
    /// 720px]
    #[arg(long, value_name = "WIDTH")]
    figure_width: Option<Width>,
    /// Write cwnd, ssthresh, in flight, srtt, delivered, gauges and queues over time here, as CSV,
    /// and a qlog per flow
    #[arg(long, value_name = "DIR")]
    trace: Option<PathBuf>,
    /// Write a row per flow of every run here, as CSV, whose columns docs/results.md describes; `-`
    /// is standard output, which then has nothing else
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) path: PathArgs,
}

impl Common {
    /// Finds out before anything runs that its files can be written.
    pub(crate) fn check_directories(&self) -> Result<(), Failure> {
        if self.figure_width.is_some() && self.out.is_none() {
            let problem =
                "--figure-width belongs to --out, which writes the figures; accepted: both";
            return Err(Failure::Usage(problem.to_owned()));
        }
        match &self.csv {
            Some(_) if self.csv_to_stdout() && self.json => {
                let problem = "--csv - and --json both print on standard output; accepted: one of \
                               them, or --csv FILE";
                return Err(Failure::Usage(problem.to_owned()));
            }
            Some(file) if !self.csv_to_stdout() => output::check_file("--csv", file)?,
            _ => {}
        }
        for (flag, directory) in [("--out", &self.out), ("--trace", &self.trace)] {
            if let Some(directory) = directory {
                output::check_directory(flag, directory)?;
            }
        }
        Ok(())
    }

    /// Locks the report's directory for this command, as long as the result lives.
    pub(crate) fn lock_out(&self) -> Result<Option<output::DirectoryLock>, Failure> {
        Ok(output::lock_out(self.out.as_deref())?)
    }

    /// Whether standard output is for the rows of `--csv -` alone.
    pub(crate) fn csv_to_stdout(&self) -> bool {
        self.csv.as_deref() == Some(Path::new("-"))
    }

    /// What is asked of a run; `draws` if the command draws in the terminal.
    pub(crate) fn purpose(&self, draws: bool) -> Use {
        match (&self.trace, &self.out) {
            (Some(_), _) => Use::Traces,
            (None, Some(_)) => Use::Report,
            (None, None) if draws && !self.json && !self.csv_to_stdout() => Use::Terminal,
            (None, None) => Use::Numbers,
        }
    }

    /// Writes the report and the traces that were asked for, and tells where.
    pub(crate) fn write(&self, report: &Report, about: &About<'_>) -> Result<(), Failure> {
        if let Some(out) = &self.out {
            let width = self.figure_width.unwrap_or_default();
            let page = page::write(out, report, about, width)?;
            output::note_report(&page);
            if let Some(why) = not_drawn(report).filter(|_| self.trace.is_none()) {
                output::note(&why);
            }
        }
        if let Some(file) = &self.csv {
            let runs = report.runs.iter().map(|run| &run.result);
            let mut text = Vec::new();
            let table = firstflight_results::table::flows::table(&report.scenario.factors(), runs)?;
            table.write_csv(&mut text)?;
            if self.csv_to_stdout() {
                output::print(&String::from_utf8_lossy(&text))?;
            } else {
                write_file(file, text)?;
                output::note(&format!("table: {}", file.display()));
            }
        }
        if let Some(out) = &self.trace {
            let files = trace::write(out, report)?;
            output::note(&format!("traces: {files} files in {}", out.display()));
        }
        Ok(())
    }
}

/// More traces than this are worth no picture.
const MOST_DRAWN: u64 = 4_000;

/// Why a report has no figures, where flows and runs are too many for them.
pub(crate) fn not_drawn(report: &Report) -> Option<String> {
    let (flows, runs) = (report.scenario.flow_count(), report.asked as u64);
    let traces = flows * runs;
    (traces > MOST_DRAWN).then(|| {
        format!(
            "No figures: {flows} flows in each of {runs} runs are {traces} traces, and at most \
             {MOST_DRAWN} are kept to be drawn; --trace DIR writes all of them."
        )
    })
}

/// What the results are for, which decides how much is kept of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Numbers alone.
    Numbers,
    /// A plot of a terminal's size, which shows single flows only.
    Terminal,
    /// A report, tables alone if there are too many flows.
    Report,
    /// Traces, whatever their number.
    Traces,
}

/// What writes files while a scenario runs.
#[derive(Clone, Copy, Default)]
pub(crate) struct Recorders<'a> {
    /// The qlogs of a QUIC stack.
    pub(crate) logs: Option<&'a Logs>,
    pub(crate) captures: Option<&'a Captures>,
}

/// Runs the scenario with a bar on standard error, and stops at Ctrl-C.
pub(crate) fn carry_out(
    scenario: &Scenario,
    transport: &dyn Transport,
    purpose: Use,
    recorders: Recorders<'_>,
) -> Result<Report, Failure> {
    let complete = transport.complete(scenario)?;
    let runs = scenario.plans()?.len() * complete.seeds().count();
    let progress = Progress::new(if runs == 1 { "run" } else { "runs" }, Some(runs));
    let names: Vec<String> = scenario.plans()?.into_iter().map(|plan| plan.name).collect();
    progress.say(&names.join(", "));
    let (done, say) = (|done, total| progress.set(done, total), |words: &str| progress.say(words));
    let Recorders { logs, captures } = recorders;
    let packets = |complete: &Complete, result: &RunResult, passed: &[Vec<Passed>]| {
        captures.map_or(Ok(()), |captures| captures.write(complete, result, passed))
    };
    let options = Options {
        on_packets: captures.is_some().then_some(&packets),
        samples: samples(purpose, complete.flow_count(), runs as u64),
        stop: Some(interrupt::listen()),
        on_done: Some(&done),
        logs,
        say: Some(&say),
        ..Options::default()
    };
    tracing::info!(runs, controls = names.join(", "), on = transport.name(), "begin");
    let report = transport.run(scenario, &options)?;
    drop(progress);
    for run in &report.runs {
        tracing::info!(control = run.result.alias, seed = run.result.seed, "done");
    }
    for run in &report.runs {
        if let Some(note) = run.result.named_note() {
            output::complain(&note);
        }
    }
    if report.interrupted {
        output::complain(&format!("interrupted: {}", partial(&report).unwrap_or_default()));
    }
    Ok(report)
}

/// What an interruption left of a report, in words.
pub(crate) fn partial(report: &Report) -> Option<String> {
    let Partial { runs, asked } = report.partial()?;
    let rounds = match report.scenario.runs {
        1 => "",
        _ => ", whole rounds of all controls where there is one",
    };
    Some(format!("{runs} of {asked} runs are here{rounds}"))
}

fn samples(purpose: Use, flows: u64, runs: u64) -> Option<u32> {
    let traces = flows * runs;
    let wanted = match purpose {
        Use::Numbers => return None,
        Use::Terminal if flows > 1 => return None,
        Use::Report if traces > MOST_DRAWN => return None,
        Use::Terminal => trace::COARSE,
        Use::Report | Use::Traces => trace::FINE,
    };
    Some(trace::samples(traces, wanted))
}
