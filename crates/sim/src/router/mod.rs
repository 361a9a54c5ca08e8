//! A router's part in what a sender does: what each system wants of the router at the entry of a
//! link. A link has one only if a flow over it asks for something.

mod ebn;
mod load;
mod quick_start;
mod xcp;

use firstflight_core::needs::Facilities;
use firstflight_core::units::{Instant, Span};

use crate::control::Wants;
use ebn::Ebn;
use quick_start::QuickStart;
use xcp::Xcp;

/// The router at the entry of a link.
#[derive(Debug)]
pub(crate) struct Router {
    rate_bps: u64,
    quick_start: Option<QuickStart>,
    xcp: Option<Xcp>,
    ebn: Option<Ebn>,
}

/// What a packet says to the routers, and what they write into it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    /// The sender's smoothed RTT; zero before it has one.
    pub(crate) rtt: Span,
    /// That RTT over its window in packets: the time between two of its packets.
    pub(crate) spacing: Span,
    /// XCP: by how much its rate may change, in bits per second on a link.
    pub(crate) change_bps: i64,
    /// EBN: the rate that is the connection's, in bits per second on a link.
    pub(crate) share_bps: u64,
    /// What IP says of ECN.
    pub(crate) ecn: EcnBits,
}

/// What a packet's headers say of congestion (RFC 3168).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EcnBits {
    /// It may be marked: ECT(0) or ECT(1).
    pub(crate) capable: bool,
    /// It belongs to L4S: ECT(1). A queue may mark such packets by a rule of their own (RFC 9332);
    /// the step marks all alike.
    pub(crate) l4s: bool,
    /// It was: CE.
    pub(crate) marked: bool,
    /// Its sender has reduced the window: CWR.
    pub(crate) reduced: bool,
}

/// A packet that arrives at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    /// When all that the link held before it has left, in nanoseconds; may be in the past.
    pub(crate) idle_at: u64,
    /// On the link.
    pub(crate) bytes: u64,
}

impl Header {
    /// As it leaves its sender, who takes whatever the routers have.
    pub(crate) fn new(rtt: Span, spacing: Span) -> Self {
        let (change_bps, share_bps) = (i64::MAX, u64::MAX);
        Self { rtt, spacing, change_bps, share_bps, ecn: EcnBits::default() }
    }
}

impl Router {
    pub(crate) fn new(rate_bps: u64) -> Self {
        Self { rate_bps, quick_start: None, xcp: None, ebn: None }
    }

    /// From now on the router does what a flow wants of it, too.
    pub(crate) fn serve(&mut self, wants: Wants) {
        let rate_bps = self.rate_bps;
        let listens = wants.listens();
        if wants.asks {
            self.quick_start.get_or_insert_with(|| QuickStart::new(rate_bps));
        }
        if listens.has(Facilities::ROUTER_CHANGES) {
            self.xcp.get_or_insert_with(|| Xcp::new(rate_bps));
        }
        if listens.has(Facilities::ROUTER_SHARES) {
            self.ebn.get_or_insert_with(|| Ebn::new(rate_bps));
        }
    }

    /// A packet found room. Times never go backwards.
    pub(crate) fn carry(&mut self, packet: Arrival) {
        if let Some(quick_start) = &mut self.quick_start {
            quick_start.carry(packet.at, packet.bytes);
        }
        if let Some(xcp) = &mut self.xcp {
            xcp.carry(packet);
        }
        if let Some(ebn) = &mut self.ebn {
            ebn.carry(packet.at, packet.bytes);
        }
    }

    /// A request for `asked` bits per second arrives: what is granted, 0 if nothing.
    pub(crate) fn approve(&mut self, at: Instant, asked: u64) -> u64 {
        self.quick_start.as_mut().map_or(0, |quick_start| quick_start.approve(at, asked))
    }

    /// A packet of flow `flow` with a header is about to arrive.
    pub(crate) fn mark(
        &mut self,
        packet: Arrival,
        flow: u16,
        listens: Facilities,
        header: &mut Header,
    ) {
        if let Some(xcp) = self.xcp.as_mut().filter(|_| listens.has(Facilities::ROUTER_CHANGES)) {
            xcp.mark(packet, header);
        }
        if let Some(ebn) = self.ebn.as_mut().filter(|_| listens.has(Facilities::ROUTER_SHARES)) {
            header.share_bps = header.share_bps.min(ebn.share(packet, flow));
        }
    }
}
