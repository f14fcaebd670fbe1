//! `[limits]`: what clients may use up.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use helenus::Options;
use helenus_core::ProtocolVersion;

use super::section::section;
use super::units::Size;

section! {
    /// What clients may use up. Over a limit of requests or bytes a connection isn't read until there is room again; one that asked for THROW_ON_OVERLOAD gets OVERLOADED.
    Limits in "limits" {
        /// The longest message, with its header; a longer one is discarded as it arrives and answered with an error.
        max_envelope: Size = Size::mebibytes(16), live;
        /// The longest message of v5, its body alone; "off" for max_envelope.
        max_message: Option<Size> = None, live;
        /// The longest message before a connection is ready, at most the others.
        max_envelope_before_login: Size = Size::kibibytes(256), live;
        /// Requests in flight on the server: taken, their answers not sent.
        requests: Option<NonZeroUsize> = None, live;
        /// Requests in flight from one address.
        requests_per_address: Option<NonZeroUsize> = None, live;
        /// Requests in flight on one connection.
        requests_per_connection: NonZeroUsize = count(4096), live;
        /// Bytes of requests in flight or arriving, and of unsent answers, on the server.
        bytes: Option<Size> = Some(Size::mebibytes(512)), live;
        /// The same for the connections of one address.
        bytes_per_address: Option<Size> = Some(Size::mebibytes(256)), live;
        /// Bytes of requests in flight on one connection.
        request_bytes_per_connection: Size = Size::mebibytes(32), live;
        /// Bytes of unsent answers on one connection; a client that doesn't read isn't read beyond it.
        unsent_per_connection: Size = Size::mebibytes(1), live;
        /// Requests that the server takes a second, a second's worth of them at once.
        requests_per_second: Option<NonZeroUsize> = None, live;
        /// Requests of one connection in a row, before others have their turn.
        requests_per_turn: NonZeroUsize = count(256), live;
        /// Open connections of the server; one more is closed at once.
        connections: NonZeroUsize = count(65_536), live;
        /// Open connections of one address; one more is closed at once.
        connections_per_address: NonZeroUsize = count(65_536), live;
        /// Connections that the system may hold for the server to accept.
        backlog: NonZeroUsize = count(1024), restart;
        /// How long a connection may take until it is ready, however slowly it sends.
        handshake_timeout: Option<Duration> = Some(Duration::from_secs(30)), live;
        /// How long a connection with nothing in flight may be silent.
        idle_timeout: Option<Duration> = None, live;
        /// Whether versions before v5 are spoken.
        allow_older_protocols: bool = true, live;
        /// Threads for work that may block or take long.
        offload_threads: NonZeroUsize = count(4), live;
        /// Requests that may wait for such a thread; one more is answered OVERLOADED.
        offload_queue: NonZeroUsize = count(1024), live;
        /// How long a request may wait for such a thread before it is answered OVERLOADED.
        offload_wait: Option<Duration> = Some(Duration::from_secs(10)), live;
        /// How long such work may take before its request is answered and its thread given up.
        offload_timeout: Duration = Duration::from_secs(30), live;
        /// How long a shutdown waits for what is in flight.
        drain_timeout: Duration = Duration::from_secs(10), live;
        /// How long a connection that ends is still read, so that its last answer arrives.
        linger_timeout: Duration = Duration::from_secs(30), live;
        /// How much is read of it.
        linger_bytes: Size = Size::mebibytes(256), live;
    }
}

/// A number that is known not to be 0.
const fn count(number: usize) -> NonZeroUsize {
    match NonZeroUsize::new(number) {
        Some(number) => number,
        None => NonZeroUsize::MIN,
    }
}

/// The bound on a budget.
fn bound(limit: Option<NonZeroUsize>) -> Option<u64> {
    limit.and_then(|limit| u64::try_from(limit.get()).ok())
}

impl Limits {
    /// Sets what a server is started with, or is to have from now on.
    pub(in crate::command) fn apply(&self, options: &mut Options) {
        let connection = Arc::make_mut(&mut options.connection);
        connection.handshake_timeout = self.handshake_timeout;
        connection.idle_timeout = self.idle_timeout;
        connection.oldest_version = match self.allow_older_protocols {
            true => ProtocolVersion::V3,
            false => ProtocolVersion::V5,
        };
        let limits = &mut connection.limits;
        limits.max_envelope = self.max_envelope.bytes();
        limits.max_message = self.max_message.map(Size::bytes);
        limits.max_envelope_before_login = self.max_envelope_before_login.bytes();
        limits.max_requests = self.requests_per_connection.get();
        limits.max_request_bytes = self.request_bytes_per_connection.bytes();
        limits.max_unsent = self.unsent_per_connection.bytes();
        let limits = &mut options.limits;
        limits.connections = self.connections.get();
        limits.connections_per_address = self.connections_per_address.get();
        limits.bytes = self.bytes.map(|size| size.0);
        limits.bytes_per_address = self.bytes_per_address.map(|size| size.0);
        limits.requests = bound(self.requests);
        limits.requests_per_address = bound(self.requests_per_address);
        limits.requests_per_second = bound(self.requests_per_second);
        let offload = &mut options.offload;
        offload.threads = self.offload_threads.get();
        offload.queue = self.offload_queue.get();
        offload.wait = self.offload_wait;
        offload.timeout = self.offload_timeout;
        options.budget = self.requests_per_turn.get();
        options.backlog = i32::try_from(self.backlog.get()).unwrap_or(i32::MAX);
        options.drain_timeout = self.drain_timeout;
        options.linger.total = self.linger_timeout;
        options.linger.bytes = self.linger_bytes.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_librarys() {
        let mut options = Options::default();
        Limits::default().apply(&mut options);
        assert_eq!(format!("{options:?}"), format!("{:?}", Options::default()));
    }
}
