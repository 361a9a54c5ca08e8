//! What an experiment is and what it yields: scenario files, quantities with units, controls by
//! name, and the one schema of results.
//!
//! Nothing here runs anything, and nothing here knows an algorithm: a control is a parsed
//! [`ControlSpec`] whose names the caller checks. Every message a user can provoke names the file
//! or flag, the key, what was found and what is accepted.

pub mod control;
pub mod measure;
pub mod nearest;
pub mod quantity;
pub mod reproduction;
pub mod results;
pub mod series;

pub use control::{ControlError, ControlSpec, Part};
pub use nearest::nearest;
pub use quantity::{Buffer, Fraction, QuantityError, Rate, Size, Threshold, Time, Window};
pub use reproduction::{Class, Reproduction, Row, Value, Verdict};
pub use results::{Bottleneck, Cost, FlowResult, Results, RunResult, Startup, TimeToBdp};
pub use series::Series;
