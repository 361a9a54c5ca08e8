//! How packets leave: as the window allows, and at the pacing rate if there is one.

use firstflight_core::event::Sent;
use firstflight_core::units::{Bytes, Instant, Rate, Span};

use super::Wire;
use super::repair::Repair;
use super::tcb::Tcb;

impl Tcb {
    #[inline]
    pub(super) fn has_room_in(&self, window: u64) -> bool {
        let outstanding = u64::from(self.nxt - self.una);
        self.nxt < self.limit
            && (outstanding + 1) * self.mss <= window
            && outstanding < u64::from(self.receiver_window)
    }

    /// Whether the next packet is the connection's last, which carries the FIN, and the receiver
    /// takes it. Linux sends that one even if the congestion window is full (`tcp_cwnd_test`), but
    /// not beyond the receiver's (`tcp_snd_wnd_test`).
    #[inline]
    pub(super) fn is_final(&self) -> bool {
        let last = self.nxt + 1 == self.end && self.closes && self.nxt < self.limit;
        last && self.max - self.una < self.receiver_window
    }

    /// Sends what the window allows, at most `burst` packets unless that is 0. Sending does not
    /// change the window.
    #[inline]
    pub(super) fn send_window(
        &mut self,
        repair: &impl Repair,
        now: Instant,
        burst: u32,
        wire: &mut impl Wire,
    ) {
        let mut sent = 0;
        let window = repair.window(self);
        while self.has_room_in(window) && self.may_depart(now) {
            self.transmit_next(repair, now, wire);
            sent += 1;
            if sent == burst {
                return;
            }
        }
    }

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

    pub(super) fn transmit_next(
        &mut self,
        repair: &impl Repair,
        now: Instant,
        wire: &mut impl Wire,
    ) {
        let seq = self.nxt;
        self.nxt += 1;
        self.transmit(repair, seq, now, wire);
    }

    #[inline(never)]
    pub(super) fn transmit(
        &mut self,
        repair: &impl Repair,
        seq: u32,
        now: Instant,
        wire: &mut impl Wire,
    ) {
        let idle = self.una == self.max;
        let data = seq >= self.first_data;
        let again = seq < self.max;
        if again {
            self.counts.sent += u64::from(data);
            self.counts.retransmitted += u64::from(data);
            self.log.resent(seq, now);
        } else {
            self.max = seq + 1;
            self.log.sent(seq, self.una, now);
            self.rto.on_sent(seq, now);
        }
        if idle || !self.rto.is_on() {
            self.rto.restart(now);
        }
        if data {
            let in_flight = self.bytes(repair.in_flight(self));
            if self.samples.is_some() {
                self.note_sent(seq, now, in_flight, idle);
            }
            self.core.on_sent(&Sent { now, bytes: Bytes(self.mss), in_flight, again });
        }
        if self.listens {
            self.write_header(seq, now, data && !again, wire);
        }
        wire.transmit(seq);
    }

    /// Notes the state in which a packet of data left.
    #[inline(never)]
    fn note_sent(&mut self, seq: u32, now: Instant, in_flight: Bytes, idle: bool) {
        let Some(samples) = &mut self.samples else { return };
        samples.on_sent(seq, now, in_flight, idle);
        if self.nxt >= self.end {
            samples.on_app_limited(in_flight);
        }
    }
}

/// When Linux lets a packet leave after one that was due at `due`, leaves now and takes `time` at
/// the pacing rate. One that the window or the source held back takes as much less as it is late,
/// but half of it at least (`tcp_update_skb_after_send`).
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
