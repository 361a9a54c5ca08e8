//! What the routers of a path report to a connection, packet by packet.
//!
//! A policy that needs it says so in [`crate::policy::Observer::needs`]. A transport whose
//! network has such routers puts what they ask for into the packets, and reports what comes back by
//! [`crate::sender::Sender::on_feedback`], before the ACK that brought it. A transport without them
//! must refuse such a policy, because it would wait for ever.

use crate::units::Rate;

/// What an ACK brought back from the routers of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// By how much the connection may send faster, or must send slower, in bits of payload per
    /// second: what XCP's routers give. Several add up.
    Change(i64),
    /// The rate of payload that every router of the path has for the connection: what EBN's routers
    /// report. The newest holds.
    Share(Rate),
}
