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
use crate::failure::{BUSY, GAVE_UP, OTHER_VERSION, fruitless};
use crate::inbox::Inbox;
use crate::message::{MessageError, Offer, Reply, VERSION, hear, say_good_bye};
use crate::secret::Secret;

/// A sender's first words, over the stream that it opens.
#[derive(Debug)]
pub(crate) struct Greeting {
    /// The place among the transfers, dropped first.
    place: Heard,
    /// The connection.
    pub(crate) connection: Connection,
    /// What the sender offers.
    pub(crate) offer: Offer,
    /// The stream to answer on.
    pub(crate) tell: SendStream,
    /// The stream on which the file comes.
    pub(crate) hear: RecvStream,
}

/// Senders whose greeting is not complete. When this is dropped they are told that it is another's
/// turn.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    tasks: JoinSet<Result<Greeting, String>>,
    /// The oldest first.
    places: Vec<Taken>,
}

/// One of the places.
#[derive(Debug)]
struct Taken {
    from: IpAddr,
    task: AbortHandle,
}

impl Pending {
    /// The next sender that may send and says what; `note` is told of the others. Nothing is lost
    /// if nobody waits to the end.
    pub(crate) async fn greeted(
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
                    self.hear(incoming, inbox);
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

    fn hear(&mut self, incoming: quinn::Incoming, inbox: &Inbox) {
        if self.places.len() >= UNVALIDATED && !incoming.remote_address_validated() {
            // It may be asked once, and has not been.
            let _ = incoming.retry();
            return;
        }
        if self.places.len() >= PLACES
            && let Some(oldest) = self.least_missed()
        {
            self.places.remove(oldest).task.abort();
        }
        let from = incoming.remote_address().ip();
        let (secret, waiting) = (inbox.secret.clone(), inbox.timeout);
        let task = self.tasks.spawn(greet(incoming, secret, waiting));
        self.places.push(Taken { from, task });
    }

    /// The oldest of the address that has most places.
    fn least_missed(&self) -> Option<usize> {
        let mut count: HashMap<IpAddr, usize> = HashMap::new();
        self.places.iter().for_each(|place| *count.entry(place.from).or_default() += 1);
        let most = count.values().max()?;
        self.places.iter().position(|place| count.get(&place.from) == Some(most))
    }

    /// The next that has said all, or will not; `None` if nobody is there.
    async fn next(&mut self) -> Option<(IpAddr, Result<Greeting, String>)> {
        loop {
            let (id, greeted): (Id, _) = match self.tasks.join_next_with_id().await? {
                Ok((id, greeted)) => (id, greeted),
                Err(error) => (error.id(), Err(error.to_string())),
            };
            // Whoever lost its place is not spoken of.
            if let Some(at) = self.places.iter().position(|place| place.task.id() == id) {
                return Some((self.places.remove(at).from, greeted));
            }
        }
    }
}

/// Hears who it is and what it has. Whoever is not taken is told why.
async fn greet(
    incoming: quinn::Incoming,
    secret: Option<Secret>,
    waiting: Duration,
) -> Result<Greeting, String> {
    let until = Instant::now() + waiting;
    let silent = |_| "it said nothing".to_owned();
    let connection = timeout_at(until, incoming).await.map_err(silent)?;
    let connection = connection.map_err(|error| fruitless(&error))?;
    let mut place = Heard { connection: connection.clone(), reason: BUSY.to_owned() };
    let opened = timeout_at(until, connection.accept_bi()).await.inspect_err(|_| {
        place.reason = heard_nothing(waiting);
    });
    let (mut say, mut from) = opened.map_err(silent)?.map_err(|error| fruitless(&error))?;
    // Bound again after the streams, so that it is dropped before them: a peer that loses its place
    // then gets the reason, and not the end of a stream.
    let place = place;
    let (reason, noted) = match timeout_at(until, hear::<Offer>(&mut from)).await {
        Err(_) => (heard_nothing(waiting), "it said nothing".to_owned()),
        Ok(Err(MessageError::Lost(Ok(error)))) => return Err(fruitless(&error)),
        Ok(Err(MessageError::Lost(Err(problem)) | MessageError::Wrong(problem))) => {
            (format!("it does not understand what it was offered: {problem}"), problem)
        }
        Ok(Ok(offer)) => match refused(&offer, secret, &connection) {
            Some((reason, noted)) => (reason.to_owned(), noted.to_owned()),
            None => return Ok(Greeting { place, connection, offer, tell: say, hear: from }),
        },
    };
    let last = Reply::GaveUp { reason: reason.clone() };
    say_good_bye(&connection, &mut say, Some(&last), &reason).await;
    Err(noted)
}

/// Why an offer is not taken whatever it is of: for the sender, and for the one who runs this.
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

fn heard_nothing(waiting: Duration) -> String {
    format!("it heard nothing from this sender for {} s", waiting.as_secs_f64())
}

/// One that is heard: what it is told if its place goes to another.
#[derive(Debug)]
struct Heard {
    connection: Connection,
    /// Empty of one that is taken.
    reason: String,
}

impl Drop for Heard {
    fn drop(&mut self) {
        if !self.reason.is_empty() {
            self.connection.close(GAVE_UP, self.reason.as_bytes());
        }
    }
}

/// How many are heard whose address is not known to be theirs.
const UNVALIDATED: usize = 8;
/// How many are heard at a time.
const PLACES: usize = 256;
const NO_SECRET: &str = "it takes only from senders that have its secret: \
     send --secret-file FILE or the variable FIRSTFLIGHT_SECRET, as recv printed it; \
     recv --allow-anyone takes from anybody";
const NO_SECRET_HERE: &str = "it has no secret; it needs the one above, in a file (send \
     --secret-file) or in the variable FIRSTFLIGHT_SECRET";
const OTHER_SECRET: &str = "its secret is not the one given here; recv prints it when it starts";
