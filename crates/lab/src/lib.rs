//! Real Linux TCP on an emulated path: network namespaces, a bottleneck between them, real sockets,
//! and results in the schema of the simulator.
#![cfg(target_os = "linux")]

mod error;
pub mod link;
mod namespace;
pub mod path;
mod sys;
pub mod tool;

pub use error::LabError;
pub use namespace::Namespace;
pub use path::Path;
