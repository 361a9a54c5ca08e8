//! Who may send: whoever has the secret of the receiver.
//!
//! The secret never leaves either host. The sender proves that it has it by an HMAC-SHA256 over
//! keying material that TLS exports (RFC 8446, section 7.5), which no other connection has: a proof
//! that somebody saw is worth nothing on a connection of their own.

use std::fmt;
use std::path::Path;

use quinn::Connection;
use ring::hmac::{self, HMAC_SHA256, Key};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::endpoint::machine;
use crate::error::TransferError;
use crate::private;

/// What the receiver and its senders know and nobody else does.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// 128 random bits, in hexadecimal.
    ///
    /// # Errors
    /// A machine without randomness.
    pub fn make() -> Result<Self, TransferError> {
        let mut bytes = [0; 16];
        SystemRandom::new().fill(&mut bytes).map_err(|_| machine("no randomness"))?;
        Ok(Self(base16ct::lower::encode_string(&bytes)))
    }

    /// As a user gave it; `from` names the flag or file for the message, which never shows the
    /// secret.
    ///
    /// # Errors
    /// One that is too short or too long.
    pub fn new(text: &str, from: &str) -> Result<Self, TransferError> {
        let text = text.trim();
        if (SHORTEST..=LONGEST).contains(&text.len()) {
            return Ok(Self(text.to_owned()));
        }
        let problem = format!(
            "{from}: a secret of {} bytes; accepted: {SHORTEST} to {LONGEST}, such as the one that \
             recv prints",
            text.len()
        );
        Err(TransferError::Input(problem))
    }

    /// From a file that only its owner can read, which messages call that of `--secret-file`.
    ///
    /// # Errors
    /// A file that cannot be read, that others can read, or that holds no secret.
    pub fn load(path: &Path) -> Result<Self, TransferError> {
        let bytes = private::read(path, "--secret-file", "a secret")?;
        let from = format!("--secret-file {}", path.display());
        Self::new(&String::from_utf8_lossy(&bytes), &from)
    }

    /// For the one who runs the receiver to see.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The proof for one connection.
    pub(crate) fn prove(&self, connection: &Connection) -> Result<Vec<u8>, TransferError> {
        Ok(hmac::sign(&self.key(), &exported(connection)?).as_ref().to_vec())
    }

    /// Whether it is the proof for this connection; takes equally long for every wrong one.
    pub(crate) fn is_proved(&self, connection: &Connection, proof: Option<&[u8]>) -> bool {
        let (Some(proof), Ok(exported)) = (proof, exported(connection)) else { return false };
        hmac::verify(&self.key(), &exported, proof).is_ok()
    }

    fn key(&self) -> Key {
        Key::new(HMAC_SHA256, self.0.as_bytes())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(not shown)")
    }
}

/// What only the two ends of this connection have.
fn exported(connection: &Connection) -> Result<[u8; 32], TransferError> {
    let mut material = [0; 32];
    let exported = connection.export_keying_material(&mut material, LABEL, b"");
    exported.map(|()| material).map_err(|_| machine("TLS exports no keying material"))
}

/// Label of the exporter (RFC 5705, section 4, leaves labels that begin so to experiments).
const LABEL: &[u8] = b"EXPERIMENTAL firstflight secret";
/// As long as 64 random bits in hexadecimal.
const SHORTEST: usize = 16;
const LONGEST: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_secret_is_new_every_time_and_reads_as_one() {
        let [one, other] = [(); 2].map(|()| Secret::make().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(one.reveal().len(), 32);
        let line = format!("{}\n", one.reveal());
        assert_eq!(Secret::new(&line, "--secret").unwrap().reveal(), one.reveal());
    }

    #[test]
    fn no_message_and_no_debugger_shows_a_secret() {
        let wrong = Secret::new("hunter2", "--secret").unwrap_err().to_string();
        assert!(wrong.contains("--secret: a secret of 7 bytes; accepted: 16"), "{wrong}");
        assert!(!wrong.contains("hunter2"), "{wrong}");
        let secret = Secret::make().unwrap();
        assert!(!format!("{secret:?}").contains(secret.reveal()));
    }
}
