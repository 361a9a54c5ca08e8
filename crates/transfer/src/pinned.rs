//! TLS without authorities: a peer is accepted if it shows a certificate with an expected
//! fingerprint and has its key. Names and dates of certificates are not checked.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, PeerIncompatible,
    SignatureScheme,
};

use crate::certificate::Fingerprint;

/// Trusts the certificates with these fingerprints.
#[derive(Debug)]
pub(crate) struct Pinned {
    accepted: Vec<Fingerprint>,
    provider: Arc<CryptoProvider>,
    /// What was shown instead, for the message.
    refused: Mutex<Option<Fingerprint>>,
}

impl Pinned {
    pub(crate) fn new(accepted: Vec<Fingerprint>, provider: Arc<CryptoProvider>) -> Arc<Self> {
        Arc::new(Self { accepted, provider, refused: Mutex::default() })
    }

    /// The certificate that was shown and is none of those trusted.
    pub(crate) fn refused(&self) -> Option<Fingerprint> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn check(&self, shown: &CertificateDer<'_>) -> Result<(), Error> {
        let shown = Fingerprint::of(shown);
        if self.accepted.contains(&shown) {
            return Ok(());
        }
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    }
}

/// What rustls asks of both verifiers alike: that the peer has the key of its certificate. QUIC has
/// no TLS before 1.3 (RFC 9001 section 4.2).
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _certificate: &CertificateDer<'_>,
            _signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::PeerIncompatible(PeerIncompatible::Tls13RequiredForQuic))
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            certificate: &CertificateDer<'_>,
            signed: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            let algorithms = &self.provider.signature_verification_algorithms;
            verify_tls13_signature(message, certificate, signed, algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.provider.signature_verification_algorithms.supported_schemes()
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    signatures!();
}
