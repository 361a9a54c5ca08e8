//! The fast paths: what they are, what each leaves out, and which test holds it equal to the
//! general path.
//!
//! The general path is the simulator (`docs/life-of-a-packet.md` describes it): every packet has an
//! event at every shared link, every paced packet and every held ACK an event of its own, and every
//! ACK goes through the sender's repair. A fast path does the same in fewer steps where it can see
//! that nothing else applies. Each looks first, and where it does not apply it changes nothing and
//! the general path does the work. So a change to what a packet does is made in the general path,
//! and the fast paths must refuse the packets that it concerns.
//!
//! `tests/ahead.rs` holds all of these equal to it, `tcp/credit.rs` the calm ACK too:
//!
//! | fast path | leaves out |
//! | --- | --- |
//! | a link fed by one flow ([`Early::Always`]) | the event of an arrival |
//! | a shared link whose next arrival this is ([`Early::IfNext`]) | the event of an arrival |
//! | a packet in order ([`Receiver::take_calm`]) | gaps, SACK blocks, what its ACK says |
//! | the same, held back ([`Receiver::take_delayed`]) | gaps, what Linux's receivers estimate |
//! | a packet at a gap ([`Receiver::take_at_once`]) | the delayed-ACK timer, split ACKs |
//! | one event for many delayed ACKs ([`Route::needs_waking`]) | the events of those sent before |
//! | an ACK that is next on the reverse path ([`Foresight::is_next`]) | its event there |
//! | a calm ACK ([`Tcb::on_calm_ack`]) | repair, duplicates, back-off, routers, marks |
//! | a paced packet that is next ([`Flow::go_on_at_pace`]) | its timer event, other timers |
//!
//! What follows has no switch, because it is how a thing is stored and not another way through it:
//!
//! | stored so | leaves out | held equal by |
//! | --- | --- | --- |
//! | a link counts runs of packets ([`DropTailLink`]) | departures | `drop_tail_link.rs` |
//! | events in order wait in lanes ([`Queue`]) | a heap | `queue.rs` |
//! | an RTO when it could be due ([`Rto::no_deadline_before`]) | the others | `tests/ahead.rs` |
//! | two pairs of policies compiled whole (`control.rs`) | a table | `tests/startups.rs` |
//!
//! In here a packet is four bytes ([`small`]), which come over links in [`walk`]. A flow that has
//! more to say than fits takes no path of the first table: one with ECN, with routers to talk to,
//! across an [`Element`](crate::Element) or a link with a queue of its own
//! ([`LinkSpec::queue`](crate::LinkSpec::queue)), or whose ACKs go back over a link of their own
//! ([`LinkSpec::back`](crate::LinkSpec::back)). None does in a network with traffic both ways.
//!
//! [`Receiver::take_calm`]: crate::receiver::Receiver::take_calm
//! [`Receiver::take_delayed`]: crate::receiver::Receiver::take_delayed
//! [`Receiver::take_at_once`]: crate::receiver::Receiver::take_at_once
//! [`Route::needs_waking`]: crate::flow::route::Route::needs_waking
//! [`Foresight::is_next`]: back::Foresight::is_next
//! [`Tcb::on_calm_ack`]: crate::tcp
//! [`Flow::go_on_at_pace`]: crate::flow::Flow
//! [`DropTailLink`]: firstflight_link::DropTailLink
//! [`Queue`]: crate::event::queue::Queue
//! [`Rto::no_deadline_before`]: crate::tcp::rto::Rto::no_deadline_before

mod back;
mod sender;
mod small;
mod walk;

use firstflight_core::units::Instant;

use crate::control::Wants;
use crate::link::LinkSpec;
use crate::network::{FlowSpec, Network};
pub(crate) use back::{Crossing, Foresight};
pub(crate) use small::{Arriving, LATER};

/// Whether the fast paths are on. The outcome is equal but for the number of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastPaths {
    /// On, for flows that cross no element and no queue but drop-tail, and have neither ECN nor
    /// routers to talk to, in networks with traffic one way.
    On,
    /// Off: every packet and ACK takes the general path.
    Off,
}

impl FastPaths {
    /// Those of a network: none where data and ACKs meet on a link.
    pub(crate) fn of(self, network: &Network) -> Self {
        if network.has_traffic_both_ways() { Self::Off } else { self }
    }

    /// Whether that flow takes them.
    pub(crate) fn serve(self, network: &Network, flow: &FlowSpec) -> bool {
        let own_link_back = || flow.return_path.iter().any(|l| network.direction(*l).is_some());
        let signals = || flow.endpoint.ecn || Wants::of(&flow.control).talks();
        self == Self::On && !crosses_element(network, flow) && !own_link_back() && !signals()
    }
}

/// Whether an element, or a queue that is not drop-tail, stands on the way of the flow's packets.
pub(crate) fn crosses_element(network: &Network, flow: &FlowSpec) -> bool {
    let serves_otherwise = |spec: &LinkSpec| !spec.elements.is_empty() || spec.queue.is_some();
    flow.path.iter().filter_map(|link| network.direction(*link)).any(serves_otherwise)
}

/// Whether an arrival at a link may be handled as soon as its time is known, without an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Early {
    /// No.
    Never,
    /// Yes, if no other event comes before it.
    IfNext,
    /// Yes: nothing else feeds the link.
    Always,
}

impl Early {
    /// At a link that so many sources feed.
    pub(crate) fn at(feeders: u32, fast_paths: bool) -> Self {
        match (fast_paths, feeders) {
            (false, _) => Self::Never,
            (true, 1) => Self::Always,
            (true, _) => Self::IfNext,
        }
    }
}

/// No event is pending.
pub(crate) const NOT_YET: Instant = Instant(u64::MAX);
