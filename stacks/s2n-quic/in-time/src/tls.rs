//! TLS for one run: a certificate that the client knows.

use rcgen::{CertificateParams, KeyPair, PKCS_ED25519};
use s2n_quic::provider::tls::rustls::{Client, Server};

use crate::Problem;

/// Key and certificate. What is random in them does not change their length.
pub struct Tls {
    key: Vec<u8>,
    certificate: Vec<u8>,
}

impl Tls {
    /// A new one.
    ///
    /// # Errors
    /// The system gave no key.
    pub fn new() -> Result<Self, Problem> {
        let key = KeyPair::generate_for(&PKCS_ED25519)?;
        let certificate = CertificateParams::new(vec![NAME.to_owned()])?.self_signed(&key)?;
        Ok(Self { key: key.serialize_der(), certificate: certificate.der().to_vec() })
    }

    /// The server's part.
    ///
    /// # Errors
    /// s2n-quic does not take it.
    pub fn server(&self) -> Result<Server, Problem> {
        let (certificate, key) = (self.certificate.clone(), self.key.clone());
        Ok(Server::builder().with_certificate(certificate, key)?.build()?)
    }

    /// The client's part.
    ///
    /// # Errors
    /// s2n-quic does not take it.
    pub fn client(&self) -> Result<Client, Problem> {
        Ok(Client::builder().with_certificate(self.certificate.clone())?.build()?)
    }
}

/// The name in the certificate.
pub const NAME: &str = "localhost";
