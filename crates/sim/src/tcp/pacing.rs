//! When packets leave that have a pacing rate: when the one before has had its time, or as Linux's
//! own timer has it ([`crate::Endpoint::linux_pacing`]).

use firstflight_core::units::{Bytes, Instant, Rate, Span};

use super::tcb::Tcb;

impl Tcb {
    /// Pacing: a packet may leave when the one before has had its time at the pacing rate.
    #[inline]
    pub(super) fn may_depart(&mut self, now: Instant) -> bool {
        self.core.acts_on_acks_only() || !self.must_wait(now) && self.departs(now)
    }

    /// Whether [`Tcb::may_depart`] would say no, and change nothing.
    #[inline]
    pub(super) fn must_wait(&self, now: Instant) -> bool {
        self.next_departure > now && self.core.paced_from() == Some(Instant(0))
    }

    /// Takes the time of a packet, if it may leave.
    #[inline(never)]
    fn departs(&mut self, now: Instant) -> bool {
        let due = self.is_due(now);
        if due {
            self.charge(now, 1);
        }
        due
    }

    /// Whether the time of the last packet is over.
    #[inline]
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let Some(begins) = self.core.paced_from() else { return true };
        self.next_departure = self.next_departure.max(begins);
        self.next_departure <= now
    }

    /// Takes the time of so many packets that leave. What was not used of the last burst's time may
    /// leave at once.
    #[inline(always)]
    pub(super) fn charge(&mut self, now: Instant, packets: u32) {
        let bytes = Bytes(self.mss * u64::from(packets));
        let pace = self.core.rate_and_burst();
        let time = pace.map_or(Span(0), |(rate, _)| self.time_at(rate, bytes));
        let more = pace.map_or(0, |(_, burst)| burst.0.saturating_sub(self.mss));
        if self.endpoint.linux_pacing && more == 0 {
            let paced = self.max - self.first_data + packets >= FIRST_PACED;
            let time = if paced { time } else { Span(0) };
            self.next_departure = after(self.next_departure, now, time);
        } else {
            self.next_departure = self.begins_before(now, more) + time;
        }
        self.core.on_paced(bytes);
    }

    /// When the time of a packet that leaves at `now` begins, where bursts may have so many bytes
    /// more than a packet.
    #[inline(never)]
    fn begins_before(&mut self, now: Instant, more: u64) -> Instant {
        let rate = self.core.rate_and_burst().map(|(rate, _)| rate).filter(|_| more > 0);
        let unused = rate.map_or(Span(0), |rate| Span::from_secs(1).scaled(more, rate.0));
        let begins = self.core.paced_from().unwrap_or_default();
        let earliest = Instant(now.0.saturating_sub(unused.0)).max(begins);
        self.next_departure.max(earliest)
    }

    /// How long `bytes` take at `rate`. Mostly both are those of the packet before, and nothing has
    /// to be divided.
    #[inline]
    fn time_at(&mut self, rate: Rate, bytes: Bytes) -> Span {
        if self.paced_last != (rate, bytes) {
            self.divide(rate, bytes);
        }
        self.packet_time
    }

    #[inline(never)]
    fn divide(&mut self, rate: Rate, bytes: Bytes) {
        self.paced_last = (rate, bytes);
        self.packet_time = Span::from_secs(1).scaled(bytes.0, rate.0);
    }
}

/// When Linux lets a packet leave after one that was due at `due`, leaves now and takes `time` at
/// the pacing rate. If it left late, because the window or the source held it back, the next waits
/// less by that lateness, but at least half of `time` (`tcp_update_skb_after_send`).
fn after(due: Instant, now: Instant, time: Span) -> Instant {
    due.max(now) + (time - now.since(due).min(time / 2))
}

/// The packet of a connection with which Linux begins to pace.
const FIRST_PACED: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_is_late_takes_less_time_but_half_of_it() {
        let after = |due, now| after(Instant(due), Instant(now), Span(100)).0;
        assert_eq!(after(1_000, 1_000), 1_100);
        assert_eq!(after(1_000, 1_030), 1_100);
        assert_eq!(after(1_000, 1_080), 1_130);
        assert_eq!(after(1_000, 900), 1_100, "not yet due: it cannot be early");
    }
}
