//! A client of `recv` that a test drives message by message. It shares no code with the crate but
//! quinn: the messages are written here once more.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, Endpoint, RecvStream, SendStream};
use ring::hmac;
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use serde_json::{Value, json};

/// A connection over which a sender's messages can be sent.
pub(crate) struct Peer {
    pub(crate) connection: Connection,
    pub(crate) to_receiver: SendStream,
    pub(crate) from_receiver: RecvStream,
}

impl Peer {
    /// A handshake, and a stream without a message yet.
    pub(crate) async fn new(endpoint: &Endpoint, to: SocketAddr) -> Result<Self, String> {
        let connecting = endpoint.connect(to, NAME).map_err(|error| error.to_string())?;
        let connection = connecting.await.map_err(|error| error.to_string())?;
        let (to_receiver, from_receiver) =
            connection.open_bi().await.map_err(|error| error.to_string())?;
        Ok(Self { connection, to_receiver, from_receiver })
    }

    /// The proof that a sender with this secret gives on this connection.
    pub(crate) fn proof(&self, secret: &str) -> Vec<u8> {
        let mut material = [0; 32];
        let label = b"EXPERIMENTAL firstflight secret";
        self.connection.export_keying_material(&mut material, label, b"").unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        hmac::sign(&key, &material).as_ref().to_vec()
    }

    /// A sender's first message, and the reply.
    pub(crate) async fn offer(&mut self, proof: Option<Vec<u8>>, name: &str, size: u64) -> Value {
        let offer = json!({ "version": 3, "proof": proof, "name": name, "size": size });
        self.send(&offer).await;
        self.receive().await
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        let text = message.to_string();
        let length = u32::try_from(text.len()).unwrap().to_be_bytes();
        // A client that was refused meanwhile still reads why.
        let _ = self.to_receiver.write_all(&[&length[..], text.as_bytes()].concat()).await;
    }

    /// The next message; null if the connection is over.
    pub(crate) async fn receive(&mut self) -> Value {
        let mut length = [0; 4];
        if self.from_receiver.read_exact(&mut length).await.is_err() {
            return Value::Null;
        }
        let mut text = vec![0; u32::from_be_bytes(length) as usize];
        match self.from_receiver.read_exact(&mut text).await {
            Ok(()) => serde_json::from_slice(&text).unwrap(),
            Err(_) => Value::Null,
        }
    }

    /// Sends so many bytes of data, in streams of a mebibyte, as long as they are taken.
    pub(crate) async fn data(&mut self, mut bytes: usize) {
        while bytes > 0 {
            let Ok(mut stream) = self.connection.open_uni().await else { return };
            let piece = bytes.min(1 << 20);
            if stream.write_all(&vec![b'x'; piece]).await.is_err() || stream.finish().is_err() {
                return;
            }
            bytes -= piece;
        }
    }
}

/// The settings of a client that trusts that certificate.
pub(crate) fn client(certificate: &CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
    let mut tls = builder.with_root_certificates(roots).with_no_client_auth();
    tls.alpn_protocols = vec![b"firstflight-file/3".to_vec()];
    ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls).unwrap()))
}

/// A socket for such clients.
pub(crate) fn endpoint(certificate: &CertificateDer<'static>) -> Endpoint {
    let mut endpoint = Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    endpoint.set_default_client_config(client(certificate));
    endpoint
}

/// Sends the first datagram of a handshake and never another: quinn-proto without a loop around it.
/// The socket has to live as long as its port shall be taken.
pub(crate) fn half_open(certificate: &CertificateDer<'static>, to: SocketAddr) -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let config = Arc::new(quinn_proto::EndpointConfig::default());
    let mut endpoint = quinn_proto::Endpoint::new(config, None, true, None);
    let now = Instant::now();
    let (_, mut connection) = endpoint.connect(now, client(certificate), to, NAME).unwrap();
    let mut datagram = Vec::from(BytesMut::with_capacity(2_000));
    let sent = connection.poll_transmit(now, 1, &mut datagram).unwrap();
    socket.send_to(&datagram[..sent.size], to).unwrap();
    socket
}

/// In the certificates of the receivers here.
pub(crate) const NAME: &str = "firstflight";
