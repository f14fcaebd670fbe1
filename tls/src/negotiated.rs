//! What a handshake came to: version, cipher suite, and who the peer is.

use crate::certificate;
use rustls::pki_types::CertificateDer;
use rustls::{CipherSuite, CommonState, HandshakeKind, ProtocolVersion};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// What a TLS handshake came to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Negotiated {
    /// The version, by the name that Java gives it: `TLSv1.2` or `TLSv1.3`.
    pub version: &'static str,
    /// The cipher suite, by its IANA name.
    pub cipher_suite: &'static str,
    /// Whether a session of an earlier connection was resumed, which spares the certificates.
    pub is_resumed: bool,
    /// The peer's certificate; none if it has shown none.
    pub identity: Option<PeerIdentity>,
}

impl Negotiated {
    /// What `connection` has agreed on, once its handshake is over.
    pub(crate) fn of(connection: &CommonState) -> Self {
        let chain = connection.peer_certificates().unwrap_or_default();
        Negotiated {
            version: version(connection.protocol_version()),
            cipher_suite: connection
                .negotiated_cipher_suite()
                .map_or(UNKNOWN, |suite| cipher_suite(suite.suite())),
            is_resumed: connection.handshake_kind() == Some(HandshakeKind::Resumed),
            identity: (!chain.is_empty()).then(|| PeerIdentity {
                chain: chain.iter().map(|one| one.clone().into_owned()).collect(),
            }),
        }
    }
}

const UNKNOWN: &str = "unknown";

fn version(version: Option<ProtocolVersion>) -> &'static str {
    match version {
        Some(ProtocolVersion::TLSv1_2) => "TLSv1.2",
        Some(ProtocolVersion::TLSv1_3) => "TLSv1.3",
        _ => UNKNOWN,
    }
}

/// rustls names those of TLS 1.3 a little differently.
fn cipher_suite(suite: CipherSuite) -> &'static str {
    match suite {
        CipherSuite::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        CipherSuite::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        suite => suite.as_str().unwrap_or(UNKNOWN),
    }
}

/// A peer's certificate, verified when it was shown. Cheap to clone; what it says is decoded when it is asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct PeerIdentity {
    /// Never empty.
    chain: Arc<[CertificateDer<'static>]>,
}

impl PeerIdentity {
    /// The certificates that the peer sent, in DER: its own, then those that lead to an authority.
    pub fn chain(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.chain.iter().map(AsRef::as_ref)
    }

    /// The subject as RFC 4514 writes it, such as `CN=ada,O=Example`. Empty if the certificate has none.
    #[must_use]
    pub fn subject(&self) -> String {
        self.own().map(certificate::subject).unwrap_or_default()
    }

    /// The common name of the subject.
    #[must_use]
    pub fn common_name(&self) -> Option<String> {
        self.own().and_then(certificate::common_name)
    }

    /// The alternative names of the subject. A SPIFFE identity is a URI among them.
    #[must_use]
    pub fn names(&self) -> Vec<SubjectName> {
        self.own().map(certificate::names).unwrap_or_default()
    }

    fn own(&self) -> Option<&CertificateDer<'static>> {
        self.chain.first()
    }
}

impl fmt::Debug for PeerIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeerIdentity")
            .field("subject", &self.subject())
            .finish_non_exhaustive()
    }
}

/// An alternative name of a certificate's subject.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SubjectName {
    /// A DNS name.
    Dns(String),
    /// A URI.
    Uri(String),
    /// An address.
    Ip(IpAddr),
    /// A mail address.
    Email(String),
}
