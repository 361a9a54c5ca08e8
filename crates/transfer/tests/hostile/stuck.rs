//! Receivers that are there, answer PINGs, and get nowhere: written with quinn by hand, against the
//! sender of the crate.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use firstflight_transfer::{Fingerprint, Identity, Progress, Sending, Source, Tuning, send};
use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{interval, timeout};

use crate::peer::{NAME, Peer};

/// Where a receiver stops to do what it should.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stops {
    /// It has no stream for messages.
    AtTheStream,
    /// It says nothing of the offer.
    AtTheOffer,
    /// It has no stream for data.
    AtTheData,
    /// It begins to take data, and goes no further.
    InTheData,
    /// It says that it received, but never more.
    InItsReports,
    /// It says that it received more than there is.
    BeyondTheEnd,
    /// It has all of it and never stores it, but goes on to say that it received it.
    AtTheEnd,
}

async fn receive(endpoint: Endpoint, stops: Stops) -> Option<()> {
    let connection = endpoint.accept().await?.await.ok()?;
    let (to_receiver, from_receiver) = connection.accept_bi().await.ok()?;
    let mut peer = Peer { connection: connection.clone(), to_receiver, from_receiver };
    peer.receive().await;
    if stops == Stops::AtTheOffer {
        std::future::pending::<()>().await;
    }
    peer.send(&json!({ "accept": { "from": 0, "prefix": null } })).await;
    peer.receive().await;
    let takes = ![Stops::InTheData, Stops::BeyondTheEnd].contains(&stops);
    let mut received = 0_u64;
    let mut tick = interval(Duration::from_millis(100));
    loop {
        tokio::select! {
            stream = connection.accept_uni(), if takes => {
                let mut stream = stream.ok()?;
                received += stream.read_to_end(2 << 20).await.ok()?.len() as u64;
            }
            _ = tick.tick() => {
                let bytes = match stops {
                    Stops::InTheData | Stops::AtTheData => continue,
                    Stops::InItsReports => 0,
                    Stops::BeyondTheEnd => u64::MAX,
                    _ => received,
                };
                peer.send(&json!({ "received": { "bytes": bytes } })).await;
            }
        }
    }
}

/// A receiver with its certificate in a file.
fn receiver(place: &PathBuf, stops: Stops) -> Endpoint {
    fs::create_dir_all(place).unwrap();
    let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
    fs::write(place.join("recv.pem"), made.cert.pem()).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ServerConfig::builder_with_provider(provider);
    let builder = builder.with_protocol_versions(&[&rustls::version::TLS13]).unwrap();
    let mut tls =
        builder.with_no_client_auth().with_single_cert(vec![made.cert.into()], key).unwrap();
    tls.alpn_protocols = vec![b"firstflight-file/3".to_vec()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()));
    let mut transport = TransportConfig::default();
    let one_or_none = |none: bool| VarInt::from_u32(u32::from(!none));
    transport.max_concurrent_bidi_streams(one_or_none(stops == Stops::AtTheStream));
    transport.max_concurrent_uni_streams(one_or_none(stops == Stops::AtTheData));
    config.transport_config(Arc::new(transport));
    Endpoint::server(config, "127.0.0.1:0".parse().unwrap()).unwrap()
}

/// The error of `send --timeout 1s` to it.
async fn error_of(stops: Stops) -> String {
    let name = format!("stuck-{stops:?}-{}", std::process::id());
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let endpoint = receiver(&place, stops);
    fs::write(place.join("f"), vec![b'x'; 3 << 20]).unwrap();
    let sending = Sending {
        to: endpoint.local_addr().unwrap().to_string(),
        source: Source::File(place.join("f")),
        name: None,
        control: "cubic".to_owned(),
        accepted: Fingerprint::all_in(&place.join("recv.pem")).unwrap(),
        identity: Identity::make().unwrap(),
        secret: None,
        timeout: Duration::from_secs(1),
        qlog: None,
        paths: None,
        tuning: Tuning::default(),
    };
    let (progress, _kept) = watch::channel(Progress::default());
    let receiving = tokio::spawn(receive(endpoint, stops));
    // Far longer than it may take on a busy machine; without a bound it never ends.
    let sent = timeout(Duration::from_secs(60), send(sending, progress, std::future::pending()));
    let sent = sent.await.unwrap_or_else(|_| panic!("{stops:?}: it waits for ever"));
    receiving.abort();
    let _ = fs::remove_dir_all(&place);
    sent.unwrap_err().to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_is_there_and_says_or_takes_nothing_is_given_up() {
    for (stops, words) in [
        (Stops::AtTheStream, "the receiver took nothing for 2 s, though it is there; send it"),
        (Stops::AtTheOffer, "the receiver said nothing for 2.31"),
        (Stops::AtTheData, "the receiver took nothing for 2."),
        (Stops::InTheData, "the receiver took nothing for 2."),
        (Stops::InItsReports, "the receiver said nothing for 2.31"),
        (Stops::BeyondTheEnd, "the receiver broke the protocol: it has 18446744073709551615"),
        (Stops::AtTheEnd, "the receiver said nothing for 2.31"),
    ] {
        let error = error_of(stops).await;
        assert!(error.starts_with(words), "{stops:?}: {error}");
    }
}
