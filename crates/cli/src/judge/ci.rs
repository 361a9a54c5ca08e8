//! What the CI of a project takes of a judgement: a summary, results for its forge, and whether a
//! change made something worse.

use std::path::{Path, PathBuf};

use firstflight_judge::{Baseline, Changes, Judgement};
use firstflight_outside::text;
use firstflight_report::write_file;

use super::{sarif, text as in_text};
use crate::failure::{Failure, Status};
use crate::output;

/// The flags.
#[derive(Debug, clap::Args)]
pub(super) struct CiFlags {
    /// Compare with a judgement that --json printed before: the exit code is 1 only if a rule ranks
    /// lower than there
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the judgement here in Markdown, as the summary of a CI's job
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write what does not hold here as SARIF, which forges show beside a change
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

impl CiFlags {
    /// Reads the stored judgement, if there is one, and finds out that the files can be written.
    ///
    /// # Errors
    /// A file that cannot be read or written.
    pub(super) fn check(&self) -> Result<Option<Baseline>, Failure> {
        for (flag, file) in [("--markdown", &self.markdown), ("--sarif", &self.sarif)] {
            if let Some(file) = file {
                output::check_file(flag, file)?;
            }
        }
        self.baseline.as_deref().map(read).transpose()
    }

    /// Writes the files, tells what changed, and says how the command ends.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(super) fn end(
        &self,
        judgement: &Judgement,
        baseline: Option<Baseline>,
    ) -> Result<Status, Failure> {
        let since = baseline.map(|baseline| {
            let changes = baseline.changes(judgement);
            (baseline, changes)
        });
        if let Some(file) = &self.markdown {
            write_file(file, in_text::markdown(judgement, since.as_ref()))?;
            output::note(&format!("summary: {}", file.display()));
        }
        if let Some(file) = &self.sarif {
            write_file(file, sarif::sarif(judgement, since.as_ref().map(|(_, it)| it))?)?;
            output::note(&format!("results: {}", file.display()));
        }
        let unmet = match &since {
            None => judgement.fails(),
            Some((baseline, changes)) => print_changes(baseline, changes),
        };
        Ok(if unmet { Status::Unmet } else { Status::Done })
    }
}

/// Says what changed, and whether something is worse.
fn print_changes(baseline: &Baseline, changes: &Changes) -> bool {
    output::note(&format!("since {baseline}: {}", in_text::counted(changes)));
    changes.better.iter().for_each(|change| output::note(&format!("better: {change}")));
    changes.worse.iter().for_each(|change| output::complain(&format!("worse: {change}")));
    !changes.worse.is_empty()
}

fn read(file: &Path) -> Result<Baseline, Failure> {
    let refused = |found: String| Failure::Usage(format!("--baseline {}: {found}", file.display()));
    let text = text(file, MOST_BYTES).map_err(|error| {
        refused(format!("{error}; accepted: a file of what `judge --json` printed"))
    })?;
    Baseline::parse(&text).map_err(refused)
}

/// A hundred times the judgement of the whole catalogue.
const MOST_BYTES: u64 = 16 << 20;
