//! One direction of a connection, packet by packet: what was sent, acknowledged and sent again.

use std::collections::VecDeque;

use firstflight_qlog::{Connection, Event, Evidence, Exit, Lost, Metrics, What};

use crate::Recorded;
use crate::flight::Rounds;
use crate::packet::{Ends, Packet, Tcp};

/// The direction in which data goes, and the ACKs that come back.
pub(crate) struct Direction {
    ends: Ends,
    events: Vec<Event>,
    /// The first packet's time; later times count from it.
    first_ns: Option<u64>,
    /// The newest time: a capture may have packets a little out of order.
    now_ns: u64,
    /// The number of the first byte, and how far bytes were sent and acknowledged from there.
    first_byte: Option<u32>,
    sent: u64,
    acked: u64,
    /// Segments that are not acknowledged: where each ends, when it left, whether it left again.
    outstanding: VecDeque<(u64, u64, bool)>,
    mss: u64,
    /// Smoothed and smallest RTT, milliseconds.
    rtt: Option<(f64, f64)>,
    rounds: Rounds,
    idle: Idle,
    udp: bool,
    packets: u64,
    cut: bool,
}

/// How long nothing was in flight.
#[derive(Default)]
struct Idle {
    since_ns: Option<u64>,
    total_ns: u64,
    /// The first and the last data, or the end of start-up.
    from_ns: Option<u64>,
    until_ns: u64,
}

impl Direction {
    pub(crate) fn new(ends: Ends) -> Self {
        Self {
            ends,
            events: Vec::new(),
            first_ns: None,
            now_ns: 0,
            first_byte: None,
            sent: 0,
            acked: 0,
            outstanding: VecDeque::new(),
            mss: 0,
            rtt: None,
            rounds: Rounds::default(),
            idle: Idle::default(),
            udp: false,
            packets: 0,
            cut: false,
        }
    }

    /// Takes a packet, if it belongs to the connection.
    pub(crate) fn take(&mut self, at_ns: u64, packet: &Packet) {
        let (there, back) = (packet.ends == self.ends, packet.ends.back() == self.ends);
        if !there && !back {
            return;
        }
        if self.packets >= MOST_PACKETS {
            self.cut = true;
            return;
        }
        self.packets += 1;
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        self.now_ns = self.now_ns.max(at_ns.saturating_sub(first_ns));
        match packet.tcp {
            Some(tcp) if there => self.data(&tcp, packet.payload),
            Some(tcp) => self.answer(&tcp),
            None => {
                self.udp = true;
                if there {
                    self.push(What::Sent(sized(packet.payload)));
                }
            }
        }
    }

    fn data(&mut self, tcp: &Tcp, payload: u64) {
        if let Some(mss) = tcp.mss {
            // With time stamps, which nearly all have, twelve bytes of it are theirs.
            self.mss = u64::from(mss);
        }
        if tcp.syn {
            self.first_byte = Some(tcp.sequence.wrapping_add(1));
            return;
        }
        if payload == 0 {
            return;
        }
        let Some(start) = self.place(tcp.sequence, self.sent) else { return };
        let end = start.saturating_add(payload);
        // A probe of a connection that rests repeats a byte that was acknowledged (RFC 9293
        // section 3.8.4).
        if payload == 1 && end <= self.acked {
            return;
        }
        let again = self.sent.min(end).saturating_sub(start);
        if again > 0 {
            self.again(start, again);
        }
        self.sent = self.sent.max(end);
        self.outstanding.push_back((end, self.now_ns, again > 0));
        let full = self.full(payload);
        let mut left = payload;
        while left > 0 {
            self.push(What::Sent(sized(left.min(full))));
            left -= left.min(full);
        }
        self.idle.sent(self.now_ns, self.rounds.end.is_some());
        self.rounds.sent(self.flight());
        self.metrics(Metrics::default());
    }

    /// Bytes that were sent before are sent again.
    fn again(&mut self, start: u64, bytes: u64) {
        for (end, _, again) in &mut self.outstanding {
            *again |= *end > start;
        }
        self.rounds.lost(self.now_ns);
        let packets = bytes.div_ceil(self.full(bytes));
        let lost = Lost { packets, bytes: Some(bytes), ..Lost::default() };
        self.push(What::Lost(lost));
    }

    fn answer(&mut self, tcp: &Tcp) {
        if let (Some(ack), true) = (tcp.ack, tcp.syn) {
            self.first_byte.get_or_insert(ack);
        }
        if let Some(mss) = tcp.mss {
            let own = if self.mss == 0 { u64::MAX } else { self.mss };
            self.mss = own.min(u64::from(mss));
        }
        let Some(ack) = tcp.ack.filter(|_| !tcp.syn) else { return };
        let Some(acked) = self.place(ack, self.acked) else { return };
        // What was never seen to be sent left before the capture began, or is the FIN.
        let acked = acked.min(self.sent);
        if acked <= self.acked {
            return;
        }
        self.acked = acked;
        let mut newest = None;
        while let Some((end, at_ns, again)) = self.outstanding.front().copied() {
            if end > acked {
                break;
            }
            self.outstanding.pop_front();
            newest = Some((at_ns, again));
        }
        self.push(What::Received(sized(0)));
        // Karn's rule: the ACK of a segment that was sent twice tells no RTT.
        let sample = newest.filter(|(_, again)| !again).map(|(at_ns, _)| self.now_ns - at_ns);
        let told = sample.map(|rtt_ns| self.sample(rtt_ns as f64 / 1e6)).unwrap_or_default();
        self.metrics(told);
        self.rounds.acked(self.now_ns, acked, self.sent);
        if self.flight() == 0 {
            self.idle.since_ns = Some(self.now_ns);
        }
    }

    /// A new RTT; the smoothed one is RFC 6298's.
    fn sample(&mut self, rtt: f64) -> Metrics {
        let (smoothed, least) = match self.rtt {
            None => (rtt, rtt),
            Some((smoothed, least)) => (smoothed + (rtt - smoothed) / 8.0, least.min(rtt)),
        };
        self.rtt = Some((smoothed, least));
        Metrics {
            latest_rtt_ms: Some(rtt),
            smoothed_rtt_ms: Some(smoothed),
            min_rtt_ms: Some(least),
            ..Metrics::default()
        }
    }

    fn metrics(&mut self, told: Metrics) {
        self.push(What::Metrics(Metrics { bytes_in_flight: Some(self.flight()), ..told }));
    }

    /// What was sent and is not acknowledged cumulatively.
    fn flight(&self) -> u64 {
        self.sent.saturating_sub(self.acked)
    }

    /// The payload of a full packet.
    fn full(&self, payload: u64) -> u64 {
        if self.mss > 0 { self.mss } else { payload.min(USUAL_MSS) }.max(1)
    }

    /// How many bytes lie before a sequence number, of which the nearest to `near` is meant; `None`
    /// for one before the first byte.
    fn place(&mut self, sequence: u32, near: u64) -> Option<u64> {
        let first = *self.first_byte.get_or_insert(sequence);
        #[expect(clippy::cast_possible_truncation, reason = "numbers wrap")]
        let there = first.wrapping_add(near as u32);
        #[expect(clippy::cast_possible_wrap, reason = "a distance in either direction")]
        let apart = sequence.wrapping_sub(there) as i32;
        near.checked_add_signed(i64::from(apart))
    }

    fn push(&mut self, what: What) {
        self.events.push(Event { at_ms: self.now_ns as f64 / 1e6, what });
    }

    pub(crate) fn recorded(self) -> Recorded {
        let mut connection = Connection::new(self.events);
        connection.title = format!(
            "{} from {}:{} to {}:{}",
            if self.udp { "UDP" } else { "TCP" },
            self.ends.from.0,
            self.ends.from.1,
            self.ends.to.0,
            self.ends.to.1
        );
        let mut summary = connection.summary();
        let end = self.rounds.end.filter(|_| !self.udp);
        summary.exit = end.map(|end| {
            let vicinity = self.rtt.map_or(0.0, |(smoothed, _)| smoothed) / 1e3;
            let time_s = end.at_ns as f64 / 1e9;
            let lost = connection.curves(time_s + vicinity).lost.last().map_or(0.0, |lost| lost.1);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let lost = lost as u64;
            Exit::new(time_s, end.reason, Evidence::Flight, Some(end.flight), lost)
        });
        Recorded {
            summary,
            connection,
            truncated: self.cut,
            mss: self.mss,
            idle_share: if self.udp { None } else { self.idle.share() },
            udp: self.udp,
            ..Recorded::default()
        }
    }
}

impl Idle {
    fn sent(&mut self, now_ns: u64, ended: bool) {
        let since_ns = self.since_ns.take();
        if ended {
            return;
        }
        self.from_ns.get_or_insert(now_ns);
        self.until_ns = now_ns;
        self.total_ns += since_ns.map_or(0, |since| now_ns.saturating_sub(since));
    }

    fn share(&self) -> Option<f64> {
        let all = self.until_ns.checked_sub(self.from_ns?).filter(|all| *all > 0)?;
        Some(self.total_ns as f64 / all as f64)
    }
}

fn sized(bytes: u64) -> firstflight_qlog::Packet {
    firstflight_qlog::Packet { length: Some(bytes), ..Default::default() }
}

/// Packets of a connection that are read: 4 GB of data have as many.
const MOST_PACKETS: u64 = 4_000_000;
/// The payload of a full packet where the handshake was not captured: 1500 bytes with time stamps.
const USUAL_MSS: u64 = 1448;
