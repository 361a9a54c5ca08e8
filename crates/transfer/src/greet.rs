//! New connections, until their senders have proved who they are and made their offers. The
//! receiver serves them side by side, so that a silent one delays nobody.
//!
//! Their number, the time of each and its flow-control window are bounded. Beyond a few, a client
//! must first show that it receives at its address (a Retry, RFC 9000 section 8.1.2), which takes
//! no memory here. When all places are taken, a new connection gets the oldest place of the address
//! that has the most; an honest sender needs its place for two round trips.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use quinn::{Connection, RecvStream, SendStream};
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::{Instant, timeout_at};

use crate::endpoint::machine;
use crate::error::TransferError;
use crate::failure::{BUSY, GAVE_UP, OTHER_VERSION, handshake_failure};
use crate::inbox::Inbox;
use crate::message::{MessageError, Offer, Reply, VERSION, close_with, receive_message};
use crate::secret::Secret;

/// A sender that has sent its offer, over the stream that it opened.
#[derive(Debug)]
pub(crate) struct Greeting {
    /// The place among the transfers, dropped first.
    place: PlaceGuard,
    /// The connection.
    pub(crate) connection: Connection,
    /// What the sender offers.
    pub(crate) offer: Offer,
    /// The stream of the answers.
    pub(crate) to_sender: SendStream,
    /// The stream of the sender's messages.
    pub(crate) from_sender: RecvStream,
}

/// Senders whose greeting is not complete. When this is dropped they are refused as too many.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    tasks: JoinSet<Result<Greeting, String>>,
    /// The oldest first.
    places: Vec<Waiting>,
}

/// The sender at one of the places.
#[derive(Debug)]
struct Waiting {
    from: IpAddr,
    task: AbortHandle,
}

impl Pending {
    /// The next sender that may send, with its offer; `note` gets a line for each of the others.
    /// Nothing is lost if the future is dropped.
    pub(crate) async fn next_greeting(
        &mut self,
        inbox: &Inbox,
        note: impl Fn(String),
    ) -> Result<Greeting, TransferError> {
        loop {
            tokio::select! {
                incoming = inbox.endpoint.accept() => {
                    let Some(incoming) = incoming else {
                        return Err(machine("the socket was closed"));
                    };
                    self.admit(incoming, inbox);
                }
                Some((from, greeted)) = self.next() => match greeted {
                    Ok(mut greeting) => {
                        greeting.place.reason.clear();
                        return Ok(greeting);
                    }
                    Err(problem) => {
                        note(format!("a connection from {from} came to nothing: {problem}"));
                    }
                }
            }
        }
    }

    fn admit(&mut self, incoming: quinn::Incoming, inbox: &Inbox) {
        if self.places.len() >= MAX_UNVALIDATED && !incoming.remote_address_validated() {
            // It may be asked once, and has not been.
            let _ = incoming.retry();
            return;
        }
        if self.places.len() >= MAX_PLACES
            && let Some(oldest) = self.to_evict()
        {
            self.places.remove(oldest).task.abort();
        }
        let from = incoming.remote_address().ip();
        let (secret, waiting) = (inbox.secret.clone(), inbox.timeout);
        let task = self.tasks.spawn(greet(incoming, secret, waiting));
        self.places.push(Waiting { from, task });
    }

    /// The oldest of the address that has most places.
    fn to_evict(&self) -> Option<usize> {
        let mut count: HashMap<IpAddr, usize> = HashMap::new();
        self.places.iter().for_each(|place| *count.entry(place.from).or_default() += 1);
        let most = count.values().max()?;
        self.places.iter().position(|place| count.get(&place.from) == Some(most))
    }

    /// The next that has sent its offer, or failed to; `None` if nobody is there.
    async fn next(&mut self) -> Option<(IpAddr, Result<Greeting, String>)> {
        loop {
            let (id, greeted): (Id, _) = match self.tasks.join_next_with_id().await? {
                Ok((id, greeted)) => (id, greeted),
                Err(error) => (error.id(), Err(error.to_string())),
            };
            // A connection that lost its place is not reported.
            if let Some(at) = self.places.iter().position(|place| place.task.id() == id) {
                return Some((self.places.remove(at).from, greeted));
            }
        }
    }
}

/// Reads a sender's offer and checks its proof. A sender that is refused gets the reason.
async fn greet(
    incoming: quinn::Incoming,
    secret: Option<Secret>,
    waiting: Duration,
) -> Result<Greeting, String> {
    let until = Instant::now() + waiting;
    let silent = |_| "it said nothing".to_owned();
    let connection = timeout_at(until, incoming).await.map_err(silent)?;
    let connection = connection.map_err(|error| handshake_failure(&error))?;
    let mut place = PlaceGuard { connection: connection.clone(), reason: BUSY.to_owned() };
    let opened = timeout_at(until, connection.accept_bi()).await.inspect_err(|_| {
        place.reason = silence(waiting);
    });
    let (mut to_sender, mut from) =
        opened.map_err(silent)?.map_err(|error| handshake_failure(&error))?;
    // Bound again after the streams, so that it is dropped before them: a peer that loses its place
    // then gets the reason, and not the end of a stream.
    let place = place;
    let (reason, noted) = match timeout_at(until, receive_message::<Offer>(&mut from)).await {
        Err(_) => (silence(waiting), "it said nothing".to_owned()),
        Ok(Err(MessageError::Lost(Ok(error)))) => return Err(handshake_failure(&error)),
        Ok(Err(MessageError::Lost(Err(problem)) | MessageError::Wrong(problem))) => {
            (format!("it does not understand what it was offered: {problem}"), problem)
        }
        Ok(Ok(offer)) => match refused(&offer, secret, &connection) {
            Some((reason, noted)) => (reason.to_owned(), noted.to_owned()),
            None => return Ok(Greeting { place, connection, offer, to_sender, from_sender: from }),
        },
    };
    let last = Reply::GaveUp { reason: reason.clone() };
    close_with(&connection, &mut to_sender, Some(&last), &reason).await;
    Err(noted)
}

/// Why a sender is refused whatever it offers: for the sender, and for the user here.
fn refused(
    offer: &Offer,
    secret: Option<Secret>,
    connection: &Connection,
) -> Option<(&'static str, &'static str)> {
    if offer.version != VERSION {
        Some((OTHER_VERSION, "it is another version of firstflight"))
    } else if secret.is_none_or(|secret| secret.is_proved(connection, offer.proof.as_deref())) {
        None
    } else if offer.proof.is_none() {
        Some((NO_SECRET, NO_SECRET_HERE))
    } else {
        Some((OTHER_SECRET, "it has another secret"))
    }
}

fn silence(waiting: Duration) -> String {
    format!("it heard nothing from this sender for {} s", waiting.as_secs_f64())
}

/// A place, given back when dropped: the connection is closed with the reason.
#[derive(Debug)]
struct PlaceGuard {
    connection: Connection,
    /// Empty once the sender is taken.
    reason: String,
}

impl Drop for PlaceGuard {
    fn drop(&mut self) {
        if !self.reason.is_empty() {
            self.connection.close(GAVE_UP, self.reason.as_bytes());
        }
    }
}

/// How many places go to addresses that are not known to be the clients' own.
const MAX_UNVALIDATED: usize = 8;
/// How many clients can greet at a time.
const MAX_PLACES: usize = 256;
const NO_SECRET: &str = "it takes only from senders that have its secret: \
     send --secret-file FILE or the variable FIRSTFLIGHT_SECRET, as recv printed it; \
     recv --allow-anyone takes from anybody";
const NO_SECRET_HERE: &str = "it has no secret; it needs the one above, in a file (send \
     --secret-file) or in the variable FIRSTFLIGHT_SECRET";
const OTHER_SECRET: &str = "its secret is not the one given here; recv prints it when it starts";
