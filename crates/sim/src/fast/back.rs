//! ACKs that cross the reverse path's shared link before their time comes, because it is known that
//! no other ACK can come before them. All others have an event there, as on the general path.

use std::collections::VecDeque;

use firstflight_core::units::{Instant, Span};
use firstflight_link::serialisation;

use super::FastPaths;
use crate::network::{FlowSpec, Network};
use crate::packet::AckOut;

/// A flow's ACKs on the reverse path's shared link.
#[derive(Debug, Default)]
pub(crate) struct Crossing {
    /// ACKs between the receiver and the shared link that have events, in order.
    waiting: VecDeque<AckOut>,
    /// SYNs on their way to the receiver.
    pub(crate) syns: u32,
}

/// What is known of the ACKs to come at a link.
#[derive(Debug)]
pub(crate) struct Foresight {
    /// ACKs that have events of their own to reach it.
    waiting: u32,
    /// Flows whose SYN may still come. It is one too high, and so never 0, if
    /// [`Foresight::bound`] holds for no ACK.
    opening: u32,
    /// When the other flows start, the next one last.
    starts: Vec<Instant>,
    /// An ACK whose packet has not left the last shared link yet comes at least this long after the
    /// newest that has left it.
    gap: Span,
    /// The time from which such ACKs come.
    bound: Instant,
}

impl Crossing {
    /// An ACK is under way to the shared link, and will have an event there.
    pub(crate) fn wait(&mut self, link: &mut Foresight, ack: AckOut) {
        self.waiting.push_back(ack);
        link.waiting += 1;
    }

    /// The oldest ACK that has an event has reached the shared link.
    pub(crate) fn arrive(&mut self, link: &mut Foresight) -> Option<AckOut> {
        let ack = self.waiting.pop_front()?;
        link.waiting -= 1;
        Some(ack)
    }
}

impl Foresight {
    /// At the link of that number. With fast paths ACKs may cross before their time comes.
    pub(crate) fn new(network: &Network, id: usize, fast_paths: FastPaths) -> Self {
        let users = || network.flows.iter().filter(|flow| flow.return_path.first() == Some(&id));
        let last = users().next().and_then(|flow| flow.path.last().copied());
        let bounded = users().all(|flow| {
            fast_paths.serve(network, flow) && is_bounded(flow) && flow.path.last().copied() == last
        });
        let mut starts: Vec<Instant> =
            users().filter(|flow| flow.endpoint.syn).map(|flow| flow.start).collect();
        starts.sort_unstable_by(|one, other| other.cmp(one));
        let rate_bps = last.map_or(1, |last| network.rate_bps(last));
        Self {
            waiting: 0,
            opening: u32::from(!bounded),
            starts,
            gap: users().map(|flow| least_lead(flow, rate_bps)).min().unwrap_or_default(),
            bound: Instant(0),
        }
    }

    /// A packet reaches the far end of the last shared link at `at`, and no later packet does
    /// before it.
    pub(crate) fn causes(&mut self, at: Instant) {
        self.bound = at + self.gap;
    }

    /// Whether no other ACK reaches the link before `at`: none that has an event, none whose packet
    /// comes behind those that have left the last shared link. A SYN is shorter than data and may
    /// catch up with them; so there must be no SYN by then.
    #[inline]
    pub(crate) fn is_next(&self, at: Instant) -> bool {
        self.waiting == 0
            && self.opening == 0
            && at < self.bound
            && self.starts.last().is_none_or(|start| at < *start)
    }

    /// A flow starts with a SYN.
    pub(crate) fn opens(&mut self) {
        self.starts.pop();
        self.opening += 1;
    }

    /// A flow that started with a SYN will send no other, and none is under way.
    pub(crate) fn opened(&mut self) {
        self.opening -= 1;
    }
}

/// Whether every ACK of the flow leaves the receiver when a packet comes, and its SYN is the first
/// packet that it sends.
fn is_bounded(spec: &FlowSpec) -> bool {
    spec.endpoint.delayed_ack <= 1 && spec.files.is_none()
}

/// From a packet of the flow beginning to leave the last shared link to its ACK reaching the other
/// direction, at least, where nothing waits. Every time may be rounded down.
fn least_lead(spec: &FlowSpec, rate_bps: u64) -> Span {
    let packet = spec.payload_bytes + spec.header_bytes;
    let floor = |bytes: u64, rate_bps| serialisation(bytes, rate_bps).0 - 1;
    let access =
        floor(packet, spec.access_rate_bps) + floor(spec.endpoint.ack_bytes, spec.access_rate_bps);
    Span(floor(packet, rate_bps) + access) + spec.access_delay * 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::reverse::tests::ack;

    #[test]
    fn an_ack_is_next_if_nothing_can_come_before_it() {
        let (waiting, opening, bound) = (0, 0, Instant(0));
        let starts = vec![Instant(900)];
        let mut link = Foresight { waiting, opening, starts, gap: Span(50), bound };
        link.causes(Instant(100));
        assert!(link.is_next(Instant(149)));
        assert!(!link.is_next(Instant(150)), "the ACK of the next packet may be there");
        link.causes(Instant(900));
        assert!(link.is_next(Instant(899)));
        assert!(!link.is_next(Instant(900)), "a flow starts");
        link.opens();
        assert!(!link.is_next(Instant(899)), "its SYN may come");
        link.opened();
        assert!(link.is_next(Instant(900)));
        let mut crossing = Crossing::default();
        crossing.wait(&mut link, ack(800, 1, 0));
        assert!(!link.is_next(Instant(900)), "another ACK is on its way");
        assert_eq!(crossing.arrive(&mut link), Some(ack(800, 1, 0)));
        assert!(link.is_next(Instant(900)));
    }
}
