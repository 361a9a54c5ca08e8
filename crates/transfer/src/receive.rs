//! The receiver's side.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use tokio::time::timeout;

use crate::Progress;
use crate::endpoint::machine;
use crate::error::TransferError;
use crate::failure::DONE;
use crate::greet::{Greeting, Pending};
use crate::hash::Sha256;
use crate::inbox::Inbox;
use crate::message::{CLOSE_TIMEOUT, Reply, close_with};
use crate::take::Taking;

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
    /// Hash of the whole file, where it was checked.
    pub sha256: Option<Sha256>,
    /// From the end of the handshake to the last byte.
    pub took: Duration,
    /// What quinn counted.
    pub stats: quinn::ConnectionStats,
}

/// Waits for a sender, takes what it has, and stores and checks it. `note` gets a line for each
/// connection that failed, `progress` what has arrived. Senders that come meanwhile are refused.
/// When `stop` is ready, the sender gets a message that nothing more is taken.
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
    let mut pending = Pending::default();
    let greeting = tokio::select! {
        found = pending.next_greeting(inbox, note) => found?,
        () = &mut stop => return Err(TransferError::Interrupted { kept: String::new() }),
    };
    drop(pending);
    tokio::select! {
        outcome = take(inbox, greeting, progress, stop) => outcome,
        closed = refuse(inbox) => Err(closed),
    }
}

/// Refuses whoever comes, as long as there is a socket.
pub(crate) async fn refuse(inbox: &Inbox) -> TransferError {
    while let Some(incoming) = inbox.endpoint.accept().await {
        incoming.refuse();
    }
    machine("the socket was closed")
}

/// Takes what this sender has.
pub(crate) async fn take(
    inbox: &Inbox,
    greeting: Greeting,
    progress: &watch::Sender<Progress>,
    stop: impl Future<Output = ()>,
) -> Result<Received, TransferError> {
    let Greeting { connection, offer, mut to_sender, from_sender, .. } = greeting;
    let taking = Taking { connection: &connection, inbox, began: Instant::now() };
    let outcome = tokio::select! {
        outcome = taking.take(offer, &mut to_sender, from_sender, progress) => outcome,
        () = stop => {
            let bytes = progress.borrow().bytes;
            let keeps = bytes > 0 && inbox.storing.as_ref().is_some_and(|storing| storing.keep);
            let kept = format!("; {bytes} bytes are kept for the next attempt");
            Err(TransferError::Interrupted { kept: if keeps { kept } else { String::new() } })
        }
    };
    match &outcome {
        // The sender closes when it has read that all is stored.
        Ok(_) => {
            let _ = timeout(CLOSE_TIMEOUT, connection.closed()).await;
            connection.close(DONE, b"done");
        }
        Err(error) => {
            let reason = error.to_peer();
            // A peer that broke the protocol, or that gave up itself, gets no last message.
            let peer_waits =
                !matches!(error, TransferError::GaveUp { .. } | TransferError::Protocol { .. });
            let last = peer_waits.then(|| Reply::GaveUp { reason: reason.clone() });
            close_with(&connection, &mut to_sender, last.as_ref(), &reason).await;
        }
    }
    outcome
}
