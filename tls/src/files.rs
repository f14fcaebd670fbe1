//! PEM files: certificate chains, private keys and the authorities that are trusted.

use crate::error::LoadError;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{InconsistentKeys, RootCertStore};
use std::path::Path;
use std::sync::Arc;

fn read(file: &Path) -> Result<Vec<u8>, LoadError> {
    std::fs::read(file).map_err(|reason| LoadError::Unreadable {
        file: file.to_owned(),
        reason: Arc::new(reason),
    })
}

fn not_pem(file: &Path, error: &pem::Error) -> LoadError {
    LoadError::Pem {
        file: file.to_owned(),
        reason: error.to_string(),
    }
}

/// The certificates of `file`, in their order; one at least.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, LoadError> {
    let text = read(file)?;
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let chain = chain.map_err(|error| not_pem(file, &error))?;
    if chain.is_empty() {
        let file = file.to_owned();
        return Err(LoadError::NoCertificate { file });
    }
    Ok(chain)
}

/// The first private key of `file`.
fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, LoadError> {
    let text = read(file)?;
    match PrivateKeyDer::from_pem_slice(&text) {
        Ok(key) => Ok(key),
        Err(pem::Error::NoItemsFound) if is_encrypted(&text) => Err(LoadError::EncryptedKey {
            file: file.to_owned(),
        }),
        Err(pem::Error::NoItemsFound) => Err(LoadError::NoKey {
            file: file.to_owned(),
        }),
        Err(error) => Err(not_pem(file, &error)),
    }
}

/// Whether a PEM text has a key of the kind that rustls passes over.
fn is_encrypted(text: &[u8]) -> bool {
    const SECTION: &[u8] = b"-----BEGIN ENCRYPTED PRIVATE KEY-----";
    text.windows(SECTION.len()).any(|window| window == SECTION)
}

/// The authorities in `file`.
pub(crate) fn authorities(file: &Path) -> Result<Arc<RootCertStore>, LoadError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots
            .add(certificate)
            .map_err(|error| LoadError::Certificate {
                file: file.to_owned(),
                reason: error.to_string(),
            })?;
    }
    Ok(Arc::new(roots))
}

/// A certificate chain, its own certificate first, and the key to that.
pub(crate) fn certified_key(certificate: &Path, key: &Path) -> Result<CertifiedKey, LoadError> {
    let chain = certificates(certificate)?;
    let signing =
        ring::sign::any_supported_type(&private_key(key)?).map_err(|error| LoadError::Key {
            file: key.to_owned(),
            reason: match error {
                rustls::Error::General(reason) => reason,
                error => error.to_string(),
            },
        })?;
    let certified = CertifiedKey::new(chain, signing);
    match certified.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(InconsistentKeys::Unknown)) => Ok(certified),
        Err(rustls::Error::InconsistentKeys(_)) => Err(LoadError::Mismatch {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        }),
        Err(error) => Err(LoadError::Certificate {
            file: certificate.to_owned(),
            reason: error.to_string(),
        }),
    }
}
