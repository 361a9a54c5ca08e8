//! Streams like a connection's: a bottleneck with a drop-tail buffer, losses and their recovery,
//! delayed ACKs, pauses of the source, timeouts, and segments that change their size.
//!
//! Both senders get the events of the kernel's shell: that the first data may leave, and before a
//! loss how much has left since the last ACK, in one sum (an ACK brings SND.NXT itself). A control
//! that needs it also gets before each ACK how much has left, and how much of that again.

use firstflight_core::event::{Ack, LossKind, Sent};
use firstflight_core::hint::Learned;
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_core::view::Window;

use super::both::Both;
use super::draw::Draw;

/// The path and what is on it, in bytes and ns.
struct Path {
    /// Time of one byte at the bottleneck, in 2^-10 ns.
    byte_time: u64,
    rtt: u64,
    buffer: u64,
    delayed: u64,
    now: u64,
    acked: u64,
    sent: u64,
    /// SND.NXT as both senders know it.
    snd_nxt: u64,
    /// What has left again and was not reported yet.
    again: u64,
    duplicates: u64,
    jitter: u64,
    /// Nothing is lost but what the buffer, which is deep, does not hold.
    clean: bool,
    /// What others queue, and so every sample has in it for a while.
    cross: u64,
    /// ACKs come as the bottleneck spaces them, a train per RTT, instead of spread over the RTT;
    /// the train at hand ends with this.
    trains: bool,
    train_end: u64,
}

/// Up to two thousand ACKs over one path.
pub(crate) fn drive(both: &mut Both, draw: &mut Draw) {
    let rate = 1 << draw.between(16, 33);
    let rtt = 1 << draw.between(14, 31);
    let bdp = (u128::from(rate) * u128::from(rtt) / 1_000_000_000) as u64;
    let clean = draw.once_in(4);
    let mut path = Path {
        byte_time: (1_000_000_000 << 10) / rate,
        rtt,
        buffer: bdp * draw.between(1, 8) / if clean { 1 } else { 4 } + 3_000,
        // Some receivers thin ACKs so far that a train has one.
        delayed: if draw.once_in(4) { draw.between(4, 12) } else { draw.between(1, 3) },
        now: draw.any() >> 10,
        acked: 0,
        sent: 0,
        snd_nxt: 0,
        again: 0,
        duplicates: 0,
        jitter: if draw.once_in(2) { rtt / 50 } else { 2_000_000 },
        clean,
        cross: 0,
        trains: both.wakes && draw.once_in(2),
        train_end: 0,
    };
    if draw.once_in(3) {
        both.endpoint_paces(true);
    }
    if draw.once_in(2) {
        both.handshake(path.now, rtt);
    }
    if draw.once_in(2) {
        let cwnd = Bytes(bdp * draw.between(1, 8) / 4);
        let ssthresh = if draw.once_in(2) { Bytes::MAX } else { cwnd };
        both.hint(
            path.now,
            Learned {
                window: Window { cwnd, ssthresh },
                rtt: Span(rtt),
                min_rtt: Span(rtt * draw.between(1, 5) / 2),
                delivered: Bytes(bdp * draw.between(1, 100)),
                per_round: Bytes(bdp * draw.between(1, 8) / 4),
                rate: None,
                age: Span(draw.between(1, 700) * 1_000_000_000),
            },
        );
    }
    if !draw.once_in(4) {
        // Else the connection changes to this control while it runs.
        both.begin(path.now);
    }
    for _ in 0..draw.between(50, 2_000) {
        path.send(both);
        path.wake(both, draw);
        path.acknowledge(both, draw);
        path.happen(both, draw);
    }
}

impl Path {
    fn flight(&self) -> u64 {
        (self.sent - self.acked).saturating_sub(self.duplicates)
    }

    /// As much as the window allows.
    fn send(&mut self, both: &Both) {
        let room = both.cwnd().saturating_sub(self.flight()).min(1 << 34);
        self.sent += room - room % both.mss();
    }

    /// Start-up is woken when it wants to be, or by the next ACK.
    fn wake(&mut self, both: &mut Both, draw: &mut Draw) {
        let Some(at) = both.wake_at() else { return };
        if at > self.now && draw.once_in(3) {
            return;
        }
        self.now = self.now.max(at);
        both.wake(self.now);
        self.send(both);
    }

    fn lose(&mut self, both: &mut Both, kind: LossKind, flight: u64, again: bool) {
        self.report_sent(both);
        both.loss(self.now, kind, flight, again);
        self.again += both.mss();
    }

    /// Reports what has left since the last report.
    fn report_sent(&mut self, both: &mut Both) {
        let (now, in_flight) = (Instant(self.now), Bytes(self.flight()));
        let new = self.sent.saturating_sub(self.snd_nxt);
        let repeated = if both.needs_sent { std::mem::take(&mut self.again) } else { 0 };
        for (bytes, again) in [(new, false), (repeated, true)] {
            if bytes > 0 {
                both.sent(&Sent { now, bytes: Bytes(bytes), in_flight, again });
            }
        }
        self.snd_nxt = self.snd_nxt.max(self.sent);
    }

    fn acknowledge(&mut self, both: &mut Both, draw: &mut Draw) {
        let mss = both.mss();
        let flight = self.flight().max(mss);
        let serialized = (u128::from(flight) * u128::from(self.byte_time)) >> 10;
        let rtt = self.rtt.max(u64::try_from(serialized).unwrap_or(u64::MAX >> 8));
        if self.trains {
            self.now += (self.delayed * mss * self.byte_time) >> 10;
            if self.acked >= self.train_end {
                (self.now, self.train_end) = (self.now + rtt, self.sent);
            }
        } else {
            let gap = rtt / (flight / mss).max(1) * self.delayed;
            self.now += draw.between(0, 2 * gap);
        }
        if both.recovering() && draw.once_in(2) {
            // A duplicate ACK: one segment has left the network.
            self.duplicates = (self.duplicates + mss).min(self.sent - self.acked);
            return self.ack(both, 0, mss, None, false);
        }
        let bytes = (mss * draw.between(1, self.delayed)).min(self.sent - self.acked);
        let credited = bytes.saturating_sub(self.duplicates);
        self.duplicates = self.duplicates.saturating_sub(bytes);
        self.acked += bytes;
        let sample = (!draw.once_in(9)).then(|| rtt + self.cross + draw.between(0, self.jitter));
        self.ack(both, bytes, credited, sample, draw.once_in(30));
    }

    fn ack(&mut self, both: &mut Both, acked: u64, credited: u64, rtt: Option<u64>, limited: bool) {
        if both.needs_sent {
            self.report_sent(both);
        }
        self.snd_nxt = self.sent;
        both.ack(&Ack {
            now: Instant(self.now),
            acked: Bytes(acked),
            credited: Bytes(credited),
            rtt: rtt.map(Span),
            in_flight: Bytes(self.flight()),
            snd_nxt: Bytes(self.sent),
            app_limited: limited,
            ..Ack::default()
        });
    }

    fn happen(&mut self, both: &mut Both, draw: &mut Draw) {
        let full = self.flight() > self.buffer && draw.once_in(3);
        // Some losses are found while others are repaired.
        let found = full && !both.recovering() || !self.clean && draw.once_in(150);
        if found {
            self.lose(both, LossKind::Recovery, self.flight(), false);
        }
        if both.recovering() && draw.once_in(20) {
            self.duplicates = 0;
            let inflated = both.cwnd() + both.mss() * draw.between(0, 3);
            both.recovered(draw.once_in(2).then_some(inflated));
        }
        if !self.clean && draw.once_in(400) {
            // The sender starts again from what is acknowledged.
            let flight = self.flight();
            self.now += self.rtt * draw.between(2, 20);
            self.lose(both, LossKind::Timeout, flight, draw.once_in(4));
            (self.sent, self.duplicates) = (self.acked, 0);
            if draw.once_in(4) {
                both.spurious();
            }
        }
        if !self.clean && draw.once_in(300) {
            let idle = self.rtt.saturating_mul(1 << draw.between(0, 12));
            self.now += idle;
            if self.flight() == 0 {
                both.rest(self.now, idle);
            }
        }
        if draw.once_in(40) {
            self.cross = draw.between(0, 20_000_000);
        }
        if draw.once_in(900) {
            both.set_mss(draw.between(100, 9_000));
        }
    }
}
