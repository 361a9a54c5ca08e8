//! How a transfer can fail, each in one line.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use firstflight_outside::is_full;

use crate::certificate::Fingerprint;

/// A transfer that did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// No such control.
    #[error(transparent)]
    Control(#[from] firstflight_control::ControlProblem),
    /// A certificate, a key or a file to send that cannot be had.
    #[error("{0}")]
    Input(String),
    /// An address that cannot be used.
    #[error("{address}: {problem}; accepted: HOST:PORT, or a port of this host")]
    Address {
        /// The address as typed.
        address: String,
        /// Why not.
        problem: String,
    },
    /// An address that cannot be listened to.
    #[error(
        "{address}: {problem}; accepted: an address of this host with a free port, or port 0 for \
         any that is free"
    )]
    Listen {
        /// The address as typed.
        address: String,
        /// Why not.
        problem: String,
    },
    /// A file of this host that cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of this host that is not as it should be.
    #[error("{}: {problem}", path.display())]
    BadFile {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// Nobody answered at all.
    #[error(
        "nobody answered at {address} within {} s; is `firstflight recv` running there, and does \
         a firewall let UDP through?",
        waited.as_secs_f64()
    )]
    Nobody {
        /// Where.
        address: String,
        /// For how long.
        waited: Duration,
    },
    /// The peer showed a certificate that is not trusted.
    #[error(
        "the receiver's certificate is not the one given with --pin or --trust: it showed {shown}"
    )]
    WrongCertificate {
        /// The fingerprint of what it showed.
        shown: Fingerprint,
    },
    /// The receiver wants another certificate of this sender.
    #[error(
        "the receiver does not accept this sender's certificate; it wants the one it was given \
         with --pin, as --cert and --key here"
    )]
    NotWelcome,
    /// The peer was there and is no more.
    #[error("the {peer} vanished: nothing came from it for {} s{kept}", waited.as_secs_f64())]
    Vanished {
        /// `sender` or `receiver`.
        peer: &'static str,
        /// For how long.
        waited: Duration,
        /// What is left of the transfer, with a separator in front.
        kept: String,
    },
    /// The disk has no room for a file.
    #[error("{}: no room for {wanted} bytes more; {free} are free there", path.display())]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// Bytes that it would take.
        wanted: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// The peer is there and does nothing.
    #[error("the {peer} {what} nothing for {} s, though it is there{kept}", waited.as_secs_f64())]
    Stalled {
        /// `sender` or `receiver`.
        peer: &'static str,
        /// `sent`, `said` or `took`.
        what: &'static str,
        /// For how long.
        waited: Duration,
        /// What is left of the transfer, with a separator in front.
        kept: String,
    },
    /// The peer gave up, and gave its reason.
    #[error("the {peer} gave up: {reason}{kept}")]
    GaveUp {
        /// `sender` or `receiver`.
        peer: &'static str,
        /// In its words.
        reason: String,
        /// What is left of the transfer, with a separator in front.
        kept: String,
    },
    /// The peer does not speak as it should.
    #[error("the {peer} broke the protocol: {problem}")]
    Protocol {
        /// `sender` or `receiver`.
        peer: &'static str,
        /// How.
        problem: String,
    },
    /// The sender has what is not taken.
    #[error("{problem}")]
    BadOffer {
        /// What is wrong with it, and what to do.
        problem: String,
    },
    /// The content is not what was sent.
    #[error("the SHA-256 of what arrived is not that of what was sent; nothing was kept")]
    Corrupt,
    /// The connection broke for another reason.
    #[error("the connection broke: {problem}{kept}")]
    Broken {
        /// What quinn says.
        problem: String,
        /// What is left of the transfer, with a separator in front.
        kept: String,
    },
    /// Stopped by the user.
    #[error("interrupted{kept}")]
    Interrupted {
        /// What is left of the transfer, with a separator in front.
        kept: String,
    },
    /// The machine has no socket or no runtime for it.
    #[error("{0}")]
    Machine(String),
}

/// Whose fault a failure is; a command's exit code is made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What was asked cannot be.
    Input,
    /// This host lacks something.
    Lacks,
    /// Stopped by the user.
    Interrupted,
    /// It failed later.
    Broke,
}

impl TransferError {
    /// Whose fault it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Control(_) | Self::Input(_) | Self::Address { .. } | Self::Listen { .. } => {
                Kind::Input
            }
            error if error.is_full() => Kind::Lacks,
            Self::Machine(_) => Kind::Lacks,
            Self::Interrupted { .. } => Kind::Interrupted,
            _ => Kind::Broke,
        }
    }

    /// Whether this host's disk has no room for what was to be written.
    pub fn is_full(&self) -> bool {
        match self {
            Self::File { source, .. } => is_full(source),
            Self::NoRoom { .. } => true,
            _ => false,
        }
    }

    /// The message for the other end: files without their folder, no number of free bytes, and not
    /// what is kept here.
    pub(crate) fn to_peer(&self) -> String {
        let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
        match self {
            Self::File { path, source } => format!("{}: {source}", name(path)),
            Self::BadFile { path, problem } => format!("{}: {problem}", name(path)),
            Self::NoRoom { path, wanted, .. } => {
                format!("{}: no room for {wanted} bytes more", name(path))
            }
            Self::Stalled { peer, what, waited, .. } => {
                let (peer, what, waited) = (*peer, *what, *waited);
                Self::Stalled { peer, what, waited, kept: String::new() }.to_string()
            }
            Self::Interrupted { .. } => Self::Interrupted { kept: String::new() }.to_string(),
            other => other.to_string(),
        }
    }
}
