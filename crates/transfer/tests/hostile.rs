//! Clients that mean no good, over real sockets, against a receiver that somebody honest wants to
//! use. They are written with quinn and quinn-proto by hand ([`peer`]); [`aioquic`]
//! has another stack.

#[path = "hostile/aioquic.rs"]
mod aioquic;
#[path = "hostile/peer.rs"]
mod peer;
#[path = "hostile/place.rs"]
mod place;
#[path = "hostile/several.rs"]
mod several;
#[path = "hostile/stuck.rs"]
mod stuck;

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;

use peer::{Peer, half_open};
use place::{SECRET, host};

/// The reason of a refusal.
fn refusal(reply: &Value) -> &str {
    reply["gave_up"]["reason"].as_str().unwrap_or_else(|| panic!("no refusal: {reply}"))
}

/// A connection, with another handshake where one comes to nothing: of 300 on a busy machine one
/// did once, for 30 s, after which the first clients had been silent for too long.
async fn patient(endpoint: &quinn::Endpoint, to: std::net::SocketAddr) -> Peer {
    for attempt in 1..=5 {
        match timeout(Duration::from_secs(4), Peer::new(endpoint, to)).await {
            Ok(peer) => return peer.unwrap(),
            Err(_) => eprintln!("handshake {attempt} took 4 s"),
        }
    }
    panic!("five handshakes came to nothing");
}

/// The receiver has 256 places, and gives 8 of them to addresses that are not validated.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_open_handshakes_and_silent_clients_delay_nobody() {
    let host = host("silent", Some(SECRET), Duration::from_secs(30)).await;
    let sockets: Vec<_> = (0..60).map(|_| half_open(&host.certificate, host.at)).collect();
    let endpoint = host.client();
    let mut silent = Vec::new();
    for _ in 0..300 {
        silent.push(patient(&endpoint, host.at).await);
    }
    // Those beyond the places lost theirs, the oldest first.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let gone = silent.iter().take_while(|peer| peer.connection.close_reason().is_some()).count();
    assert!((300 - 256..=300 - 256 + 8).contains(&gone), "{gone}");
    let began = Instant::now();
    assert_eq!(host.send("f", b"honest", Some(SECRET)).await, Ok(()));
    // A silent client may stay for 30 s; the rest is for a busy machine.
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    assert_eq!(fs::read(host.path("f")).unwrap(), b"honest");
    drop((sockets, silent));
}

/// Twelve handshakes that never go on: whoever comes then proves its address first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_is_validated_by_a_retry_under_load() {
    let host = host("retry", Some(SECRET), Duration::from_secs(30)).await;
    let mut answers = Vec::new();
    for _ in 0..12 {
        let socket = half_open(&host.certificate, host.at);
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut answer = [0; 2_000];
        let length =
            tokio::task::spawn_blocking(move || socket.recv(&mut answer).map(|n| (n, answer)));
        let (length, answer) = length.await.unwrap().unwrap();
        // A long header, and the type of a Retry (RFC 9000, section 17.2.5).
        answers.push((answer[0] & 0xf0 == 0xf0, length));
    }
    assert!(answers[..8].iter().all(|(retry, _)| !retry), "{answers:?}");
    assert!(answers[8..].iter().all(|(retry, _)| *retry), "{answers:?}");
    assert!(answers[8..].iter().all(|(_, length)| *length < 200), "it amplifies: {answers:?}");
    assert_eq!(host.send("f", b"honest", Some(SECRET)).await, Ok(()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_absent_a_wrong_and_a_replayed_proof_are_refused_alike_for_every_name() {
    let host = host("proof", Some(SECRET), Duration::from_secs(10)).await;
    fs::write(host.path("f.part"), "hon").unwrap();
    let endpoint = host.client();
    let first = Peer::new(&endpoint, host.at).await.unwrap();
    let seen = first.proof(SECRET);
    for proof in [None, Some(first.proof("another secret")), Some(seen), Some(vec![0; 32])] {
        let mut reasons = Vec::new();
        for name in ["f", "g"] {
            let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
            let reply = peer.offer(proof.clone(), name, 6).await;
            reasons.push(refusal(&reply).to_owned());
            assert!(reasons[0].contains("secret"), "{reasons:?}");
        }
        assert_eq!(reasons[0], reasons[1], "it reveals whether a partial file exists");
    }
    assert_eq!(fs::read(host.path("f.part")).unwrap(), b"hon", "a stranger deletes nothing");
    // And the right one is taken: it is not only that nobody is.
    let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
    let proof = peer.proof(SECRET);
    assert_eq!(peer.offer(Some(proof), "f", 6).await["accept"]["from"], 3);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_than_was_announced_is_not_stored() {
    let mut host = host("more", Some(SECRET), Duration::from_secs(10)).await;
    let endpoint = host.client();
    let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
    let proof = peer.proof(SECRET);
    assert_eq!(peer.offer(Some(proof), "f", 10).await["accept"]["from"], 0);
    peer.send(&json!({ "start": { "from": 0 } })).await;
    let _ = timeout(Duration::from_secs(5), peer.data(5_000_000)).await;
    assert!(host.ended().await.contains("sent more than the 10 bytes"), "it goes on");
    assert!(!host.path("f").exists());
    assert!(fs::metadata(host.path("f.part")).map_or(0, |about| about.len()) <= 10);
}

/// PINGs go on, so that no timeout of QUIC's ends it. What comes before has as long, three seconds
/// of a busy machine.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_that_is_there_and_sends_nothing_is_given_up() {
    for starts in [false, true] {
        let mut host = host("stalled", Some(SECRET), Duration::from_secs(3)).await;
        let endpoint = host.client();
        let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
        let proof = peer.proof(SECRET);
        assert_eq!(peer.offer(Some(proof), "f", 1 << 21).await["accept"]["from"], 0);
        if starts {
            peer.send(&json!({ "start": { "from": 0 } })).await;
            peer.data(1 << 20).await;
        }
        let error = host.ended().await;
        assert!(error.contains("the sender sent nothing for 3 s, though it is there"), "{error}");
        assert_eq!(host.path("f.part").exists(), starts);
    }
}

/// Nobody else is there: it is not busy.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_breaks_the_protocol_gets_the_reason() {
    let host = host("broken", Some(SECRET), Duration::from_secs(2)).await;
    let endpoint = host.client();
    let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
    let wrong = json!({ "version": 3, "proof": null, "name": "f", "size": -1 });
    peer.send(&wrong).await;
    let reason = refusal(&peer.receive().await).to_owned();
    assert!(
        reason.contains("a message that does not read: invalid value: integer `-1`"),
        "{reason}"
    );

    let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
    peer.to_receiver.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let reason = refusal(&peer.receive().await).to_owned();
    assert!(reason.contains("a message of 1195725856 bytes, at most 16384"), "{reason}");

    let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
    peer.to_receiver.write_all(&[0, 0, 0, 9, b'{']).await.unwrap();
    peer.to_receiver.finish().unwrap();
    assert!(refusal(&peer.receive().await).contains("a message broke off"));

    // One opens no stream, one says nothing on it.
    let silent = endpoint.connect(host.at, peer::NAME).unwrap().await.unwrap();
    let closed = timeout(Duration::from_secs(20), silent.closed()).await.unwrap();
    assert!(closed.to_string().contains("it heard nothing from this sender for 2 s"), "{closed}");
    let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
    peer.to_receiver.write_all(&[0]).await.unwrap();
    assert_eq!(refusal(&peer.receive().await), "it heard nothing from this sender for 2 s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sender_that_closes_without_a_reason_is_not_said_to_be_busy() {
    let mut host = host("closed", Some(SECRET), Duration::from_secs(10)).await;
    let endpoint = host.client();
    let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
    let proof = peer.proof(SECRET);
    assert_eq!(peer.offer(Some(proof), "f", 6).await["accept"]["from"], 0);
    peer.connection.close(0_u32.into(), b"");
    let error = host.ended().await;
    assert!(error.starts_with("the sender gave up: it closed the connection without"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_peer_learns_neither_the_folder_nor_the_room() {
    for secret in [None, Some(SECRET)] {
        for (name, size, words) in [
            ("f", 6, "f: there already; recv --force"),
            ("d", 6, "d: a directory; send --name"),
            ("g", 1 << 62, ".part: no room for 4611686018427387904 bytes more"),
        ] {
            let mut host = host("learns", secret, Duration::from_secs(10)).await;
            fs::write(host.path("f"), "there").unwrap();
            fs::create_dir(host.path("d")).unwrap();
            let endpoint = host.client();
            let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
            let proof = secret.map(|secret| peer.proof(secret));
            let reason = refusal(&peer.offer(proof, name, size).await).to_owned();
            assert!(reason.starts_with(name) && reason.contains(words), "{reason}");
            assert!(!reason.contains('/') && !reason.contains("free"), "{reason}");
            // Its own user gets all of it.
            let error = host.ended().await;
            let folder = host.directory.display().to_string();
            assert!(error.starts_with(&folder), "{error}");
            assert_eq!(error.contains("are free there"), name == "g", "{error}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_mislead_are_refused_over_the_wire_too() {
    for name in ["../f", "/f", "a/../f", "..", ".ssh", "-rf", "a\u{202e}b", "a\nb", "f.part", ""] {
        let host = host("name", Some(SECRET), Duration::from_secs(10)).await;
        let endpoint = host.client();
        let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
        let proof = peer.proof(SECRET);
        let reply = peer.offer(Some(proof), name, 6).await;
        let reason = refusal(&reply);
        assert!(reason.contains("send --name"), "{name:?}: {reason}");
        assert!(!reason.contains(['\u{202e}', '\n']), "{reason:?}");
        assert_eq!(fs::read_dir(&host.directory).unwrap().count(), 0, "{name:?}");
    }
}

/// A client that was not accepted gets no stream for data, and a window for words only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn before_the_offer_is_taken_a_client_can_send_64_kib() {
    let host = host("window", Some(SECRET), Duration::from_secs(30)).await;
    let endpoint = host.client();
    let mut peer = Peer::new(&endpoint, host.at).await.unwrap();
    let opened = timeout(Duration::from_millis(500), peer.connection.open_uni()).await;
    assert!(opened.is_err(), "a stream for data is open");
    // It is refused for lack of the secret, and nothing more is read of it.
    peer.offer(None, "f", 6).await;
    let mut taken = 0;
    let flood = async {
        while let Ok(written) = peer.to_receiver.write(&[0; 1_024]).await {
            taken += written;
        }
    };
    let _ = timeout(Duration::from_millis(500), flood).await;
    assert!((32 * 1024..=64 * 1024).contains(&taken), "{taken} bytes were taken");
}
