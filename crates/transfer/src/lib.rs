//! A file over QUIC, with a start-up and avoidance of one's choice: what `firstflight send` and
//! `firstflight recv` do.
//!
//! [`receive()`] listens, [`Reception`] for several at a time, [`send()`] connects. Their
//! messages go over one stream in both directions (`message.rs`), and the bytes over others, a
//! mebibyte each. A sender accepts no receiver but one whose certificate has the expected
//! [`Fingerprint`], a receiver no sender but one that proves to have its [`Secret`] or the key of a
//! certificate that it knows. What has arrived is kept under another name
//! until the SHA-256 of all of it is right, and a transfer that broke off goes on where it stopped.
//! `docs/threats.md` says what each side can do to the other.
//!
//! Flow control is kept out of the way, so that the congestion controller is what limits: the
//! receiver announces a large window to a sender that it has accepted, and the sender's buffer
//! follows its cwnd.

mod certificate;
mod concurrency;
mod endpoint;
mod error;
mod failure;
mod greet;
mod hash;
mod inbox;
mod message;
mod name;
mod partial;
mod paths;
mod pinned;
mod place;
mod private;
mod receive;
mod record;
mod results;
mod secret;
mod send;
mod sink;
mod source;
mod streams;
mod stuck;
mod take;

pub use certificate::{Fingerprint, FingerprintProblem, Identity};
pub use concurrency::{Ended, Event, Reception};
pub use endpoint::{LEAST_WINDOW, MAX_TIMEOUT, MIN_TIMEOUT};
pub use error::{Kind, TransferError};
pub use hash::Sha256;
pub use inbox::{Inbox, Limits, Listening};
pub use receive::{Received, receive};
pub use record::{Record, Sample};
pub use results::Broken;
pub use secret::Secret;
pub use send::{Sending, Sent, Tuning, send};
pub use sink::Store;
pub use source::Source;

/// How far a transfer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes that have arrived, those of an earlier attempt included.
    pub bytes: u64,
    /// Bytes that an earlier attempt had brought.
    pub resumed: u64,
    /// Bytes there are, if known.
    pub total: Option<u64>,
}
