//! The controls as eBPF congestion controls of the running Linux kernel.
//!
//! The kernel runs C. The folder `c` holds it: one header per algorithm, free of kernel types, each
//! the twin of a file in `crates/core`, whose card names it; `sender.h` is the mechanism. What
//! follows from the cards, `build.rs` writes: the struct of all knobs, and a header for every pair.
//! `crates/parity` compiles the C for the machine it runs on and holds it to the Rust core after
//! every single ACK.
//! `c/bpf/shell.bpf.c` translates between them and the kernel.
//!
//! With the feature `bpf`, `Registered` brings a control into the running kernel for as long as it
//! lives, and `pinned` keeps one registered until it is unloaded. `watch` shows how start-up goes
//! on this host's connections, `steer` gives some of them a control, and `trial` measures whether
//! it helps them.

#[cfg(feature = "bpf")]
mod attached;
pub mod catalogue;
#[cfg(feature = "bpf")]
pub mod cgroup;
#[cfg(feature = "bpf")]
mod fields;
#[cfg(feature = "bpf")]
mod folder;
pub mod knobs;
mod layout;
#[cfg(feature = "bpf")]
pub mod load;
#[cfg(feature = "bpf")]
pub mod pinned;
#[cfg(feature = "bpf")]
pub mod record;
pub mod registration;
pub mod requirements;
#[cfg(feature = "bpf")]
mod ring;
#[cfg(feature = "bpf")]
pub mod steer;
pub mod trial;
#[cfg(feature = "bpf")]
pub mod unloaded;
pub mod uses;
#[cfg(feature = "bpf")]
pub mod watch;

use firstflight_core::needs::Facilities;

pub use catalogue::KernelControl;
#[cfg(feature = "bpf")]
pub use load::{LoadError, Prepared, Registered};

/// What the kernel provides besides ACKs and losses: the times of ACKs, how much has left by each,
/// pacing at a given rate, a window that counts during recovery, and what earlier connections
/// learned, which a control keeps for each remote address.
///
/// It does not say when packets leave (no call of `tcp_congestion_ops` comes with each), so that a
/// sender has SND.NXT with every ACK and before every loss, and, where it needs that, how much has
/// left. It counts losses but not gaps, and takes marks for a recovery of its own. No timer of BPF
/// may touch a socket, but TCP's pacing timer does, and TCP asks the control for `min_tso_segs`
/// then: start-up is woken at its time as long as data waits, else by the next ACK or data. During
/// a recovery the kernel reduces the window itself (PRR), unless the start-up paces, sets the
/// window in a recovery or takes hints: then the control has `cong_control`.
pub const PROVIDES: Facilities = Facilities::TIMES
    .and(Facilities::SENT)
    .and(Facilities::PACING)
    .and(Facilities::PACED_WAKE_UPS)
    .and(Facilities::RECOVERY_WINDOW)
    .and(Facilities::MEMORY);
