//! A quinn client that sends, a path, and a liar at its end, in virtual time.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant as Clock};

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint,
    Endpoint, EndpointConfig, Event, MtuDiscoveryConfig, ServerConfig, StreamId, TransportConfig,
    VarInt,
};

use super::keys::{self, NAME};
use super::liar::{Answer, Attack, Liar};
use super::watch::{Seen, Watching};

/// A path that may change: times ms, rates Mbit/s, the buffer in packets.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(crate) rate_mbps: u64,
    pub(crate) one_way_ms: u64,
    pub(crate) buffer: usize,
    pub(crate) mtu: usize,
    /// From then on: the delay and the MTU.
    pub(crate) changes: Vec<(u64, u64, usize)>,
}

/// How it went.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) seen: Seen,
    pub(crate) closed: Option<ConnectionError>,
}

/// One end.
struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    remote: SocketAddr,
}

struct Scene {
    now: u64,
    base: Clock,
    path: Path,
    client: End,
    /// Only for the handshake.
    server: End,
    liar: Liar,
    /// When the path has sent what it holds, ns; and what is on its way to either end.
    busy: u64,
    queued: Vec<u64>,
    forward: Vec<(u64, Vec<u8>)>,
    back: Vec<(u64, Vec<u8>)>,
    stream: Option<StreamId>,
    closed: Option<ConnectionError>,
}

/// Sends for `ms` of virtual time to a liar.
pub(crate) fn run(control: &str, attack: Attack, path: &Path, seed: u64, ms: u64) -> Outcome {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut scene = Scene::new(control, attack, path, seed, &seen);
    let end = ms * MS;
    let mut events = 0_u64;
    while let Some(next) = scene.step().filter(|next| *next <= end) {
        scene.now = next;
        events += 1;
        assert!(events < 1_000_000, "{control}, {attack:?}: time stands still at {next} ns");
    }
    let seen = *seen.lock().unwrap();
    Outcome { seen, closed: scene.closed }
}

impl Scene {
    fn new(control: &str, attack: Attack, path: &Path, seed: u64, seen: &Arc<Mutex<Seen>>) -> Self {
        let (client_tls, server_tls, tap) = keys::configs();
        let factory = firstflight_quic::quinn::any(control).expect("a listed name");
        let mut sending = transport();
        let seen = Arc::clone(seen);
        sending.congestion_controller_factory(Arc::new(Watching { factory, seen }));
        let mut connect = ClientConfig::new(client_tls);
        connect.transport_config(Arc::new(sending));
        let mut serve = ServerConfig::with_crypto(server_tls);
        serve.transport_config(Arc::new(transport()));

        let base = Clock::now();
        let mut client = End::new(None, SERVER, seed);
        client.connection = client.endpoint.connect(base, connect, SERVER, NAME).ok();
        Self {
            now: 0,
            base,
            path: path.clone(),
            client,
            server: End::new(Some(Arc::new(serve)), CLIENT, seed),
            liar: Liar::new(attack, tap, seed),
            busy: 0,
            queued: Vec::new(),
            forward: Vec::new(),
            back: Vec::new(),
            stream: None,
            closed: None,
        }
    }

    /// Everything that happens now; when something happens next, ns.
    fn step(&mut self) -> Option<u64> {
        let clock = self.base + Duration::from_nanos(self.now);
        self.change();
        for datagram in due(&mut self.forward, self.now) {
            self.arrive(clock, &datagram);
        }
        for datagram in due(&mut self.back, self.now) {
            for answer in self.client.receive(clock, &datagram) {
                self.leave(answer);
            }
        }
        for event in self.client.poll(clock) {
            if let Event::ConnectionLost { reason } = event {
                self.closed = Some(reason);
            }
        }
        self.server.poll(clock);
        self.write();
        for datagram in self.client.transmit(clock) {
            self.leave(datagram);
        }
        if !self.lies() {
            for datagram in self.server.transmit(clock) {
                self.liar.learn_id(&datagram);
                self.send_back((0, datagram));
            }
        }
        // A server that nobody feeds any more has nothing to be woken for.
        let server = if self.lies() { None } else { self.server.deadline() };
        let since = |due: Clock| due.saturating_duration_since(self.base).as_nanos() as u64;
        let timers = [self.client.deadline(), server].into_iter().flatten().map(since);
        let arrivals = self.forward.iter().chain(&self.back).map(|(at, _)| *at);
        let change = (!self.lies()).then_some(LIES_FROM_MS * MS);
        let next = timers.chain(arrivals).chain(change).min()?;
        Some(next.max(self.now))
    }

    fn lies(&self) -> bool {
        self.now >= LIES_FROM_MS * MS
    }

    fn change(&mut self) {
        for (from_ms, one_way_ms, mtu) in &self.path.changes {
            if self.now >= from_ms * MS {
                (self.path.one_way_ms, self.path.mtu) = (*one_way_ms, *mtu);
            }
        }
    }

    /// A datagram reaches the other end.
    fn arrive(&mut self, clock: Clock, datagram: &[u8]) {
        if self.lies() {
            for answer in self.liar.receive(datagram) {
                self.send_back(answer);
            }
            return;
        }
        self.liar.look_on(datagram);
        for answer in self.server.receive(clock, datagram) {
            self.send_back((0, answer));
        }
    }

    fn send_back(&mut self, (wait_ms, datagram): Answer) {
        self.back.push((self.now + (wait_ms + self.path.one_way_ms) * MS, datagram));
    }

    /// A datagram of the client's: into the bottleneck if it fits.
    fn leave(&mut self, datagram: Vec<u8>) {
        if self.lies() {
            for answer in self.liar.overhear(&datagram) {
                self.send_back(answer);
            }
        }
        let now = self.now;
        self.queued.retain(|departs| *departs > now);
        if datagram.len() > self.path.mtu || self.queued.len() >= self.path.buffer {
            return;
        }
        self.busy = self.busy.max(now) + datagram.len() as u64 * 8_000 / self.path.rate_mbps;
        self.queued.push(self.busy);
        self.forward.push((self.busy + self.path.one_way_ms * MS, datagram));
    }

    /// The application writes all it may, once the liar is in its place.
    fn write(&mut self) {
        if !self.lies() {
            return;
        }
        let Some((_, connection)) = &mut self.client.connection else { return };
        if self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        while connection.send_stream(stream).write(&[7; 65_536]).is_ok() {}
    }
}

impl End {
    fn new(server: Option<Arc<ServerConfig>>, remote: SocketAddr, seed: u64) -> Self {
        let mut config = EndpointConfig::default();
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_be_bytes());
        config.rng_seed(Some(bytes));
        let endpoint = Endpoint::new(Arc::new(config), server, true, None);
        Self { endpoint, connection: None, remote }
    }

    /// A datagram arrives; what the endpoint answers by itself.
    fn receive(&mut self, now: Clock, datagram: &[u8]) -> Vec<Vec<u8>> {
        let mut buffer = Vec::new();
        let data = BytesMut::from(datagram);
        // Every datagram comes with its ECN field as it left, which the liar may deny.
        let ecn = Some(EcnCodepoint::Ect0);
        match self.endpoint.handle(now, self.remote, None, ecn, data, &mut buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.connection = self.endpoint.accept(incoming, now, &mut buffer, None).ok();
            }
            Some(DatagramEvent::Response(transmit)) => {
                return vec![buffer[..transmit.size].to_vec()];
            }
            None => {}
        }
        Vec::new()
    }

    /// Timers that are due, and what the application should know.
    fn poll(&mut self, now: Clock) -> Vec<Event> {
        let Some((handle, connection)) = &mut self.connection else { return Vec::new() };
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        std::iter::from_fn(|| connection.poll()).collect()
    }

    fn deadline(&mut self) -> Option<Clock> {
        self.connection.as_mut()?.1.poll_timeout()
    }

    fn transmit(&mut self, now: Clock) -> Vec<Vec<u8>> {
        let Some((_, connection)) = &mut self.connection else { return Vec::new() };
        std::iter::from_fn(|| {
            let mut buffer = Vec::new();
            let transmit = connection.poll_transmit(now, 1, &mut buffer)?;
            Some(buffer[..transmit.size].to_vec())
        })
        .collect()
    }
}

/// Takes out what arrives by now, in order.
fn due(from: &mut Vec<(u64, Vec<u8>)>, now: u64) -> Vec<Vec<u8>> {
    let mut due: Vec<(u64, Vec<u8>)> = from.extract_if(.., |(at, _)| *at <= now).collect();
    due.sort_by_key(|(at, _)| *at);
    due.into_iter().map(|(_, datagram)| datagram).collect()
}

/// The settings of both ends: flow control allows what it can, and the sender buffers at most
/// [`BUFFERED`].
fn transport() -> TransportConfig {
    let mut transport = TransportConfig::default();
    transport
        .stream_receive_window(VarInt::MAX)
        .receive_window(VarInt::MAX)
        .send_window(BUFFERED)
        .max_idle_timeout(None)
        .mtu_discovery_config(Some(MtuDiscoveryConfig::default()));
    transport
}

/// What the sender may have unacknowledged, bytes.
pub(crate) const BUFFERED: u64 = 1_000_000;
/// When the server has confirmed the handshake on every path here, ms.
const LIES_FROM_MS: u64 = 500;
const MS: u64 = 1_000_000;
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4_432);
const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 4_433);
