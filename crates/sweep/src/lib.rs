//! A scenario at many points: a grid or a sample of any of its fields, run in chunks that are kept
//! as they finish and become one table.
//!
//! A [`Sweep`] is a grid file as read. It is cut into [`Chunk`]s of about a second of work, each
//! named by the hash of its content and of the program's version, so that the name of a file says
//! that this work is done. [`Chunk::run`] runs one in the calling thread, here or on another
//! machine, and [`Store`] keeps its rows. [`run`] does all of that on the cores of this machine.
//!
//! ```
//! use std::sync::Arc;
//!
//! use firstflight_runner::Simulator;
//! use firstflight_sweep::Sweep;
//!
//! let grid = "
//!     scenario = { controls = ['newreno', 'astart'], duration = '2s' }
//!     grid = { 'path.rtt' = ['50ms', '100ms'] }";
//! let sweep = Sweep::parse(grid, "grid.toml", ".".as_ref(), Arc::new(Simulator::TCP))?;
//! let chunk = sweep.chunk(0).unwrap();
//! let rows = chunk.run(&Simulator::TCP, &Default::default())?;
//! assert_eq!((sweep.points(), rows.len()), (2, 4));
//! # Ok::<(), firstflight_sweep::SweepError>(())
//! ```

#[cfg(feature = "arrow")]
pub mod arrow;
mod cell;
mod chunk;
mod cut;
mod error;
mod estimate;
mod experiment;
mod format;
mod grid;
mod keys;
mod layout;
mod merge;
mod page;
#[cfg(feature = "parquet")]
mod parquet;
mod points;
mod points_file;
mod range;
mod results;
mod run;
mod sample;
mod schema;
mod store;
mod summary;
mod transport;

pub use chunk::Chunk;
pub use cut::weight_ns;
pub use error::SweepError;
pub use estimate::Estimate;
pub use experiment::{Choose, Experiment, Side};
pub use format::{Format, Parquet, ParquetRows, Rows, set_parquet};
pub use grid::Sweep;
pub use merge::Merged;
pub use page::{grid_files, into_page};
pub use run::{Done, Shard, run};
pub use schema::schema;
pub use store::Store;
pub use summary::{ControlSummary, Interval, Summary};

/// The version of this program, which chunks and folders name.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
