//! The receiver's side.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use quinn::{Connection, ConnectionError, Endpoint, RecvStream, SendStream};
use tokio::sync::{oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::Progress;
use crate::certificate::{Fingerprint, Identity};
use crate::endpoint::{self, machine};
use crate::error::TransferError;
use crate::failure::{DONE, GAVE_UP, SENDER, fruitless, gave_up, lost, out_of_turn, shown};
use crate::hash::Sha256;
use crate::message::{MessageError, Offer, Reply, VERSION, Word, hear, tell};
use crate::name;
use crate::partial::{Partial, partial_path};
use crate::sink::{Sink, Store, Writing};
use crate::streams::Incoming;

/// Where to listen, and what to do with what comes.
#[derive(Debug)]
pub struct Listening {
    /// `HOST:PORT`, or a port of loopback; port 0 is any that is free.
    pub at: String,
    /// Certificates of senders that are welcome; empty for any sender.
    pub accepted: Vec<Fingerprint>,
    /// This side's certificate.
    pub identity: Identity,
    /// How long silence may last.
    pub timeout: Duration,
    /// The flow-control window that is announced, bytes.
    pub window: u64,
    /// Where to put it.
    pub store: Store,
}

/// A listening socket.
#[derive(Debug)]
pub struct Inbox {
    endpoint: Endpoint,
    timeout: Duration,
    store: Store,
    address: SocketAddr,
}

/// A transfer that is stored and checked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Received {
    /// Who sent it.
    pub from: SocketAddr,
    /// Where it is; `None` if it was only counted.
    pub path: Option<PathBuf>,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// Bytes that an earlier attempt had brought.
    pub resumed: u64,
    /// Of the whole file.
    pub sha256: Option<Sha256>,
    /// From the end of the handshake to the last byte.
    pub took: Duration,
    /// What quinn counted.
    pub stats: quinn::ConnectionStats,
}

impl Inbox {
    /// Opens the socket.
    ///
    /// # Errors
    /// An address that cannot be used, or a certificate that cannot.
    pub fn open(listening: Listening) -> Result<Self, TransferError> {
        let Listening { at, accepted, identity, timeout, window, store } = listening;
        let address = endpoint::address(&at)?;
        let transport = endpoint::transport(timeout, window)?;
        let config = endpoint::server(identity, accepted, transport)?;
        let endpoint = Endpoint::server(config, address)
            .map_err(|error| TransferError::Listen { address: at, problem: error.to_string() })?;
        let address = endpoint.local_addr().map_err(machine)?;
        Ok(Self { endpoint, timeout, store, address })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the socket, and tells so whoever is connected.
    pub async fn close(&self, reason: &str) {
        self.endpoint.close(GAVE_UP, reason.as_bytes());
        // Whoever is gone need not be waited for.
        let _ = timeout(LAST_WORDS, self.endpoint.wait_idle()).await;
    }
}

/// Waits for a sender, takes what it has, and stores and checks it. `note` is told of connections
/// that came to nothing, `progress` what has arrived. Senders that come meanwhile are refused. When
/// `stop` is ready, the sender is told that nothing more is taken.
///
/// # Errors
/// See [`TransferError`]. What has arrived is kept for the next attempt, but for wrong content.
pub async fn receive(
    inbox: &Inbox,
    progress: &watch::Sender<Progress>,
    note: impl Fn(String),
    stop: impl Future<Output = ()>,
) -> Result<Received, TransferError> {
    let mut stop = std::pin::pin!(stop);
    let (connection, greeting) = tokio::select! {
        found = wait(inbox, note) => found?,
        () = &mut stop => return Err(TransferError::Interrupted { kept: String::new() }),
    };
    let Greeting { offer, tell: mut say, hear: from } = greeting;
    let taking = Taking { connection: &connection, inbox, began: Instant::now() };
    let busy = async {
        while let Some(incoming) = inbox.endpoint.accept().await {
            incoming.refuse();
        }
    };
    let outcome = tokio::select! {
        outcome = taking.take(offer, &mut say, from, progress) => outcome,
        () = busy => Err(machine("the socket was closed")),
        () = stop => {
            let bytes = progress.borrow().bytes;
            let keeps = bytes > 0 && inbox.store != Store::Discard;
            let kept = format!("; {bytes} bytes are kept for the next attempt");
            Err(TransferError::Interrupted { kept: if keeps { kept } else { String::new() } })
        }
    };
    match &outcome {
        // The sender closes, having heard that all is stored.
        Ok(_) => {
            let _ = timeout(LAST_WORDS, connection.closed()).await;
            connection.close(DONE, b"done");
        }
        Err(error) => say_good_bye(&connection, &mut say, error).await,
    }
    // Not longer than it takes to say so: the sender may be gone.
    let _ = timeout(LAST_WORDS, inbox.endpoint.wait_idle()).await;
    outcome
}

/// Tells the sender why nothing more is taken, if it is there to be told.
async fn say_good_bye(connection: &Connection, say: &mut SendStream, error: &TransferError) {
    let reason = error.to_string();
    if connection.close_reason().is_none() && !matches!(error, TransferError::GaveUp { .. }) {
        let reply = Reply::GaveUp { reason: reason.clone() };
        let said = async {
            // The sender closes when it has heard it.
            if tell(say, &reply).await.is_ok() {
                connection.closed().await;
            }
        };
        let _ = timeout(LAST_WORDS, said).await;
    }
    connection.close(GAVE_UP, reason.as_bytes());
}

/// The first connection that comes to something.
async fn wait(
    inbox: &Inbox,
    note: impl Fn(String),
) -> Result<(Connection, Greeting), TransferError> {
    loop {
        let Some(incoming) = inbox.endpoint.accept().await else {
            return Err(machine("the socket was closed"));
        };
        let from = incoming.remote_address();
        match greet(incoming, inbox.timeout).await {
            Ok(greeted) => return Ok(greeted),
            Err(problem) => note(format!("a connection from {from} came to nothing: {problem}")),
        }
    }
}

/// A sender's first words, over the stream that it opens.
struct Greeting {
    offer: Offer,
    tell: SendStream,
    hear: RecvStream,
}

/// Whoever connects has to say soon what for.
async fn greet(
    incoming: quinn::Incoming,
    waiting: Duration,
) -> Result<(Connection, Greeting), String> {
    let greeting = async {
        let connection = incoming.await.map_err(|error| fruitless(&error))?;
        let streams = connection.accept_bi().await.map_err(|error| fruitless(&error))?;
        let (tell, mut from) = streams;
        let offer = hear(&mut from).await.map_err(|error| match error {
            MessageError::Lost(Ok(error)) => fruitless(&error),
            MessageError::Lost(Err(problem)) | MessageError::Wrong(problem) => problem,
        })?;
        Ok((connection, Greeting { offer, tell, hear: from }))
    };
    timeout(waiting, greeting).await.unwrap_or_else(|_| Err("it said nothing".to_owned()))
}

/// A transfer while it goes on.
struct Taking<'a> {
    connection: &'a Connection,
    inbox: &'a Inbox,
    began: Instant,
}

impl Taking<'_> {
    async fn take(
        &self,
        offer: Offer,
        say: &mut SendStream,
        mut from: RecvStream,
        progress: &watch::Sender<Progress>,
    ) -> Result<Received, TransferError> {
        let sink = self.prepare(&offer).await?;
        let prefix = match &sink {
            Sink::File(partial) => partial.prefix(),
            Sink::Discard { .. } => None,
        };
        let reply = Reply::Accept { from: sink.bytes(), prefix };
        tell(say, &reply).await.map_err(|error| self.wrong(error, ""))?;
        let resumed = match hear(&mut from).await.map_err(|error| self.wrong(error, ""))? {
            Word::Start { from } => from,
            Word::GaveUp { reason } => return Err(gave_up(SENDER, &reason, "")),
            Word::Done { .. } => return Err(out_of_turn(SENDER)),
        };
        let sink = self.go_on(sink, resumed)?;
        progress.send_replace(Progress { bytes: resumed, resumed, total: offer.size });

        let partial = self.target(&offer).ok().flatten().map(|target| partial_path(&target));
        let writing = Writing::new(sink);
        let (tell_early, early) = oneshot::channel();
        let last = tokio::spawn(last_word(from, tell_early));
        let arrived = tokio::select! {
            biased;
            Ok(early) = early => Err(Missing::Said(early)),
            arrived = self.data(&writing, say, progress) => arrived,
        };
        let took = self.began.elapsed();
        // A failed write closes the way to the thread, and says itself what is wrong.
        let (sink, written) = writing.end().await;
        written?;
        let sink = sink.ok_or_else(|| machine("the writing thread is gone"))?;
        let kept = kept(&sink, &offer, partial.as_deref());
        let last = match arrived {
            Ok(()) => last.await.map_err(machine)?.unwrap_or_else(|| {
                Err(MessageError::Lost(Err("it gave up at the last moment".to_owned())))
            }),
            Err(Missing::Said(said)) => said,
            Err(Missing::Lost(error)) => Err(MessageError::Lost(error)),
        };
        let (bytes, sha256) = match last {
            Ok(Word::Done { bytes, sha256 }) => (bytes, sha256),
            other => {
                if let Sink::File(partial) = sink {
                    partial.discard_if_empty();
                }
                return Err(match other {
                    Ok(Word::GaveUp { reason }) => gave_up(SENDER, &reason, &kept),
                    Ok(_) => out_of_turn(SENDER),
                    Err(error) => self.wrong(error, &kept),
                });
            }
        };
        let checked = sha256.clone();
        let stored = tokio::task::spawn_blocking(move || sink.finish(bytes, checked.as_ref()));
        let path = stored.await.map_err(machine)??;
        tell(say, &Reply::Stored { bytes }).await.map_err(|error| self.wrong(error, ""))?;
        let (from, stats) = (self.connection.remote_address(), self.connection.stats());
        Ok(Received { from, path, bytes, resumed, sha256, took, stats })
    }

    /// Everything that can be wrong before a byte has come.
    async fn prepare(&self, offer: &Offer) -> Result<Sink, TransferError> {
        if offer.version != VERSION {
            let problem = format!("it speaks version {}, not {VERSION}", offer.version);
            return Err(TransferError::Protocol { peer: SENDER, problem });
        }
        let Some(target) = self.target(offer)? else { return Ok(Sink::discard()) };
        let (size, replace) = (offer.size, self.replaces());
        let opened = tokio::task::spawn_blocking(move || Partial::open(&target, size, replace));
        opened.await.map_err(machine)?.map(Sink::File)
    }

    fn replaces(&self) -> bool {
        matches!(self.inbox.store, Store::Directory { replace: true, .. })
    }

    /// Where the file goes; `None` if nothing is stored.
    fn target(&self, offer: &Offer) -> Result<Option<PathBuf>, TransferError> {
        let Store::Directory { path, .. } = &self.inbox.store else { return Ok(None) };
        let Some(name) = &offer.name else {
            let problem =
                "the sender has no file to store; recv --discard takes what belongs to none";
            return Err(TransferError::BadFile { path: path.clone(), problem: problem.to_owned() });
        };
        if let Some(problem) = name::problem(name) {
            let problem = format!("`{}`: {problem}; send --name gives it another", shown(name));
            return Err(TransferError::BadFile { path: path.clone(), problem });
        }
        Ok(Some(path.join(name)))
    }

    fn go_on(&self, sink: Sink, from: u64) -> Result<Sink, TransferError> {
        if from != 0 && from != sink.bytes() {
            let problem = format!("it goes on after {from} bytes of {}", sink.bytes());
            return Err(TransferError::Protocol { peer: SENDER, problem });
        }
        match sink {
            Sink::File(mut partial) => {
                partial.restart(from)?;
                Ok(Sink::File(partial))
            }
            discard @ Sink::Discard { .. } => Ok(discard),
        }
    }

    /// Takes the data to the thread that writes, and reports what has come.
    async fn data(
        &self,
        writing: &Writing,
        say: &mut SendStream,
        progress: &watch::Sender<Progress>,
    ) -> Result<(), Missing> {
        let mut data = Incoming::new(self.connection);
        let mut tick = interval(REPORT);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                bytes = data.next() => {
                    let Some(bytes) = bytes.map_err(Missing::Lost)? else { return Ok(()) };
                    let length = bytes.len() as u64;
                    if writing.to.send(bytes).await.is_err() {
                        return Ok(()); // The thread says why.
                    }
                    progress.send_modify(|now| now.bytes += length);
                }
                _ = tick.tick() => {
                    let bytes = progress.borrow().bytes;
                    // A report more or less: what matters is noticed by the data.
                    let _ = tell(say, &Reply::Received { bytes }).await;
                }
            }
        }
    }

    fn lost(&self, error: Result<ConnectionError, String>, kept: &str) -> TransferError {
        match error {
            Ok(error) => lost(SENDER, &error, self.inbox.timeout, kept),
            Err(problem) => match self.connection.close_reason() {
                Some(error) => lost(SENDER, &error, self.inbox.timeout, kept),
                None => TransferError::Protocol { peer: SENDER, problem },
            },
        }
    }

    fn wrong(&self, error: MessageError, kept: &str) -> TransferError {
        match error {
            MessageError::Lost(error) => self.lost(error, kept),
            MessageError::Wrong(problem) => TransferError::Protocol { peer: SENDER, problem },
        }
    }
}

/// Why not all data came.
enum Missing {
    /// The connection broke.
    Lost(Result<ConnectionError, String>),
    /// The sender said something before.
    Said(Result<Word, MessageError>),
}

/// Hears the sender's last word. That it is done comes after all data, and can wait; anything else
/// is told at once.
async fn last_word(
    mut from: RecvStream,
    early: oneshot::Sender<Result<Word, MessageError>>,
) -> Option<Result<Word, MessageError>> {
    match hear(&mut from).await {
        done @ Ok(Word::Done { .. }) => Some(done),
        other => early.send(other).err(),
    }
}

/// What is left of a transfer that broke off.
fn kept(sink: &Sink, offer: &Offer, partial: Option<&Path>) -> String {
    match (sink, partial) {
        (Sink::File(file), Some(path)) if file.bytes() > 0 => {
            let of = offer.size.map_or(String::new(), |size| format!(" of {size}"));
            format!("; {}{of} bytes are kept in {}", file.bytes(), path.display())
        }
        _ => String::new(),
    }
}

/// How often the sender hears how much has come.
const REPORT: Duration = Duration::from_millis(250);
/// How long the last words may take.
const LAST_WORDS: Duration = Duration::from_secs(1);
