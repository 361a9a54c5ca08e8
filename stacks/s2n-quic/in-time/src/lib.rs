//! s2n-quic's whole stack, TLS and loss recovery included, in virtual time: its own testing
//! environment runs both ends, and firstflight's link is between them.

mod link;
mod tls;

use std::convert::Infallible;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use s2n_quic::client::Connect;
use s2n_quic::provider::congestion_controller::Endpoint;
use s2n_quic::provider::io::testing::{self, Handle, Io, primary, rand, spawn, time};
use s2n_quic::provider::limits::Limits;
use s2n_quic::provider::random::{Generator, Provider as Random};
use s2n_quic::{Client, Connection, Server};

use link::Bottleneck;
pub use link::{Carried, Path};
pub use tls::{NAME, Tls};

/// What became of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// From the first packet of the handshake until the receiver had everything.
    pub took: Duration,
    /// What the bottleneck did.
    pub carried: Carried,
}

/// Any error of the run.
pub type Problem = Box<dyn Error + Send + Sync>;

/// The client sends `bytes` bytes to the server under `control`, in packets of 1200 bytes.
///
/// # Errors
/// s2n-quic could not be set up, or the transfer did not end.
pub fn transfer(path: &Path, bytes: u64, control: impl Endpoint) -> Result<Outcome, Problem> {
    let shared = Shared::default();
    let (bottleneck, both) = (Bottleneck::new(path, shared.clone()), shared.clone());
    let run = testing::test(bottleneck, move |handle| {
        begin(handle, &both, bytes, control).map_err(|problem| problem as Box<dyn Error>)
    });
    run.map_err(|problem| problem.to_string())?;
    let state = &mut *shared.lock();
    match (state.problem.take(), state.took) {
        (None, Some(took)) => Ok(Outcome { took, carried: state.carried }),
        (problem, _) => Err(problem.unwrap_or_else(|| "not all of it arrived".into())),
    }
}

/// Both ends begin.
fn begin(
    handle: &Handle,
    shared: &Shared,
    bytes: u64,
    control: impl Endpoint,
) -> Result<(), Problem> {
    let (tls, begun) = (Tls::new()?, time::now());
    let server =
        Server::builder().with_io(io(handle)?)?.with_tls(tls.server()?)?.with_limits(limits()?)?;
    let mut server = server.with_random(Seeded)?.start()?;
    let address = server.local_addr()?;
    shared.lock().server = Some(address);
    let receiving = shared.clone();
    spawn(async move {
        while let Some(mut connection) = server.accept().await {
            let receiving = receiving.clone();
            spawn(async move {
                if receive(&mut connection).await == Some(bytes) {
                    let took = time::now().saturating_duration_since(begun);
                    receiving.lock().took = Some(took);
                }
                // Dropped here, the connection would be closed; the client closes it, with its last
                // ACK.
                let _ = connection.accept_receive_stream().await;
            });
        }
    });
    let client =
        Client::builder().with_io(io(handle)?)?.with_tls(tls.client()?)?.with_limits(limits()?)?;
    let client = client.with_random(Seeded)?.with_congestion_controller(control)?.start()?;
    let sending = shared.clone();
    primary::spawn(async move {
        let to = Connect::new(address).with_server_name(NAME);
        let sent = send(&client, to, bytes).await;
        sending.lock().problem = sent.err();
        // s2n-quic keeps a connection for three probe timeouts after its end (RFC 9000 section
        // 10.2).
        time::delay(CLOSING).await;
    });
    Ok(())
}

async fn send(client: &Client, to: Connect, bytes: u64) -> Result<(), Problem> {
    let mut connection = client.connect(to).await?;
    let mut stream = connection.open_send_stream().await?;
    let mut left = bytes;
    while left > 0 {
        let piece = usize::try_from(left)?.min(BLOCK.len());
        left -= piece as u64;
        stream.send(Bytes::from_static(&BLOCK[..piece])).await?;
    }
    // It waits until all is acknowledged.
    stream.close().await?;
    Ok(())
}

/// The bytes of the connection's stream, if the stream ended.
async fn receive(connection: &mut Connection) -> Option<u64> {
    let mut stream = connection.accept_receive_stream().await.ok()??;
    let mut got = 0;
    while let Some(piece) = stream.receive().await.ok()? {
        got += piece.len() as u64;
    }
    Some(got)
}

fn io(handle: &Handle) -> std::io::Result<Io> {
    let builder = handle.builder();
    builder.with_base_mtu(MTU).with_initial_mtu(MTU).with_max_mtu(MTU).build()
}

/// Flow control that does not limit.
fn limits() -> Result<Limits, Problem> {
    let limits = Limits::new()
        .with_data_window(WINDOW.into())?
        .with_unidirectional_data_window(WINDOW.into())?
        .with_max_send_buffer_size(WINDOW)?;
    Ok(limits)
}

/// What both ends and the link between them share.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    server: Option<std::net::SocketAddr>,
    took: Option<Duration>,
    problem: Option<Problem>,
    carried: Carried,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Draws from the seed of the testing environment.
#[derive(Clone, Copy, Debug)]
struct Seeded;

impl Generator for Seeded {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        rand::fill_bytes(dest);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        rand::fill_bytes(dest);
    }
}

impl Random for Seeded {
    type Generator = Self;
    type Error = Infallible;

    fn start(self) -> Result<Self, Infallible> {
        Ok(self)
    }
}

const CLOSING: Duration = Duration::from_secs(10);
/// UDP payloads of 1200 bytes behind the headers of IPv4 and UDP.
const MTU: u16 = 1_228;
const WINDOW: u32 = 100_000_000;
static BLOCK: [u8; 65_536] = [0; 65_536];
