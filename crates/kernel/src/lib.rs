//! The controls as eBPF congestion controls of the running Linux kernel.
//!
//! The kernel runs C. The folder `c` holds it: one header per algorithm, free of kernel types, each
//! the twin of a file in `crates/core`; `sender.h` is the mechanism. `crates/parity` compiles these
//! headers for the machine it runs on and holds them to the Rust core after every single ACK.

pub mod catalogue;
pub mod knobs;

pub use catalogue::KernelControl;
