//! [`ClientTls`]: which servers a client trusts, and who it is to them.

use crate::error::{Error, LoadError};
use crate::files;
use crate::layer::{Layer, Plaintext};
use crate::maybe::{Driver, MaybeTls};
use crate::session::Session;
use rustls::client::UnbufferedClientConnection;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The files of a client's TLS, all of them PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientFiles {
    /// The authorities that are trusted; `None` if any certificate is, whoever has made it.
    trusted: Option<PathBuf>,
    /// The client's certificate chain and its key, for servers that ask.
    identity: Option<(PathBuf, PathBuf)>,
}

impl ClientFiles {
    /// Trusts servers whose certificates one of the authorities in `ca` has signed, for the name that the client calls
    /// them by.
    pub fn trusting(ca: impl Into<PathBuf>) -> Self {
        ClientFiles {
            trusted: Some(ca.into()),
            identity: None,
        }
    }

    /// Trusts whoever answers. That keeps out who only listens, and nobody who can come in between: for
    /// tests alone.
    #[must_use]
    pub fn dangerous_trusting_anyone() -> Self {
        ClientFiles {
            trusted: None,
            identity: None,
        }
    }

    /// Shows a certificate to servers that ask for one.
    #[must_use]
    pub fn identified_by(
        mut self,
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Self {
        self.identity = Some((certificate.into(), key.into()));
        self
    }
}

/// A client's side of TLS 1.2 and 1.3. Clones share the sessions that they may resume.
#[derive(Debug, Clone)]
pub struct ClientTls {
    config: Arc<ClientConfig>,
    name: Option<ServerName<'static>>,
}

impl ClientTls {
    /// Reads the files.
    ///
    /// # Errors
    /// What is wrong with which file.
    pub fn load(files: &ClientFiles) -> Result<Self, LoadError> {
        let provider = Arc::new(ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match &files.trusted {
            None => Arc::new(Anyone(Arc::clone(&provider))),
            Some(file) => {
                let roots = files::authorities(file)?;
                let builder = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
                builder.build().map_err(|error| LoadError::Certificate {
                    file: file.clone(),
                    reason: error.to_string(),
                })?
            }
        };
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| LoadError::Versions(error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let config = match &files.identity {
            None => builder.with_no_client_auth(),
            Some((certificate, key)) => {
                let certified = files::certified_key(certificate, key)?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(certified)))
            }
        };
        Ok(ClientTls {
            config: Arc::new(config),
            name: None,
        })
    }

    /// TLS as rustls was configured for it.
    #[must_use]
    pub fn with_config(config: Arc<ClientConfig>) -> Self {
        ClientTls { config, name: None }
    }

    /// Expects `name` in the server's certificate, and tells the server that it is wanted (SNI) if it is a DNS name.
    /// Without this, the address that is connected to is expected.
    ///
    /// # Errors
    /// [`LoadError::ServerName`] if `name` is neither a DNS name nor an address.
    pub fn with_server_name(mut self, name: &str) -> Result<Self, LoadError> {
        let parsed = ServerName::try_from(name.to_owned());
        self.name = Some(parsed.map_err(|_| LoadError::ServerName(name.to_owned()))?);
        Ok(self)
    }

    /// Puts TLS beneath `driver`, for a socket that has just connected to `address`. The handshake may take `timeout`.
    pub fn connect<D: Driver>(
        &self,
        driver: D,
        address: IpAddr,
        now: Instant,
        timeout: Option<Duration>,
    ) -> MaybeTls<D> {
        let deadline = timeout.and_then(|timeout| now.checked_add(timeout));
        MaybeTls::layered(
            driver,
            UnbufferedClientConnection::new(Arc::clone(&self.config), self.name_at(address))
                .map(|client| Layer::new(Session::Client(client), deadline, Plaintext::Excluded)),
        )
    }

    /// rustls's own connection to a server at `address`, for a program that blocks on its socket and needs no driver:
    /// [`rustls::StreamOwned`] joins both.
    ///
    /// # Errors
    /// [`Error::Protocol`] if the configuration is one that rustls can't use.
    pub fn session(&self, address: IpAddr) -> Result<ClientConnection, Error> {
        ClientConnection::new(Arc::clone(&self.config), self.name_at(address)).map_err(Error::from)
    }

    /// The name that the certificate of a server at `address` is to have.
    fn name_at(&self, address: IpAddr) -> ServerName<'static> {
        let name = self.name.clone();
        name.unwrap_or_else(|| ServerName::IpAddress(address.into()))
    }
}

/// Trusts any certificate, as long as the server has its key.
#[derive(Debug)]
struct Anyone(Arc<CryptoProvider>);

impl ServerCertVerifier for Anyone {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
