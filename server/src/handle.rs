//! What a service holds of its server.

use crate::clients::{ConnectionSnapshot, Held};
use crate::control::Control;
use crate::metrics::{Histogram, Metrics, Totals};
use crate::offload::Offload;
use crate::options::Options;
use crate::registry::Registry;
use crate::sync::lock;
use helenus_core::{Opcode, ServerEvent};
use std::sync::{Arc, Mutex};

/// A service's handle on the server it runs in, given to [`Service::start`](crate::Service::start).
/// Cheap to clone; usable from any thread.
#[derive(Debug, Clone)]
pub struct ServerHandle {
    pub(crate) registry: Arc<Registry>,
    pub(crate) control: Arc<Control>,
    pub(crate) offload: Offload,
    pub(crate) logins: Offload,
    pub(crate) hooks: Offload,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) options: Arc<Mutex<Arc<Options>>>,
}

impl ServerHandle {
    /// Sends `event` to every client that registered for its kind.
    ///
    /// Events reach each connection in the order they were published, and before any
    /// [`Reply`](helenus_core::Reply) sent after them: a schema change that is published first and
    /// answered then is seen in this order by the client that asked for it too.
    pub fn publish(&self, event: ServerEvent) {
        self.registry.publish(&Arc::new(event));
    }

    /// Has the server ask [`Service::poll_timeout`](crate::Service::poll_timeout) anew.
    pub fn wake(&self) {
        self.control.timers_changed();
    }

    /// The pool for work that may block.
    pub fn offload(&self) -> &Offload {
        &self.offload
    }

    /// The pool for logins and for the hashing of passwords: small, so that these take little from
    /// what else the machine does. It is [`Options::logins`](crate::Options::logins) large.
    pub fn logins(&self) -> &Offload {
        &self.logins
    }

    /// The pool for code of the program's own that a service calls on behalf of requests, such as functions
    /// that statements name: apart from the others, so that what never ends takes nothing from these. It is [`Options::hooks`](crate::Options::hooks)
    /// large.
    pub fn hooks(&self) -> &Offload {
        &self.hooks
    }

    /// The options in force.
    pub fn options(&self) -> Arc<Options> {
        Arc::clone(&lock(&self.options))
    }

    /// Has other options from now on, with every connection kept: limits, deadlines and the pools' bounds.
    /// Open connections take them over at once; what is held beyond a new limit stays until it is done
    /// with. What isn't changed so stays as it was: the authenticator, TLS, which its own
    /// [`replace`](helenus_tls::ServerTls::replace) is for, and the backlog.
    pub fn reconfigure(&self, mut options: Options) {
        let mut current = lock(&self.options);
        options.backlog = current.backlog;
        options.tls.clone_from(&current.tls);
        let config = Arc::make_mut(&mut options.connection);
        config
            .authenticator
            .clone_from(&current.connection.authenticator);
        self.offload.reconfigure(options.offload.clone());
        self.logins.reconfigure(options.logins.clone());
        self.hooks.reconfigure(options.hooks.clone());
        *current = Arc::new(options);
        // Under the lock, so that two of them reach everybody in the same order.
        self.registry.reconfigure(&current);
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.registry.len()
    }

    /// What the open connections hold together, whether or not there is a limit of it: what
    /// [`Limits::bytes`](crate::Limits::bytes) and [`Limits::requests`](crate::Limits::requests) bound.
    pub fn held(&self) -> Held {
        self.registry.held()
    }

    /// The open connections as they are now, in the order they were accepted.
    pub fn clients(&self) -> Vec<ConnectionSnapshot> {
        self.registry.snapshots()
    }

    /// Shows `keyspace` as the one that a connection uses; nothing else depends on it.
    pub fn set_keyspace(&self, connection: u64, keyspace: Option<Arc<str>>) {
        if let Some(record) = self.registry.record(connection) {
            record.set_keyspace(keyspace);
        }
    }

    /// Shows `user` as the one that a connection belongs to; nothing else depends on it.
    pub fn set_user(&self, connection: u64, user: Arc<str>) {
        if let Some(record) = self.registry.record(connection) {
            record.set_user(user);
        }
    }

    /// What the server has counted.
    pub fn totals(&self) -> Totals {
        self.metrics.totals()
    }

    /// How long answered requests took, by their opcode: from the turn that took one, to the turn after its answer was
    /// given to the socket, or was delivered if it was deferred.
    pub fn latencies(&self) -> Vec<(Opcode, Histogram)> {
        self.metrics.latencies()
    }

    /// Whether the server is shutting down.
    pub fn is_shutdown(&self) -> bool {
        self.control.is_shutdown()
    }
}
