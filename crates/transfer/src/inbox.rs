//! Where a receiver listens, and what it lets come.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use firstflight_quic::quinn::Constants;
use quinn::{Endpoint, EndpointConfig};
use socket2::SockRef;
use tokio::time::timeout;

use crate::certificate::{Fingerprint, Identity};
use crate::endpoint::{self, machine};
use crate::error::TransferError;
use crate::failure::GAVE_UP;
use crate::message::CLOSE_TIMEOUT;
use crate::place::Place;
use crate::secret::Secret;
use crate::sink::Store;

/// Where to listen, and what to do with what comes.
#[derive(Debug)]
pub struct Listening {
    /// `HOST:PORT`, or a port of loopback; port 0 is any that is free.
    pub at: String,
    /// Certificates of senders that are welcome; empty for any.
    pub accepted: Vec<Fingerprint>,
    /// What a sender has to know; `None` for nothing. Without it and without certificates anybody
    /// may send, what broke off is not kept, and files that are there are not replaced.
    pub secret: Option<Secret>,
    /// This side's certificate.
    pub identity: Identity,
    /// How long silence may last.
    pub timeout: Duration,
    /// How much one sender may have on its way.
    pub limits: Limits,
    /// Where to put it.
    pub store: Store,
    /// The UDP payload of a full packet, bytes, where an experiment sets it.
    pub packet: Option<u16>,
}

/// What one sender may take up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The flow-control window that is announced to a sender that was accepted, bytes.
    pub window: u64,
    /// The largest file, bytes; `None` for what the disk has room for.
    pub size: Option<u64>,
}

/// A listening socket.
#[derive(Debug)]
pub struct Inbox {
    pub(crate) endpoint: Endpoint,
    pub(crate) timeout: Duration,
    pub(crate) limits: Limits,
    pub(crate) secret: Option<Secret>,
    pub(crate) storing: Option<Storing>,
    address: SocketAddr,
}

/// How files are stored.
#[derive(Debug)]
pub(crate) struct Storing {
    pub(crate) place: Place,
    pub(crate) replace: bool,
    /// Whether what broke off is there for the next attempt.
    pub(crate) keep: bool,
}

impl Inbox {
    /// Opens the socket.
    ///
    /// # Errors
    /// An address that cannot be used, a certificate that cannot, or no such directory.
    pub fn open(listening: Listening) -> Result<Self, TransferError> {
        let Listening { at, accepted, secret, identity, timeout, limits, store, packet } =
            listening;
        let keep = secret.is_some() || !accepted.is_empty();
        let storing = match store {
            Store::Discard => None,
            Store::Directory { path, replace } => {
                Some(Storing { place: Place::open(&path)?, replace: replace && keep, keep })
            }
        };
        let address = endpoint::address(&at)?;
        let mut transport = endpoint::transport(timeout)?;
        Constants { packet_bytes: packet, ..Constants::default() }.apply(&mut transport);
        let config = endpoint::server(identity, accepted, transport)?;
        // As `Endpoint::server` makes it, but for the resets.
        let mut resets = EndpointConfig::default();
        resets.min_reset_interval(RESETS);
        if let Some(packet) = packet {
            resets.max_udp_payload_size(packet).map_err(machine)?;
        }
        let runtime = quinn::default_runtime().ok_or_else(|| machine("no runtime"))?;
        let endpoint = UdpSocket::bind(address)
            .inspect(|socket| {
                // The kernel gives what it allows; with less, more is dropped.
                let _ = SockRef::from(socket).set_recv_buffer_size(BUFFER);
            })
            .and_then(|socket| Endpoint::new(resets, Some(config), socket, runtime))
            .map_err(|error| TransferError::Listen { address: at, problem: error.to_string() })?;
        let address = endpoint.local_addr().map_err(machine)?;
        Ok(Self { endpoint, timeout, limits, secret, storing, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the socket and every connection, with this reason.
    pub async fn close(&self, reason: &str) {
        self.endpoint.close(GAVE_UP, reason.as_bytes());
        // Whoever is gone need not be waited for.
        let _ = timeout(CLOSE_TIMEOUT, self.endpoint.wait_idle()).await;
    }
}

/// How soon one stateless reset may follow another. A client that missed that it lost its place
/// learns it by one; with quinn's 20 ms the garbage of strangers, which is answered so too,
/// would take them all. A reset is shorter than what it answers (RFC 9000, section 10.3).
const RESETS: Duration = Duration::from_millis(1);
/// Bytes of datagrams that wait in the kernel: a flood of a busy moment. Of Linux's usual 208 KiB
/// hostile clients drop so much that honest ones get no answer.
const BUFFER: usize = 4 << 20;
