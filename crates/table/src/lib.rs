//! Results as tidy tables: one row per flow of a run, one column per variable, units in the names.
//!
//! Every column is declared once, with its type, unit and meaning: what is measured in
//! `firstflight_scenario::measures`, all else in [`flows`] or [`series`]. The CSV files, the JSON
//! form and its JSON Schema, the page `docs/results.md` and, with the feature `arrow`, record
//! batches are made from these declarations. What was not measured is null: an empty cell in CSV.
//!
//! ```
//! use firstflight_scenario::{FlowResult, RunResult, Scenario};
//!
//! let scenario = Scenario::parse("controls = ['newreno']", "example.toml").unwrap();
//! let resolved = scenario.resolve().unwrap();
//! let run = RunResult { flows: vec![FlowResult::default()], ..RunResult::default() };
//! let table = firstflight_table::flows::table(&resolved, [&run]).unwrap();
//! let mut csv = Vec::new();
//! table.write_csv(&mut csv).unwrap();
//! assert!(String::from_utf8(csv).unwrap().starts_with("point,control,alias,"));
//! ```

#[cfg(feature = "arrow")]
pub mod arrow;
pub mod flows;
mod page;
mod point;
mod read;
mod schema;
pub mod series;
mod table;

pub use firstflight_scenario::column::{Column, Kind, Role, Value};
pub use page::page;
pub use point::point;
pub use read::CsvRows;
pub use schema::json_schema;
pub use table::{Table, TableError, Values, io_error};

/// The name of this schema, a column of every row.
pub const SCHEMA: &str = "firstflight/table@1";
