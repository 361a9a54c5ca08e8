//! The fast paths: what they are, what each leaves out, and which test holds it equal to the
//! general path.
//!
//! The general path is the simulator (`docs/life-of-a-packet.md` tells it): every packet has an
//! event at every shared link, every paced packet and every held ACK an event of its own, and every
//! ACK goes through the sender's repair. A fast path does the same in fewer steps where it can see
//! that nothing else applies. Each looks first, and where it cannot serve it changes nothing and
//! the general path does the work, so that whoever changes what a packet does need only know that.
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
//! | one event for many held ACKs ([`Route::needs_waking`]) | those that were overtaken |
//! | an ACK that is next on the reverse path ([`ReturnLink::is_next`]) | its event there |
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
//! A flow that crosses an [`Element`](crate::Element) or a link with a queue of its own
//! ([`LinkSpec::queue`](crate::LinkSpec::queue)), or whose ACKs go back over a link of their own
//! ([`LinkSpec::back`](crate::LinkSpec::back)), takes no path of the first table.
//!
//! [`Early::Always`]: crate::route::Early::Always
//! [`Early::IfNext`]: crate::route::Early::IfNext
//! [`Receiver::take_calm`]: crate::receiver::Receiver::take_calm
//! [`Receiver::take_delayed`]: crate::receiver::Receiver::take_delayed
//! [`Receiver::take_at_once`]: crate::receiver::Receiver::take_at_once
//! [`Route::needs_waking`]: crate::route::Route::needs_waking
//! [`ReturnLink::is_next`]: crate::way_back::ReturnLink::is_next
//! [`Tcb::on_calm_ack`]: crate::tcp
//! [`Flow::go_on_at_pace`]: crate::run::Flow
//! [`DropTailLink`]: firstflight_link::DropTailLink
//! [`Queue`]: crate::queue::Queue
//! [`Rto::no_deadline_before`]: crate::rto::Rto::no_deadline_before

use crate::network::{FlowSpec, LinkSpec, Network};

/// Whether the fast paths are on. The outcome is equal but for the number of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastPaths {
    /// On, for flows that cross no element and no queue but drop-tail.
    On,
    /// Off: every packet and ACK takes the general path.
    Off,
}

impl FastPaths {
    /// Whether that flow takes them.
    pub(crate) fn serve(self, network: &Network, flow: &FlowSpec) -> bool {
        let own_way_back = || flow.return_link.is_some_and(|l| network.links[l].back.is_some());
        self == Self::On && !crosses_element(network, flow) && !own_way_back()
    }
}

/// Whether an element, or a queue that is not drop-tail, stands on the way of the flow's packets.
pub(crate) fn crosses_element(network: &Network, flow: &FlowSpec) -> bool {
    let serves_otherwise = |spec: &LinkSpec| !spec.elements.is_empty() || spec.queue.is_some();
    flow.path.iter().any(|link| serves_otherwise(&network.links[*link]))
}
