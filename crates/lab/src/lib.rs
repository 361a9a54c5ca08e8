//! Real Linux TCP on an emulated path: network namespaces, a bottleneck between them, real sockets,
//! and results in the schema of the simulator.
//!
//! [`run()`] is `--on linux`: a [`Scenario`](firstflight_scenario::Scenario) becomes two namespaces
//! with a [`link`] between them, routes that carry its windows, and connections under the controls
//! of the running kernel. [`tool`] is the link alone, around any command. Both leave nothing
//! behind: namespaces here have no name and live as long as the program holds them open
//! ([`Namespace`]).
#![cfg(target_os = "linux")]

pub mod control;
pub mod guest;
mod job;
pub mod link;
mod namespace;
mod netem;
mod outcome;
pub mod path;
mod process_tree;
mod processor_time;
pub mod programs;
mod routes;
mod run;
mod sys;
mod tcp_info;
mod testbed;
pub mod tool;
mod trace;
mod traffic;
mod transport;

pub use control::LinuxControl;
pub use job::complete;
pub use namespace::Namespace;
pub use outcome::{bottleneck, kernel_release, lab_figures};
pub use path::Path;
pub use run::{Generator, Lab, run};
pub use testbed::LinkKind;
pub use trace::queue_series;
