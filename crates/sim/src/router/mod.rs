//! The router at the entry of a link: what Quick-Start, XCP and TCP-EBN have it do. A link has one
//! only if a flow over it needs one.

mod ebn;
mod load;
mod quick_start;
mod xcp;

use firstflight_core::needs::Facilities;
use firstflight_core::units::Instant;

use crate::control::Wants;
use crate::packet::Header;
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

/// A packet that arrives at a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    /// When all that the link held before it has left, in nanoseconds; may be in the past.
    pub(crate) idle_at: u64,
    /// On the link.
    pub(crate) bytes: u64,
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

    /// A packet of flow `flow` with a header is about to arrive.
    pub(crate) fn mark(
        &mut self,
        packet: Arrival,
        (flow, listens): (u16, Facilities),
        header: &mut Header,
    ) {
        if header.asked_bps > 0 {
            let (at, asked) = (packet.at, header.asked_bps);
            header.asked_bps = self.quick_start.as_mut().map_or(0, |qs| qs.approve(at, asked));
        }
        if let Some(xcp) = self.xcp.as_mut().filter(|_| listens.has(Facilities::ROUTER_CHANGES)) {
            xcp.mark(packet, header);
        }
        if let Some(ebn) = self.ebn.as_mut().filter(|_| listens.has(Facilities::ROUTER_SHARES)) {
            header.share_bps = header.share_bps.min(ebn.share(packet, flow));
        }
    }
}
