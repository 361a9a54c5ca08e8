//! A `recv` and many clients, half of them hostile: every honest transfer has to arrive whole, and
//! memory must not grow. `cargo xtask soak recv` runs it: PROGRAM DIRECTORY CLIENTS SECONDS.

mod clients;
#[path = "../../tests/hostile/peer.rs"]
mod peer;
mod server;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clients::{Counts, Target, honest, hostile};
use server::Server;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [program, directory, clients, seconds] = words.as_slice() else {
        return Err("usage: PROGRAM DIRECTORY CLIENTS SECONDS".to_owned());
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| format!("no number: {text}"));
    let (clients, seconds) = (number(clients)?, number(seconds)?);
    let server = Server::start(program, Path::new(directory))?;
    let target = Arc::new(Target {
        at: server.at,
        certificate: server.certificate.clone(),
        place: server.place.clone(),
        over: AtomicBool::new(false),
        counts: Counts::default(),
    });
    let tasks: Vec<_> = (0..clients)
        .map(|number| match number % 2 {
            0 => tokio::spawn(honest(number, Arc::clone(&target))),
            _ => tokio::spawn(hostile(number / 2, Arc::clone(&target))),
        })
        .collect();
    let until = Instant::now() + Duration::from_secs(seconds);
    let before = server.memory();
    let mut most = before;
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(200)).await;
        most = most.max(server.memory());
    }
    target.over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.map_err(|error| error.to_string())?;
    }
    let after = server.memory();
    println!("{}", target.counts);
    println!("memory of recv: {before} KiB before, {most} KiB at most, {after} KiB after");
    server.end()?;
    target.counts.judge(clients.div_ceil(2))?;
    if most > MEMORY_KIB {
        return Err(format!("recv took {most} KiB, where {MEMORY_KIB} KiB are a bound"));
    }
    Ok(())
}

/// 256 places with 64 KiB of words and as much again for TLS and the connection, and four transfers
/// of at most 2 MB, besides the program itself.
const MEMORY_KIB: u64 = 96 * 1024;
