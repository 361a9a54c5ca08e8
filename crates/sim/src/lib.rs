//! A deterministic packet-level simulator of TCP flows over links with queues.
//!
//! One network and one seed give one outcome, on every machine. The congestion controllers are the
//! core's; this crate holds no algorithm, only endpoints, links and time.

mod access;
mod connection;
mod control;
mod crossing;
mod deviation;
mod dialogue;
mod endpoint;
mod event;
mod extras;
mod fast_paths;
mod files;
mod flow_wire;
mod foreign;
mod handshake;
mod jiffies;
mod link;
mod linux_acks;
mod memory;
mod merge;
mod network;
mod outcome;
mod path;
mod queue;
mod queued;
mod receiver;
mod ring;
mod route;
mod router;
mod rto;
mod run;
mod sack_blocks;
mod tcp;
mod timer;
mod tree;
mod udp;
mod watch;
mod way_back;

pub use control::{Control, PROVIDES, control, core_control, named, provides};
pub use endpoint::{ACK_BYTES, EcnFeedback, Endpoint, Recovery, UNLIMITED_WINDOW};
pub use fast_paths::FastPaths;
pub use files::FileDraws;
pub use firstflight_link::{Buffer, Ecn, Element, LossSpec, Totals, Uniform};
pub use firstflight_results::{Counts, FileOutcome, FlowOutcome, FlowSample, StartupOutcome};
pub use foreign::{Datagram, Ends, Way};
pub use linux_acks::LinuxAcks;
pub use network::{FilesSpec, FlowSpec, LinkSpec, Network, Pattern, UdpSpec};
pub use outcome::{LinkOutcome, LinkSample, Outcome};
pub use rto::{RtoRules, Timer};
pub use run::{Interrupted, run, run_until, run_watched, run_with};
pub use tcp::{FullAck, GrowingWindow, Halve, PerWindow, RecoveryRules};
pub use watch::SenderState;
