//! The calls that noq has in a shape of its own.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use firstflight_qlog::Tap;
use firstflight_runner::LogFile;
use noq_proto::{
    Connection, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig, FourTuple, PathId,
    PathStats, SendStream, ServerConfig, Transmit, TransportConfig,
};

/// Its log is of a later draft than what is read here, and a feature of its own.
pub(super) const LOGS: bool = false;

pub(super) fn log(_transport: &mut TransportConfig, _to: Tap<LogFile>, _base: Instant) {}

pub(super) fn endpoint(config: Arc<EndpointConfig>, server: Option<Arc<ServerConfig>>) -> Endpoint {
    Endpoint::new(config, server, false)
}

pub(super) fn handle(
    endpoint: &mut Endpoint,
    now: Instant,
    from: SocketAddr,
    ecn: Option<EcnCodepoint>,
    data: BytesMut,
    answer: &mut Vec<u8>,
) -> Option<DatagramEvent> {
    endpoint.handle(now, FourTuple::from_remote(from), ecn, data, answer)
}

/// One datagram.
pub(super) fn poll_transmit(
    connection: &mut Connection,
    now: Instant,
    into: &mut Vec<u8>,
) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::MIN, into)
}

/// How many bytes the stream took.
pub(super) fn write(stream: &mut SendStream<'_>, mut chunks: &mut [Bytes]) -> Option<usize> {
    stream.write_chunks(&mut chunks).ok()
}

pub(super) fn rtt(connection: &Connection) -> Duration {
    connection.rtt(PathId::ZERO).unwrap_or_default()
}

pub(super) fn stats(connection: &mut Connection) -> PathStats {
    connection.path_stats(PathId::ZERO).unwrap_or_default()
}
