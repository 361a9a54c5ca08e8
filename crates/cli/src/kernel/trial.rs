//! `kernel trial`: tries a control on a share of the new connections beside another, and stops by
//! itself when it harms. A recording is shown by builds without the feature `kernel` too.

mod connection;
mod findings;
mod history;
mod page;
#[cfg(feature = "kernel")]
mod record;
#[cfg(feature = "kernel")]
mod run;

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use firstflight_kernel::trial::Counts;
use firstflight_kernel::trial::judge::{Judge, MEASURES, Stop};
use firstflight_results::{Table, table};

use self::connection::{Head, Line};
use self::findings::Findings;
use self::history::History;
use crate::failure::{Failure, Status};
use crate::output;
use crate::tables::Tables;

#[cfg(feature = "kernel")]
pub(super) use self::run::trial;

/// What a recording shows, for `show`; its connections are a table of `out`, too.
pub(crate) fn show(path: &Path, json: bool, out: Option<&Path>) -> Result<Status, Failure> {
    let report = RefCell::new(None);
    let head = |head| {
        *report.borrow_mut() = Some(TrialReport::of(head));
        Ok(())
    };
    let tables = out.map(|out| Tables::begin(out, table::trial::columns())).transpose()?;
    let (mut tables, mut unwritten) = (tables, None);
    let mut rows = Table::empty(table::trial::columns());
    let take = |line: &Line, text: &[u8]| {
        let _ = report.borrow_mut().as_mut().map(|report| report.take(line));
        let Some(tables) = &mut tables else { return Ok(()) };
        table::trial::push(&mut rows, text)?;
        if rows.len() == ROWS {
            let full = std::mem::replace(&mut rows, Table::empty(table::trial::columns()));
            unwritten = unwritten.take().or(tables.write(full).err());
        }
        Ok(())
    };
    let wrong = |problem: &str| Failure::Usage(format!("show: {}: {problem}", path.display()));
    let (_, last) = connection::read(path, head, take).map_err(|problem| wrong(&problem))?;
    unwritten.map_or(Ok(()), Err)?;
    let report = report.into_inner().ok_or_else(|| wrong("its first line is cut off"))?;
    let lasted = last.map_or(0., |line| line.after_s);
    let lasted = Duration::try_from_secs_f64(lasted).unwrap_or_default();
    let refused = report.refused;
    report.print(Err(refused), lasted, json, out)?;
    tables.map_or(Ok(()), |mut tables| {
        tables.write(rows)?;
        tables.finish()
    })?;
    Ok(Status::Done)
}

/// What is known of a trial.
struct TrialReport {
    head: Head,
    judge: Judge,
    history: History,
    /// Connections for which the kernel refused the control that was dealt.
    refused: u64,
}

impl TrialReport {
    fn of(head: Head) -> Self {
        Self { judge: head.judge(), head, history: History::default(), refused: 0 }
    }

    fn take(&mut self, line: &Line) {
        self.judge.take(&line.outcome());
        self.history.look(&self.judge, line.after_s);
        self.refused += u64::from(line.refused);
    }

    /// Says what was found, and writes the report if one is asked for.
    fn print(
        mut self,
        counts: Result<Counts, u64>,
        lasted: Duration,
        json: bool,
        out: Option<&Path>,
    ) -> Result<(), Failure> {
        self.history.look_now(&self.judge, lasted.as_secs_f64());
        let found = Findings::new(&self.head, &self.judge, counts, lasted);
        output::print(&match json {
            true => found.json()?,
            false => found.text(output::screen()),
        })?;
        out.map_or(Ok(()), |out| page::write(out, &found, &self.history))
    }
}

/// What stopped it, in a sentence's words.
fn reason(why: Stop) -> String {
    match why {
        Stop::Harm(measure) => format!("{} is worse", MEASURES[measure].name),
        Stop::Share(share) => format!("{:.2} % are in the tried arm", 100. * share),
    }
}

/// Rows of the table in memory at a time.
const ROWS: usize = 8192;
