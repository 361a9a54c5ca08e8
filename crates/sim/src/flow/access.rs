//! Access links, between a flow's ends and what it shares with others.

use firstflight_core::units::{Instant, Span};
use firstflight_link::{Serialisation, serialisation};

use crate::network::FlowSpec;

/// An access link: a rate and a delay, and a buffer that never fills.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Access {
    free_at: Instant,
    pub(crate) full_packet: Span,
    pub(crate) delay: Span,
    syn: Span,
    /// With ns-2's ties: what keeps the rounding of a burst's packets. Without it a burst of a
    /// hundred packets runs ahead by up to as many nanoseconds, which parts what falls together.
    exact: Option<Box<Exact>>,
}

/// The times of packets on a link to the fraction of a nanosecond.
#[derive(Debug)]
struct Exact {
    packet_bytes: u64,
    syn_bytes: u64,
    serial: Serialisation,
}

impl Access {
    pub(crate) fn new(spec: &FlowSpec, exact: bool) -> Self {
        let packet = spec.payload_bytes + spec.header_bytes;
        Self {
            full_packet: serialisation(packet, spec.access_rate_bps),
            syn: serialisation(spec.syn_bytes, spec.access_rate_bps),
            delay: spec.access_delay,
            free_at: Instant(0),
            exact: exact.then(|| Box::new(Exact::new(spec))),
        }
    }

    /// The receiver's, with the propagation that no link has.
    pub(crate) fn to_receiver(spec: &FlowSpec, exact: bool) -> Self {
        Self { delay: spec.path_delay + spec.access_delay, ..Self::new(spec, exact) }
    }

    /// No packet waits here that took so long on the link before: the one ahead of it has left.
    pub(crate) fn is_free_for(&self, service: Span) -> bool {
        // A link counts parts of a nanosecond, a service as short as one may be none.
        let longest = self.full_packet.max(self.syn);
        self.exact.is_none() && longest <= service && service > Span(1)
    }

    /// When a packet that comes at `at` reaches the far end; its times are kept to the fraction of
    /// a nanosecond if `exact`.
    #[inline(always)]
    pub(crate) fn pass(&mut self, at: Instant, is_syn: bool, exact: bool) -> Instant {
        if exact {
            return self.pass_exact(at, is_syn);
        }
        self.pass_after(at, if is_syn { self.syn } else { self.full_packet })
    }

    /// When a packet that arrives at `at`, and takes `service` to serialise, reaches the far end.
    #[inline(always)]
    pub(crate) fn pass_after(&mut self, at: Instant, service: Span) -> Instant {
        self.free_at = self.free_at.max(at) + service;
        self.free_at + self.delay
    }

    /// Whether times are kept to the fraction of a nanosecond.
    #[inline(always)]
    pub(crate) fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    #[inline(never)]
    fn pass_exact(&mut self, at: Instant, is_syn: bool) -> Instant {
        let idle = self.free_at < at;
        let service =
            self.exact.as_mut().map_or(self.full_packet, |exact| exact.time(idle, is_syn));
        self.pass_after(at, service)
    }
}

impl Exact {
    fn new(spec: &FlowSpec) -> Self {
        Self {
            packet_bytes: spec.payload_bytes + spec.header_bytes,
            syn_bytes: spec.syn_bytes,
            serial: Serialisation::new(spec.access_rate_bps),
        }
    }

    /// A link that was idle owes nothing of a nanosecond.
    fn time(&mut self, idle: bool, is_syn: bool) -> Span {
        if idle {
            self.serial.clear_remainder();
        }
        let bytes = if is_syn { self.syn_bytes } else { self.packet_bytes };
        Span(self.serial.time(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exact_access_link_does_not_run_ahead_in_a_burst() {
        // 1000 bytes at 3 Mbit/s: 2,666,666 ns and two thirds.
        for (exact, third) in [(false, 7_999_998), (true, 8_000_000)] {
            let serial = Serialisation::new(3_000_000);
            let times = Exact { packet_bytes: 1000, syn_bytes: 40, serial };
            let mut access = Access {
                full_packet: serialisation(1000, 3_000_000),
                syn: serialisation(40, 3_000_000),
                delay: Span(0),
                free_at: Instant(0),
                exact: exact.then(|| Box::new(times)),
            };
            for _ in 0..2 {
                access.pass(Instant(0), false, exact);
            }
            assert_eq!(access.pass(Instant(0), false, exact), Instant(third));
            // After an idle time it owes nothing.
            let later = Instant(100_000_000);
            assert_eq!(access.pass(later, false, exact), later + Span(2_666_666));
        }
    }
}
