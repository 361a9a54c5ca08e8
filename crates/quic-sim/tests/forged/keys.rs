//! TLS of a server that lets its own keys be used by somebody else: how a liar writes what a
//! well-behaved endpoint would not.

use std::any::Any;
use std::sync::{Arc, Mutex};

use bytes::BytesMut;
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::crypto::{
    self, CryptoError, ExportKeyingMaterialError, HeaderKey, KeyPair, Keys, PacketKey, Session,
    UnsupportedVersion,
};
use quinn_proto::{ConnectionId, Side, TransportError, transport_parameters::TransportParameters};
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// The 1-RTT keys of one end.
#[derive(Default)]
pub(crate) struct Tap(Mutex<Tapped>);

#[derive(Default, Clone)]
pub(crate) struct Tapped {
    /// This end's own, and the other's.
    pub(crate) header: Option<(Arc<dyn HeaderKey>, Arc<dyn HeaderKey>)>,
    /// This end's own, one for each key phase (RFC 9001 section 6).
    pub(crate) packet: Vec<Arc<dyn PacketKey>>,
}

impl Tap {
    pub(crate) fn keys(&self) -> Tapped {
        self.0.lock().unwrap().clone()
    }
}

/// A client that trusts the server, and the server whose keys are tapped.
pub(crate) fn configs() -> (Arc<QuicClientConfig>, Arc<Tapping>, Arc<Tap>) {
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = &[&rustls::version::TLS13];
    let server = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let tap = Arc::new(Tap::default());
    let inner = Arc::new(QuicServerConfig::try_from(server).unwrap());
    let server = Tapping { inner, tap: Arc::clone(&tap) };
    (Arc::new(client.try_into().unwrap()), Arc::new(server), tap)
}

/// A server's configuration whose sessions are tapped.
pub(crate) struct Tapping {
    inner: Arc<QuicServerConfig>,
    tap: Arc<Tap>,
}

impl crypto::ServerConfig for Tapping {
    fn initial_keys(&self, version: u32, id: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        self.inner.initial_keys(version, id)
    }

    fn retry_tag(&self, version: u32, id: &ConnectionId, packet: &[u8]) -> [u8; 16] {
        self.inner.retry_tag(version, id, packet)
    }

    fn start_session(self: Arc<Self>, version: u32, own: &TransportParameters) -> Box<dyn Session> {
        let inner = Arc::clone(&self.inner).start_session(version, own);
        Box::new(TappedSession { inner, tap: Arc::clone(&self.tap), handshake: false })
    }
}

struct TappedSession {
    inner: Box<dyn Session>,
    tap: Arc<Tap>,
    /// The handshake's keys were given out: the next are those of 1-RTT packets.
    handshake: bool,
}

impl TappedSession {
    fn tapped(&self, keys: KeyPair<Box<dyn PacketKey>>) -> KeyPair<Box<dyn PacketKey>> {
        let own: Arc<dyn PacketKey> = keys.local.into();
        self.tap.0.lock().unwrap().packet.push(Arc::clone(&own));
        KeyPair { local: Box::new(Shared(own)), remote: keys.remote }
    }
}

impl Session for TappedSession {
    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        let Keys { header, packet } = self.inner.write_handshake(buf)?;
        if !std::mem::replace(&mut self.handshake, true) {
            return Some(Keys { header, packet });
        }
        let (own, other): (Arc<dyn HeaderKey>, Arc<dyn HeaderKey>) =
            (header.local.into(), header.remote.into());
        let header = KeyPair::<Box<dyn HeaderKey>> {
            local: Box::new(Shared(Arc::clone(&own))),
            remote: Box::new(Shared(Arc::clone(&other))),
        };
        self.tap.0.lock().unwrap().header = Some((own, other));
        Some(Keys { header, packet: self.tapped(packet) })
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        let keys = self.inner.next_1rtt_keys()?;
        Some(self.tapped(keys))
    }

    fn initial_keys(&self, id: &ConnectionId, side: Side) -> Keys {
        self.inner.initial_keys(id, side)
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        self.inner.handshake_data()
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        self.inner.peer_identity()
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        self.inner.early_crypto()
    }

    fn early_data_accepted(&self) -> Option<bool> {
        self.inner.early_data_accepted()
    }

    fn is_handshaking(&self) -> bool {
        self.inner.is_handshaking()
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.inner.read_handshake(buf)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        self.inner.transport_parameters()
    }

    fn is_valid_retry(&self, id: &ConnectionId, header: &[u8], payload: &[u8]) -> bool {
        self.inner.is_valid_retry(id, header, payload)
    }

    fn export_keying_material(
        &self,
        output: &mut [u8],
        label: &[u8],
        context: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        self.inner.export_keying_material(output, label, context)
    }
}

/// A key that two hold.
struct Shared<K: ?Sized>(Arc<K>);

impl PacketKey for Shared<dyn PacketKey> {
    fn encrypt(&self, packet: u64, buf: &mut [u8], header_len: usize) {
        self.0.encrypt(packet, buf, header_len);
    }

    fn decrypt(&self, n: u64, header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        self.0.decrypt(n, header, payload)
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

impl HeaderKey for Shared<dyn HeaderKey> {
    fn decrypt(&self, pn_offset: usize, packet: &mut [u8]) {
        self.0.decrypt(pn_offset, packet);
    }

    fn encrypt(&self, pn_offset: usize, packet: &mut [u8]) {
        self.0.encrypt(pn_offset, packet);
    }

    fn sample_size(&self) -> usize {
        self.0.sample_size()
    }
}

/// The name in the certificate.
pub(crate) const NAME: &str = "localhost";
