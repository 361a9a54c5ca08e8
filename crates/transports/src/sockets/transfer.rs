//! One flow over sockets: a receiver at the far end and a sender at the near one.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use firstflight_lab::Namespace;
use firstflight_lab::path::far_address;
use firstflight_runner::RunError;
use firstflight_transfer::{
    Fingerprint, Identity, Inbox, Kind, LEAST_WINDOW, Limits, Listening, Progress, Sending, Sent,
    Source, Store, TransferError, Tuning, receive, send,
};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::time::sleep;

/// A flow that is to be.
pub(super) struct SocketFlow<'a> {
    pub(super) id: u64,
    pub(super) control: &'a str,
    /// After the beginning of the run.
    pub(super) start: Duration,
    /// Duration of the run.
    pub(super) duration: Duration,
    /// Payload to send, bytes; without one it sends until the run ends.
    pub(super) size: Option<u64>,
    /// The receiver's window, bytes.
    pub(super) window: Option<u64>,
    /// The UDP payload of a full packet, bytes.
    pub(super) packet: u16,
    /// Settings of the connection's transport besides its control.
    pub(super) tuning: Tuning,
    /// Becomes true when the run is to stop.
    pub(super) stop: &'a AtomicBool,
    /// Where the sender writes its qlog, if it writes one.
    pub(super) qlog: Option<PathBuf>,
}

/// The outcome of a flow.
pub(super) struct Transferred {
    pub(super) sent: Sent,
    /// When it did start, after the beginning of the run.
    pub(super) start: Duration,
}

impl SocketFlow<'_> {
    /// A receiver at the far end, a sender at the near one, each on a thread of its own.
    pub(super) fn carry(
        &self,
        near: &Namespace,
        far: &Namespace,
        began: Instant,
    ) -> Result<Transferred, RunError> {
        let identity = Identity::make().map_err(of_transfer)?;
        let accepted = Vec::from_iter(identity.fingerprint());
        let (ready, is_ready) = channel();
        thread::scope(|scope| {
            let (over, ended) = watch::channel(false);
            let take =
                move || far.run(|| self.receive(identity, &ready, ended)).map_err(machine)?;
            let taking = scope.spawn(take);
            if is_ready.recv().is_err() {
                // The receiver ended before it listened, and returned why.
                let took = taking.join().unwrap_or_else(|_| Err(failed("the receiver panicked")));
                return Err(took.err().unwrap_or_else(|| failed("the receiver did not listen")));
            }
            let transferred = near.run(|| self.send(accepted, began)).map_err(machine);
            // The receiver may wait for a sender that never came.
            let _ = over.send(true);
            let took = taking.join().unwrap_or_else(|_| Err(failed("the receiver panicked")));
            let transferred = transferred??;
            took.map(|()| transferred)
        })
    }

    fn at(&self) -> String {
        format!("{}:{}", far_address(0), u64::from(FIRST_PORT) + self.id)
    }

    fn receive(
        &self,
        identity: Identity,
        ready: &Sender<()>,
        mut ended: watch::Receiver<bool>,
    ) -> Result<(), RunError> {
        runtime()?.block_on(async {
            // The room for messages comes on top of what is given here.
            let window = self.window.map_or(WINDOW, |window| window.saturating_sub(LEAST_WINDOW));
            let inbox = Inbox::open(Listening {
                at: self.at(),
                accepted: Vec::new(),
                secret: None,
                identity,
                timeout: TIMEOUT,
                limits: Limits { window, size: None },
                store: Store::Discard,
                packet: Some(self.packet),
            })
            .map_err(of_transfer)?;
            // The thread that waits for it is there.
            let _ = ready.send(());
            let (progress, _) = watch::channel(Progress::default());
            let over = async {
                // An error says that the other thread is gone, which is an end too.
                let _ = ended.wait_for(|ended| *ended).await;
            };
            match receive(&inbox, &progress, |_| {}, over).await {
                Ok(_) | Err(TransferError::Interrupted { .. }) => Ok(()),
                Err(error) => Err(of_transfer(error)),
            }
        })
    }

    fn send(&self, accepted: Vec<Fingerprint>, began: Instant) -> Result<Transferred, RunError> {
        let identity = Identity::make().map_err(of_transfer)?;
        runtime()?.block_on(async {
            tokio::select! {
                () = sleep(self.start.saturating_sub(began.elapsed())) => {}
                () = interrupted(self.stop) => return Err(RunError::Interrupted),
            }
            let start = began.elapsed();
            let left = self.duration.saturating_sub(start);
            let sending = Sending {
                to: self.at(),
                source: self.size.map_or(Source::Duration(left), Source::Memory),
                name: None,
                control: self.control.to_owned(),
                accepted,
                identity,
                secret: None,
                timeout: TIMEOUT,
                qlog: self.qlog.clone(),
                paths: None,
                tuning: self.tuning,
            };
            // Data in flight when the time is over still has to arrive.
            let limit = if self.size.is_some() { left } else { left + TIMEOUT };
            let (progress, _) = watch::channel(Progress::default());
            let over = async {
                tokio::select! {
                    () = sleep(limit) => {}
                    () = interrupted(self.stop) => {}
                }
            };
            let sent = send(sending, progress, over).await;
            let sent = sent.map_err(|error| self.unsent(error, limit))?;
            Ok(Transferred { sent, start })
        })
    }

    fn unsent(&self, error: TransferError, limit: Duration) -> RunError {
        match error {
            TransferError::Interrupted { .. } if self.stop.load(Ordering::Relaxed) => {
                RunError::Interrupted
            }
            TransferError::Interrupted { .. } => failed(&format!(
                "{}: not all had arrived after {} s; a longer --duration lets it",
                self.control,
                limit.as_secs_f64()
            )),
            error => of_transfer(error),
        }
    }
}

/// Why a transfer failed, in the kinds of a run.
fn of_transfer(error: TransferError) -> RunError {
    match error.kind() {
        Kind::Input => RunError::Input(error.to_string()),
        Kind::Lacks => RunError::Lacks(error.to_string()),
        Kind::Interrupted => RunError::Interrupted,
        Kind::Broke => RunError::Failed(error.to_string()),
    }
}

/// Ready when the run is to stop.
async fn interrupted(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        sleep(POLL).await;
    }
}

/// quinn's sockets on the thread that made them: a namespace is a thread's.
fn runtime() -> Result<Runtime, RunError> {
    Builder::new_current_thread().enable_all().build().map_err(machine)
}

fn machine(error: std::io::Error) -> RunError {
    RunError::Failed(error.to_string())
}

pub(super) fn failed(problem: &str) -> RunError {
    RunError::Failed(problem.to_owned())
}

const POLL: Duration = Duration::from_millis(50);
const FIRST_PORT: u16 = 4_433;
const TIMEOUT: Duration = Duration::from_secs(10);
/// Flow control that does not limit.
const WINDOW: u64 = 256 << 20;
