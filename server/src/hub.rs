//! What the connections of one server share, whatever runtime carries them.

use crate::authentication::Authenticator;
use crate::backoff::AcceptBackoff;
use crate::clients::ConnectionSnapshot;
use crate::control::{Control, ShutdownHandle};
use crate::driver::Driver;
use crate::handle::ServerHandle;
use crate::metrics::{Histogram, Metrics, Totals};
use crate::offload::Offload;
use crate::options::Options;
use crate::registry::{Refusal, Registry};
use crate::service::{PeerInfo, Service};
use crate::sync::{Seat, contain};
use helenus_core::{Opcode, ServerConnection};
use helenus_tls::MaybeTls;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Instant;

/// The part of a server that isn't its sockets: the service, the registry of connections, the
/// orders from outside, the pool for blocking work.
///
/// An adapter makes one, calls [`Hub::connect`] for each accepted socket and pumps the
/// [`Driver`] it gets; it watches [`Hub::poll_shutdown`] beside accepting and
/// [`Hub::poll_service_timer`] in one place.
#[derive(Debug)]
pub struct Hub<S: Service> {
    service: Arc<S>,
    handle: ServerHandle,
    authenticator: Option<Arc<dyn Authenticator>>,
}

impl<S: Service> Hub<S> {
    /// A hub without connections. Starts the service.
    pub fn new(service: Arc<S>, mut options: Options) -> Arc<Self> {
        let authenticator = service.authenticator();
        if let Some(authenticator) = &authenticator {
            let config = Arc::make_mut(&mut options.connection);
            config
                .authenticator
                .get_or_insert_with(|| authenticator.name().to_owned());
        }
        let handle = ServerHandle {
            registry: Registry::new(options.limits.clone(), Instant::now()),
            control: Arc::new(Control::default()),
            offload: Offload::new(options.offload.clone()),
            logins: Offload::named("helenus-login", options.logins.clone()),
            hooks: Offload::named("helenus-hook", options.hooks.clone()),
            metrics: Arc::new(Metrics::default()),
            options: Arc::new(Mutex::new(Arc::new(options))),
        };
        service.start(handle.clone());
        Arc::new(Hub {
            service,
            handle,
            authenticator,
        })
    }

    /// Takes in an accepted connection, or says why not: the socket is then simply closed.
    pub fn connect(
        self: &Arc<Self>,
        peer: SocketAddr,
        local: SocketAddr,
        now: Instant,
    ) -> Result<MaybeTls<Driver<S>>, Refusal> {
        let opened = self.open(peer, local, now);
        self.metrics().add(&match opened {
            Ok(_) => Totals {
                connections_opened: 1,
                ..Totals::default()
            },
            Err(refusal) => Totals {
                connections_refused: 1,
                refused_for_server: u64::from(refusal == Refusal::TooManyConnections),
                refused_for_address: u64::from(refusal == Refusal::TooManyFromAddress),
                ..Totals::default()
            },
        });
        opened
    }

    fn open(
        self: &Arc<Self>,
        peer: SocketAddr,
        local: SocketAddr,
        now: Instant,
    ) -> Result<MaybeTls<Driver<S>>, Refusal> {
        let (membership, shares) = self.handle.registry.admit(peer)?;
        let options = self.options();
        let outbox = Arc::clone(&membership.mailbox);
        let connection = ServerConnection::new(Arc::clone(&options.connection), outbox, now);
        let info = PeerInfo::new(membership.id, peer, local);
        tracing::debug!(connection = membership.id, %peer, %local, "connection opened");
        let shared = (membership, shares, Arc::clone(&options));
        let mut driver = Driver::new(Arc::clone(self), info, shared, connection, now);
        if let Some(tls) = &options.tls {
            let timeout = options.connection.handshake_timeout;
            return Ok(tls.accept(driver, now, timeout));
        }
        if !driver.open() {
            return Err(Refusal::ServicePanicked);
        }
        Ok(MaybeTls::plain(driver))
    }

    /// The service.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// The options in force.
    pub fn options(&self) -> Arc<Options> {
        self.handle.options()
    }

    /// [`ServerHandle::reconfigure`].
    pub fn reconfigure(&self, options: Options) {
        self.handle.reconfigure(options);
    }

    /// The patience of an accept loop; all of a server say once what they wait for.
    pub fn accept_backoff(&self) -> AcceptBackoff {
        AcceptBackoff::new(Arc::clone(&self.handle.control))
    }

    /// The handle that the service was started with.
    pub fn handle(&self) -> &ServerHandle {
        &self.handle
    }

    /// What the server has counted.
    pub fn totals(&self) -> Totals {
        self.handle.totals()
    }

    /// [`ServerHandle::latencies`].
    pub fn latencies(&self) -> Vec<(Opcode, Histogram)> {
        self.handle.latencies()
    }

    /// The open connections as they are now, in the order they were accepted.
    pub fn connections(&self) -> Vec<ConnectionSnapshot> {
        self.handle.clients()
    }

    pub(crate) fn authenticator(&self) -> Option<&Arc<dyn Authenticator>> {
        self.authenticator.as_ref()
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.handle.metrics
    }

    /// A handle that asks for a shutdown.
    pub fn shutdown_handle(&self) -> ShutdownHandle {
        ShutdownHandle::new(Arc::clone(&self.handle.control))
    }

    /// Ready once a shutdown was asked for; `waker`, the last that was left with this seat, is woken then.
    pub fn poll_shutdown(&self, seat: &Seat, waker: &Waker) -> Poll<()> {
        self.handle.control.poll_shutdown(seat, waker)
    }

    /// Runs the service's timers: calls it if its deadline has come, and returns when to call
    /// again; `waker` is woken if that changes.
    pub fn poll_service_timer(&self, now: Instant, waker: &Waker) -> Option<Instant> {
        while self.handle.control.poll_timers_changed(waker).is_ready() {}
        let deadline = || contain("a service's timer", || self.service.poll_timeout()).flatten();
        if deadline().is_some_and(|deadline| deadline <= now) {
            contain("a service's timer", || self.service.handle_timeout(now));
        }
        deadline()
    }

    /// Takes no more connections and asks the open ones to answer what is in flight and close.
    pub fn drain(&self) {
        self.handle.registry.drain();
    }

    /// Closes every connection at once: what a drain ends with when its time is over.
    pub fn abort(&self) {
        self.handle.registry.abort();
    }

    /// Ready when no connection is open; `waker`, the last that was left with this seat, is woken then.
    pub fn poll_empty(&self, seat: &Seat, waker: &Waker) -> Poll<()> {
        self.handle.registry.poll_empty(seat, waker)
    }
}
