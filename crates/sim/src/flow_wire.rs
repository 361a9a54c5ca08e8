//! A flow's way as its sender sees it: packets leave into it, and what routers told comes out.

use firstflight_core::units::{Instant, Rate, Span};

use crate::dialogue::Heard;
use crate::path::{Fabric, FlowPath};
use crate::route::Packet;
use crate::router::{EcnBits, Header};
use crate::tcp::Wire;

/// A flow's sender sees its path as a wire.
pub(crate) struct FlowWire<'a> {
    pub(crate) now: Instant,
    pub(crate) path: &'a mut FlowPath,
    pub(crate) fabric: &'a mut Fabric,
}

impl FlowWire<'_> {
    #[inline(always)]
    fn send(&mut self, packet: Packet) {
        let at = self.path.route.enter(self.now, packet);
        if self.path.may_go_on(self.fabric, 0, packet, at) {
            self.path.arrive(self.fabric, 0, packet, at);
        }
    }
}

impl Wire for FlowWire<'_> {
    #[inline(never)]
    fn transmit(&mut self, seq: u32) {
        let packet = self.path.route.packet(self.path.route.tagged(seq));
        if packet.is_syn {
            self.path.route.count_syns(u32::wrapping_add);
        }
        self.send(packet);
    }

    #[inline(always)]
    fn transmit_data(&mut self, seq: u32) {
        self.send(Packet { tagged: self.path.route.tagged(seq), is_syn: false, exact: false });
    }

    fn transmit_empty(&mut self, seq: u32) {
        self.path.route.receiver.expect_empty(seq);
        self.transmit(seq);
    }

    #[cold]
    fn acknowledge_syn(&mut self) {
        self.path.acknowledge_syn(self.fabric, self.now);
    }

    #[inline(always)]
    fn reborrow(&mut self) -> impl Wire {
        FlowWire { now: self.now, path: self.path, fabric: self.fabric }
    }

    fn write_header(&mut self, seq: u32, rtt: Span, spacing: Span, ecn: EcnBits) {
        let FlowPath { dialogue, route, .. } = &mut *self.path;
        if let Some(dialogue) = dialogue {
            let header = Header { ecn, ..Header::new(rtt, spacing) };
            dialogue.write_header(route.tagged(seq), header);
        }
    }

    fn read_feedback(&mut self) -> Heard {
        let FlowPath { dialogue, route, .. } = &mut *self.path;
        let Some(dialogue) = dialogue else { return Heard::default() };
        dialogue.read_feedback(|bps| route.payload_bps(bps))
    }

    fn granted(&mut self) -> Option<Rate> {
        let dialogue = self.path.dialogue.as_mut()?;
        let granted = std::mem::take(&mut dialogue.asked_bps);
        let bps = self.path.route.payload_bps(granted);
        (granted > 0).then(|| Rate::from_bits_per_second(bps))
    }
}
