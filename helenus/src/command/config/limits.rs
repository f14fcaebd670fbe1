//! `[limits]`: what clients may use up.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use helenus::Options;

use super::section::section;
use super::units::Size;

section! {
    /// What clients may use up.
    Limits in "limits" {
        /// The longest message; a longer one is discarded as it arrives and answered with an error.
        max_envelope: Size = Size::mebibytes(16), live;
        /// The same before the connection is ready.
        max_envelope_before_login: Size = Size::kibibytes(256), live;
        /// Requests of a connection whose answers aren't sent.
        requests_per_connection: NonZeroUsize = count(4096), live;
        /// Their bytes.
        request_bytes_per_connection: Size = Size::mebibytes(32), live;
        /// Answers of a connection that aren't sent; over it, no more requests are read.
        unsent_per_connection: Size = Size::mebibytes(1), live;
        /// Open connections of the server.
        connections: NonZeroUsize = count(65_536), live;
        /// Open connections of one address.
        connections_per_address: NonZeroUsize = count(65_536), live;
        /// How long a connection may take until it is ready.
        handshake_timeout: Option<Duration> = Some(Duration::from_secs(30)), live;
        /// How long a connection with nothing in flight may be silent.
        idle_timeout: Option<Duration> = None, live;
        /// How long a shutdown waits for what is in flight.
        drain_timeout: Duration = Duration::from_secs(10), live;
    }
}

/// A number that is known not to be 0.
const fn count(number: usize) -> NonZeroUsize {
    match NonZeroUsize::new(number) {
        Some(number) => number,
        None => NonZeroUsize::MIN,
    }
}

impl Limits {
    /// Sets what a server is started with.
    pub(in crate::command) fn apply(&self, options: &mut Options) {
        let connection = Arc::make_mut(&mut options.connection);
        connection.handshake_timeout = self.handshake_timeout;
        connection.idle_timeout = self.idle_timeout;
        let limits = &mut connection.limits;
        limits.max_envelope = self.max_envelope.bytes();
        limits.max_envelope_before_login = self.max_envelope_before_login.bytes();
        limits.max_requests = self.requests_per_connection.get();
        limits.max_request_bytes = self.request_bytes_per_connection.bytes();
        limits.max_unsent = self.unsent_per_connection.bytes();
        options.limits.connections = self.connections.get();
        options.limits.connections_per_address = self.connections_per_address.get();
        options.drain_timeout = self.drain_timeout;
    }
}
