//! From what quinn says to what a user should read.

use std::time::Duration;

use firstflight_outside::word;
use quinn::{ConnectionError, ReadError, ReadExactError, StoppedError, VarInt, WriteError};
use quinn_proto::TransportErrorCode;

use crate::error::TransferError;

/// The peer as messages name it.
pub(crate) const SENDER: &str = "sender";
/// The peer as messages name it.
pub(crate) const RECEIVER: &str = "receiver";

/// The peer closed the connection and gave up.
pub(crate) fn gave_up(peer: &'static str, reason: &str, kept: &str) -> TransferError {
    TransferError::GaveUp { peer, reason: shown(reason), kept: kept.to_owned() }
}

/// The peer sent a message that does not come at this point.
pub(crate) fn unexpected_message(peer: &'static str) -> TransferError {
    TransferError::Protocol { peer, problem: "it sent a message out of turn".to_owned() }
}

/// Codes with which one side closes the connection.
pub(crate) const DONE: VarInt = VarInt::from_u32(0);
/// With a reason in words.
pub(crate) const GAVE_UP: VarInt = VarInt::from_u32(1);

/// A lost connection in words; `waited` is the idle timeout.
pub(crate) fn lost(
    peer: &'static str,
    error: &ConnectionError,
    waited: Duration,
    kept: &str,
) -> TransferError {
    let kept = kept.to_owned();
    match error {
        ConnectionError::TimedOut => TransferError::Vanished { peer, waited, kept },
        // Within the handshake: it took another sender, or its places were taken.
        ConnectionError::ApplicationClosed(close)
            if close.reason.is_empty() && peer == RECEIVER =>
        {
            busy(peer, kept)
        }
        ConnectionError::ApplicationClosed(close) if close.reason.is_empty() => {
            gave_up(peer, "it closed the connection without a reason", &kept)
        }
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::APPLICATION_ERROR =>
        {
            busy(peer, kept)
        }
        ConnectionError::ApplicationClosed(close) => {
            gave_up(peer, &String::from_utf8_lossy(&close.reason), &kept)
        }
        // A peer that was restarted does not know the connection.
        ConnectionError::Reset => {
            let reason = format!("it was restarted, or {}", BUSY.trim_start_matches("it "));
            TransferError::GaveUp { peer, reason, kept }
        }
        ConnectionError::ConnectionClosed(close) if is_about_certificates(close.error_code) => {
            TransferError::NotWelcome
        }
        ConnectionError::ConnectionClosed(close)
            if close.error_code == TransportErrorCode::CONNECTION_REFUSED =>
        {
            busy(peer, kept)
        }
        error if is_about_versions(error) => {
            TransferError::Protocol { peer, problem: OTHER_VERSION.to_owned() }
        }
        error => TransferError::Broken { problem: shown(&error.to_string()), kept },
    }
}

fn busy(peer: &'static str, kept: String) -> TransferError {
    TransferError::GaveUp { peer, reason: BUSY.to_owned(), kept }
}

/// The reason for a sender that comes while all places are taken.
pub(crate) const BUSY: &str = "it is busy with other transfers; try again later";

/// Why a connection failed before its first message, for the receiver.
pub(crate) fn handshake_failure(error: &ConnectionError) -> String {
    match error {
        ConnectionError::ConnectionClosed(close) if is_about_certificates(close.error_code) => {
            "the sender does not trust this certificate; it has another --pin".to_owned()
        }
        error if is_about_versions(error) => OTHER_VERSION.to_owned(),
        error => shown(&error.to_string()),
    }
}

/// The two ends have no protocol in common (RFC 7301, section 3.2): one finds out and says so.
fn is_about_versions(error: &ConnectionError) -> bool {
    let code = match error {
        ConnectionError::ConnectionClosed(close) => close.error_code,
        ConnectionError::TransportError(error) => error.code,
        _ => return false,
    };
    u64::from(code) == CRYPTO_ERROR + NO_APPLICATION_PROTOCOL
}

/// A TLS alert says what is wrong with a certificate; a sender gets it when its handshake is over
/// already.
fn is_about_certificates(code: TransportErrorCode) -> bool {
    let code = u64::from(code);
    CERTIFICATE_ALERTS.iter().any(|alert| code == CRYPTO_ERROR + alert)
}

/// What a stream or message failed with, as the connection's own error where there is one.
pub(crate) trait Cause {
    /// The error of the connection, or what else it was.
    fn cause(self) -> Result<ConnectionError, String>;
}

impl Cause for ConnectionError {
    fn cause(self) -> Result<ConnectionError, String> {
        Ok(self)
    }
}

impl Cause for ReadError {
    fn cause(self) -> Result<ConnectionError, String> {
        match self {
            Self::ConnectionLost(error) => Ok(error),
            other => Err(other.to_string()),
        }
    }
}

impl Cause for ReadExactError {
    fn cause(self) -> Result<ConnectionError, String> {
        match self {
            Self::ReadError(error) => error.cause(),
            Self::FinishedEarly(_) => Err("a message broke off".to_owned()),
        }
    }
}

impl Cause for WriteError {
    fn cause(self) -> Result<ConnectionError, String> {
        match self {
            Self::ConnectionLost(error) => Ok(error),
            other => Err(other.to_string()),
        }
    }
}

impl Cause for StoppedError {
    fn cause(self) -> Result<ConnectionError, String> {
        match self {
            Self::ConnectionLost(error) => Ok(error),
            other @ Self::ZeroRttRejected => Err(other.to_string()),
        }
    }
}

/// A peer's text on one line and of bounded length: what does not show as itself is escaped,
/// control characters and marks of direction among it.
pub(crate) fn shown(text: &str) -> String {
    word(text.trim())
}

pub(crate) const OTHER_VERSION: &str =
    "it is another version of firstflight; both ends need the same";
/// RFC 8446, section 6.
const NO_APPLICATION_PROTOCOL: u64 = 120;
/// A TLS alert as an error of QUIC (RFC 9001, section 4.8).
const CRYPTO_ERROR: u64 = 0x100;
/// bad_certificate, unsupported_certificate, certificate_revoked, certificate_expired,
/// certificate_unknown, unknown_ca, access_denied and certificate_required (RFC 8446, section 6).
const CERTIFICATE_ALERTS: [u64; 8] = [42, 43, 44, 45, 46, 48, 49, 116];

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn closed(alert: u8) -> ConnectionError {
        let error_code = TransportErrorCode::crypto(alert);
        let reason = Bytes::from_static(b"why");
        let close = quinn_proto::ConnectionClose { error_code, frame_type: None, reason };
        ConnectionError::ConnectionClosed(close)
    }

    #[test]
    fn tls_s_numbers_become_what_to_do() {
        let message =
            |alert| lost(RECEIVER, &closed(alert), Duration::from_secs(1), "").to_string();
        assert!(message(120).contains("another version of firstflight"), "{}", message(120));
        assert!(message(116).contains("--cert and --key"), "{}", message(116));
        assert!(message(40).contains("the connection broke"), "{}", message(40));
        assert!(handshake_failure(&closed(49)).contains("another --pin"));
        assert!(handshake_failure(&closed(120)).contains("another version"));
        assert!(handshake_failure(&ConnectionError::TimedOut).contains("timed out"));
    }

    #[test]
    fn a_peer_s_words_cannot_write_to_the_terminal() {
        assert_eq!(shown("no\x1b[2Jroom\r\nhere"), "no\\u{1b}[2Jroom\\r\\nhere");
        assert_eq!(shown("photo\u{202e}gpj.exe \u{200b}"), "photo\\u{202e}gpj.exe \\u{200b}");
        assert_eq!(shown("\"a\u{308}\" isn't C:\\b"), "\"a\u{308}\" isn't C:\\b");
        assert_eq!(shown(&"x".repeat(1_000)).len(), 300);
    }
}
