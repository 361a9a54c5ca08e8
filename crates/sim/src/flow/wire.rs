//! A flow's path as its sender sees it: packets leave into it, and the routers' feedback comes out.

use firstflight_core::units::{Instant, Rate, Span};

use crate::flow::path::FlowPath;
use crate::net::Net;
use crate::packet::{Header, Kind, Label};
use crate::signals::{AckSignals, Signals};
use crate::tcp::Wire;

/// A flow's sender sees its path as a wire.
pub(crate) struct FlowWire<'a> {
    pub(crate) now: Instant,
    pub(crate) path: &'a mut FlowPath,
    pub(crate) net: &'a mut Net,
}

impl FlowWire<'_> {
    /// A packet of a flow that takes no fast paths leaves. A SYN asks the routers for a rate if its
    /// connection does.
    #[inline(never)]
    fn send(&mut self, seq: u32, mut label: Label) {
        if seq > 0 || self.path.route.syn_bytes.is_none() {
            return self.path.send(self.net, self.now, Kind::Data(seq), label);
        }
        let asked_bps = self.path.signals.as_mut().map_or(0, |signals| signals.ask());
        if asked_bps > 0 {
            let fresh = || Box::new(Header::new(Span(0), Span(0)));
            label.header.get_or_insert_with(fresh).asked_bps = asked_bps;
        }
        self.path.send(self.net, self.now, Kind::Syn, label);
    }
}

impl Wire for FlowWire<'_> {
    #[inline(never)]
    fn transmit(&mut self, seq: u32) {
        match self.path.route.fast_paths {
            true => self.path.send_small(self.net, self.now, seq),
            false => self.send(seq, Label::NONE),
        }
    }

    fn transmit_labelled(&mut self, seq: u32, label: Label) {
        match self.path.route.fast_paths {
            true => self.transmit(seq),
            false => self.send(seq, label),
        }
    }

    #[inline(always)]
    fn transmit_data(&mut self, seq: u32) {
        self.path.send_data(self.net, self.now, seq);
    }

    fn leaves_empty(&mut self, seq: u32) {
        self.path.route.receiver.expect_empty(seq);
    }

    #[cold]
    fn acknowledge_syn(&mut self) {
        match self.path.route.fast_paths {
            true => self.path.send_handshake_ack(self.net, self.now),
            false => self.path.send(self.net, self.now, Kind::HandshakeAck, Label::NONE),
        }
    }

    #[inline(always)]
    fn reborrow(&mut self) -> impl Wire {
        FlowWire { now: self.now, path: self.path, net: self.net }
    }

    fn read_feedback(&mut self) -> AckSignals {
        let FlowPath { signals, route, .. } = &*self.path;
        let read = |signals: &Signals| signals.read(|bps| route.payload_bps(bps));
        signals.as_deref().map_or_else(AckSignals::default, read)
    }

    fn granted(&mut self) -> Option<Rate> {
        let granted = self.path.signals.as_ref().map_or(0, |signals| signals.granted_bps());
        let bps = self.path.route.payload_bps(granted);
        (granted > 0).then(|| Rate::from_bits_per_second(bps))
    }
}
