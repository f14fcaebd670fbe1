//! What a service holds of its server.

use crate::control::Control;
use crate::offload::Offload;
use crate::registry::Registry;
use helenus_core::ServerEvent;
use std::sync::Arc;

/// A service's handle on the server it runs in, given to [`Service::start`](crate::Service::start).
/// Cheap to clone; usable from any thread.
#[derive(Debug, Clone)]
pub struct ServerHandle {
    pub(crate) registry: Arc<Registry>,
    pub(crate) control: Arc<Control>,
    pub(crate) offload: Offload,
    pub(crate) logins: Offload,
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

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.registry.len()
    }
}
