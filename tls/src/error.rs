//! What goes wrong: on a connection, and with the files of certificates and keys.

use crate::server::ClientAuth;
use rustls::InvalidMessage;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a connection's TLS failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The peer broke the protocol, shares no version or cipher suite with us, has a certificate that isn't
    /// trusted, or doesn't trust ours.
    #[error("TLS failed: {0}")]
    Protocol(rustls::Error),
    /// A client spoke CQL without TLS. It was told so, in CQL.
    #[error("the client speaks CQL without TLS")]
    Plaintext,
    /// What came isn't TLS.
    #[error("the peer doesn't speak TLS")]
    NotTls,
    /// The handshake took longer than it may.
    #[error("the TLS handshake took too long")]
    TimedOut,
    /// The peer closed its side within the handshake.
    #[error("the peer ended the TLS handshake")]
    Ended,
}

impl From<rustls::Error> for Error {
    fn from(error: rustls::Error) -> Self {
        match error {
            rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => Error::NotTls,
            error => Error::Protocol(error),
        }
    }
}

/// What is wrong with the files of certificates and keys. Each names the file.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file can't be read.
    #[error("{}: cannot be read: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        reason: Arc<io::Error>,
    },
    /// The file is cut short, or isn't PEM at all.
    #[error("{}: not valid PEM: {reason}", file.display())]
    Pem {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file has no certificate.
    #[error("{}: no certificate in it (a PEM section CERTIFICATE)", file.display())]
    NoCertificate {
        /// The file.
        file: PathBuf,
    },
    /// A certificate of the file doesn't decode, or can't be trusted as an authority's.
    #[error("{}: not a certificate that can be used: {reason}", file.display())]
    Certificate {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file has no private key.
    #[error(
        "{}: no private key in it (a PEM section PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY)",
        file.display()
    )]
    NoKey {
        /// The file.
        file: PathBuf,
    },
    /// The private key has a passphrase, which nobody could be asked for.
    #[error("{}: the private key is encrypted; store it without a passphrase", file.display())]
    EncryptedKey {
        /// The file.
        file: PathBuf,
    },
    /// The private key doesn't decode, or is of a kind that isn't supported.
    #[error("{}: not a private key that can be used: {reason}", file.display())]
    Key {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The key is another certificate's.
    #[error("{}: not the private key of the certificate in {}", key.display(), certificate.display())]
    Mismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
    /// Clients are to have certificates, but nothing says which are trusted.
    #[error("client certificates are {0}, but there is no file of the authorities that sign them")]
    NoClientAuthority(ClientAuth),
    /// rustls has no version of TLS to offer.
    #[error("no version of TLS can be used: {0}")]
    Versions(String),
    /// The text is neither a DNS name nor an address.
    #[error("{0:?} is neither a DNS name nor an address")]
    ServerName(String),
}

impl LoadError {
    /// The file that is wrong.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        match self {
            LoadError::Unreadable { file, .. }
            | LoadError::Pem { file, .. }
            | LoadError::NoCertificate { file }
            | LoadError::Certificate { file, .. }
            | LoadError::NoKey { file }
            | LoadError::EncryptedKey { file }
            | LoadError::Key { file, .. }
            | LoadError::Mismatch { key: file, .. } => Some(file),
            LoadError::NoClientAuthority(_) | LoadError::Versions(_) | LoadError::ServerName(_) => {
                None
            }
        }
    }
}
