//! What a server is configured with, the same on every runtime.

use crate::offload::OffloadOptions;
use helenus_core::ServerConfig;
use helenus_tls::ServerTls;
use std::sync::Arc;
use std::time::Duration;

/// The options of a server.
///
/// ```
/// let mut options = helenus_server::Options::default();
/// options.drain_timeout = std::time::Duration::from_secs(2);
/// options.limits.connections = 500;
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// What every connection negotiates, and its own limits and deadlines.
    pub connection: Arc<ServerConfig>,
    /// What connections share.
    pub limits: Limits,
    /// Requests a connection may have handled in a row before it yields to the others.
    pub budget: usize,
    /// How long a shutdown waits for what is in flight.
    pub drain_timeout: Duration,
    /// How a connection that ends is closed.
    pub linger: Linger,
    /// The bounds of the pool for blocking work.
    pub offload: OffloadOptions,
    /// The bounds of the pool that verifies logins, apart from the other so that neither holds the
    /// other up.
    pub logins: OffloadOptions,
    /// The bounds of the pool for code of the program's own that a service calls on behalf of requests;
    /// [`OffloadOptions::timeout`] is how long one call may take.
    pub hooks: OffloadOptions,
    /// Connections the kernel may hold that were not accepted yet.
    pub backlog: i32,
    /// TLS beneath every connection; none by default. Its handshake may take as long as
    /// [`ServerConfig::handshake_timeout`] says of the one after it; together they take no longer.
    pub tls: Option<ServerTls>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            connection: Arc::new(ServerConfig::default()),
            limits: Limits::default(),
            budget: 256,
            drain_timeout: Duration::from_secs(10),
            linger: Linger::default(),
            offload: OffloadOptions::default(),
            logins: OffloadOptions::for_logins(),
            hooks: OffloadOptions::for_hooks(),
            backlog: 1024,
            tls: None,
        }
    }
}

/// Bounds on what the connections of a server, and of one address, hold together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Limits {
    /// Open connections of the server. One more is closed at once.
    pub connections: usize,
    /// Open connections of one address. One more is closed at once.
    pub connections_per_address: usize,
    /// Bytes that the server's connections hold together: requests from their first byte until their
    /// answers are sent, and unsent answers. Over it they stop reading until some are freed, and those
    /// that asked for `THROW_ON_OVERLOAD` get OVERLOADED for what would go over it. The first 4 KiB of
    /// each connection aren't counted. `None`: no bound.
    pub bytes: Option<u64>,
    /// The same for the connections of one address.
    pub bytes_per_address: Option<u64>,
    /// Requests of the server that were taken and whose answers aren't sent; over it, the same happens.
    /// `None`: no bound.
    pub requests: Option<u64>,
    /// The same for the connections of one address.
    pub requests_per_address: Option<u64>,
    /// Requests that the server takes a second, of which a second's worth may come at once; over it, the
    /// same happens. `None`: no bound.
    pub requests_per_second: Option<u64>,
}

impl Default for Limits {
    /// 65,536 connections, from one address or many; 512 MiB, 256 MiB of one address; any number of
    /// requests.
    fn default() -> Self {
        Limits {
            connections: 65_536,
            connections_per_address: 65_536,
            bytes: Some(512 << 20),
            bytes_per_address: Some(256 << 20),
            requests: None,
            requests_per_address: None,
            requests_per_second: None,
        }
    }
}

/// How a connection is closed: its answers are flushed, its write side is shut down, and what the
/// peer still sends is read and thrown away, lest the peer's kernel throw our last answer away.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Linger {
    /// The longest silence of the peer that is waited for.
    pub quiet: Duration,
    /// The longest time for all of it; before that, the same for what a peer that has closed its side,
    /// and may be gone, is still owed.
    pub total: Duration,
    /// The most bytes that are thrown away.
    pub bytes: u64,
}

impl Default for Linger {
    /// A second of silence, 30 seconds in all, 256 MiB.
    fn default() -> Self {
        Linger {
            quiet: Duration::from_secs(1),
            total: Duration::from_secs(30),
            bytes: 256 * 1024 * 1024,
        }
    }
}
