//! The calls that quinn has in a shape of its own.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use firstflight_qlog::Tap;
use firstflight_runner::LogFile;
use quinn_proto::{
    Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, PathStats, QlogConfig,
    SendStream, ServerConfig, Transmit, TransportConfig,
};

/// It writes a log of its own.
pub(super) const LOGS: bool = true;

pub(super) fn log(transport: &mut TransportConfig, to: Tap<LogFile>, base: Instant) {
    let mut config = QlogConfig::default();
    config.writer(Box::new(to)).start_time(base);
    transport.qlog_stream(config.into_stream());
}

pub(super) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, false, None)
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, from, None, ecn, data, answer)
}

/// One datagram.
pub(super) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    into: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, 1, into)
}

/// How many bytes the stream took.
pub(super) fn write(stream: &mut SendStream<'_>, chunks: &mut [Bytes]) -> Option<usize> {
    stream.write_chunks(chunks).ok().map(|written| written.bytes)
}

pub(super) fn rtt(connection: &Connection) -> Duration {
    connection.rtt()
}

pub(super) fn stats(connection: &mut Connection) -> PathStats {
    connection.stats().path
}
