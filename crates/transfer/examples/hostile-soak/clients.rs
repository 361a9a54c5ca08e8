//! What the clients do, again and again.

use std::fmt;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use firstflight_transfer::{
    Fingerprint, Identity, Progress, Secret, Sending, Source, Tuning, send,
};
use rustls::pki_types::CertificateDer;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::peer::{Peer, endpoint, half_open};

/// What they share.
pub(crate) struct Target {
    pub(crate) at: SocketAddr,
    pub(crate) certificate: CertificateDer<'static>,
    pub(crate) place: PathBuf,
    pub(crate) over: AtomicBool,
    pub(crate) counts: Counts,
}

#[derive(Default)]
pub(crate) struct Counts {
    /// Honest transfers that arrived whole.
    whole: AtomicU64,
    /// Honest clients for whom one did.
    served: AtomicU64,
    /// Their bytes together.
    bytes: AtomicU64,
    /// Times that the receiver was busy.
    busy: AtomicU64,
    /// Times that nothing came from the receiver for ten seconds.
    unanswered: AtomicU64,
    /// Honest transfers that failed, or did not arrive as they were sent.
    failed: AtomicU64,
    /// The longest that an honest client tried, ms.
    slowest: AtomicU64,
    /// Attacks of each kind.
    attacks: [AtomicU64; ATTACKS],
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [whole, served, bytes, busy, failed, slowest] =
            [&self.whole, &self.served, &self.bytes, &self.busy, &self.failed, &self.slowest]
                .map(|count| count.load(Relaxed));
        writeln!(f, "honest: {whole} transfers whole, {bytes} bytes, of {served} clients")?;
        writeln!(f, "        {failed} failed, {busy} times busy, the longest took {slowest} ms")?;
        writeln!(f, "        {} times unanswered for 10 s", self.unanswered.load(Relaxed))?;
        let attacks: Vec<u64> = self.attacks.iter().map(|count| count.load(Relaxed)).collect();
        write!(f, "hostile: {attacks:?} ({NAMES})")
    }
}

impl Counts {
    /// Every honest client was served, and none in vain.
    pub(crate) fn judge(&self, honest: u64) -> Result<(), String> {
        let (served, failed) = (self.served.load(Relaxed), self.failed.load(Relaxed));
        if failed > 0 || served < honest {
            return Err(format!(
                "{served} of {honest} honest clients were served, {failed} failed"
            ));
        }
        Ok(())
    }
}

/// Sends one file after the other, each until it has arrived.
pub(crate) async fn honest(number: u64, target: Arc<Target>) {
    let counts = &target.counts;
    let mut round = 0;
    while !target.over.load(Relaxed) {
        let name = format!("f{number}-{round}");
        let size = 1_000 + (number * 7_919 + round * 104_729) % 1_999_000;
        let content: Vec<u8> = (0..size).map(|at| (at * 31 + number + round) as u8).collect();
        let file = target.place.join(&name);
        fs::write(&file, &content).expect("the disk has room");
        let began = Instant::now();
        loop {
            match one(&target, &file).await {
                Ok(()) => break,
                Err(busy) if busy.contains("is busy with other transfers") => {
                    counts.busy.fetch_add(1, Relaxed);
                    sleep(Duration::from_millis(100 + number * 37 % 400)).await;
                }
                // The machine is overloaded: tried again, and counted.
                Err(silence) if SILENCE.iter().any(|words| silence.contains(words)) => {
                    counts.unanswered.fetch_add(1, Relaxed);
                }
                Err(problem) => {
                    eprintln!("{name}: {problem}");
                    counts.failed.fetch_add(1, Relaxed);
                }
            }
        }
        let took = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        counts.slowest.fetch_max(took, Relaxed);
        let arrived = target.place.join("in").join(&name);
        if fs::read(&arrived).is_ok_and(|arrived| arrived == content) {
            counts.whole.fetch_add(1, Relaxed);
            counts.bytes.fetch_add(size, Relaxed);
            counts.served.fetch_add(u64::from(round == 0), Relaxed);
        } else {
            eprintln!("{name}: arrived otherwise than it was sent");
            counts.failed.fetch_add(1, Relaxed);
        }
        let _ = (fs::remove_file(arrived), fs::remove_file(file));
        round += 1;
    }
}

async fn one(target: &Target, file: &Path) -> Result<(), String> {
    let sending = Sending {
        to: target.at.to_string(),
        source: Source::File(file.to_owned()),
        name: None,
        control: "cubic".to_owned(),
        accepted: Fingerprint::all_in(&target.place.join("pem")).expect("it was written"),
        identity: Identity::make().expect("there is randomness"),
        secret: Some(Secret::new(SECRET, "the soak").expect("it is one")),
        timeout: Duration::from_secs(10),
        qlog: None,
        paths: None,
        tuning: Tuning::default(),
    };
    let (progress, _) = watch::channel(Progress::default());
    let sent = send(sending, progress, std::future::pending()).await;
    sent.map(|_| ()).map_err(|error| error.to_string())
}

/// One attack after the other, each client its own.
pub(crate) async fn hostile(number: u64, target: Arc<Target>) {
    let kind = number as usize % ATTACKS;
    let socket = endpoint(&target.certificate);
    while !target.over.load(Relaxed) {
        target.counts.attacks[kind].fetch_add(1, Relaxed);
        match kind {
            0 => {
                let open = half_open(&target.certificate, target.at);
                sleep(Duration::from_millis(100)).await;
                drop(open);
            }
            1 => garbage(&target, number).await,
            _ => {
                // Whoever is refused tries again.
                if let Ok(mut peer) = Peer::new(&socket, target.at).await {
                    let _ = timeout(Duration::from_secs(5), attack(kind, &mut peer)).await;
                }
                sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn attack(kind: usize, peer: &mut Peer) {
    let (right, wrong) = (peer.proof(SECRET), vec![0; 32]);
    match kind {
        // Silent, until it is sent away.
        2 => drop(peer.connection.closed().await),
        3 => drop(peer.offer(None, "f0-0", 1 << 20).await),
        4 => drop(peer.offer(Some(wrong), "f0-0", 1 << 20).await),
        // All that a word may have, and never its end.
        5 => {
            let _ =
                peer.to_receiver.write_all(&[&[0, 0, 0x40, 0][..], &[b' '; 16_000]].concat()).await;
            peer.connection.closed().await;
        }
        // It has the secret.
        _ => {
            let taken = peer.offer(Some(right), "more", 10).await;
            if taken["accept"].is_object() {
                peer.send(&json!({ "start": { "from": 0 } })).await;
                peer.data(5_000_000).await;
            }
        }
    }
}

/// Datagrams that are no packets, and some that look like it.
async fn garbage(target: &Target, number: u64) {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    for at in 0..20_u64 {
        let mut datagram: Vec<u8> =
            (0..1_200_u64).map(|byte| (byte * byte + number * at) as u8).collect();
        datagram[0] = [0xc0, 0x40, 0xff, 0][at as usize % 4];
        // It may be refused: nobody waits for an answer.
        let _ = socket.send_to(&datagram, target.at);
    }
    sleep(Duration::from_millis(200)).await;
}

pub(crate) const SECRET: &str = "what only the honest should know";
const SILENCE: [&str; 2] = ["nobody answered", "the receiver vanished"];
const ATTACKS: usize = 7;
const NAMES: &str = "half-open, garbage, silent, no secret, wrong secret, endless word, more than \
                     announced";
