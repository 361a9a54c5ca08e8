//! Several senders at a time: one that is slow, or means no good, has its own place and no other's.

use std::fs;
use std::time::{Duration, Instant};

use firstflight_transfer::Sha256;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::peer::Peer;
use super::place::{Host, SECRET, serving};
use super::refusal;

/// A sender that was accepted and begins; its streams are its own to send on.
async fn begun(host: &Host, endpoint: &quinn::Endpoint, name: &str, size: u64) -> Peer {
    let mut peer = Peer::new(endpoint, host.at).await.unwrap();
    let proof = peer.proof(SECRET);
    let reply = peer.offer(Some(proof), name, size).await;
    assert_eq!(reply["accept"]["from"], 0, "{reply}");
    peer.send(&json!({ "start": { "from": 0 } })).await;
    peer
}

/// What it says at the end, after what it reports on the way.
async fn last_reply(peer: &mut Peer) -> Value {
    loop {
        let reply = peer.receive().await;
        if reply["received"].is_null() {
            return reply;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_for_the_whole_of_another_s_file() {
    let host = serving("second", 2, 64 << 20).await;
    let endpoint = host.client();
    let mut slow = begun(&host, &endpoint, "slow", 2 << 20).await;
    slow.data(1 << 20).await;
    // One after the other: the place is free again after each.
    for name in ["a", "b"] {
        assert_eq!(host.send(name, name.as_bytes(), Some(SECRET)).await, Ok(()));
        assert_eq!(fs::read(host.path(name)).unwrap(), name.as_bytes());
    }
    let mut second = Peer::new(&endpoint, host.at).await.unwrap();
    let proof = second.proof(SECRET);
    let reply = second.offer(Some(proof), "slow", 2 << 20).await;
    assert!(refusal(&reply).contains("another transfer is writing it"), "{reply}");
    // And what was slow is whole in the end.
    slow.data(1 << 20).await;
    slow.connection.open_uni().await.unwrap().finish().unwrap();
    let sha256 = Sha256::of(&vec![b'x'; 2 << 20]);
    slow.send(&json!({ "done": { "bytes": 2 << 20, "sha256": sha256 } })).await;
    assert_eq!(last_reply(&mut slow).await, json!({ "stored": { "bytes": 2 << 20 } }));
    assert!(fs::read(host.path("slow")).unwrap() == vec![b'x'; 2 << 20]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_all_places_are_taken_the_next_is_refused_at_once_until_one_is_free() {
    let host = serving("full", 2, 64 << 20).await;
    let endpoint = host.client();
    let first = begun(&host, &endpoint, "a", 2 << 20).await;
    let _second = begun(&host, &endpoint, "b", 2 << 20).await;
    let began = Instant::now();
    let reason = host.send("c", b"c", Some(SECRET)).await.unwrap_err();
    assert!(reason.contains("it is busy with other transfers"), "{reason}");
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    first.connection.close(0_u32.into(), b"");
    let freed = async {
        while host.send("c", b"c", Some(SECRET)).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), freed).await.expect("its place is free");
    assert_eq!(fs::read(host.path("c")).unwrap(), b"c");
}

/// Without the first stream nothing can be written, so that all has to be held.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_leaves_out_the_first_byte_has_its_window_and_no_more() {
    let host = serving("hole", 2, 3 << 20).await;
    let endpoint = host.client();
    let peer = begun(&host, &endpoint, "f", 1 << 30).await;
    let _hole = peer.connection.open_uni().await.unwrap();
    let mut taken = 0;
    let flood = async {
        while let Ok(mut stream) = peer.connection.open_uni().await {
            // As much as a stream may have.
            let mut left = 1 << 20;
            while left > 0 {
                let written = stream.write(&[0; 1 << 16][..left.min(1 << 16)]).await.unwrap();
                (taken, left) = (taken + written, left - written);
            }
            stream.finish().unwrap();
        }
    };
    let _ = timeout(Duration::from_secs(3), flood).await;
    let window = 3 << 20;
    assert!((window..=window + (64 << 10)).contains(&taken), "{taken} bytes were taken");
}
