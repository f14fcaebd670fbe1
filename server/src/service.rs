//! The contract between a server and what answers its requests.

use crate::authentication::{Authenticator, Identity};
use crate::handle::ServerHandle;
use helenus_core::connection::AuthToken;
use helenus_core::{Request, Responder};
use helenus_tls::{Negotiated, PeerIdentity};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

/// Who is at the other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerInfo {
    /// The connection's number, unique within its server.
    pub connection: u64,
    /// The peer's address.
    pub address: SocketAddr,
    /// The server's own address that the peer reached.
    pub local: SocketAddr,
    /// What was agreed on where the connection speaks TLS.
    pub tls: Option<Negotiated>,
}

impl PeerInfo {
    /// The peer at `address` that reached the server at `local`.
    pub fn new(connection: u64, address: SocketAddr, local: SocketAddr) -> Self {
        PeerInfo {
            connection,
            address,
            local,
            tls: None,
        }
    }

    /// The client's certificate, if it has shown a good one.
    #[must_use]
    pub fn identity(&self) -> Option<&PeerIdentity> {
        self.tls.as_ref()?.identity.as_ref()
    }
}

/// What answers the requests of a CQL server.
///
/// One service is shared by all connections and called on the runtime's own threads: it may
/// compute, but not block. Work that blocks goes to [`ServerHandle::offload`]; an answer that isn't
/// there yet is deferred with [`Responder::defer`]. A panic inside a method answers SERVER_ERROR
/// for that request alone; the session is kept as the panic left it.
pub trait Service: Send + Sync + 'static {
    /// What the service remembers of one connection: its keyspace, its user.
    type Session: Send + 'static;

    /// The server starts; `server` may be kept.
    fn start(&self, _server: ServerHandle) {}

    /// A connection was accepted, and its TLS handshake is over if it has one.
    fn open(&self, peer: &PeerInfo) -> Self::Session;

    /// A QUERY, PREPARE, EXECUTE or BATCH arrived, undecoded. `responder` is used up by answering;
    /// dropped unanswered, it answers SERVER_ERROR.
    fn call(
        &self,
        now: Instant,
        session: &mut Self::Session,
        request: Request<'_>,
        responder: Responder<'_>,
    );

    /// How clients log in; `None`, the default, lets everybody in. Asked once, before anybody is
    /// accepted. Its name is the one that AUTHENTICATE gives, unless
    /// [`ServerConfig::authenticator`](helenus_core::ServerConfig::authenticator) has another.
    fn authenticator(&self) -> Option<Arc<dyn Authenticator>> {
        None
    }

    /// The [`Authenticator`] let the client in as `identity`: the session may remember it. Called on
    /// the thread that pumps the connection, before any request of the client can come; again if the
    /// client logs in again.
    fn authenticated(&self, _session: &mut Self::Session, _identity: Identity) {}

    /// The client's SASL `token` arrived, where the server demands authentication and the service has
    /// no [`Authenticator`]: for mechanisms of several steps. Answered with
    /// [`Responder::accept`], [`challenge`](Responder::challenge) or [`refuse`](Responder::refuse);
    /// deferred, with the responses of the same names. Password hashing belongs in
    /// [`ServerHandle::offload`]; who the client turned out to be then reaches the session through
    /// something shared, such as an `Arc<OnceLock<_>>`, set before the reply is sent.
    fn authenticate(
        &self,
        _now: Instant,
        _session: &mut Self::Session,
        _token: AuthToken<'_>,
        responder: Responder<'_>,
    ) {
        responder.refuse("This service knows no users".to_owned());
    }

    /// The connection is gone; deferred replies of it go nowhere.
    fn close(&self, _session: Self::Session) {}

    /// When [`Service::handle_timeout`] wants to be called. Asked at the start, after each timeout
    /// and after [`ServerHandle::wake`].
    fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// The time that [`Service::poll_timeout`] gave has come. Called on one thread at a time.
    fn handle_timeout(&self, _now: Instant) {}
}
