//! The messages of the protocol: JSON after its length in four bytes.
//!
//! ```text
//! sender                          receiver
//!   | -- Offer: proof, name, size -----> |
//!   | <-- Accept: from, prefix --------- |   what it has, and its SHA-256
//!   | -- Start: from ------------------> |   0 if the prefix is not that of the file
//!   | == data, a mebibyte a stream ====> |   the last is shorter
//!   | <-- Received: bytes -------------- |   now and then
//!   | -- Done: bytes, sha256 ----------> |
//!   | <-- Stored: bytes ---------------- |
//! ```
//!
//! Each side may give up at any time, with a reason.

use std::time::Duration;

use quinn::{Connection, RecvStream, SendStream};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::failure::{Cause, GAVE_UP, shown};
use crate::hash::Sha256;

/// What the sender has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Offer {
    /// [`VERSION`].
    pub(crate) version: u32,
    /// The proof that it has the secret ([`crate::Secret`]); `None` of a sender without one.
    pub(crate) proof: Option<Vec<u8>>,
    /// The file's name without directories; `None` for bytes that belong to no file.
    pub(crate) name: Option<String>,
    /// How many bytes, if known.
    pub(crate) size: Option<u64>,
}

/// A message of the sender after its offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SenderMessage {
    /// Where the data begin.
    Start { from: u64 },
    /// All data have been sent: so many bytes has the whole file, and this hash if it is one.
    Done { bytes: u64, sha256: Option<Sha256> },
    /// Nothing more comes. It goes over the stream, because a connection reports its end only once.
    GaveUp { reason: String },
}

/// A message of the receiver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Reply {
    /// It takes the offer, and has the first `from` bytes of an earlier attempt.
    Accept { from: u64, prefix: Option<Sha256> },
    /// Bytes of the file that are there, an earlier attempt's included.
    Received { bytes: u64 },
    /// The whole file is there, and is right.
    Stored { bytes: u64 },
    /// It takes nothing, or nothing more.
    GaveUp { reason: String },
}

/// Why a message was not exchanged.
pub(crate) enum MessageError {
    /// The stream or connection failed.
    Lost(Result<quinn::ConnectionError, String>),
    /// It is no such message.
    Wrong(String),
}

/// Sends a message.
pub(crate) async fn send_message(
    to: &mut SendStream,
    message: &impl Serialize,
) -> Result<(), MessageError> {
    let text =
        serde_json::to_vec(message).map_err(|error| MessageError::Wrong(error.to_string()))?;
    let mut bytes = u32::try_from(text.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
    bytes.extend(text);
    to.write_all(&bytes).await.map_err(|error| MessageError::Lost(error.cause()))
}

/// Waits for a message.
pub(crate) async fn receive_message<T: DeserializeOwned>(
    from: &mut RecvStream,
) -> Result<T, MessageError> {
    let lost = |error: quinn::ReadExactError| MessageError::Lost(error.cause());
    let mut length = [0; 4];
    from.read_exact(&mut length).await.map_err(lost)?;
    let length = u32::from_be_bytes(length) as usize;
    if length > LONGEST {
        return Err(MessageError::Wrong(format!("a message of {length} bytes, at most {LONGEST}")));
    }
    let mut text = vec![0; length];
    from.read_exact(&mut text).await.map_err(lost)?;
    read(&text).map_err(MessageError::Wrong)
}

/// Sends a last message, if the peer is there, and closes the connection when the peer has closed
/// it or has had its time to.
pub(crate) async fn close_with(
    connection: &Connection,
    to: &mut SendStream,
    last: Option<&impl Serialize>,
    reason: &str,
) {
    if let Some(last) = last.filter(|_| connection.close_reason().is_none()) {
        let sent = async {
            // The peer closes when it has read it.
            if send_message(to, last).await.is_ok() {
                connection.closed().await;
            }
        };
        let _ = timeout(CLOSE_TIMEOUT, sent).await;
    }
    connection.close(GAVE_UP, reason.as_bytes());
}

fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let problem = |error: serde_json::Error| shown(&error.to_string());
    serde_json::from_slice(text)
        .map_err(|error| format!("a message that does not read: {}", problem(error)))
}

/// Version of the protocol; both sides must have the same.
pub(crate) const VERSION: u32 = 3;

/// The protocol in TLS's negotiation (RFC 7301).
pub(crate) const ALPN: &[u8] = b"firstflight-file/3";

/// A name of 255 bytes, each escaped, and then some.
const LONGEST: usize = 16 * 1024;
/// How long the peer has to read the last message, and the connection to end.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_bytes_of_a_peer_panic(bytes in vec(any::<u8>(), 0..200)) {
            let _ = read::<Offer>(&bytes);
            let _ = read::<SenderMessage>(&bytes);
            let _ = read::<Reply>(&bytes);
        }

        #[test]
        fn an_offer_reads_as_it_was_written(
            name in ".*",
            size in any::<u64>(),
            proof in vec(any::<u8>(), 32),
        ) {
            let offer =
                Offer { version: VERSION, proof: Some(proof), name: Some(name), size: Some(size) };
            prop_assert_eq!(read::<Offer>(&serde_json::to_vec(&offer).unwrap()), Ok(offer));
        }
    }
}
