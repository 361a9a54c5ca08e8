//! What lies between a flow's two ends: access links, shared links, the receiver, the reverse path.

use firstflight_core::units::{Instant, Span};
use firstflight_link::{Tie, serialisation};

use crate::fast::{self, Early};
use crate::flow::access::Access;
use crate::flow::files::Next;
use crate::flow::reverse::Reverse;
use crate::net::{self, Wait};
use crate::network::FlowSpec;
use crate::packet::AckOut;
use crate::receiver::Receiver;

/// One flow's route while the simulation runs.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Route {
    /// There is one shared link.
    pub(crate) is_plain: bool,
    /// The lane of the queue in which ACKs wait to reach the sender.
    pub(crate) ack_lane: u32,
    /// [`fast::LATER`] on the packets of every other connection of a source of files, else 0.
    pub(crate) tag: u32,
    /// Size of a full data packet on the links.
    pub(crate) packet_bytes: u64,
    /// The time from the far end of the last shared link to the sender's having the packet's ACK,
    /// if neither packet nor ACK can wait on that way; else [`NEVER`](firstflight_link::NEVER).
    pub(crate) home: Span,
    /// When the newest ACK that left by [`Route::back`] reaches the sender; none overtakes it.
    pub(crate) last_ack: Instant,
    /// Nothing that arrives after this is delivered: the flow has stopped, or the run is over.
    pub(crate) counts_until: Instant,
    /// The first shared link, which for most flows is the only one.
    pub(crate) first: Hop,
    /// The sender's access link.
    pub(crate) access: Access,
    /// The receiver of the connection at hand.
    pub(crate) receiver: Receiver,
    /// The shared links behind the first.
    pub(crate) others: Vec<Hop>,
    /// The receiver of the connection before this one, which answers what is still under way to it.
    pub(crate) earlier: Option<Box<Receiver>>,
    /// Where ACKs queue on the reverse path. Boxed because in most networks they do not.
    pub(crate) reverse: Option<Box<(Reverse, fast::Crossing)>>,
    /// The receiver's access link.
    pub(crate) egress: Access,
    /// When the next event of the delayed-ACK timer comes, no later than the timer fires. The next
    /// packet usually releases a held ACK first, so that one event serves many. Without fast paths
    /// every held ACK has an event of its own.
    pub(crate) wakes_at: Instant,
    /// Whether the flow takes fast paths.
    pub(crate) fast_paths: bool,
    /// The connection at hand: 0 is the first.
    pub(crate) connection: u32,
    /// From the receiver sending an ACK to the sender having it.
    pub(crate) return_delay: Span,
    /// What a SACK block adds to it.
    pub(crate) block_delay: Span,
    /// Payload of a full data packet.
    pub(crate) payload_bytes: u64,
    /// Size of the SYN; without one there is no handshake.
    pub(crate) syn_bytes: Option<u64>,
    pub(crate) syn_answer: SynAnswer,
}

/// How much later than usual a SYN is answered. One that is sent again meanwhile is answered with
/// the first.
#[derive(Debug)]
pub(crate) struct SynAnswer {
    pub(crate) delay: Span,
    /// The connection, and until when it has no answer.
    pub(crate) held: Option<(u32, Instant)>,
}

impl SynAnswer {
    /// When an answer leaves that would leave at `at`.
    fn leaves(&mut self, connection: u32, at: Instant) -> Instant {
        let held = self.held.filter(|(of, _)| *of == connection);
        let held = held.unwrap_or((connection, at + self.delay));
        self.held = Some(held);
        at.max(held.1)
    }
}

/// A shared link on a route.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hop {
    pub(crate) link: usize,
    /// Where this flow's arrivals at the link wait.
    pub(crate) lane: u32,
    /// What is known of the link ahead of time.
    pub(crate) early: Early,
    /// Decides among packets that reach the link at one instant: the smallest comes first.
    pub(crate) order: u16,
    /// Who comes first of what reaches the link at one instant.
    pub(crate) tie: Tie,
}

impl From<Hop> for net::Hop {
    fn from(hop: Hop) -> Self {
        Self { link: hop.link, tie: hop.tie, wait: Wait::Lane(hop.lane, hop.order) }
    }
}

impl Route {
    /// A packet leaves the sender at `now`: when it reaches the first shared link.
    #[inline(always)]
    pub(crate) fn enter(&mut self, now: Instant, is_syn: bool, exact: bool) -> Instant {
        self.access.pass(now, is_syn, exact)
    }

    /// A packet leaves the last shared link at `at`: when it reaches the receiver.
    #[inline(always)]
    pub(crate) fn leave(&mut self, at: Instant, is_syn: bool, exact: bool) -> Instant {
        self.egress.pass(at, is_syn, exact)
    }

    /// When an ACK that leaves the receiver reaches the sender. A short ACK does not overtake a
    /// long one.
    #[inline]
    pub(crate) fn back(&mut self, ack: &AckOut) -> Instant {
        let mut at = ack.at + self.return_delay;
        if ack.blocks > 0 {
            at = at + self.block_delay * u64::from(ack.blocks);
        }
        self.last_ack = self.last_ack.max(at);
        self.last_ack
    }

    /// A new connection takes the route. Packets of the earlier one may still be under way.
    pub(crate) fn renew(&mut self, spec: &FlowSpec, next: Next, end_of_run: Instant) {
        let (packets, fast_paths) = (Some(next.packets), self.receiver.has_fast_paths());
        let until = (self.counts_until, end_of_run);
        let fresh = Receiver::new(&spec.endpoint, next.syn, packets, until, fast_paths);
        let earlier = std::mem::replace(&mut self.receiver, fresh);
        self.earlier = self.reverse.is_some().then(|| Box::new(earlier));
        self.syn_bytes = next.syn.then_some(spec.syn_bytes);
        self.last_ack = Instant(0);
        self.tag ^= fast::LATER;
        self.connection += 1;
        if let Some(reverse) = &mut self.reverse {
            reverse.0.lost_blocks.clear();
        }
    }

    /// The receiver of a connection, if it still answers: the one at hand, or the one before, whose
    /// ACKs mean nothing to the sender, but other ACKs wait behind them.
    pub(crate) fn receiver_of(&mut self, connection: u32) -> Option<&mut Receiver> {
        match connection == self.connection {
            true => Some(&mut self.receiver),
            false => self.earlier.as_deref_mut(),
        }
    }

    /// The answer to a SYN, which may leave later than usual.
    #[cold]
    pub(crate) fn answer_late(&mut self, ack: AckOut) -> AckOut {
        AckOut { at: self.syn_answer.leaves(self.connection, ack.at), ..ack }
    }

    /// Bits per second of payload in so many on a link.
    pub(crate) fn payload_bps(&self, link_bps: u64) -> u64 {
        let bps = u128::from(link_bps) * u128::from(self.payload_bytes);
        u64::try_from(bps / u128::from(self.packet_bytes.max(1))).unwrap_or(u64::MAX)
    }

    /// Size of a packet on a link, in bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self, is_syn: bool) -> u64 {
        if is_syn { self.syn_bytes.unwrap_or(self.packet_bytes) } else { self.packet_bytes }
    }
}

/// Two access links, the propagation between them, and the serialisation of an ACK of `bytes` on
/// each link.
pub(crate) fn return_delay(spec: &FlowSpec, bytes: u64) -> Span {
    spec.return_delay + spec.access_delay * 2 + ack_time(spec, bytes)
}

/// Time to send `bytes` of an ACK on all the links of the reverse path.
pub(crate) fn ack_time(spec: &FlowSpec, bytes: u64) -> Span {
    serialisation(bytes, spec.access_rate_bps) * 2 + serialisation(bytes, spec.return_rate_bps)
}
