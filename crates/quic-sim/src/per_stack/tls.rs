//! TLS for flows inside one process: one certificate of a fixed Ed25519 key, known to the client.

use std::sync::{Arc, OnceLock};

use super::proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

/// Both ends' part of TLS.
#[derive(Clone)]
pub(crate) struct Tls {
    pub(crate) client: Arc<QuicClientConfig>,
    pub(crate) server: Arc<QuicServerConfig>,
}

/// The one that all flows use.
///
/// # Panics
/// Never: key, certificate and protocol version are fixed, and a test goes through them.
pub(crate) fn tls() -> Tls {
    static TLS: OnceLock<Tls> = OnceLock::new();
    TLS.get_or_init(|| make().expect("a fixed key makes a certificate")).clone()
}

fn make() -> Result<Tls, Box<dyn std::error::Error>> {
    let key = PrivatePkcs8KeyDer::from([PKCS8_ED25519, &[7; 32]].concat());
    let pair = rcgen::KeyPair::try_from(&key)?;
    let certificate = rcgen::CertificateParams::new(vec![SERVER_NAME.to_owned()])?;
    let certificate: CertificateDer<'static> = certificate.self_signed(&pair)?.into();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = &[&rustls::version::TLS13];

    let mut server = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)?
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.into())?;
    server.send_tls13_tickets = 0;
    server.max_early_data_size = u32::MAX;

    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut client = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.resumption = rustls::client::Resumption::disabled();
    Ok(Tls { client: Arc::new(client.try_into()?), server: Arc::new(server.try_into()?) })
}

/// The name in the certificate.
pub(crate) const SERVER_NAME: &str = "localhost";

/// PKCS #8 version 1 around an Ed25519 key of 32 bytes (RFC 8410 section 7). This key protects
/// nothing: it never leaves the process.
const PKCS8_ED25519: &[u8] = &[
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
