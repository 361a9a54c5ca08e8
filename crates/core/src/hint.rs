//! What a transport may know of a path before it has sent data on it.
//!
//! The core keeps nothing between connections. What an earlier connection learned, or what the
//! path's routers granted, the transport keeps and hands to a new [`crate::sender::Sender`] by
//! [`crate::sender::Sender::on_hint`]; a start-up policy uses what it is made for and leaves the
//! rest. A hint may be stale or wrong: a policy that acts on one says in
//! [`crate::policy::Startup::answer`] what happens when data sent on it is lost.

use crate::knob::{Knob, KnobOf};
use crate::units::{Bytes, Rate, Span};
use crate::view::Window;

/// Something known of the path before data leaves on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathHint {
    /// What the last connection between the same two hosts learned.
    Own(Learned),
    /// What any connection of the site learned most recently over the same path.
    Shared(Learned),
    /// The rate of payload that every router of the path granted in answer to
    /// [`crate::policy::Startup::asks`]. Reported after the handshake, so the RTT is known.
    Granted(Rate),
}

/// What a connection knew when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learned {
    /// cwnd, and ssthresh, [`Bytes::MAX`] if no loss ever set it.
    pub window: Window,
    /// Smoothed RTT; never zero.
    pub rtt: Span,
    /// Smallest RTT; never zero.
    pub min_rtt: Span,
    /// Payload that was delivered.
    pub delivered: Bytes,
    /// Payload that was delivered in a round: the largest of the last two that were complete, and
    /// of the one that was not, because the end of a transfer cuts a round short.
    pub per_round: Bytes,
    /// The rate of the path, if its start-up measured one ([`crate::policy::Found::rate`]).
    pub rate: Option<Rate>,
    /// How long ago it ended.
    pub age: Span,
}

/// The row of the knob for how long what another connection learned is used.
pub(crate) const fn max_age<P>(at: fn(&mut P) -> &mut Span) -> KnobOf<P> {
    Knob::new("max_age")
        .means("what an earlier connection learned longer ago is not used")
        .by_default("10min")
        .time(Span(0)..=Span::from_secs(86_400), at)
}

/// Its default. Argued: loads change with the minutes.
pub(crate) const TEN_MINUTES: Span = Span::from_secs(600);
