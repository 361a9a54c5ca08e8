//! The constants of both ends.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Connection, IdleTimeout, ServerConfig, TransportConfig, VarInt};
use rustls::crypto::{CryptoProvider, ring};
use rustls::version::TLS13;

use crate::certificate::{Fingerprint, Identity};
use crate::error::TransferError;
use crate::message::ALPN;
use crate::pinned::Pinned;
use crate::streams::{STREAM, streams_of};

/// The shortest time after which a silent peer counts as gone.
pub const MIN_TIMEOUT: Duration = Duration::from_secs(1);
/// The longest one.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(3_600);

/// The smallest flow-control window a receiver announces, bytes: a few of the longest messages,
/// which one end takes from the other before it knows who that is.
pub const LEAST_WINDOW: u64 = MESSAGES;

/// The connections of a sender.
pub(crate) fn client(
    identity: Identity,
    accepted: Vec<Fingerprint>,
    transport: TransportConfig,
) -> Result<(ClientConfig, Arc<Pinned>), TransferError> {
    let provider = Arc::new(ring::default_provider());
    let pinned = Pinned::new(accepted, Arc::clone(&provider));
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&TLS13]).map_err(machine)?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::clone(&pinned) as _);
    let mut tls = builder.with_client_auth_cert(identity.chain, identity.key).map_err(unusable)?;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let tls = QuicClientConfig::try_from(tls).map_err(machine)?;
    let mut config = ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(transport));
    Ok((config, pinned))
}

/// The connections of a receiver; with fingerprints it takes only senders that have one of them.
pub(crate) fn server(
    identity: Identity,
    accepted: Vec<Fingerprint>,
    transport: TransportConfig,
) -> Result<ServerConfig, TransferError> {
    let provider: Arc<CryptoProvider> = Arc::new(ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider));
    let builder = builder.with_protocol_versions(&[&TLS13]).map_err(machine)?;
    let builder = if accepted.is_empty() {
        builder.with_no_client_auth()
    } else {
        builder.with_client_cert_verifier(Pinned::new(accepted, provider))
    };
    let mut tls = builder.with_single_cert(identity.chain, identity.key).map_err(unusable)?;
    tls.alpn_protocols = vec![ALPN.to_vec()];
    let tls = QuicServerConfig::try_from(tls).map_err(machine)?;
    let mut config = ServerConfig::with_crypto(Arc::new(tls));
    config.transport_config(Arc::new(transport));
    // What comes before a connection is accepted, refused or sent a Retry, which it is at once.
    config.max_incoming(INCOMING);
    config.incoming_buffer_size(MESSAGES).incoming_buffer_size_total(MESSAGES * INCOMING as u64);
    Ok(config)
}

/// What both ends share: how long silence may last, and windows for messages. The receiver opens
/// them for data to a sender that it has accepted ([`open`]); the sender's buffer follows its cwnd.
pub(crate) fn transport(timeout: Duration) -> Result<TransportConfig, TransferError> {
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(STREAM as u32));
    transport.receive_window(window(MESSAGES)).send_window(MESSAGES);
    transport.max_idle_timeout(Some(IdleTimeout::try_from(timeout).map_err(machine)?));
    // Three PINGs may be lost before silence means that nobody is there.
    transport.keep_alive_interval(Some(timeout / 4));
    transport.max_concurrent_bidi_streams(VarInt::from_u32(1));
    transport.max_concurrent_uni_streams(VarInt::from_u32(0));
    // What was written first is sent first: the receiver reads in this order.
    transport.send_fairness(false);
    transport.datagram_receive_buffer_size(None);
    Ok(transport)
}

/// Allows the peer to send `bytes` of data beyond what the application has read.
pub(crate) fn open(connection: &Connection, bytes: u64) {
    connection.set_receive_window(window(bytes.saturating_add(MESSAGES)));
    connection.set_max_concurrent_uni_streams(streams_of(bytes));
}

fn window(bytes: u64) -> VarInt {
    VarInt::from_u64(bytes).unwrap_or(VarInt::MAX)
}

/// `HOST:PORT`, or a port of this host's loopback address.
pub(crate) fn address(text: &str) -> Result<SocketAddr, TransferError> {
    let wrong = |problem: &str| TransferError::Address {
        address: text.to_owned(),
        problem: problem.to_owned(),
    };
    let port = text.strip_prefix(':').unwrap_or(text);
    let full = if port.parse::<u16>().is_ok() { format!("127.0.0.1:{port}") } else { text.into() };
    if full.parse::<IpAddr>().is_ok() || !full.contains(':') {
        return Err(wrong("found no port"));
    }
    let found: Vec<_> =
        full.to_socket_addrs().map_err(|error| wrong(&error.to_string()))?.collect();
    choose(&found).ok_or_else(|| wrong("no address"))
}

/// The first, but of this host IPv4's: `localhost` has two, and a receiver listens to that one
/// by default.
fn choose(found: &[SocketAddr]) -> Option<SocketAddr> {
    let here = found.iter().find(|address| address.ip() == Ipv4Addr::LOCALHOST);
    here.or(found.first()).copied()
}

/// How long a disk that is slow takes to read or write so many bytes: 10 MB/s, a tenth of a hard
/// disk's rate.
pub(crate) fn slow_disk(bytes: u64) -> Duration {
    Duration::from_nanos(bytes.saturating_mul(100))
}

/// For errors that no input explains.
pub(crate) fn machine(error: impl ToString) -> TransferError {
    TransferError::Machine(error.to_string())
}

fn unusable(error: rustls::Error) -> TransferError {
    let accepted = "accepted: a certificate and the private key that belongs to it";
    TransferError::Input(format!("--cert and --key: {error}; {accepted}"))
}

/// What a sender buffers at first; see [`send_window`].
const SEND_WINDOW: u64 = 2 * 1024 * 1024;
/// Bytes that one end takes from the other before it knows who that is: a few of the longest
/// messages.
const MESSAGES: u64 = 64 * 1024;
/// Connections that wait to be accepted.
const INCOMING: usize = 256;

/// What a sender buffers for a cwnd: it may double twice before this is asked again, and a slow
/// path is not asked to hold more than it can send in a few round trips.
pub(crate) fn send_window(cwnd: u64) -> u64 {
    cwnd.saturating_mul(4).max(SEND_WINDOW)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_name_s_addresses_the_one_is_taken_that_a_receiver_has() {
        let [v6, v4, far] =
            ["[::1]:1", "127.0.0.1:1", "[2001:db8::1]:1"].map(|it| it.parse().unwrap());
        assert_eq!(choose(&[v6, v4]), Some(v4));
        assert_eq!(choose(&[v6]), Some(v6));
        assert_eq!(choose(&[far, v6]), Some(far));
        assert_eq!(choose(&[]), None);
    }

    #[test]
    fn a_port_alone_is_one_of_loopback() {
        for text in ["4433", ":4433", "127.0.0.1:4433"] {
            assert_eq!(address(text).unwrap(), "127.0.0.1:4433".parse().unwrap());
        }
        assert_eq!(address("[::1]:1").unwrap(), "[::1]:1".parse().unwrap());
        for wrong in ["", "here", "1.2.3.4", "::1", "1.2.3.4:99999"] {
            assert!(address(wrong).unwrap_err().to_string().contains("HOST:PORT"), "{wrong}");
        }
        let problem = address("1.2.3.4").unwrap_err().to_string();
        assert!(problem.starts_with("1.2.3.4: found no port; accepted: HOST:PORT"), "{problem}");
    }
}
