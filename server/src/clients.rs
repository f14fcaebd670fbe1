//! What may be seen of an open connection from outside it: who the client is and how far it came.

use crate::sync::lock;
use helenus_core::ProtocolVersion;
use helenus_core::connection::ClientOptions;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ConnectionStage {
    /// It was accepted, and said nothing yet or asked for OPTIONS only.
    #[default]
    Established,
    /// Its STARTUP was accepted, and it has yet to say who it is.
    Authenticating,
    /// It may make requests.
    Ready,
}

impl ConnectionStage {
    /// Its name in `system_views.clients`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Established => "established",
            Self::Authenticating => "authenticating",
            Self::Ready => "ready",
        }
    }
}

/// The TLS that a connection agreed upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsSession {
    /// The version, such as `TLSv1.3`.
    pub protocol: String,
    /// The cipher suite, such as `TLS_AES_256_GCM_SHA384`.
    pub cipher_suite: String,
}

/// What a connection, or several of them, keep of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Held {
    /// Requests that were taken and whose answers aren't sent.
    pub requests: u64,
    /// Bytes of requests, from their first byte until their answers are sent, and of unsent answers.
    pub bytes: u64,
}

impl std::iter::Sum for Held {
    fn sum<I: Iterator<Item = Held>>(all: I) -> Held {
        all.fold(Held::default(), |sum, held| Held {
            requests: sum.requests.saturating_add(held.requests),
            bytes: sum.bytes.saturating_add(held.bytes),
        })
    }
}

/// An open connection as it was when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConnectionSnapshot {
    /// The connection's number, unique within its server.
    pub connection: u64,
    /// The peer's address.
    pub address: SocketAddr,
    /// How far it came.
    pub stage: ConnectionStage,
    /// The protocol version, from STARTUP on.
    pub version: Option<ProtocolVersion>,
    /// What the client said of itself in STARTUP.
    pub options: Arc<ClientOptions>,
    /// The keyspace in use, where the service says so: [`ServerHandle::set_keyspace`](crate::ServerHandle::set_keyspace).
    pub keyspace: Option<Arc<str>>,
    /// The user that was let in, where users are known.
    pub user: Option<Arc<str>>,
    /// The TLS in use, if any.
    pub tls: Option<Arc<TlsSession>>,
    /// Well-formed requests so far, those of the handshake included.
    pub requests: u64,
    /// What it keeps of the server.
    pub held: Held,
}

impl ConnectionSnapshot {
    /// What the client said of itself in STARTUP under this name, upper or lower case.
    #[must_use]
    pub fn option(&self, name: &str) -> Option<&str> {
        let named = |(key, _): &&(Box<str>, Box<str>)| key.eq_ignore_ascii_case(name);
        self.options.iter().rfind(named).map(|(_, value)| &**value)
    }
}

/// What a connection shows of itself.
#[derive(Debug)]
pub(crate) struct Record {
    address: SocketAddr,
    requests: AtomicU64,
    held_requests: AtomicU64,
    held_bytes: AtomicU64,
    described: Mutex<Described>,
}

/// What changes a few times in the life of a connection.
#[derive(Debug, Default)]
struct Described {
    stage: ConnectionStage,
    version: Option<ProtocolVersion>,
    options: Option<Arc<ClientOptions>>,
    keyspace: Option<Arc<str>>,
    user: Option<Arc<str>>,
    tls: Option<Arc<TlsSession>>,
}

impl Record {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Record {
            address,
            requests: AtomicU64::new(0),
            held_requests: AtomicU64::new(0),
            held_bytes: AtomicU64::new(0),
            described: Mutex::default(),
        }
    }

    /// The connection has had so many requests. Only itself says so.
    #[inline]
    pub(crate) fn set_requests(&self, requests: u64) {
        self.requests.store(requests, Ordering::Relaxed);
    }

    /// The connection keeps so much. Only itself says so.
    #[inline]
    pub(crate) fn set_held(&self, held: Held) {
        self.held_requests.store(held.requests, Ordering::Relaxed);
        self.held_bytes.store(held.bytes, Ordering::Relaxed);
    }

    pub(crate) fn held(&self) -> Held {
        Held {
            requests: self.held_requests.load(Ordering::Relaxed),
            bytes: self.held_bytes.load(Ordering::Relaxed),
        }
    }

    /// It came so far, in this version.
    pub(crate) fn set_stage(&self, stage: ConnectionStage, version: Option<ProtocolVersion>) {
        let mut described = lock(&self.described);
        described.stage = stage;
        described.version = version;
    }

    pub(crate) fn set_options(&self, options: ClientOptions) {
        lock(&self.described).options = Some(Arc::new(options));
    }

    pub(crate) fn set_keyspace(&self, keyspace: Option<Arc<str>>) {
        lock(&self.described).keyspace = keyspace;
    }

    pub(crate) fn set_user(&self, user: Arc<str>) {
        lock(&self.described).user = Some(user);
    }

    pub(crate) fn set_tls(&self, tls: TlsSession) {
        lock(&self.described).tls = Some(Arc::new(tls));
    }

    pub(crate) fn snapshot(&self, connection: u64) -> ConnectionSnapshot {
        let described = lock(&self.described);
        ConnectionSnapshot {
            connection,
            address: self.address,
            stage: described.stage,
            version: described.version,
            options: described.options.clone().unwrap_or_default(),
            keyspace: described.keyspace.clone(),
            user: described.user.clone(),
            tls: described.tls.clone(),
            requests: self.requests.load(Ordering::Relaxed),
            held: self.held(),
        }
    }
}
