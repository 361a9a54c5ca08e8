//! Whoever connects, until one has said who it is and what it has. They are heard side by side, so
//! that nobody waits for one who is silent.
//!
//! What they can take up is bounded: so many at a time, each for so long, with a window for words
//! only. Beyond a few, whoever has not shown that it receives what is sent to its address has to do
//! so first (a Retry, RFC 9000, section 8.1.2), which takes no memory here. When all places are
//! taken, the newest gets that of the oldest from the address that has most of them: who means it
//! needs two round trips.

use std::collections::HashMap;
use std::net::IpAddr;

use quinn::{Connection, RecvStream, SendStream};
use tokio::task::{AbortHandle, Id, JoinSet};
use tokio::time::timeout;

use crate::endpoint::machine;
use crate::error::TransferError;
use crate::failure::{BUSY, GAVE_UP, fruitless};
use crate::inbox::{Inbox, LAST_WORDS};
use crate::message::{MessageError, Offer, Reply, VERSION, hear, tell};
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
                        greeting.place.lost = false;
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
        let task = self.tasks.spawn(async move {
            let greeted = timeout(waiting, greet(incoming, secret)).await;
            greeted.unwrap_or_else(|_| Err("it said nothing".to_owned()))
        });
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

/// Hears who it is and what it has.
async fn greet(incoming: quinn::Incoming, secret: Option<Secret>) -> Result<Greeting, String> {
    let connection = incoming.await.map_err(|error| fruitless(&error))?;
    let place = Heard { connection: connection.clone(), lost: true };
    let (mut say, mut from) = connection.accept_bi().await.map_err(|error| fruitless(&error))?;
    // Bound again after the streams, so that it is dropped before them: a peer that loses its place
    // then gets the reason, and not the end of a stream.
    let place = place;
    let offer: Offer = hear(&mut from).await.map_err(|error| match error {
        MessageError::Lost(Ok(error)) => fruitless(&error),
        MessageError::Lost(Err(problem)) | MessageError::Wrong(problem) => problem,
    })?;
    let proof = offer.proof.as_deref();
    let refused = if offer.version != VERSION {
        Some((OTHER_VERSION, "it is another version of firstflight"))
    } else if secret.is_none_or(|secret| secret.is_proved(&connection, proof)) {
        None
    } else if offer.proof.is_none() {
        Some((NO_SECRET, "it has no secret; it needs the one above: send --secret"))
    } else {
        Some((OTHER_SECRET, "it has another secret"))
    };
    let Some((told, noted)) = refused else {
        return Ok(Greeting { place, connection, offer, tell: say, hear: from });
    };
    let said = async {
        // The sender closes when it has heard it.
        if tell(&mut say, &Reply::GaveUp { reason: told.to_owned() }).await.is_ok() {
            connection.closed().await;
        }
    };
    let _ = timeout(LAST_WORDS, said).await;
    connection.close(GAVE_UP, told.as_bytes());
    Err(noted.to_owned())
}

/// One that is heard: what it is told if its place goes to another.
#[derive(Debug)]
struct Heard {
    connection: Connection,
    lost: bool,
}

impl Drop for Heard {
    fn drop(&mut self) {
        if self.lost {
            self.connection.close(GAVE_UP, BUSY.as_bytes());
        }
    }
}

/// How many are heard whose address is not known to be theirs.
const UNVALIDATED: usize = 8;
/// How many are heard at a time.
const PLACES: usize = 256;
const OTHER_VERSION: &str = "it is another version of firstflight; both ends need the same";
const NO_SECRET: &str = "it takes only from senders that have its secret: \
     send --secret SECRET, --secret-file FILE or the variable FIRSTFLIGHT_SECRET, as recv printed \
     it; recv --allow-anyone takes from anybody";
const OTHER_SECRET: &str = "its secret is not the one given here; recv prints it when it starts";
