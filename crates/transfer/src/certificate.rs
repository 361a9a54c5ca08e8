//! Self-signed certificates, by whose SHA-256 the two ends recognise each other.
//!
//! No certificate authority knows two hosts that move a file between them, so none is asked: the
//! receiver prints its fingerprint, and the user gives it to the sender.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use rustls::pki_types::pem::Error::NoItemsFound;
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use crate::endpoint::machine;
use crate::error::TransferError;
use crate::hash::Sha256;
use crate::private;

/// The SHA-256 of a certificate, written `sha256:` and 64 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint(Sha256);

/// What is not a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no fingerprint; accepted: sha256: and 64 hexadecimal digits, as recv prints it")]
pub struct FingerprintProblem(String);

/// A certificate and its key.
#[derive(Debug)]
pub struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Fingerprint {
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> Self {
        Self(Sha256::of(certificate))
    }

    /// Those of all certificates in a PEM file, which messages call that of `--trust`.
    ///
    /// # Errors
    /// A file that cannot be read or has none.
    pub fn all_in(path: &Path) -> Result<Vec<Self>, TransferError> {
        Ok(certificates(path, "--trust")?.iter().map(Self::of).collect())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintProblem;

    /// Colons between the digits, as other tools write them, and upper case are fine.
    fn from_str(text: &str) -> Result<Self, FingerprintProblem> {
        let plain = text.trim().to_ascii_lowercase();
        let plain = plain.strip_prefix("sha256:").unwrap_or(&plain).replace(':', "");
        if plain.len() != 64 || !plain.chars().all(|digit| digit.is_ascii_hexdigit()) {
            let shown: String = text.chars().take(80).collect();
            return Err(FingerprintProblem(shown));
        }
        serde_json::from_value(plain.into())
            .map(Self)
            .map_err(|_| FingerprintProblem(text.to_owned()))
    }
}

impl Identity {
    /// Made on the fly, and gone with the program.
    ///
    /// # Errors
    /// A machine without randomness.
    pub fn make() -> Result<Self, TransferError> {
        let made = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()]);
        let made = made.map_err(machine)?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Ok(Self { chain: vec![made.cert.into()], key: key.into() })
    }

    /// From two PEM files, which messages call those of `--cert` and `--key`.
    ///
    /// # Errors
    /// Files that cannot be read, or hold something else; a key that others can read.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TransferError> {
        let chain = certificates(certificate, "--cert")?;
        let text = private::read(key, "--key", "a private key in PEM")?;
        let found = PrivateKeyDer::from_pem_slice(&text);
        let wrong = |error| unreadable(key, "--key", "a private key", &error);
        Ok(Self { chain, key: found.map_err(wrong)? })
    }

    /// The fingerprint of its own certificate.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        self.chain.first().map(Fingerprint::of)
    }
}

fn certificates(path: &Path, flag: &str) -> Result<Vec<CertificateDer<'static>>, TransferError> {
    let text = firstflight_outside::read(path, LONGEST).map_err(|unread| {
        let accepted = "accepted: certificates in PEM";
        TransferError::Input(format!("{flag} {}: {unread}; {accepted}", path.display()))
    })?;
    let found = CertificateDer::pem_slice_iter(&text).collect::<Result<Vec<_>, _>>();
    let found = found.and_then(|all| if all.is_empty() { Err(NoItemsFound) } else { Ok(all) });
    found.map_err(|error| unreadable(path, flag, "certificates", &error))
}

fn unreadable(path: &Path, flag: &str, accepted: &str, error: &pem::Error) -> TransferError {
    let problem = match error {
        NoItemsFound => format!("found no {} in it", accepted.trim_start_matches("a ")),
        other => other.to_string(),
    };
    let path = path.display();
    TransferError::Input(format!("{flag} {path}: {problem}; accepted: {accepted} in PEM"))
}

/// A thousand certificates.
const LONGEST: u64 = 4 << 20;

/// The name in TLS's server name indication; fingerprints are what is checked.
pub(crate) const SERVER_NAME: &str = "firstflight";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_reads_as_it_is_written_and_as_others_write_it() {
        let made = Identity::make().unwrap().fingerprint().unwrap();
        assert_eq!(made.to_string().parse(), Ok(made.clone()));
        let digits = made.to_string()[7..].to_uppercase();
        let pairs: Vec<&str> = (0..32).map(|at| &digits[2 * at..2 * at + 2]).collect();
        assert_eq!(pairs.join(":").parse(), Ok(made));
    }

    #[test]
    fn what_is_no_fingerprint_is_refused_with_what_is() {
        for wrong in ["", "sha256:12", "md5:00", &"g".repeat(64)] {
            let problem = wrong.parse::<Fingerprint>().unwrap_err().to_string();
            assert!(problem.contains("accepted: sha256:"), "{problem}");
        }
    }

    #[test]
    fn two_identities_have_two_fingerprints() {
        let one = || Identity::make().unwrap().fingerprint();
        assert_ne!(one(), one());
    }
}
