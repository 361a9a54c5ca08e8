//! What the QUIC adapter promises arrives over real sockets too: quinn on loopback, under a
//! start-up that checks what it is told.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use firstflight::avoidance::NewReno;
use firstflight::needs::Facilities;
use firstflight::quinn::{Factory, PROVIDES};
use firstflight::units::{Bytes, Span};
use firstflight_core::conformance::Recorder;
use quinn::{ClientConfig, Endpoint, ServerConfig, TransportConfig};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::test]
async fn over_sockets_everything_promised_arrives() -> Outcome<()> {
    // A datagram's time may be taken a little before it is handled.
    let recorder = Recorder::new(PROVIDES).ticking(Span::from_secs(1));
    let factory = Factory::new(recorder.clone(), NewReno::default())?;
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(factory));
    // quinn does not tell a controller when a probe leaves, so that the ACK of one has no state.
    transport.mtu_discovery_config(None);

    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let certificate = CertificateDer::from(made.cert);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    config.transport_config(Arc::new(transport));
    let any_port = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let server = Endpoint::server(config, any_port)?;
    let address = server.local_addr()?;
    let serving = tokio::spawn(async move {
        let connection = server.accept().await.ok_or("the endpoint was closed")?.await?;
        let mut stream = connection.open_uni().await?;
        stream.write_all(&vec![0; SIZE]).await?;
        stream.finish()?;
        connection.closed().await;
        Outcome::Ok(())
    });

    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut client = Endpoint::client(any_port)?;
    client.set_default_client_config(ClientConfig::with_root_certificates(Arc::new(roots))?);
    let connection = client.connect(address, "localhost")?.await?;
    let received = connection.accept_uni().await?.read_to_end(SIZE).await?;
    assert_eq!(received.len(), SIZE);
    connection.close(0_u32.into(), b"done");
    serving.await??;

    let report = recorder.report();
    // The recorder sets no rate here: crates/quic-sim/tests/conformance.rs has one that does.
    report.check(PROVIDES.without(Facilities::RECOVERY_WINDOW.and(Facilities::PACING)))?;
    assert_eq!(report.begins, 1);
    let payload = Bytes(SIZE as u64);
    assert!(report.sent > payload, "{report:?}");
    // The last ACKs may still have been on their way.
    assert!(report.credited > payload / 2, "{report:?}");
    Ok(())
}

/// What is moved, in bytes.
const SIZE: usize = 2_000_000;
