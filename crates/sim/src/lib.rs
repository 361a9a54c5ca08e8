//! A deterministic packet-level simulator of TCP flows over links with queues.
//!
//! One network and one seed give one outcome, on every machine. The congestion controllers are the
//! core's; this crate holds no algorithm, only endpoints, links and time.

mod control;
mod end;
mod endpoint;
mod event;
mod fast;
mod flow;
mod jiffies;
mod journal;
mod link;
mod memory;
mod net;
mod network;
mod other_stack;
mod outcome;
mod packet;
mod passed;
mod receiver;
mod ring;
mod router;
mod run;
mod signals;
mod tcp;
mod topology;
mod udp;
mod watch;

pub use control::{Control, PROVIDES, control, core_control, named, provides};
pub use endpoint::rules::{
    Compression, FullAck, GrowingWindow, Halve, LinuxAcks, PerWindow, RecoveryRules, RtoRules,
    Timer,
};
pub use endpoint::{ACK_BYTES, EcnFeedback, Endpoint, Recovery, UNLIMITED_WINDOW};
pub use fast::FastPaths;
pub use firstflight_link::{Buffer, Ecn, Element, LossSpec, Totals, Uniform};
pub use firstflight_results::{Counts, FileOutcome, FlowOutcome, FlowSample, StartupOutcome};
pub use flow::files::FileDraws;
pub use journal::{AckJourney, Journal, Journey, follow};
pub use link::LinkSpec;
pub use network::{FilesSpec, FlowSpec, Network, Pattern, UdpSpec};
pub use other_stack::{Datagram, Ends};
pub use outcome::{LinkOutcome, LinkSample, Outcome};
pub use packet::Way;
pub use passed::{Passed, Segment};
pub use run::{Interrupted, run, run_recorded, run_watched, run_with};
pub use watch::SenderState;
