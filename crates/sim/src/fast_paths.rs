//! The fast paths: what they are, what each leaves out, and which test holds it equal to the general
//! path.
//!
//! The general path is the simulator (`docs/life-of-a-packet.md` tells it): every packet has an event
//! at every shared link, every paced packet and every held ACK an event of its own, and every ACK
//! goes through the sender's repair. A fast path does the same in fewer steps where it can see that
//! nothing else applies. Each looks first, and where it cannot serve it changes nothing and the
//! general path does the work, so that whoever changes what a packet does need only know that one.
//!
//! | fast path | leaves out | held equal by |
//! | --- | --- | --- |
//! | a link that one flow alone feeds (`Hop::early`, `Early::Always`) | the event of an arrival: nobody else can change the link before | `tests/ahead.rs` |
//! | a shared link whose next arrival this is (`Early::IfNext`, `Queue::first_before`) | the event of an arrival | `tests/ahead.rs` |
//! | a packet in order (`Receiver::take_calm`, `take_delayed`) | gaps, SACK blocks, what delayed ACKs of Linux estimate; the payload of its ACK's event (`Queue::push_next_ack`) | `tests/ahead.rs` |
//! | a packet around a gap where every packet is answered (`Receiver::take_at_once`) | the delayed-ACK timer, split ACKs | `tests/ahead.rs` |
//! | one event for many held ACKs (`Route::needs_waking`) | the events of those that the next packet overtakes | `tests/ahead.rs` |
//! | an ACK that is the next on the way back (`ReturnLink::is_next`) | its event at the shared link | `tests/ahead.rs` |
//! | a calm ACK (`Tcb::on_calm_ack`) | repair, duplicates, back-off, feedback of routers and marks | `tests/ahead.rs`, `tcp/credit.rs` |
//! | a paced packet whose time comes next (`Flow::go_on_at_pace`, `Tcb::send_calm_at_pace`) | its timer event, and the look at other timers | `tests/ahead.rs` |
//!
//! What follows has no switch, because it is how a thing is stored and not another way through it:
//!
//! | stored so | leaves out | held equal by |
//! | --- | --- | --- |
//! | a link counts packets of one size as runs (`Held`, `Link::arrive`) | a departure event, and a word per packet | `link.rs`, `held.rs` |
//! | events in order wait in lanes (`Queue`, `Merge`) | a heap | `queue.rs` |
//! | a deadline is computed when it could be due (`Rto::no_deadline_before`) | the RTO after every ACK | debug builds; `tests/ahead.rs` |
//! | two pairs of policies are compiled whole (`control.rs`) | calls through a table | `tests/startups.rs` |
//!
//! A flow that crosses an [`Element`](crate::Element) takes none of the paths of the first table.

use crate::network::{FlowSpec, Network};

/// Whether the fast paths are on. The outcome is equal but for the number of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastPaths {
    /// On, for flows that cross no element.
    On,
    /// Off: every packet and ACK takes the general path.
    Off,
}

impl FastPaths {
    /// Whether that flow takes them.
    pub(crate) fn serve(self, network: &Network, flow: &FlowSpec) -> bool {
        self == Self::On && !crosses_element(network, flow)
    }
}

/// Whether an element stands on the way of the flow's packets.
pub(crate) fn crosses_element(network: &Network, flow: &FlowSpec) -> bool {
    flow.path.iter().any(|link| !network.links[*link].elements.is_empty())
}
