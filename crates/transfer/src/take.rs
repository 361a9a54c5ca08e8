//! One transfer, from the offer to the file.

use std::time::{Duration, Instant};

use quinn::{Connection, ConnectionError, RecvStream, SendStream};
use tokio::sync::{oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use crate::Progress;
use crate::endpoint::{self, machine, slow_disk};
use crate::error::TransferError;
use crate::failure::{SENDER, gave_up, lost, shown, unexpected_message};
use crate::inbox::Inbox;
use crate::message::{MessageError, Offer, Reply, SenderMessage, receive_message, send_message};
use crate::name;
use crate::partial::{Partial, Target};
use crate::receive::Received;
use crate::sink::{Sink, Writing};
use crate::streams::Incoming;

/// A transfer while it goes on.
pub(crate) struct Taking<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) inbox: &'a Inbox,
    pub(crate) began: Instant,
}

impl Taking<'_> {
    pub(crate) async fn take(
        &self,
        offer: Offer,
        to_sender: &mut SendStream,
        mut from: RecvStream,
        progress: &watch::Sender<Progress>,
    ) -> Result<Received, TransferError> {
        let sink = self.prepare(&offer).await?;
        let resumed = self.agree(&sink, to_sender, &mut from).await?;
        let sink = self.go_on(sink, resumed)?;
        let bound = offer.size.or(self.inbox.limits.size).unwrap_or(u64::MAX);
        endpoint::open(self.connection, self.inbox.limits.window.min(bound));
        progress.send_replace(Progress { bytes: resumed, resumed, total: offer.size });

        let writing = Writing::new(sink);
        let (send_early, early) = oneshot::channel();
        let last = tokio::spawn(last_message(from, send_early));
        let arrived = tokio::select! {
            biased;
            Ok(early) = early => Err(Missing::Message(early)),
            arrived = self.data(&writing, to_sender, progress, bound) => arrived,
            () = self.stall(&writing, progress) => Err(Missing::Stalled),
        };
        let took = self.began.elapsed();
        // A failed write closes the channel to the thread; its error is the one to report.
        let (sink, written) = writing.end().await;
        written?;
        let sink = sink.ok_or_else(|| machine("the writing thread is gone"))?;
        let kept = kept(&sink, &offer);
        let waited = self.inbox.timeout;
        let last = match arrived {
            Ok(()) => match timeout(waited, last).await {
                Ok(last) => last.map_err(machine)?.unwrap_or_else(|| {
                    Err(MessageError::Lost(Err("it gave up at the last moment".to_owned())))
                }),
                Err(_) => return Err(stalled(waited, kept)),
            },
            Err(Missing::Message(message)) => message,
            Err(Missing::Lost(error)) => Err(MessageError::Lost(error)),
            Err(Missing::Stalled) => return Err(stalled(waited, kept)),
        };
        let (bytes, sha256) = match last {
            Ok(SenderMessage::Done { bytes, sha256 }) => (bytes, sha256),
            Ok(SenderMessage::GaveUp { reason }) => return Err(gave_up(SENDER, &reason, &kept)),
            Ok(_) => return Err(unexpected_message(SENDER)),
            Err(error) => return Err(self.wrong(error, &kept)),
        };
        let checked = sha256.clone();
        let stored = tokio::task::spawn_blocking(move || sink.finish(bytes, checked.as_ref()));
        let path = stored.await.map_err(machine)??;
        self.send_reply(to_sender, &Reply::Stored { bytes }).await?;
        let (from, stats) = (self.connection.remote_address(), self.connection.stats());
        Ok(Received { from, path, bytes, resumed, sha256, took, stats })
    }

    /// Sends what is there, and reads where the sender goes on.
    async fn agree(
        &self,
        sink: &Sink,
        to_sender: &mut SendStream,
        from: &mut RecvStream,
    ) -> Result<u64, TransferError> {
        let prefix = match sink {
            Sink::File(partial) => partial.prefix(),
            Sink::Discard { .. } => None,
        };
        self.send_reply(to_sender, &Reply::Accept { from: sink.bytes(), prefix }).await?;
        // The sender first reads what it sent in an earlier attempt.
        match self
            .within(self.inbox.timeout + slow_disk(sink.bytes()), receive_message(from))
            .await?
        {
            SenderMessage::Start { from } => Ok(from),
            SenderMessage::GaveUp { reason } => Err(gave_up(SENDER, &reason, "")),
            SenderMessage::Done { .. } => Err(unexpected_message(SENDER)),
        }
    }

    /// Everything that can be wrong before a byte has come.
    async fn prepare(&self, offer: &Offer) -> Result<Sink, TransferError> {
        let wrong = |problem: String| TransferError::BadOffer { problem };
        if let (Some(size), Some(most)) = (offer.size, self.inbox.limits.size)
            && size > most
        {
            return Err(wrong(format!("{size} bytes are more than recv --max-size {most}B takes")));
        }
        let Some(storing) = &self.inbox.storing else { return Ok(Sink::discard()) };
        let (Some(name), Some(size)) = (offer.name.clone(), offer.size) else {
            let problem = "the sender has no file to store; recv --discard takes what belongs to \
                           none";
            return Err(wrong(problem.to_owned()));
        };
        if let Some(problem) = name::problem(&name) {
            let problem = format!("`{}`: {problem}; send --name gives it another", shown(&name));
            return Err(wrong(problem));
        }
        let (place, replace, keep) = (storing.place.clone(), storing.replace, storing.keep);
        let target = Target { place, name, size, replace, keep };
        let opened = tokio::task::spawn_blocking(move || Partial::open(target));
        opened.await.map_err(machine)?.map(Sink::File)
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
        to_sender: &mut SendStream,
        progress: &watch::Sender<Progress>,
        bound: u64,
    ) -> Result<(), Missing> {
        let mut data = Incoming::new(self.connection);
        let mut tick = interval(REPORT);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                bytes = data.next() => {
                    let Some(bytes) = bytes.map_err(Missing::Lost)? else { return Ok(()) };
                    let length = bytes.len() as u64;
                    if progress.borrow().bytes.saturating_add(length) > bound {
                        let problem = format!("it sent more than the {bound} bytes it may");
                        return Err(Missing::Lost(Err(problem)));
                    }
                    if writing.to.send(bytes).await.is_err() {
                        return Ok(()); // The thread says why.
                    }
                    progress.send_modify(|now| now.bytes += length);
                }
                _ = tick.tick() => {
                    let bytes = progress.borrow().bytes;
                    // A report more or less: what matters is noticed by the data.
                    let _ = send_message(to_sender, &Reply::Received { bytes }).await;
                }
            }
        }
    }

    /// Ready when nothing has come for the timeout, and not because the disk is slow: a peer that
    /// answers PINGs is there, but takes up the place of others.
    async fn stall(&self, writing: &Writing, progress: &watch::Sender<Progress>) {
        let mut before = None;
        loop {
            let now = progress.borrow().bytes;
            if before == Some(now) && writing.to.capacity() > 0 {
                return;
            }
            before = Some(now);
            sleep(self.inbox.timeout).await;
        }
    }

    async fn send_reply(
        &self,
        to_sender: &mut SendStream,
        reply: &Reply,
    ) -> Result<(), TransferError> {
        self.within(self.inbox.timeout, send_message(to_sender, reply)).await
    }

    /// Waits for an exchange for so long.
    async fn within<T>(
        &self,
        waited: Duration,
        exchange: impl Future<Output = Result<T, MessageError>>,
    ) -> Result<T, TransferError> {
        let exchanged = timeout(waited, exchange).await;
        exchanged
            .map_err(|_| stalled(waited, String::new()))?
            .map_err(|error| self.wrong(error, ""))
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

/// The sender is there and sends nothing.
fn stalled(waited: Duration, kept: String) -> TransferError {
    TransferError::Stalled { peer: SENDER, what: "sent", waited, kept }
}

/// Why not all data came.
enum Missing {
    /// The connection broke.
    Lost(Result<ConnectionError, String>),
    /// The sender sends nothing more.
    Stalled,
    /// A message of the sender came before the end of the data.
    Message(Result<SenderMessage, MessageError>),
}

/// Reads the sender's last message. That all is sent is read after all data, and can wait; any
/// other goes to `early` at once.
async fn last_message(
    mut from: RecvStream,
    early: oneshot::Sender<Result<SenderMessage, MessageError>>,
) -> Option<Result<SenderMessage, MessageError>> {
    match receive_message(&mut from).await {
        done @ Ok(SenderMessage::Done { .. }) => Some(done),
        other => early.send(other).err(),
    }
}

/// What is left of a transfer that broke off.
fn kept(sink: &Sink, offer: &Offer) -> String {
    match sink {
        Sink::File(file) if file.stays() => {
            let of = offer.size.map_or(String::new(), |size| format!(" of {size}"));
            format!("; {}{of} bytes are kept in {}", file.bytes(), file.path().display())
        }
        _ => String::new(),
    }
}

/// How often the sender gets a report of how much has come.
const REPORT: Duration = Duration::from_millis(250);
