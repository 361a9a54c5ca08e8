//! A source without congestion control.

use firstflight_core::units::{Instant, NANOS_PER_SECOND, Span};
use firstflight_link::{Crossing, Ecn, Tie, exponential, stream};
use rand_pcg::Pcg64Mcg;

use crate::event::{Event, Kind};
use crate::network::{Pattern, UdpSpec};
use crate::path::Fabric;
use crate::queued::Waiting;

/// A source while the simulation runs.
pub(crate) struct UdpSource<'a> {
    spec: &'a UdpSpec,
    carry: u64,
    /// The number by which elements know the source ([`Crossing::flow`]).
    place: usize,
    /// The source's number in its events.
    number: u16,
    random: Pcg64Mcg,
    /// When the time in which it sends is over, where there are others.
    silent_from: Instant,
}

impl<'a> UdpSource<'a> {
    pub(crate) fn new(spec: &'a UdpSpec, (place, number): (usize, u16), seed: u64) -> Self {
        let mut random = stream(seed, SOURCES + place as u64);
        let silent_from = match spec.pattern {
            Pattern::OnOff { on, .. } => spec.start + times(on, &mut random),
            Pattern::Constant | Pattern::Poisson => Instant(u64::MAX),
        };
        Self { spec, carry: 0, place, number, random, silent_from }
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
            let next = self.next(now);
            fabric.queue.push_out_of_order(Event::at_any_time(
                next,
                Kind::Other,
                event.number(),
                0,
            ));
        }
        let packet = Crossing::of(now, spec.packet_bytes, self.place);
        if fabric.links[spec.path[hop]].has_queue() {
            let what = Waiting::Udp { source: self.number, hop };
            fabric.queue_up(spec.path[hop], packet, Ecn::NotCapable, what);
            return;
        }
        let fate = fabric.cross(spec.path[hop], packet, Tie::DEPARTURE_FIRST);
        self.go_on(fabric, hop, fate.map(|(at, _)| at));
    }

    /// A packet leaves the queue of the link of `hop`: when it reaches the far end, if it does.
    pub(crate) fn leave_queue(&self, fabric: &mut Fabric, hop: usize, far_end: Option<Instant>) {
        self.go_on(fabric, hop, far_end);
    }

    /// A packet reaches the far end of the link of `hop`, unless it is lost.
    fn go_on(&self, fabric: &mut Fabric, hop: usize, far_end: Option<Instant>) {
        let Some(at) = far_end.filter(|_| hop + 1 < self.spec.path.len()) else { return };
        let next = Event::at_any_time(at, Kind::Other, self.number, hop as u64 + 1);
        fabric.queue.push_out_of_order(next);
    }

    /// When the packet after one at `now` comes.
    fn next(&mut self, now: Instant) -> Instant {
        let gap = self.gap();
        match self.spec.pattern {
            Pattern::Constant => now + gap,
            Pattern::Poisson => now + times(gap, &mut self.random).max(Span(1)),
            Pattern::OnOff { on, off } => {
                let mut next = now + gap;
                while next >= self.silent_from {
                    next = self.silent_from + times(off, &mut self.random);
                    self.silent_from = next + times(on, &mut self.random).max(Span(1));
                }
                next
            }
        }
    }

    /// Time to the next packet at its rate, keeping the remainder.
    fn gap(&mut self) -> Span {
        let rate = self.spec.rate_bps.max(1);
        let total = self.spec.packet_bytes * 8 * NANOS_PER_SECOND + self.carry;
        self.carry = total % rate;
        Span((total / rate).max(1))
    }
}

/// An exponentially distributed time of this mean.
fn times(mean: Span, random: &mut Pcg64Mcg) -> Span {
    Span((mean.0 as f64 * exponential(random)) as u64)
}

/// Streams of sources begin here, above those of elements.
const SOURCES: u64 = 1 << 40;

#[cfg(test)]
mod tests {
    use super::*;

    /// How many packets come in each of the first so many intervals, at 8 Mbit/s and 1000 bytes: a
    /// packet a millisecond while it sends.
    fn packets(pattern: Pattern, intervals: usize, every_ms: u64) -> Vec<u64> {
        let start = Instant(0);
        let spec = UdpSpec {
            path: vec![0],
            rate_bps: 8_000_000,
            pattern,
            packet_bytes: 1000,
            start,
            stop: None,
        };
        let mut source = UdpSource::new(&spec, (0, 0), 1);
        let (mut counts, mut now) = (vec![0; intervals], start);
        while let Some(count) = counts.get_mut((now.0 / (every_ms * 1_000_000)) as usize) {
            *count += 1;
            now = source.next(now);
        }
        counts
    }

    fn mean_and_variance(counts: &[u64]) -> (f64, f64) {
        let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
        let square = counts.iter().map(|count| (*count as f64 - mean).powi(2)).sum::<f64>();
        (mean, square / counts.len() as f64)
    }

    #[test]
    fn a_constant_source_sends_as_much_in_every_interval() {
        assert!(packets(Pattern::Constant, 100, 50).iter().all(|count| *count == 50));
    }

    /// The count of a Poisson process in an interval has a variance that is its mean.
    #[test]
    fn a_poisson_source_keeps_its_mean_rate_and_its_variance() {
        let (mean, variance) = mean_and_variance(&packets(Pattern::Poisson, 4_000, 50));
        // Deviations of 0.11 and 1.1.
        assert!((mean - 50.0).abs() < 0.5 && (variance - 50.0).abs() < 5.0, "{mean}, {variance}");
    }

    /// It sends for a third of the time.
    #[test]
    fn a_source_that_is_on_and_off_sends_in_its_share_of_the_time() {
        let [on, off] = [100, 200].map(Span::from_millis);
        let counts = packets(Pattern::OnOff { on, off }, 60_000, 20);
        let (mean, _) = mean_and_variance(&counts);
        // 1200 s hold 4000 periods, whose share has a deviation of 0.0047.
        assert!((mean / 20.0 - 1.0 / 3.0).abs() < 0.016, "{mean}");
        // An interval of 20 ms is silent as a whole if it begins silent and nothing begins in it:
        // 2/3 e^-0.1 = 0.603.
        let silent = counts.iter().filter(|count| **count == 0).count() as f64 / 60_000.0;
        assert!((silent - 0.603).abs() < 0.02, "{silent}");
    }
}
