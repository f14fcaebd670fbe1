//! [`ServerTls`]: a server's certificate, and what it asks of its clients. Replaceable while it serves.

use crate::certificate;
use crate::error::LoadError;
use crate::files;
use crate::layer::{Layer, Plaintext};
use crate::maybe::{Driver, MaybeTls};
use crate::session::Session;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::{UnbufferedServerConnection, WebPkiClientVerifier};
use rustls::sign::SingleCertAndKey;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

/// Whether clients are asked for certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientAuth {
    /// Clients aren't asked. Named `none`.
    #[default]
    None,
    /// Clients may show a certificate, which must be good then. Named `optional`.
    Optional,
    /// Clients without a good certificate are refused. Named `required`.
    Required,
}

impl fmt::Display for ClientAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            ClientAuth::None => "none",
            ClientAuth::Optional => "optional",
            ClientAuth::Required => "required",
        })
    }
}

/// A text that names no [`ClientAuth`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} says nothing of client certificates; expected none, optional or required")]
pub struct UnknownClientAuth(String);

impl FromStr for ClientAuth {
    type Err = UnknownClientAuth;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "none" => Ok(ClientAuth::None),
            "optional" => Ok(ClientAuth::Optional),
            "required" => Ok(ClientAuth::Required),
            _ => Err(UnknownClientAuth(name.to_owned())),
        }
    }
}

/// The files of a server's TLS, all of them PEM, and what it asks of its clients.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerFiles {
    /// The server's certificate, then those that lead to an authority.
    pub certificate: PathBuf,
    /// The private key of the certificate.
    pub key: PathBuf,
    /// The authorities that sign the certificates of clients.
    pub client_ca: Option<PathBuf>,
    /// Whether clients are asked for certificates. Not by default.
    pub client_auth: ClientAuth,
    /// Whether clients may also speak without TLS, on the same port. Not by default.
    pub plaintext: bool,
}

impl ServerFiles {
    /// A certificate chain and its key; clients aren't asked for certificates, and must speak TLS.
    pub fn new(certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        ServerFiles {
            certificate: certificate.into(),
            key: key.into(),
            client_ca: None,
            client_auth: ClientAuth::None,
            plaintext: false,
        }
    }
}

/// A server's side of TLS 1.2 and 1.3. Clones are one: what replaces the certificate of one, replaces it for all.
#[derive(Debug, Clone)]
pub struct ServerTls {
    current: Arc<RwLock<Current>>,
}

#[derive(Debug, Clone)]
struct Current {
    config: Arc<ServerConfig>,
    validity: Option<(SystemTime, SystemTime)>,
    plaintext: bool,
}

impl ServerTls {
    /// Reads the files.
    ///
    /// # Errors
    /// What is wrong with which file.
    pub fn load(files: &ServerFiles) -> Result<Self, LoadError> {
        let certified = files::certified_key(&files.certificate, &files.key)?;
        let validity = certified.cert.first().and_then(certificate::validity);
        let provider = Arc::new(ring::default_provider());
        let verifier = match (files.client_auth, &files.client_ca) {
            (ClientAuth::None, _) => WebPkiClientVerifier::no_client_auth(),
            (asked, None) => return Err(LoadError::NoClientAuthority(asked)),
            (asked, Some(file)) => {
                let roots = files::authorities(file)?;
                let builder = WebPkiClientVerifier::builder_with_provider(roots, provider.clone());
                let builder = match asked {
                    ClientAuth::Optional => builder.allow_unauthenticated(),
                    _ => builder,
                };
                builder.build().map_err(|error| LoadError::Certificate {
                    file: file.clone(),
                    reason: error.to_string(),
                })?
            }
        };
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| LoadError::Versions(error.to_string()))?
            .with_client_cert_verifier(verifier)
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(certified)));
        Ok(ServerTls {
            current: Arc::new(RwLock::new(Current {
                config: Arc::new(config),
                validity,
                plaintext: files.plaintext,
            })),
        })
    }

    /// TLS as rustls was configured for it: for certificates that aren't in files, or revocation lists. What `config`
    /// says of unbuffered use and early data is rustls's default, or its handshakes fail.
    #[must_use]
    pub fn with_config(config: Arc<ServerConfig>) -> Self {
        ServerTls {
            current: Arc::new(RwLock::new(Current {
                config,
                validity: None,
                plaintext: false,
            })),
        }
    }

    /// Has connections that come from now on do as `other` does. Those that are open stay as they are.
    pub fn replace(&self, other: &ServerTls) {
        let other = other.current();
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = other;
    }

    /// What the certificate will have clients refuse it for, at the time `now`.
    #[must_use]
    pub fn warning(&self, now: SystemTime) -> Option<Warning> {
        match self.current().validity {
            Some((_, until)) if until <= now => Some(Warning::Expired { since: until }),
            Some((from, _)) if from > now => Some(Warning::NotYetValid { until: from }),
            _ => None,
        }
    }

    /// Puts TLS beneath `driver`, for a socket that was accepted just now. The handshake may take `timeout`.
    pub fn accept<D: Driver>(
        &self,
        driver: D,
        now: Instant,
        timeout: Option<Duration>,
    ) -> MaybeTls<D> {
        let Current {
            config, plaintext, ..
        } = self.current();
        let plaintext = match plaintext {
            true => Plaintext::Taken,
            false => Plaintext::Refused,
        };
        let deadline = timeout.and_then(|timeout| now.checked_add(timeout));
        MaybeTls::layered(
            driver,
            UnbufferedServerConnection::new(config)
                .map(|connection| Layer::new(Session::Server(connection), deadline, plaintext)),
        )
    }

    fn current(&self) -> Current {
        let current = self.current.read();
        current.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What clients will refuse a certificate for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// It has expired.
    Expired {
        /// When.
        since: SystemTime,
    },
    /// It isn't good yet.
    NotYetValid {
        /// When it will be.
        until: SystemTime,
    },
}

#[cfg(test)]
mod tests;
