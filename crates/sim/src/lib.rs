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
mod distributions;
pub mod element;
mod endpoint;
mod event;
mod extras;
mod fast_paths;
mod files;
mod flow_wire;
mod foreign;
mod handshake;
mod held;
mod jiffies;
mod link;
mod linux_acks;
mod loss;
mod memory;
mod merge;
mod network;
mod outcome;
mod path;
mod queue;
mod queued;
mod random;
mod receiver;
mod ring;
mod route;
mod router;
mod rto;
mod run;
mod sack_blocks;
mod serialisation;
mod tcp;
mod timer;
mod tree;
mod udp;
mod watch;
mod way_back;

pub use control::{Control, PROVIDES, control, core_control, named, provides};
pub use element::{Crossing, Element, Fate};
pub use endpoint::{ACK_BYTES, EcnFeedback, Endpoint, Recovery, UNLIMITED_WINDOW};
pub use fast_paths::FastPaths;
pub use files::FileDraws;
pub use firstflight_queue::Ecn;
pub use firstflight_results::{Counts, FileOutcome, FlowOutcome, FlowSample, StartupOutcome};
pub use foreign::{Datagram, Ends, Way};
pub use link::{ROUNDING_NS, Totals};
pub use linux_acks::LinuxAcks;
pub use loss::{LossChain, LossSpec};
pub use network::{Buffer, FilesSpec, FlowSpec, LinkSpec, Network, Pattern, UdpSpec, Uniform};
pub use outcome::{LinkOutcome, LinkSample, Outcome};
pub use queued::QUEUES_STREAM as QUEUE_STREAMS;
pub use random::stream;
pub use rto::{RtoRules, Timer};
pub use run::{Interrupted, run, run_until, run_watched, run_with};
pub use tcp::{FullAck, GrowingWindow, Halve, PerWindow, RecoveryRules};
pub use watch::SenderState;
pub use way_back::BACK as BACK_STREAMS;
