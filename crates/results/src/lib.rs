//! What a run yields, whatever carried it: one schema of results, and tidy tables of them.
//!
//! Every transport fills a [`FlowOutcome`], in base units; [`FlowResult::of`] makes results of it.
//! [`Results`] is the document of `--json`. What is measured of a flow and of its run has a name, a
//! unit and a meaning in one list ([`measures`]), by which tables, the conditions of a scenario and
//! the claims of papers all call it. A [`Table`] has a row per flow of a run ([`table::flows`]) or
//! per flow, time and variable ([`table::series`]), or per connection of a host that was watched
//! ([`table::connections`]). CSV, JSON with its schema, the page
//! `docs/results.md` and Arrow's record batches (`firstflight-sweep`) come from the same columns.
//! What was not measured is null: an empty cell in CSV.
//!
//! ```
//! use firstflight_results::{FlowResult, RunResult, table};
//!
//! let run = RunResult { flows: vec![FlowResult::default()], ..RunResult::default() };
//! let table = table::flows::table(&table::Factors::default(), [&run]).unwrap();
//! let mut csv = Vec::new();
//! table.write_csv(&mut csv).unwrap();
//! assert!(String::from_utf8(csv).unwrap().starts_with("point,control,alias,"));
//! ```

pub mod claims;
pub mod column;
mod flow;
pub mod formula;
pub mod measures;
mod run;
pub mod series;
pub mod statistics;
pub mod table;

pub use claims::{CheckRow, ClaimRow, ClaimValue, Class, LabOrigin, Reproduction, Verdict};
pub use column::{Column, Kind, Role, Value};
pub use flow::{
    Counts, EXIT_REASONS, FileOutcome, FilesResult, FlowContext, FlowOutcome, FlowResult, Startup,
    StartupOutcome, TimeToBdp,
};
pub use run::{
    Bottleneck, Cost, GuestFigures, LabFigures, Partial, Refused, Results, RunResult, SCHEMA,
};
pub use series::{FlowSample, Series};
pub use table::{CsvRows, Table, TableError, Values};

/// A document as indented JSON with a final newline. It becomes a value first, so that the writer
/// of the text is compiled once, and not for each document.
///
/// # Errors
/// What a field refuses to be, such as a number that is not finite; the message names it.
pub fn json(document: &impl serde::Serialize) -> Result<String, serde_json::Error> {
    Ok(format!("{:#}\n", serde_json::to_value(document)?))
}
