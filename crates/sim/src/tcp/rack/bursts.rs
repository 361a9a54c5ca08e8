//! Segmentation offload (`Endpoint::tso`): Linux hands the device a burst of packets as one, which
//! the device splits. A burst is what the pacing rate carries in a millisecond, but two packets at
//! least (`tcp_tso_autosize`). Without pacing, the rate that Linux would pace at decides too. A
//! sender may wait for the next ACK in order to send a larger burst (`tcp_tso_should_defer`).

use firstflight_core::units::{Instant, Span};

use super::super::Wire;
use super::super::repair::Repair as _;
use super::super::tcb::Tcb;
use super::{Rack, State};

impl Rack {
    /// As [`Rack::send`], by bursts (`tcp_write_xmit`, `tcp_xmit_retransmit_queue`).
    pub(super) fn send_bursts(&mut self, tcb: &mut Tcb, now: Instant, wire: &mut impl Wire) {
        let most = tcb.largest_burst();
        self.waits = false;
        while self.has_room(tcb) && tcb.is_due(now) {
            let room = self.window_in_packets(tcb).saturating_sub(self.pipe(tcb));
            if self.lost > 0 && !self.only_new && room > 0 {
                let sent = self.resend_run(tcb, now, room.min(most), wire);
                if sent > 0 {
                    tcb.charge(now, sent);
                    continue;
                }
            }
            if !tcb.has_fresh() {
                return;
            }
            let waiting = tcb.waiting_run();
            self.waits = waiting > 1 && self.defers(tcb, now, room, (most, waiting));
            if self.waits {
                return;
            }
            // `tcp_cwnd_test`: two bursts of a window at least.
            let half = (self.window_in_packets(tcb) / 2).max(1);
            let burst = room.max(1).min(half).min(most).min(waiting).min(tcb.limit - tcb.nxt);
            tcb.charge(now, burst);
            for _ in 0..burst {
                tcb.transmit_next(self, now, wire);
                self.note_sent();
            }
        }
    }

    fn window_in_packets(&self, tcb: &Tcb) -> u32 {
        match self.state {
            State::Recovery | State::Cwr if !tcb.core.policy_sets_recovery_window() => self.cwnd,
            _ => u32::try_from(tcb.core.cwnd().0 / tcb.mss).unwrap_or(u32::MAX),
        }
    }

    /// Sends lost packets that follow each other again, so many at most.
    fn resend_run(&mut self, tcb: &mut Tcb, now: Instant, most: u32, wire: &mut impl Wire) -> u32 {
        let (mut sent, mut next) = (0, self.next_lost(tcb));
        while let Some(seq) = next.filter(|_| sent < most) {
            self.resend(tcb, now, wire);
            sent += 1;
            next = self.next_lost(tcb).filter(|lost| *lost == seq + 1);
        }
        sent
    }

    /// Whether it is better to wait for an ACK (`tcp_tso_should_defer`): only if something left
    /// within the last millisecond, and the first packet outstanding half an RTT ago.
    fn defers(&self, tcb: &Tcb, now: Instant, room: u32, (most, waiting): (u32, u32)) -> bool {
        if !matches!(self.state, State::Open | State::Cwr) || tcb.una == tcb.max {
            return false;
        }
        let advertised = tcb.limit - tcb.nxt;
        let limit = room.min(advertised);
        let last = tcb.nxt + waiting >= tcb.end;
        let third = u64::from(self.window_in_packets(tcb)) <= 3 * u64::from(limit);
        if limit >= most || !last && limit >= waiting || third {
            return false;
        }
        let recent = now.since(tcb.next_departure) <= Span::from_millis(1);
        let age = now.since(tcb.log.sent_at(tcb.una));
        recent && age >= tcb.core.view().rtt.smoothed / 2 && limit < waiting
    }
}

impl Tcb {
    /// Packets of one burst (`tcp_tso_segs`). What an RTT below eight milliseconds adds is added.
    fn largest_burst(&self) -> u32 {
        let near = (self.core.view().rtt.min.0 / 1_000) >> 9;
        let more = u32::try_from(near).ok().and_then(|shift| BURST_BYTES.checked_shr(shift));
        let bytes = (self.core.rate_for_bursts().0 >> 10) + more.unwrap_or(0);
        let packets = (bytes.min(BURST_BYTES) / self.mss).clamp(2, u64::from(BURST_PACKETS));
        packets as u32
    }

    /// Packets that wait as one: the application's data lie in pieces of the largest burst.
    fn waiting_run(&self) -> u32 {
        let into = (self.nxt - self.first_data) % BURST_PACKETS;
        (BURST_PACKETS - into).min(self.end.saturating_sub(self.nxt))
    }
}

/// Bytes of the largest burst (`sk_gso_max_size`).
const BURST_BYTES: u64 = 65_215;

/// Packets of it: as many of an Ethernet's as that holds.
const BURST_PACKETS: u32 = 44;

#[cfg(test)]
mod tests {
    use firstflight_core::units::Bytes;

    use super::*;
    use crate::endpoint::Recovery;
    use crate::tcp::Tcp;
    use crate::tcp::testing::{Air, endpoint, flow};

    /// Ten packets at the start and no more in flight later, for an RTT of 100 ms: two packets a
    /// millisecond and below. The ACKs come 0.1 ms apart.
    #[test]
    fn two_packets_leave_together_where_acks_come_close_together() {
        let sent = |tso| {
            let mut endpoint = endpoint();
            endpoint.recovery = Recovery::Rack;
            endpoint.initial_window = Bytes(10_000);
            endpoint.initial_ssthresh = Bytes(10_000);
            (endpoint.linux_pacing, endpoint.tso) = (true, tso);
            let spec = flow("slow-start", "newreno", endpoint);
            let (mut tcp, mut sent) = (Tcp::new(&spec, false), Vec::new());
            tcp.start(Instant(0), &mut Air(&mut sent));
            let mut counts = vec![std::mem::take(&mut sent).len()];
            for ack in 0..5 {
                let now = Instant(100_000_000 + u64::from(ack) * 100_000);
                tcp.on_ack(now, ack + 1, ack, &mut Air(&mut sent));
                counts.push(std::mem::take(&mut sent).len());
            }
            counts
        };
        assert_eq!(sent(false), [10, 1, 1, 1, 1, 1]);
        // The first ACK comes long after something left, and is not waited for.
        assert_eq!(sent(true), [10, 1, 0, 2, 0, 2]);
    }
}
