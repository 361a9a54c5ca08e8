//! A constant-rate source without congestion control.

use firstflight_core::units::{Instant, NANOS_PER_SECOND, Span};

use crate::element::Crossing;
use crate::event::{Event, Kind};
use crate::link::Tie;
use crate::network::UdpSpec;
use crate::path::Fabric;

/// A source while the simulation runs.
pub(crate) struct UdpSource<'a> {
    spec: &'a UdpSpec,
    carry: u64,
    /// As elements know it ([`Crossing::flow`]).
    place: usize,
}

impl<'a> UdpSource<'a> {
    pub(crate) fn new(spec: &'a UdpSpec, place: usize) -> Self {
        Self { spec, carry: 0, place }
    }

    /// A packet of the source reaches the link that the event names by its place on the path; at
    /// the first one the source emits it, and the next one a gap later.
    #[inline(never)]
    pub(crate) fn handle(&mut self, event: Event, now: Instant, fabric: &mut Fabric) {
        let spec = self.spec;
        let hop = event.payload as usize;
        if hop == 0 {
            if spec.stop.is_some_and(|stop| now >= stop) {
                return;
            }
            let gap = self.gap();
            fabric.queue.push_out_of_order(Event::at_any_time(
                now + gap,
                Kind::Other,
                event.number(),
                0,
            ));
        }
        let packet = Crossing::of(now, spec.packet_bytes, self.place);
        let fate = fabric.cross(spec.path[hop], packet, Tie::DEPARTURE_FIRST);
        let Some((at, _)) = fate else { return };
        if hop + 1 < spec.path.len() {
            let next = Event::at_any_time(at, Kind::Other, event.number(), hop as u64 + 1);
            fabric.queue.push_out_of_order(next);
        }
    }

    /// Time to the next packet, keeping the remainder.
    fn gap(&mut self) -> Span {
        let rate = self.spec.rate_bps.max(1);
        let total = self.spec.packet_bytes * 8 * NANOS_PER_SECOND + self.carry;
        self.carry = total % rate;
        Span((total / rate).max(1))
    }
}
