//! A source without congestion control.

use firstflight_core::units::{Instant, NANOS_PER_SECOND, Span};
use firstflight_link::{exponential, stream};
use rand_pcg::Pcg64Mcg;

use crate::end::End;
use crate::event::{Event, Kind};
use crate::net::Net;
use crate::network::{Pattern, UdpSpec};
use crate::packet::{self, Label, Packet, Way};

/// A source while the simulation runs.
pub(crate) struct UdpSource<'a> {
    spec: &'a UdpSpec,
    carry: u64,
    /// The source's path, and its number in its events.
    numbers: (u32, u16),
    random: Pcg64Mcg,
    /// When the time in which it sends is over, where there are others.
    silent_from: Instant,
}

impl<'a> UdpSource<'a> {
    /// The source at that place behind the network's flows.
    pub(crate) fn new(spec: &'a UdpSpec, numbers: (u32, u16), seed: u64, place: usize) -> Self {
        let mut random = stream(seed, SOURCES + place as u64);
        let silent_from = match spec.pattern {
            Pattern::OnOff { on, .. } => spec.start + times(on, &mut random),
            Pattern::Constant | Pattern::Poisson => Instant(u64::MAX),
        };
        Self { spec, carry: 0, numbers, random, silent_from }
    }

    /// The event of the first packet.
    pub(crate) fn schedule(&self, net: &mut Net) {
        self.emit_at(self.spec.start, net);
    }

    fn emit_at(&self, at: Instant, net: &mut Net) {
        net.queue.push_out_of_order(Event::at_any_time(at, Kind::Other, self.numbers.1, 0));
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

impl End for UdpSource<'_> {
    /// A packet leaves, and the next one a gap later.
    fn wake(&mut self, net: &mut Net, _what: u64, now: Instant) {
        if self.spec.stop.is_some_and(|stop| now >= stop) {
            return;
        }
        let next = self.next(now);
        self.emit_at(next, net);
        let packet = Packet {
            path: self.numbers.0,
            way: Way::Forward,
            hop: 0,
            connection: 0,
            bytes: self.spec.packet_bytes,
            kind: packet::Kind::CrossTraffic,
            label: Label::NONE,
        };
        net.forward(packet, now);
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
        let mut source = UdpSource::new(&spec, (0, 0), 1, 0);
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
