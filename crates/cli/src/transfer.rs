//! What `send` and `recv` share: the runtime that quinn needs, Ctrl-C, and the bar.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use firstflight_scenario::Time;
use firstflight_transfer::{
    Broken, Fingerprint, Identity, MAX_TIMEOUT, MIN_TIMEOUT, Progress as Reached, TransferError,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::failure::{Failure, Fault as _};
use crate::interrupt;
use crate::output;
use crate::progress::Progress;

/// Who one is, and how long silence may last.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Certificate of this side, in PEM [default: made on the fly]
    #[arg(long, value_name = "FILE.pem", requires = "key")]
    cert: Option<PathBuf>,
    /// Its private key, in PEM
    #[arg(long, value_name = "FILE.pem", requires = "cert")]
    key: Option<PathBuf>,
    /// Silence after which the other side counts as gone
    #[arg(long, value_name = "TIME", default_value = "10s")]
    timeout: Time,
}

impl Common {
    pub(crate) fn identity(&self) -> Result<Identity, TransferError> {
        match (&self.cert, &self.key) {
            (Some(certificate), Some(key)) => Identity::load(certificate, key),
            _ => Identity::make(),
        }
    }

    pub(crate) fn timeout(&self) -> Result<Duration, Failure> {
        let timeout = Duration::from_nanos(self.timeout.ns());
        if (MIN_TIMEOUT..=MAX_TIMEOUT).contains(&timeout) {
            return Ok(timeout);
        }
        let problem = format!(
            "--timeout {}: out of range; accepted: {} s to {} s",
            self.timeout,
            MIN_TIMEOUT.as_secs(),
            MAX_TIMEOUT.as_secs()
        );
        Err(Failure::Usage(problem))
    }
}

/// By what a sender knows its receiver.
#[derive(Debug, clap::Args)]
pub(crate) struct PeerArgs {
    /// Fingerprint of the receiver's certificate, as recv prints it; this or --trust
    #[arg(long, value_name = "FINGERPRINT")]
    pin: Vec<Fingerprint>,
    /// The receiver's certificate itself, in PEM
    #[arg(long, value_name = "FILE.pem")]
    trust: Vec<PathBuf>,
}

impl PeerArgs {
    pub(crate) fn accepted(&self) -> Result<Vec<Fingerprint>, Failure> {
        if self.pin.is_empty() && self.trust.is_empty() {
            return Err(Failure::Usage(
                "--pin: missing, and --trust too: without one of them any host could pose as the \
                 receiver; accepted: --pin sha256:..., the fingerprint that `firstflight recv` \
                 prints, or --trust FILE.pem, the receiver's certificate"
                    .to_owned(),
            ));
        }
        Ok(accepted(&self.pin, &self.trust)?)
    }
}

/// Fingerprints given by themselves and in files.
pub(crate) fn accepted(
    pins: &[Fingerprint],
    files: &[PathBuf],
) -> Result<Vec<Fingerprint>, TransferError> {
    let mut all = pins.to_vec();
    for file in files {
        all.extend(Fingerprint::all_in(file)?);
    }
    Ok(all)
}

/// quinn's tasks on two threads: one for the sockets and the ciphers, one for what waits.
pub(crate) fn runtime() -> Result<Runtime, TransferError> {
    let built = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    built.map_err(|error| TransferError::Machine(error.to_string()))
}

/// Ready after Ctrl-C.
pub(crate) async fn interrupted() {
    let stop = interrupt::listen();
    while !stop.load(Ordering::Relaxed) {
        tokio::time::sleep(LOOK).await;
    }
}

/// Shows how far the transfer is, until its reports end.
pub(crate) async fn show(mut progress: watch::Receiver<Reached>) {
    let all = [progress.clone()];
    tokio::select! {
        () = show_all(&all) => {}
        () = async { while progress.changed().await.is_ok() {} } => {}
    }
}

/// Shows how far several transfers are together, for as long as somebody waits for it: from when
/// all of them know what there is.
pub(crate) async fn show_all(all: &[watch::Receiver<Reached>]) {
    let mut bar: Option<Progress> = None;
    loop {
        let all: Vec<Reached> = all.iter().map(|progress| *progress.borrow()).collect();
        if all.iter().all(|one| *one != Reached::default()) {
            let total = all.iter().map(|one| one.total).sum();
            let bytes = all.iter().map(|one| one.bytes).sum();
            bar.get_or_insert_with(|| Progress::of_bytes(total)).at(bytes);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The document of a transfer that failed, where one is wanted; wrong input has none.
pub(crate) fn print_failure<T>(
    json: bool,
    transfer: &str,
    control: &str,
    (progress, took): (Reached, Duration),
    failure: Failure,
) -> Result<T, Failure> {
    if json && failure.code() != 2 {
        let broken = Broken { transfer, control, progress, took, why: &failure.to_string() };
        output::print(&broken.results(env!("CARGO_PKG_VERSION")).to_json()?)?;
    }
    Err(failure)
}

/// Bytes for people.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.3} MB", bytes as f64 / 1e6)
}

/// How long a transfer took, and its rate.
pub(crate) fn pace(bytes: u64, took: Duration) -> String {
    let seconds = took.as_secs_f64();
    let mbps = bytes as f64 * 8.0 / 1e6 / seconds.max(f64::MIN_POSITIVE);
    format!("in {seconds:.3} s, {mbps:.2} Mbps")
}

/// A line on what an earlier transfer had brought; nothing if there was none.
pub(crate) fn resumed(bytes: u64) -> String {
    if bytes == 0 { String::new() } else { format!("{} were there already\n", megabytes(bytes)) }
}

const LOOK: Duration = Duration::from_millis(50);
