//! One end of a connection: the stack's endpoint and connection, driven by hand.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant as Clock;

use super::proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, Event, ServerConfig, Transmit,
};
use super::seam;
use bytes::BytesMut;
use firstflight_sim::Ecn;

use super::tls::SERVER_NAME;

/// What an end sends, and its ECN field.
pub(crate) type Sent = (Vec<u8>, Ecn);

/// An endpoint with at most one connection.
pub(crate) struct End {
    endpoint: Endpoint,
    connection: Option<(ConnectionHandle, Connection)>,
    remote: SocketAddr,
    buffer: Vec<u8>,
}

impl End {
    /// The end that opens the connection.
    pub(crate) fn client(mut config: EndpointConfig, seed: [u8; 32], packet: u16) -> Self {
        Self::new(prepared(&mut config, seed, packet), None, SERVER)
    }

    /// The end that waits for it.
    pub(crate) fn server(
        mut config: EndpointConfig,
        seed: [u8; 32],
        packet: u16,
        server: ServerConfig,
    ) -> Self {
        Self::new(prepared(&mut config, seed, packet), Some(Arc::new(server)), CLIENT)
    }

    fn new(
        config: Arc<EndpointConfig>,
        server: Option<Arc<ServerConfig>>,
        remote: SocketAddr,
    ) -> Self {
        let endpoint = seam::endpoint(config, server);
        Self { endpoint, connection: None, remote, buffer: Vec::new() }
    }

    /// Opens the connection.
    pub(crate) fn connect(&mut self, now: Clock, config: ClientConfig) {
        self.connection = self.endpoint.connect(now, config, self.remote, SERVER_NAME).ok();
    }

    pub(crate) fn connection(&mut self) -> Option<&mut Connection> {
        self.connection.as_mut().map(|(_, connection)| connection)
    }

    pub(crate) fn peek(&self) -> Option<&Connection> {
        self.connection.as_ref().map(|(_, connection)| connection)
    }

    /// A datagram arrives. What the endpoint answers by itself goes into `out`.
    pub(crate) fn receive(&mut self, now: Clock, datagram: &[u8], ecn: Ecn, out: &mut Vec<Sent>) {
        self.buffer.clear();
        let data = BytesMut::from(datagram);
        let ecn = codepoint(ecn);
        let from = self.remote;
        let event = seam::handle(&mut self.endpoint, now, from, ecn, data, &mut self.buffer);
        match event {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some(connection) = self.connection() {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) if self.connection.is_none() => {
                self.connection = self.endpoint.accept(incoming, now, &mut self.buffer, None).ok();
            }
            Some(DatagramEvent::NewConnection(incoming)) => self.endpoint.ignore(incoming),
            Some(DatagramEvent::Response(transmit)) => {
                out.push(self.sent(&transmit));
            }
            None => {}
        }
    }

    /// Timers that are due.
    pub(crate) fn expire(&mut self, now: Clock) {
        if let Some(connection) = self.connection()
            && connection.poll_timeout().is_some_and(|due| due <= now)
        {
            connection.handle_timeout(now);
        }
    }

    /// Lets endpoint and connection talk; the connection's next event for the application.
    pub(crate) fn poll(&mut self) -> Option<Event> {
        let (handle, connection) = self.connection.as_mut()?;
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        connection.poll()
    }

    /// Everything that may be sent now.
    pub(crate) fn transmit(&mut self, now: Clock, out: &mut Vec<Sent>) {
        loop {
            let Some((_, connection)) = &mut self.connection else { return };
            self.buffer.clear();
            let Some(transmit) = seam::poll_transmit(connection, now, &mut self.buffer) else {
                return;
            };
            out.push(self.sent(&transmit));
        }
    }

    /// What has just been written into the buffer.
    fn sent(&self, transmit: &Transmit) -> Sent {
        let ecn = match transmit.ecn {
            None => Ecn::NotCapable,
            Some(EcnCodepoint::Ect0) => Ecn::Ect0,
            Some(EcnCodepoint::Ect1) => Ecn::Ect1,
            Some(EcnCodepoint::Ce) => Ecn::Ce,
        };
        (self.buffer[..transmit.size].to_vec(), ecn)
    }

    /// When it wants to be woken.
    pub(crate) fn deadline(&mut self) -> Option<Clock> {
        self.connection()?.poll_timeout()
    }
}

fn codepoint(ecn: Ecn) -> Option<EcnCodepoint> {
    match ecn {
        Ecn::NotCapable => None,
        Ecn::Ect0 => Some(EcnCodepoint::Ect0),
        Ecn::Ect1 => Some(EcnCodepoint::Ect1),
        Ecn::Ce => Some(EcnCodepoint::Ce),
    }
}

fn prepared(config: &mut EndpointConfig, seed: [u8; 32], packet: u16) -> Arc<EndpointConfig> {
    config.rng_seed(Some(seed));
    // Refused only below 1200 bytes, where the default stays.
    let _ = config.max_udp_payload_size(packet);
    Arc::new(config.clone())
}

const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4432);
const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4433);
