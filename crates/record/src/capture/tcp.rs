//! One direction of a connection, packet by packet: what was sent, acknowledged and sent again.

use firstflight_qlog::{Event, Evidence, Exit, Lost, Metrics, Watch, What};

use super::flight::{JITTER_NS, Path, Rounds};
use super::flows::TcpConnection;
use super::limits::LimitIntervals;
use super::packet::{AddressPair, Packet, Tcp};
use super::place::{HandshakeTimes, Place};
use super::sent::Sent;
use crate::Recorded;

/// The direction in which data goes, and the ACKs that come back.
pub(crate) struct Direction {
    flow: TcpConnection,
    ends: AddressPair,
    /// Why the capture cannot show start-up; then only bytes are counted.
    hidden: Option<String>,
    handshake_times: Option<HandshakeTimes>,
    /// By how many bits the receiver shifts the windows that it offers.
    scale: Option<u8>,
    /// The payload of a full segment, if the handshake has it.
    full: Option<u64>,
    watch: Watch,
    /// The first packet's time; later times count from it.
    first_ns: Option<u64>,
    /// The newest time: a capture may have packets a little out of order.
    now_ns: u64,
    /// The number of the first byte.
    first_byte: Option<u32>,
    sent: Sent,
    /// The byte behind the receiver's window, and that window.
    window: Option<(u64, u64)>,
    /// Since when that window has had no room for a segment.
    full_window_ns: Option<u64>,
    /// Since when nothing has been in flight.
    idle_ns: Option<u64>,
    /// Smoothed and smallest RTT, nanoseconds.
    rtt_ns: Option<(u64, u64)>,
    rounds: Rounds,
    limits: LimitIntervals,
    /// Packets of data on the wire: cards and kernels hand several over as one.
    packets: u64,
}

impl Direction {
    pub(crate) fn new(flow: TcpConnection) -> Self {
        let sender = flow.sender();
        let handshake_times = flow.handshake.times(sender);
        Self {
            ends: flow.data_direction(),
            hidden: hidden(&flow, handshake_times),
            handshake_times,
            scale: flow.handshake.scale(1 - sender),
            full: flow.handshake.full(),
            flow,
            watch: Watch::new(),
            first_ns: None,
            now_ns: 0,
            first_byte: None,
            sent: Sent::default(),
            window: None,
            full_window_ns: None,
            idle_ns: None,
            rtt_ns: None,
            rounds: Rounds::default(),
            limits: LimitIntervals::default(),
            packets: 0,
        }
    }

    /// Takes a packet of the connection.
    pub(crate) fn take(&mut self, at_ns: u64, packet: &Packet) {
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        self.now_ns = self.now_ns.max(at_ns.saturating_sub(first_ns));
        let is_forward = packet.ends == self.ends;
        match packet.tcp {
            Some(tcp) if is_forward && self.hidden.is_none() => self.on_data(&tcp, packet.payload),
            Some(tcp) if self.hidden.is_none() => self.on_ack(&tcp),
            Some(tcp) if is_forward && packet.payload > 0 && !tcp.syn => {
                self.passed(packet.payload)
            }
            None if is_forward => self.passed(packet.payload),
            _ => {}
        }
    }

    /// Bytes passed, and nothing more is known of them.
    fn passed(&mut self, payload: u64) {
        let rtt_ms =
            self.handshake_times.map(|handshake_times| handshake_times.rtt_ns() as f64 / 1e6);
        if self.packets == 0 && rtt_ms.is_some() {
            self.push(What::Metrics(Metrics { min_rtt_ms: rtt_ms, ..Metrics::default() }));
        }
        self.leave(payload);
    }

    fn leave(&mut self, payload: u64) {
        self.packets += payload.div_ceil(self.full(payload)).max(1);
        self.push(What::Sent(sized(payload)));
    }

    fn on_data(&mut self, tcp: &Tcp, payload: u64) {
        if tcp.syn {
            self.first_byte = Some(tcp.sequence.wrapping_add(1));
            return;
        }
        if payload == 0 {
            return;
        }
        let Some(start) = self.place(tcp.sequence, self.sent.until) else { return };
        let end = start.saturating_add(payload);
        // A probe of a connection that rests repeats a byte that was acknowledged (RFC 9293
        // section 3.8.4).
        if payload == 1 && end <= self.sent.acked {
            return;
        }
        let segment = self.sent.classify(start, end);
        if segment.again > 0 {
            // No sender knows of a loss within an RTT (RFC 6298, RFC 8985): where a capture has
            // the packets of several interfaces, it has each packet more than once.
            let soon = |before_ns: u64| self.now_ns - before_ns < self.path().least_rtt_ns / 2;
            if segment.before_ns.is_some_and(soon) {
                return;
            }
            self.rounds.lost(self.now_ns);
            let packets = segment.again.div_ceil(self.full(segment.again));
            let bytes = Some(segment.again);
            self.push(What::Lost(Lost { packets, bytes, ..Lost::default() }));
        }
        self.resume();
        self.sent.take(start, end, self.now_ns, segment);
        self.leave(payload);
        let (flight, path) = (self.sent.flight(), self.path());
        self.rounds.sent(self.now_ns, flight, path, &mut self.limits);
        self.check_window();
        self.metrics(Metrics::default());
    }

    /// Data leave: if nothing was in flight, the application may have paused.
    fn resume(&mut self) {
        let Some(since_ns) = self.idle_ns.take() else { return };
        let path = self.path();
        // The ACK of all that is in flight lets a sender send at once. Where requests and answers
        // take turns it waits for an RTT.
        if self.now_ns - since_ns <= path.least_rtt_ns / 2 + JITTER_NS {
            return;
        }
        self.rounds.paused(path, &mut self.limits);
        // A window without room is the receiver's doing.
        if self.full_window_ns.is_none() {
            let gap_ns = self.rtt_ns.map_or(path.least_rtt_ns, |(smoothed, _)| smoothed);
            self.limits.by_application(since_ns, self.now_ns, gap_ns);
        }
    }

    fn on_ack(&mut self, tcp: &Tcp) {
        if let (Some(ack), true) = (tcp.ack, tcp.syn) {
            self.first_byte.get_or_insert(ack);
        }
        let Some(ack) = tcp.ack.filter(|_| !tcp.syn) else { return };
        let Some(acked) = self.place(ack, self.sent.acked) else { return };
        // What was never seen to be sent is the FIN, or missing in the capture.
        let acked = acked.min(self.sent.until);
        if acked < self.sent.acked {
            return;
        }
        self.update_window(acked, tcp.window);
        if acked == self.sent.acked {
            return;
        }
        let sent_ns = self.sent.ack(acked);
        let rtt_ns = sent_ns.map(|sent_ns| self.now_ns - sent_ns);
        let sample = rtt_ns.map(|rtt_ns| self.sample(rtt_ns)).unwrap_or_default();
        self.metrics(sample);
        self.rounds.take_sample(rtt_ns, self.window.map(|(_, window)| window));
        self.rounds.acked(self.now_ns, acked, self.sent.until);
        if self.sent.flight() == 0 {
            self.idle_ns = Some(self.now_ns);
        }
    }

    /// Takes the window that the receiver offers behind what it acknowledges.
    fn update_window(&mut self, acked: u64, window: u16) {
        let Some(scale) = self.scale else { return };
        let window = u64::from(window) << scale;
        self.window = Some((acked + window, window));
        self.check_window();
    }

    /// Checks whether the receiver's window has room for a segment, and ends the time without.
    fn check_window(&mut self) {
        let Some((edge, window)) = self.window else { return };
        let full_window = edge.saturating_sub(self.sent.until) < self.full(USUAL_MSS);
        if let Some(since_ns) = self.full_window_ns.take() {
            let gap_ns = self.rtt_ns.map_or(0, |(smoothed, _)| smoothed);
            self.limits.by_window(since_ns, self.now_ns, window, gap_ns);
        }
        if full_window {
            self.rounds.full_window();
            self.full_window_ns = Some(self.now_ns);
        }
    }

    /// A new RTT; the smoothed one is RFC 6298's.
    fn sample(&mut self, rtt_ns: u64) -> Metrics {
        let (smoothed, least) = match self.rtt_ns {
            None => (rtt_ns, rtt_ns),
            Some((smoothed, least)) => ((smoothed / 8) * 7 + rtt_ns / 8, least.min(rtt_ns)),
        };
        self.rtt_ns = Some((smoothed, least));
        let ms = |ns: u64| Some(ns as f64 / 1e6);
        Metrics {
            latest_rtt_ms: ms(rtt_ns),
            smoothed_rtt_ms: ms(smoothed),
            min_rtt_ms: ms(least),
            ..Metrics::default()
        }
    }

    fn metrics(&mut self, sample: Metrics) {
        let bytes_in_flight = Some(self.sent.flight());
        self.push(What::Metrics(Metrics { bytes_in_flight, ..sample }));
    }

    /// What is known of the path; before the first ACK the handshake's RTT.
    fn path(&self) -> Path {
        let handshake_ns = || self.handshake_times.map_or(0, HandshakeTimes::rtt_ns);
        let least_rtt_ns = self.rtt_ns.map_or_else(handshake_ns, |(_, least)| least);
        Path { least_rtt_ns, segment: self.full(USUAL_MSS) }
    }

    /// The payload of a full packet, where one of these bytes is sent.
    fn full(&self, payload: u64) -> u64 {
        self.full.unwrap_or(payload.min(USUAL_MSS)).max(1)
    }

    /// How many bytes lie before a sequence number, of which the nearest to `near` is meant; `None`
    /// for one before the first byte.
    fn place(&mut self, sequence: u32, near: u64) -> Option<u64> {
        let first = *self.first_byte.get_or_insert(sequence);
        #[expect(clippy::cast_possible_truncation, reason = "numbers wrap")]
        let nearest = first.wrapping_add(near as u32);
        #[expect(clippy::cast_possible_wrap, reason = "a distance in either direction")]
        let distance = sequence.wrapping_sub(nearest) as i32;
        near.checked_add_signed(i64::from(distance))
    }

    fn push(&mut self, what: What) {
        self.watch.take(&Event { at_ms: self.now_ns as f64 / 1e6, what });
    }

    pub(crate) fn recorded(mut self) -> Recorded {
        self.check_window();
        let path = self.path();
        self.rounds.end_flat(path, &mut self.limits);
        *self.watch.limits() = self.limits.finish();
        let mut connection = self.watch.finish();
        connection.title = self.flow.title();
        let place = self.handshake_times.map(HandshakeTimes::place);
        connection.vantage = place.map_or("", Place::name).to_owned();
        let summary = &mut connection.summary;
        summary.duration_s = self.now_ns as f64 / 1e9;
        summary.packets_sent = summary.packets_sent.map(|_| self.packets);
        if self.hidden.is_some() {
            (summary.packets_lost, summary.bytes_lost) = (None, None);
        } else if let Some(end) = self.rounds.end {
            let time_s = end.at_ns as f64 / 1e9;
            let vicinity_s = self.rtt_ns.map_or(0, |(smoothed, _)| smoothed) as f64 / 1e9;
            let lost = connection.curves(time_s + vicinity_s).lost;
            let lost = lost.points().last().map_or(0.0, |lost| lost.1);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let lost = Some(lost as u64);
            let exit = Exit::new(time_s, end.reason, Evidence::Flight, Some(end.flight), lost);
            connection.summary.exit = Some(exit);
        }
        connection.hidden = self.hidden;
        Recorded {
            connection,
            mss: self.full,
            udp: self.flow.udp,
            taken: self.handshake_times.map(HandshakeTimes::words),
            ..Recorded::default()
        }
    }
}

/// Why a capture cannot show the start-up of a connection.
fn hidden(flow: &TcpConnection, handshake_times: Option<HandshakeTimes>) -> Option<String> {
    if flow.udp {
        let only = "the packets are UDP's: bytes over time can be seen of them, and no window, RTT \
                    or loss; the qlog of a QUIC stack has these";
        return Some(only.to_owned());
    }
    let (sender, receiver) = (flow.sender(), 1 - flow.sender());
    if flow.bytes == [0; 2] && flow.acknowledged(receiver) == 0 {
        // Nothing is there that could be hidden.
        return None;
    }
    if flow.packets[receiver] == 0 {
        let only = "the capture has the data of one direction and no ACKs: what is in flight and \
                    its RTT cannot be seen";
        return Some(only.to_owned());
    }
    if flow.packets[sender] == 0 {
        let only = "the capture has the ACKs and not the data that they acknowledge";
        return Some(only.to_owned());
    }
    if !flow.handshake.has_begin() {
        let begin = "the capture begins in the middle of the connection: it has no SYN";
        let flight = in_flight_at_begin(flow).map_or(String::new(), |bytes| {
            format!(", and {:.1} kB were in flight", bytes as f64 / 1e3)
        });
        return Some(format!("{begin}{flight}"));
    }
    match handshake_times {
        None => Some(
            "the capture lacks a part of the handshake, so that it does not show where it was \
             taken: what is in flight can be seen at the sender only"
                .to_owned(),
        ),
        Some(handshake_times) if handshake_times.place() == Place::Sender => None,
        Some(handshake_times) => Some(format!(
            "the capture was taken {}; what is in flight and its RTT can be seen at the sender \
             only",
            handshake_times.words()
        )),
    }
}

/// How far the first data were ahead of the first ACK, if they were.
fn in_flight_at_begin(flow: &TcpConnection) -> Option<u32> {
    let data = flow.first_data[flow.sender()]?;
    let (ack, _) = flow.acks[1 - flow.sender()]?;
    let ahead = data.wrapping_sub(ack);
    (1..1 << 31).contains(&ahead).then_some(ahead)
}

fn sized(bytes: u64) -> firstflight_qlog::Packet {
    firstflight_qlog::Packet { length: Some(bytes), ..Default::default() }
}

/// The payload of a full packet where the handshake was not captured: 1500 bytes with time stamps.
const USUAL_MSS: u64 = 1448;
