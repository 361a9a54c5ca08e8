//! A transfer over loopback. `cargo run --release --example loopback -- scout 50` moves 50 MB
//! between a server and a client of s2n-quic, under the control `scout`.

use std::time::Instant;

use bytes::Bytes;
use firstflight_s2n_quic::control;
use firstflight_s2n_quic_in_time::{NAME, Problem, Tls};
use s2n_quic::client::Connect;
use s2n_quic::{Client, Server};

#[tokio::main]
async fn main() -> Result<(), Problem> {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_else(|| "hystart-pp".to_owned());
    let megabytes: u64 = words.next().map_or(Ok(50), |word| word.parse())?;
    let tls = Tls::new()?;

    let mut server = Server::builder().with_tls(tls.server()?)?.with_io("127.0.0.1:0")?.start()?;
    let to = Connect::new(server.local_addr()?).with_server_name(NAME);
    let client = Client::builder()
        .with_tls(tls.client()?)?
        .with_io("127.0.0.1:0")?
        .with_congestion_controller(control(&name)?)?
        .start()?;

    let received = tokio::spawn(async move {
        let mut connection = server.accept().await.ok_or("no connection came")?;
        let mut got = 0;
        while let Some(mut stream) = connection.accept_receive_stream().await? {
            while let Some(piece) = stream.receive().await? {
                got += piece.len() as u64;
            }
            if got == megabytes * 1_000_000 {
                break;
            }
        }
        Ok::<u64, Problem>(got)
    });
    let began = Instant::now();
    let mut connection = client.connect(to).await?;
    let mut stream = connection.open_send_stream().await?;
    let block = Bytes::from(vec![0; 1_000_000]);
    for _ in 0..megabytes {
        stream.send(block.clone()).await?;
    }
    stream.close().await?;
    let got = received.await??;
    let took = began.elapsed().as_secs_f64();
    println!("{name}: {got} bytes in {took:.2} s, {:.0} Mbit/s", got as f64 * 8e-6 / took);
    Ok(())
}
