//! A server and a client over loopback, the server's control chosen by name:
//! `cargo run --release -p firstflight --example loopback -- hoe+cubic 50`
//! moves 50 MB and prints the time it took and the window at the end.

use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut arguments = std::env::args().skip(1);
    let control = arguments.next().unwrap_or_else(|| "hoe+cubic".to_owned());
    let megabytes: usize = arguments.next().map_or(Ok(50), |text| text.parse())?;

    let (server, certificate) = server(&control)?;
    let address = server.local_addr()?;
    let serving = tokio::spawn(serve(server, megabytes * 1_000_000));

    let began = Instant::now();
    let received = fetch(address, certificate).await?;
    let seconds = began.elapsed().as_secs_f64();
    let window = serving.await??;
    println!("{control}: {received} bytes in {seconds:.3} s, window at the end {window} bytes");
    Ok(())
}

/// An endpoint whose connections send under `control`. This is all that a service needs.
fn server(control: &str) -> Outcome<(Endpoint, CertificateDer<'static>)> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(firstflight::quinn(control)?);
    firstflight::quinn::FlowControl::for_path(1_000_000_000, 100).apply(&mut transport);

    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()])?;
    let certificate = CertificateDer::from(made.cert);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut config = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
    config.transport_config(Arc::new(transport));
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    Ok((Endpoint::server(config, address)?, certificate))
}

/// Answers the first stream of one connection with `bytes` bytes; the window it ends with.
async fn serve(endpoint: Endpoint, bytes: usize) -> Outcome<u64> {
    let incoming = endpoint.accept().await.ok_or("the endpoint was closed")?;
    let connection: Connection = incoming.await?;
    let (mut send, mut receive) = connection.accept_bi().await?;
    receive.read_to_end(64).await?;
    let block = vec![0; 64 * 1024];
    for start in (0..bytes).step_by(block.len()) {
        send.write_all(&block[..block.len().min(bytes - start)]).await?;
    }
    send.finish()?;
    connection.closed().await;
    Ok(connection.stats().path.cwnd)
}

async fn fetch(address: SocketAddr, certificate: CertificateDer<'static>) -> Outcome<usize> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate)?;
    let mut transport = TransportConfig::default();
    firstflight::quinn::FlowControl::for_path(1_000_000_000, 100).apply(&mut transport);
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));
    let mut endpoint = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    endpoint.set_default_client_config(config);

    let connection = endpoint.connect(address, "localhost")?.await?;
    let (mut send, mut receive) = connection.open_bi().await?;
    send.write_all(b"all of it").await?;
    send.finish()?;
    let mut received = 0;
    while let Some(chunk) = receive.read_chunk(usize::MAX, false).await? {
        received += chunk.bytes.len();
    }
    connection.close(0_u32.into(), b"done");
    endpoint.wait_idle().await;
    Ok(received)
}
