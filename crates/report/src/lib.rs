//! Turns generic data into pictures and pages: one offline HTML file, SVG, PDF, CSV and terminal
//! text.
//!
//! The crate knows series, axes, tables and verdicts, and nothing of what they measure.
//!
//! ```
//! use firstflight_report::{Axis, Figure, Page, Panel, Section, Series, html};
//!
//! let figure = Figure::new("cwnd", "Window over time", Axis::new("time", "s"))
//!     .panel(Panel::new(Axis::new("cwnd", "packets")).with(Series::line(
//!         "astart",
//!         vec![(0.0, 1.0), (0.1, 2.0), (0.2, 4.0)],
//!     )));
//! let page = Page::new("A run").section(Section::new("run", "One run").figure(figure));
//! let text = html::render(&page)?;
//! assert!(text.starts_with("<!doctype html>"));
//! # Ok::<(), firstflight_report::ReportError>(())
//! ```

pub mod csv;
pub mod html;
pub mod markdown;
pub mod pdf;
pub mod svg;
pub mod terminal;

mod downsampling;
mod drawing;
mod error;
mod figure;
mod font;
mod heat;
mod helvetica;
mod names;
mod page;
mod palette;
mod path;
mod picture;
mod raster;
mod span;
mod static_figure;
mod table;
mod width;
mod wrap;
mod write;

pub use error::ReportError;
pub use figure::{Axis, Figure, Panel, Scale, Series, Style};
pub use firstflight_outside::{digits, short};
pub use font::not_embedded;
pub use heat::{Colors, HeatMap};
pub use page::{Block, Page, Section};
pub use static_figure::{Multiples, Plane, Small, StaticContent, StaticFigure};
pub use table::{Align, Cell, Column, Mean, Table, Verdict};
pub use width::Width;
pub use wrap::wrapped;
pub use write::{write_dir, write_file};

/// The README's example compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
