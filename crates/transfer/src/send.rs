//! The sender's side.

use std::fs::File;
use std::io::BufWriter;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use firstflight_core::hint::{Learned, PathHint};
use firstflight_outside::is_full;
use firstflight_qlog::{Completing, Header, Tap, Vantage};
use firstflight_quic::quinn::{Constants, Visit};
use quinn::{ConnectError, Connection, ConnectionError, Endpoint, RecvStream, SendStream};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::Progress;
use crate::certificate::{Fingerprint, Identity, SERVER_NAME};
use crate::endpoint::{self, machine, send_window};
use crate::error::TransferError;
use crate::failure::{DONE, RECEIVER, gave_up, lost, unexpected_message};
use crate::hash::Sha256;
use crate::message::{
    CLOSE_TIMEOUT, MessageError, Offer, Reply, SenderMessage, VERSION, close_with, receive_message,
    send_message,
};
use crate::name;
use crate::paths::Paths;
use crate::pinned::Pinned;
use crate::record::{Record, WatchedFactory};
use crate::secret::Secret;
use crate::source::{Opened, Reading, Source, Whole};
use crate::streams::{Outgoing, Unsent};
use crate::stuck::{SendProgress, StallTimeout};

/// What to send, where and how.
#[derive(Debug)]
pub struct Sending {
    /// `HOST:PORT`, or a port of loopback.
    pub to: String,
    /// What.
    pub source: Source,
    /// The file's name there, if not the one it has here.
    pub name: Option<String>,
    /// The control by name: firstflight's or one of quinn's own.
    pub control: String,
    /// Certificates of the receiver that are trusted.
    pub accepted: Vec<Fingerprint>,
    /// This side's certificate.
    pub identity: Identity,
    /// The receiver's secret, if it wants one.
    pub secret: Option<Secret>,
    /// How long silence may last.
    pub timeout: Duration,
    /// Where to write a qlog.
    pub qlog: Option<PathBuf>,
    /// The file that keeps what was learned of paths, if any: the control gets what the file has of
    /// the receiver's address, and what it learns is written there.
    pub paths: Option<PathBuf>,
    /// What an experiment sets and watches.
    pub tuning: Tuning,
}

/// What an experiment sets of a connection, and how often it takes samples; by default nothing and
/// none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Constants in place of quinn's.
    pub constants: Constants,
    /// How often the congestion control is written down into [`Record::samples`].
    pub samples: Option<Duration>,
}

/// A transfer that was stored and checked at the other end.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Sent {
    /// Where it went.
    pub to: SocketAddr,
    /// Its name there; `None` of bytes that belong to no file.
    pub name: Option<String>,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// Bytes that an earlier attempt had brought.
    pub resumed: u64,
    /// Hash of the whole file, where there is a file.
    pub sha256: Option<Sha256>,
    /// From the first packet to the end of the handshake.
    pub handshake: Duration,
    /// From the first packet to the acknowledgement of the last byte.
    pub took: Duration,
    /// What quinn counted.
    pub stats: quinn::ConnectionStats,
    /// What was seen of the congestion controller.
    pub record: Record,
    /// What the control got of the path from an earlier connection.
    pub hint: Option<Learned>,
    /// Why what was learned could not be written down, if it could not.
    pub not_kept: Option<String>,
}

/// Sends, and waits until it is stored and checked. `progress` has what has arrived; when
/// `stop` is ready, the receiver gets a message that nothing more comes.
///
/// # Errors
/// See [`TransferError`].
pub async fn send(
    sending: Sending,
    progress: watch::Sender<Progress>,
    stop: impl Future<Output = ()>,
) -> Result<Sent, TransferError> {
    let to = endpoint::address(&sending.to)?;
    let paths = sending.paths.clone().map(Paths::open).transpose()?;
    let visit = paths.as_ref().map(|paths| paths.visit(to.ip()));
    let hint = visit.as_ref().and_then(Visit::hint);
    let factory = Arc::new(WatchedFactory::new(&sending.control, &sending.tuning, hint)?);
    let mut prepared = Prepared::new(&sending)?;
    let mut transport = endpoint::transport(sending.timeout)?;
    sending.tuning.constants.apply(&mut transport);
    transport.send_window(send_window(0));
    transport.congestion_controller_factory(Arc::clone(&factory) as _);
    let path = sending.qlog.clone();
    let log = path.as_ref().map(|path| log(path, &sending, &factory)).transpose()?;
    if let Some(log) = &log {
        let mut config = quinn::QlogConfig::default();
        config.writer(Box::new(log.clone()));
        transport.qlog_stream(config.into_stream());
    }
    let (config, pinned) = endpoint::client(sending.identity, sending.accepted, transport)?;
    let any: IpAddr =
        if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let mut endpoint = Endpoint::client(SocketAddr::new(any, 0)).map_err(machine)?;
    endpoint.set_default_client_config(config);

    let began = Instant::now();
    let mut stop = std::pin::pin!(stop);
    let connection = tokio::select! {
        connected = connect(&endpoint, to, sending.timeout, &pinned) => connected?,
        () = &mut stop => return Err(TransferError::Interrupted { kept: String::new() }),
    };
    let handshake = began.elapsed();
    prepared.offer.proof = sending.secret.map(|secret| secret.prove(&connection)).transpose()?;
    let stall_timeout = StallTimeout { timeout: sending.timeout, kept: RESUMABLE };
    let session = Session { connection: &connection, began, stall_timeout };
    let opened = stall_timeout.within(0, "took", connection.open_bi()).await?;
    let (mut to_receiver, replies) = opened.map_err(|error| session.lost(error))?;
    // Messages overtake data. Refused only of a stream that is over.
    let _ = to_receiver.set_priority(1);
    let outcome = tokio::select! {
        outcome = session.transfer(prepared, &mut to_receiver, replies, progress) => outcome,
        () = &mut stop => Err(TransferError::Interrupted { kept: RESUMABLE.to_owned() }),
    };
    match &outcome {
        Ok(_) => connection.close(DONE, b"done"),
        Err(error) => give_up(&connection, &mut to_receiver, error.to_peer()).await,
    }
    let stats = connection.stats();
    let record = factory.record();
    if let Some(visit) = visit {
        visit.end_with(record.learned, record.refutes_hint);
    }
    let kept = paths.map_or(Ok(()), |paths| paths.save(to.ip()));
    let not_kept = kept.err().map(|error| error.to_string());
    // So that the peer learns of the end sooner; not long, since the peer may be gone.
    let _ = timeout(sending.timeout.min(CLOSE_TIMEOUT), endpoint.wait_idle()).await;
    if let (Some(log), Some(path)) = (log, path) {
        log.finish().map_err(|source| TransferError::File { path, source })?;
    }
    let Transferred { name, bytes, resumed, sha256, took } = outcome?;
    let hint = match hint {
        Some(PathHint::Own(learned)) => Some(learned),
        _ => None,
    };
    Ok(Sent { to, name, bytes, resumed, sha256, handshake, took, stats, record, hint, not_kept })
}

/// What is known of the source before the connection.
struct Prepared {
    offer: Offer,
    opened: Option<Opened>,
    memory: (u64, Option<Duration>),
}

impl Prepared {
    fn new(sending: &Sending) -> Result<Self, TransferError> {
        let offer = |name, size| Offer { version: VERSION, proof: None, name, size };
        Ok(match &sending.source {
            Source::File(path) => {
                let opened = Opened::new(path.clone())?;
                let name = name::of(path, sending.name.as_deref())?;
                if sending.qlog.as_deref().is_some_and(|log| is_same(log, path)) {
                    let problem = "the file to send; accepted for --qlog: another file";
                    return Err(TransferError::Input(format!("{}: {problem}", path.display())));
                }
                Self {
                    offer: offer(Some(name), Some(opened.size)),
                    opened: Some(opened),
                    memory: (0, None),
                }
            }
            Source::Memory(size) => {
                Self { offer: offer(None, Some(*size)), opened: None, memory: (*size, None) }
            }
            Source::Duration(duration) => {
                Self { offer: offer(None, None), opened: None, memory: (u64::MAX, Some(*duration)) }
            }
        })
    }
}

/// Whether two paths lead to one file.
fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

async fn connect(
    endpoint: &Endpoint,
    to: SocketAddr,
    waited: Duration,
    pinned: &Pinned,
) -> Result<Connection, TransferError> {
    let nobody = || TransferError::Nobody { address: to.to_string(), waited };
    let connecting = endpoint.connect(to, SERVER_NAME).map_err(|error| match error {
        ConnectError::InvalidRemoteAddress(address) => TransferError::Address {
            address: address.to_string(),
            problem: "nothing can be sent there".to_owned(),
        },
        other => machine(other),
    })?;
    match timeout(waited, connecting).await {
        Ok(Ok(connection)) => Ok(connection),
        Err(_) | Ok(Err(ConnectionError::TimedOut)) => Err(nobody()),
        Ok(Err(error)) => match pinned.refused() {
            Some(shown) => Err(TransferError::WrongCertificate { shown }),
            None => Err(lost(RECEIVER, &error, waited, "")),
        },
    }
}

/// What became of a transfer.
struct Transferred {
    name: Option<String>,
    bytes: u64,
    resumed: u64,
    sha256: Option<Sha256>,
    took: Duration,
}

/// Why not all data were sent.
enum PumpError {
    /// The source or the connection failed.
    Failed(TransferError),
    /// The receiver takes no more.
    Stopped,
}

/// The connection of a transfer.
struct Session<'a> {
    connection: &'a Connection,
    began: Instant,
    stall_timeout: StallTimeout,
}

impl Session<'_> {
    async fn transfer(
        &self,
        prepared: Prepared,
        to_receiver: &mut SendStream,
        mut replies: RecvStream,
        progress: watch::Sender<Progress>,
    ) -> Result<Transferred, TransferError> {
        let Prepared { offer, opened, memory } = prepared;
        self.send_message(to_receiver, &offer).await?;
        // It reads what it has of the file before it answers.
        let answer = self.stall_timeout.within(
            offer.size.unwrap_or(0),
            "said",
            receive_message(&mut replies),
        );
        let (reading, from) = match answer.await?.map_err(|error| self.wrong(error))? {
            Reply::Accept { from, prefix } => begin(opened, memory, from, prefix).await?,
            Reply::GaveUp { reason } => return Err(gave_up(RECEIVER, &reason, "")),
            Reply::Received { .. } | Reply::Stored { .. } => {
                return Err(unexpected_message(RECEIVER));
            }
        };
        self.send_message(to_receiver, &SenderMessage::Start { from }).await?;
        progress.send_replace(Progress { bytes: from, resumed: from, total: offer.size });

        let sent_so_far = SendProgress { bytes: from.into(), ..SendProgress::default() };
        let taken = progress.subscribe();
        let mut stored = tokio::spawn(follow(replies, progress));
        let whole = tokio::select! {
            whole = self.pump(reading, &sent_so_far) => match whole {
                Ok(whole) => whole,
                Err(PumpError::Failed(error)) => return Err(error),
                // The reason comes over the other stream.
                Err(PumpError::Stopped) => {
                    let why = self.stall_timeout.within(0, "said", stored).await?;
                    return Err(self.not_stored(why.map_err(machine)?));
                }
            },
            reply = &mut stored => return Err(self.not_stored(reply.map_err(machine)?)),
            stuck = self.stall_timeout.ends(&sent_so_far, taken) => return Err(stuck),
        };
        let took = self.began.elapsed();
        let done = SenderMessage::Done { bytes: whole.bytes, sha256: whole.sha256.clone() };
        self.send_message(to_receiver, &done).await?;
        let reply = self.stall_timeout.within(whole.bytes, "said", stored).await?;
        match reply.map_err(machine)? {
            Ok(Reply::Stored { bytes }) if bytes == whole.bytes => {
                let (name, sha256) = (offer.name, whole.sha256);
                Ok(Transferred { name, bytes, resumed: from, sha256, took })
            }
            other => Err(self.not_stored(other)),
        }
    }

    async fn send_message(
        &self,
        to_receiver: &mut SendStream,
        message: &impl Serialize,
    ) -> Result<(), TransferError> {
        let sent = self.stall_timeout.within(0, "took", send_message(to_receiver, message)).await?;
        sent.map_err(|error| self.wrong(error))
    }

    /// The error of a reply that is not that all is stored.
    fn not_stored(&self, reply: Result<Reply, MessageError>) -> TransferError {
        match reply {
            Ok(Reply::GaveUp { reason }) => gave_up(RECEIVER, &reason, RESUMABLE),
            Ok(_) => unexpected_message(RECEIVER),
            Err(error) => self.wrong(error),
        }
    }

    /// Sends the data until the last byte is acknowledged.
    async fn pump(
        &self,
        mut reading: Reading,
        sent_so_far: &SendProgress,
    ) -> Result<Whole, PumpError> {
        let mut data = Outgoing::new(self.connection);
        let mut tick = interval(WINDOW_INTERVAL);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            sent_so_far.waits_for_source.store(true, Ordering::Relaxed);
            let block = tokio::select! {
                block = reading.from.recv() => block,
                _ = tick.tick() => {
                    self.follow_window();
                    continue;
                }
            };
            sent_so_far.waits_for_source.store(false, Ordering::Relaxed);
            let Some(block) = block else { break };
            // Before it is written: some of it may arrive while the rest waits.
            sent_so_far.bytes.fetch_add(block.len() as u64, Ordering::Relaxed);
            let mut writing = std::pin::pin!(data.write(block));
            loop {
                tokio::select! {
                    written = &mut writing => {
                        written.map_err(|unsent| self.unsent(unsent))?;
                        break;
                    }
                    _ = tick.tick() => self.follow_window(),
                }
            }
        }
        let whole = reading.end().await.map_err(PumpError::Failed)?;
        data.end().await.map_err(|unsent| self.unsent(unsent))?;
        Ok(whole)
    }

    fn follow_window(&self) {
        // Not from the statistics, which ask the controller as quinn's pacer does.
        let cwnd = self.connection.congestion_state().metrics().congestion_window;
        self.connection.set_send_window(send_window(cwnd));
    }

    fn lost(&self, error: ConnectionError) -> TransferError {
        lost(RECEIVER, &error, self.stall_timeout.timeout, RESUMABLE)
    }

    fn unsent(&self, unsent: Unsent) -> PumpError {
        match unsent {
            Unsent::Lost(error) => PumpError::Failed(self.lost(error)),
            Unsent::Stopped => PumpError::Stopped,
        }
    }

    fn wrong(&self, error: MessageError) -> TransferError {
        match error {
            MessageError::Lost(Ok(error)) => self.lost(error),
            MessageError::Lost(Err(problem)) | MessageError::Wrong(problem) => {
                TransferError::Protocol { peer: RECEIVER, problem }
            }
        }
    }
}

/// The source at the place where the receiver wants it.
async fn begin(
    opened: Option<Opened>,
    (size, duration): (u64, Option<Duration>),
    from: u64,
    prefix: Option<Sha256>,
) -> Result<(Reading, u64), TransferError> {
    let Some(mut opened) = opened else { return Ok((Reading::memory(size, duration), 0)) };
    let found = tokio::task::spawn_blocking(move || {
        let from = opened.resume(from, prefix.as_ref());
        from.map(|from| (opened, from))
    });
    let (opened, from) = found.await.map_err(machine)??;
    Ok((Reading::file(opened, from), from))
}

/// Reads the receiver's reports until another message comes.
async fn follow(
    mut replies: RecvStream,
    progress: watch::Sender<Progress>,
) -> Result<Reply, MessageError> {
    loop {
        match receive_message(&mut replies).await? {
            Reply::Received { bytes } => progress.send_modify(|now| now.bytes = bytes),
            other => return Ok(other),
        }
    }
}

/// Sends the receiver the reason why nothing more comes.
async fn give_up(connection: &Connection, to_receiver: &mut SendStream, reason: String) {
    let last = SenderMessage::GaveUp { reason: reason.clone() };
    close_with(connection, to_receiver, Some(&last), &reason).await;
}

/// The file of the qlog.
fn log(path: &Path, sending: &Sending, factory: &WatchedFactory) -> Result<Log, TransferError> {
    let file = File::create(path).map_err(|error| {
        if is_full(&error) {
            return TransferError::File { path: path.to_owned(), source: error };
        }
        let accepted = "accepted: a file that can be written";
        TransferError::Input(format!("--qlog {}: {error}; {accepted}", path.display()))
    })?;
    let header = Header {
        title: format!("{} to {}", sending.control, sending.to),
        description: "firstflight send over quinn 0.11".to_owned(),
        vantage: Vantage::Client,
    };
    let probe = factory.probe(sending.control != "quinn-bbr");
    Ok(Tap::new(Completing::new(BufWriter::new(file), header, probe)))
}

type Log = Tap<BufWriter<File>>;

/// How often the sender's buffer is fitted to its cwnd.
const WINDOW_INTERVAL: Duration = Duration::from_millis(50);
const RESUMABLE: &str = "; send it again to go on where it stopped";
