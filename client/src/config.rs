//! [`Config`]: what a client is configured with, the same on every runtime.

use crate::auth::Authenticator;
use helenus_core::ClientConfig;
use helenus_tls::ClientTls;
use std::sync::Arc;
use std::time::Duration;

/// What a client is configured with.
///
/// ```
/// use helenus_client::{Config, PlainText};
/// use helenus_core::compression::Compression;
/// use std::sync::Arc;
///
/// let mut config = Config::default();
/// config.connection.compressions = vec![Compression::Lz4];
/// config.authenticator = Some(Arc::new(PlainText::new("cassandra", "cassandra")));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Config {
    /// What the connection negotiates, and its limits, timeouts and heartbeats.
    pub connection: ClientConfig,
    /// Who the client is, for servers that ask. Nobody by default.
    pub authenticator: Option<Arc<dyn Authenticator>>,
    /// The keyspace to use from the start, its name as it is. None by default.
    pub keyspace: Option<String>,
    /// TLS beneath the connection. None by default.
    pub tls: Option<ClientTls>,
    /// How long the socket may take to connect; the handshake has a
    /// [timeout of its own](ClientConfig::handshake_timeout), TLS's included. 5 seconds by default.
    pub connect_timeout: Duration,
    /// How long a connection whose last client is gone waits for what is in flight. 10 seconds by default.
    pub drain_timeout: Duration,
    /// How many rows a page of a stream has, unless its options say otherwise. 5,000 by default.
    pub page_size: i32,
    /// How many events a stream of events holds for its reader. 1,024 by default; at least one.
    pub event_buffer: usize,
    /// Answers a connection may handle in a row before it yields to others. 256 by default.
    pub budget: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            connection: ClientConfig::default(),
            authenticator: None,
            keyspace: None,
            tls: None,
            connect_timeout: Duration::from_secs(5),
            drain_timeout: Duration::from_secs(10),
            page_size: 5000,
            event_buffer: 1024,
            budget: 256,
        }
    }
}
