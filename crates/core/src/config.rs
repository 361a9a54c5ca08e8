//! What an endpoint fixes for its sender, and what a sender reports of its first start-up.

use crate::policy::Exit;
use crate::units::{Bytes, Instant};

/// What an endpoint fixes for its sender.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Largest payload of one segment; at least one byte.
    pub mss: Bytes,
    /// First window where the start-up policy has none of its own.
    pub initial_window: Bytes,
    /// First ssthresh where the start-up policy has none of its own.
    pub initial_ssthresh: Bytes,
    /// Largest window, for example what the receiver can ever advertise.
    pub max_cwnd: Bytes,
    /// Limit growth to what the policy would reach from the largest flight since the last cut: in
    /// start-up [`crate::policy::Startup::growth`] times that flight, in avoidance
    /// [`crate::policy::Avoidance::growth`] times it and one segment
    /// (draft-ietf-ccwg-ratelimited-increase). Off, only an ACK marked
    /// application-limited stops growth, as in ns-2. Off for a control that listens to routers; a
    /// policy that follows a model ([`crate::policy::Observer::follows_model`]) is held by neither.
    pub limit_growth_to_flight: bool,
    /// An ACK opens the window by one segment at most in slow start (RFC 5681 section 3.1). Off, by
    /// all that it acknowledges ([`crate::view::View::slow_start_growth`]). A transport that
    /// reports an ACK frame packet by packet sets it, because there no report is of more than a
    /// packet, and so all of the frame counts (RFC 9002 section 7.3.1).
    pub segment_per_ack: bool,
    /// Packets are paced by default ([`crate::sender::Sender::pacing`]).
    pub paces: bool,
}

/// How the first start-up of a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StartupExit {
    /// When it ended.
    pub at: Instant,
    /// Why it ended.
    pub why: Exit,
    /// The window just before, in bytes.
    pub cwnd: Bytes,
    /// Payload in flight then.
    pub in_flight: Bytes,
}
