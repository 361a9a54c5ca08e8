//! Hostile clients of another QUIC stack: aioquic, in Python, which shares no line with quinn. What
//! the receiver bounds must not rest on how quinn's client behaves.
//!
//! They run where `python3` has aioquic (`pip install aioquic`), or the Python that
//! `FIRSTFLIGHT_AIOQUIC` names; without it they print that they were skipped, or fail if
//! `FIRSTFLIGHT_REQUIRE_AIOQUIC=1` is set.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::task::{JoinHandle, spawn_blocking};

use crate::place::{Host, SECRET, host};

/// The Python that has it.
fn python() -> Option<String> {
    let python = std::env::var("FIRSTFLIGHT_AIOQUIC").unwrap_or_else(|_| "python3".to_owned());
    let mut command = Command::new(&python);
    let quiet = command.args(["-c", "import aioquic"]).stdout(Stdio::null()).stderr(Stdio::null());
    if quiet.status().is_ok_and(|status| status.success()) {
        return Some(python);
    }
    let required = std::env::var_os("FIRSTFLIGHT_REQUIRE_AIOQUIC").is_some();
    assert!(!required, "{python} has no aioquic, but FIRSTFLIGHT_REQUIRE_AIOQUIC asks for it");
    eprintln!("skipped: {python} has no aioquic");
    None
}

/// Starts an attack; it prints one JSON document when it is over.
fn attack(python: &str, host: &Host, words: &[&str]) -> JoinHandle<Value> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile/client.py");
    let mut command = Command::new(python);
    command.arg(script).arg(host.at.port().to_string()).args(words);
    spawn_blocking(move || {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice(&output.stdout).unwrap()
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_clients_of_another_stack_delay_nobody() {
    let Some(python) = python() else { return };
    let host = host("aio-silent", Some(SECRET), Duration::from_secs(30)).await;
    let silent = attack(&python, &host, &["silent", "20", "15"]);
    // It takes a moment to start.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let began = Instant::now();
    assert_eq!(host.send("f", b"honest", Some(SECRET)).await, Ok(()));
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    let result = silent.await.unwrap();
    assert_eq!(result["connected"], 20, "{result}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_stack_without_the_secret_learns_and_changes_nothing() {
    let Some(python) = python() else { return };
    let host = host("aio-secret", Some(SECRET), Duration::from_secs(10)).await;
    fs::write(host.path("f.part"), "hon").unwrap();
    for proof in ["none", "zeros"] {
        let result = attack(&python, &host, &["offer", proof, "f", "6", "0"]).await.unwrap();
        let reason = result["replies"][0]["gave_up"]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("secret"), "{result}");
        assert!(result["streams"].as_u64().unwrap() == 0, "streams for data are open: {result}");
    }
    assert_eq!(fs::read(host.path("f.part")).unwrap(), b"hon");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_stack_cannot_send_more_than_it_announced() {
    let Some(python) = python() else { return };
    let mut host = host("aio-more", None, Duration::from_secs(5)).await;
    let result = attack(&python, &host, &["offer", "none", "f", "10", "5000000"]).await.unwrap();
    assert_eq!(result["replies"][0]["accept"]["from"], 0, "{result}");
    let ended = host.ended().await;
    assert!(ended.contains("sent more than the 10 bytes"), "{ended}");
    // Nothing of a stranger's is kept.
    assert_eq!(fs::read_dir(&host.directory).unwrap().count(), 0);
    // The window is that of the announced size and 64 KiB of words.
    let window = result["window"].as_u64().unwrap();
    assert!(window <= 10 + 2 * 64 * 1024, "{result}");
}
