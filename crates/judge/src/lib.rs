//! A catalogue of paths and applications, and rules that say whether a start-up is good on them.
//!
//! A scenario of the catalogue is a file of `scenarios/catalogue/` whose `[catalogue]` says what
//! happens, why it matters, who reported it, what is expected, and which of the rules R1 to R5 are
//! asked. A [`Question`] runs the control under judgement and the [`REFERENCES`] on every scenario
//! and makes a [`Judgement`] of the means. The rules themselves are functions of numbers, in
//! [`rules`]; what a log of one's own shows on a known path is found in [`findings`]. What runs
//! the scenarios are the caller's [`Transports`].
//!
//! ```
//! let entries = firstflight_judge::select(&["A3".to_owned()])?;
//! assert_eq!(entries.len(), 2);
//! assert!(firstflight_judge::select(&["Z".to_owned()]).is_err());
//! # Ok::<(), String>(())
//! ```

mod request;
mod baseline;
mod catalogue;
pub mod findings;
mod jobs;
mod judgement;
mod matrix;
mod measured;
#[cfg(feature = "page")]
mod page;
#[cfg(feature = "page")]
pub mod plane;
#[cfg(feature = "page")]
mod questions;
pub mod rules;
#[cfg(feature = "page")]
mod overview;

pub use baseline::{Baseline, Change, Changes};
pub use catalogue::{Entry, GROUPS, Group, select, whole};
pub use jobs::{Keep, Transports};
pub use judgement::{Judged, Judgement, Question, Tally};
pub use measured::{Curves, MEASURES, Measured};
#[cfg(feature = "page")]
pub use page::page;
pub use request::{MOST_SEEDS, Request, found};
pub use rules::{REFERENCES, Verdict};
