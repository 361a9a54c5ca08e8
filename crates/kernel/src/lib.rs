//! The controls as eBPF congestion controls of the running Linux kernel.
//!
//! The kernel runs C. The folder `c` holds it: one header per algorithm, free of kernel types, each
//! the twin of a file in `crates/core`; `sender.h` is the mechanism. `crates/parity` compiles these
//! headers for the machine it runs on and holds them to the Rust core after every single ACK.
//! `c/bpf/shell.bpf.c` translates between them and the kernel.
//!
//! With the feature `bpf`, `Registered` brings a control into the running kernel for as long as
//! it lives, and `pinned` for as long as nobody takes it out again.

pub mod catalogue;
pub mod hold;
pub mod knobs;
#[cfg(feature = "bpf")]
pub mod load;
#[cfg(feature = "bpf")]
pub mod pinned;
#[cfg(feature = "bpf")]
pub mod record;
pub mod requirements;
pub mod uses;

pub use catalogue::KernelControl;
#[cfg(feature = "bpf")]
pub use load::{LoadError, Prepared, Registered};
