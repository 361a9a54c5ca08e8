//! A client that sends one stream to a server, as the ends of a flow.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use super::adapter::{Build, OfStack};
use super::proto::congestion::ControllerFactory;
use super::proto::{
    ClientConfig, Connection, Dir, EndpointConfig, Event, ServerConfig, StreamEvent, StreamId,
    ValidationTokenConfig, VarInt,
};
use super::seam;
use bytes::Bytes as Chunk;
use firstflight_core::hint::Learned;
use firstflight_core::sender::{Sender, StartupExit};
use firstflight_core::units::{Bytes, Instant, Span};
use firstflight_qlog::{Header, Tap};
use firstflight_runner::LogFile;
use firstflight_sim::{Counts, Datagram, Ends, FlowOutcome, SenderState, Way};

use super::end::{End, Sent};
use super::setup::{QuicControl, Setup, SetupError};
use super::shared::{Shared, WatchedFactory};
use super::tls::tls;

/// Both ends of a QUIC connection. The client sends, the server receives.
pub struct ClientAndServer {
    client: End,
    server: End,
    connect: Option<ClientConfig>,
    log: Option<Tap<LogFile>>,
    factory: Arc<WatchedFactory>,
    controller: Option<Shared>,
    /// The stack's time of the simulation's zero.
    base: Clock,
    /// The UDP payload of a full packet.
    packet_bytes: u64,
    /// How many bytes the application writes at a time.
    piece: usize,
    /// Bytes that the application still has to write; `None` without end.
    to_write: Option<u64>,
    /// Bytes of all that is to be sent; `None` without end.
    size: Option<u64>,
    /// What happens by the clock after the start.
    schedule: Schedule,
    /// The stream being written and the room left on it.
    stream: Option<(StreamId, usize)>,
    /// Every stream that the receiver has not acknowledged whole.
    open: Vec<StreamId>,
    /// The handshake is over.
    connected: bool,
    /// The source has been stopped, and how much had been delivered then.
    stopped: Option<u64>,
    /// Payload that the receiver has read.
    delivered: u64,
    /// When all of it was delivered.
    finished_at: Option<Instant>,
    /// Why the connection ended before its time.
    error: Option<String>,
    /// The earliest of both ends' timers.
    deadline: Option<Instant>,
    /// Packets between the two ends: one allocation for all.
    scratch: Vec<Sent>,
}

impl ClientAndServer {
    /// The ends of a flow that begins when the network says so.
    ///
    /// # Errors
    /// A packet size that QUIC does not have.
    pub fn new(setup: &Setup) -> Result<Self, SetupError> {
        Self::built(setup, setup.build(), None)
    }

    /// The ends of a flow, with the stack's own qlog of the sender, completed as
    /// [`firstflight_qlog::Completing`] does. If the log cannot be written, the connection fails.
    ///
    /// # Errors
    /// A packet size that QUIC does not have.
    pub fn logged(setup: &Setup, header: Header, to: LogFile) -> Result<Self, SetupError> {
        Self::built(setup, setup.build(), Some((header, to)))
    }

    /// The ends of a flow, with controllers of `factory` in place of the setup's.
    ///
    /// # Errors
    /// A packet size that QUIC does not have.
    pub fn with_controller(
        setup: &Setup,
        factory: Arc<dyn ControllerFactory + Send + Sync>,
    ) -> Result<Self, SetupError> {
        Self::built(setup, Build::Other(factory), None)
    }

    fn built(
        setup: &Setup,
        build: Build,
        log: Option<(Header, LogFile)>,
    ) -> Result<Self, SetupError> {
        let packet = setup.check()?;
        let base = Clock::now();
        let factory = Arc::new(WatchedFactory::new(build, base));
        let tls = tls();

        let mut transport = setup.transport(packet);
        transport.congestion_controller_factory(factory.clone());
        let reports_exit = !matches!(setup.control, QuicControl::Stacks(OfStack::Bbr));
        let log = log.map(|(header, to)| factory.log(header, to, reports_exit));
        if let Some(log) = &log {
            seam::log(&mut transport, log.clone(), base);
        }
        let mut connect = ClientConfig::new(tls.client);
        connect.transport_config(Arc::new(transport));

        let mut server = ServerConfig::with_crypto(tls.server);
        server.transport_config(Arc::new(setup.receiver(packet)));
        let mut tokens = ValidationTokenConfig::default();
        tokens.sent(0);
        server.validation_token_config(tokens);

        let endpoint = EndpointConfig::default;
        Ok(Self {
            client: End::client(endpoint(), seed(setup.seed, 0), packet),
            server: End::server(endpoint(), seed(setup.seed, 1), packet, server),
            connect: Some(connect),
            log,
            factory,
            controller: None,
            base,
            packet_bytes: setup.packet_bytes,
            piece: piece(setup),
            to_write: setup
                .size
                .map(|size| size.saturating_sub(setup.writes.iter().map(|(_, bytes)| bytes).sum())),
            size: setup.size,
            schedule: Schedule {
                started: None,
                writes: setup.writes.iter().copied().collect(),
                receiver_window_until: setup.receiver_window_until,
            },
            stream: None,
            open: Vec::new(),
            connected: false,
            error: None,
            stopped: None,
            delivered: 0,
            finished_at: None,
            deadline: None,
            scratch: Vec::new(),
        })
    }

    /// When all was delivered, once the sender knows it.
    pub(crate) fn over(&self) -> Option<Instant> {
        self.finished_at.filter(|_| Ends::in_flight(self) == Bytes(0))
    }

    /// The application has so many bytes more, on the connection that there is.
    pub(crate) fn send_more(&mut self, bytes: u64, now: Instant, out: &mut Vec<Datagram>) {
        for all in [&mut self.to_write, &mut self.size].into_iter().flatten() {
            *all += bytes;
        }
        self.finished_at = None;
        self.after_event(now, out);
    }

    /// What the sender has learned of its path, if it is one of firstflight's.
    pub(crate) fn learned(&self) -> Option<Learned> {
        self.controller.as_ref()?.lock().controller.sender()?.learned()
    }

    fn clock(&self, now: Instant) -> Clock {
        self.base + Duration::from_nanos(now.0)
    }

    /// Applications act, then both ends send what they may.
    fn after_event(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        let clock = self.clock(now);
        while let Some(event) = self.client.poll() {
            self.on_client_event(&event);
        }
        self.write();
        self.client.transmit(clock, &mut self.scratch);
        out.extend(self.scratch.drain(..).map(|sent| datagram(Way::Forward, sent)));
        while let Some(event) = self.server.poll() {
            self.on_server_event(&event, now);
        }
        self.server.transmit(clock, &mut self.scratch);
        out.extend(self.scratch.drain(..).map(|sent| datagram(Way::Back, sent)));
        let scheduled = self.schedule.next().map(|at| self.clock(at));
        let due = [self.client.deadline(), self.server.deadline(), scheduled];
        let due = due.into_iter().flatten().min();
        self.deadline = due.map(|due| {
            let ns = due.saturating_duration_since(self.base).as_nanos();
            Instant(u64::try_from(ns).unwrap_or(u64::MAX)).max(now)
        });
    }

    /// The application writes more, or the receiver opens its window, if the time has come.
    fn follow_schedule(&mut self, now: Instant) {
        if self.schedule.opens_at().is_some_and(|at| at <= now) {
            // A receiver that nothing has reached yet has no window.
            let later = self.schedule.receiver_window_until.map(|after| after + RETRY_NS);
            self.schedule.receiver_window_until = later.filter(|_| self.server.peek().is_none());
            if let Some(connection) = self.server.connection() {
                connection.set_receive_window(VarInt::MAX);
            }
        }
        while self.schedule.writes_at().is_some_and(|at| at <= now)
            && let Some((_, bytes)) = self.schedule.writes.pop_front()
        {
            self.to_write.iter_mut().for_each(|left| *left += bytes);
        }
    }

    fn on_client_event(&mut self, event: &Event) {
        match event {
            Event::Connected => self.connected = true,
            Event::ConnectionLost { reason } => self.error = Some(reason.to_string()),
            Event::Stream(StreamEvent::Finished { id }) => self.open.retain(|open| open != id),
            _ => {}
        }
    }

    /// The application writes all it may, stream after stream.
    fn write(&mut self) {
        if !self.connected || self.stopped.is_some() {
            return;
        }
        let Some(connection) = self.client.connection() else { return };
        while self.to_write != Some(0) {
            let (stream, room) = match self.stream {
                Some(stream) => stream,
                None => {
                    let Some(fresh) = connection.streams().open(Dir::Uni) else { return };
                    self.open.push(fresh);
                    (fresh, STREAM)
                }
            };
            self.stream = Some((stream, room));
            let most = self.to_write.map_or(room, |left| room.min(left as usize)).min(self.piece);
            let mut chunks = [Chunk::from_static(&BLOCK[..most])];
            let mut send = connection.send_stream(stream);
            let Some(written) = seam::write(&mut send, &mut chunks) else { return };
            if let Some(left) = &mut self.to_write {
                *left -= written as u64;
            }
            self.stream = Some((stream, room - written));
            if room == written || self.to_write == Some(0) {
                // Refused only where the peer has stopped the stream, which ours never does.
                let _ = send.finish();
                self.stream = None;
            }
        }
    }

    fn on_server_event(&mut self, event: &Event, now: Instant) {
        let Some(connection) = self.server.connection() else { return };
        match event {
            Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) => {
                while let Some(stream) = connection.streams().accept(Dir::Uni) {
                    self.delivered += read(connection, stream);
                }
            }
            Event::Stream(StreamEvent::Readable { id }) => self.delivered += read(connection, *id),
            Event::ConnectionLost { reason } => {
                self.error.get_or_insert_with(|| reason.to_string());
            }
            _ => {}
        }
        if self.size.is_some_and(|size| self.delivered >= size) {
            self.finished_at.get_or_insert(now);
        }
    }
}

/// What happens by the clock, in nanoseconds after the start.
struct Schedule {
    started: Option<Instant>,
    writes: VecDeque<(u64, u64)>,
    receiver_window_until: Option<u64>,
}

impl Schedule {
    fn writes_at(&self) -> Option<Instant> {
        Some(self.started? + Span(self.writes.front()?.0))
    }

    fn opens_at(&self) -> Option<Instant> {
        Some(self.started? + Span(self.receiver_window_until?))
    }

    fn next(&self) -> Option<Instant> {
        [self.writes_at(), self.opens_at()].into_iter().flatten().min()
    }
}

impl Ends for ClientAndServer {
    fn start(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        let clock = self.clock(now);
        self.schedule.started = Some(now);
        if let Some(config) = self.connect.take() {
            self.client.connect(clock, config);
            self.controller = self.factory.built();
        }
        self.after_event(now, out);
    }

    fn receive(&mut self, now: Instant, arrived: Datagram, out: &mut Vec<Datagram>) {
        let clock = self.clock(now);
        let end = match arrived.way {
            Way::Forward => &mut self.server,
            Way::Back => &mut self.client,
        };
        end.receive(clock, &arrived.payload, arrived.ecn, &mut self.scratch);
        let answers = match arrived.way {
            Way::Forward => Way::Back,
            Way::Back => Way::Forward,
        };
        out.extend(self.scratch.drain(..).map(|sent| datagram(answers, sent)));
        self.after_event(now, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Vec<Datagram>) {
        let clock = self.clock(now);
        self.client.expire(clock);
        self.server.expire(clock);
        self.follow_schedule(now);
        self.after_event(now, out);
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Resets every stream (RFC 9000 section 19.4): the stack has taken megabytes that have not
    /// left, on more than the stream being written. What was lost by then is not repaired.
    fn stop(&mut self) {
        self.stopped.get_or_insert(self.delivered);
        let Some(connection) = self.client.connection() else { return };
        for stream in self.open.drain(..) {
            // Refused only where the stream is over already.
            let _ = connection.send_stream(stream).reset(0_u32.into());
        }
    }

    fn cwnd(&self) -> Bytes {
        Bytes(self.controller.as_ref().map_or(0, |shared| shared.lock().controller.cwnd()))
    }

    fn in_flight(&self) -> Bytes {
        Bytes(self.controller.as_ref().map_or(0, |shared| shared.lock().watch.in_flight))
    }

    fn exit(&self) -> Option<StartupExit> {
        self.controller.as_ref()?.lock().watch.exit
    }

    fn state(&self) -> SenderState {
        let mut state = SenderState {
            cwnd: Bytes(0),
            ssthresh: Bytes::MAX,
            in_flight: Bytes(0),
            srtt: Span(0),
            acked_packets: 0,
            cuts: 0,
            timeouts: 0,
        };
        if let (Some(shared), Some(connection)) = (&self.controller, self.client.peek()) {
            let seen = shared.lock();
            state.cwnd = Bytes(seen.controller.cwnd());
            state.ssthresh = seen.controller.ssthresh().map_or(Bytes::MAX, Bytes);
            state.in_flight = Bytes(seen.watch.in_flight);
            state.acked_packets = seen.watch.acked / self.packet_bytes;
            state.cuts = seen.watch.cuts;
            state.timeouts = seen.watch.persistent;
            state.srtt = Span(u64::try_from(seam::rtt(connection).as_nanos()).unwrap_or(u64::MAX));
        }
        state
    }

    fn gauges(&self, report: &mut dyn FnMut(&'static str, u64)) {
        let Some(shared) = &self.controller else { return };
        if let Some(sender) = shared.lock().controller.sender() {
            sender.gauges(report);
        }
    }

    fn failure(&self) -> Option<String> {
        let log = self.log.as_ref().and_then(|log| log.finish().err());
        let log = log.map(|error| format!("its qlog was not written: {error}"));
        self.error.clone().or(log)
    }

    /// A stack counts packets of any content. What it declares lost it sends again.
    #[allow(clippy::needless_update, reason = "what only TCP counts need not be named here")]
    fn totals(&mut self) -> FlowOutcome {
        let (Some(shared), Some(connection)) = (&self.controller, self.client.connection()) else {
            return FlowOutcome::default();
        };
        // A stack asks the controller for its window: not while it is locked.
        let path = seam::stats(connection);
        let seen = shared.lock();
        let sender = seen.controller.sender();
        let seen = &seen.watch;
        FlowOutcome {
            delivered_bytes: Bytes(self.stopped.unwrap_or(self.delivered)),
            finished_at: self.finished_at,
            counts: Counts {
                sent_packets: path.sent_packets,
                retransmitted_packets: path.lost_packets,
                fast_retransmits: seen.cuts.saturating_sub(seen.persistent),
                timeouts: seen.persistent,
                cuts: seen.cuts,
                ..Counts::default()
            },
            reprobes: sender.map_or(0, Sender::reprobes),
            ..FlowOutcome::default()
        }
    }
}

fn datagram(way: Way, (payload, ecn): Sent) -> Datagram {
    Datagram { way, payload, ecn }
}

/// Reads all that is there in order; how much that was, in bytes.
fn read(connection: &mut Connection, stream: StreamId) -> u64 {
    let mut receive = connection.recv_stream(stream);
    let Ok(mut chunks) = receive.read(true) else { return 0 };
    let mut bytes = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        bytes += chunk.bytes.len() as u64;
    }
    // Whether something is to be sent is asked for after every event anyway.
    let _ = chunks.finalize();
    bytes
}

/// The seed of one end's generator, from the flow's.
fn seed(flow: u64, end: u8) -> [u8; 32] {
    let mut seed = [end; 32];
    seed[..8].copy_from_slice(&flow.to_le_bytes());
    seed
}

/// Bytes on one stream. A receiver of quinn-proto 0.11.19 closes the connection when it holds more
/// than 1024 pieces of one stream (quinn-rs/quinn#2809), and slow start on a long fat path leaves
/// more gaps than that behind. A mebibyte has fewer packets.
const STREAM: usize = 1 << 20;

/// When a receiver that had no connection yet is asked again, in nanoseconds.
const RETRY_NS: u64 = 1_000_000;

/// The stack keeps a piece that the application wrote until all of it is acknowledged, so that
/// where the sender keeps little they are as long as a packet.
fn piece(setup: &Setup) -> usize {
    let packet = usize::try_from(setup.packet_bytes).unwrap_or(BLOCK.len());
    setup.send_buffer.map_or(BLOCK.len(), |_| packet.min(BLOCK.len()))
}

/// The most that the application writes at a time.
static BLOCK: [u8; 64 * 1024] = [0; 64 * 1024];
