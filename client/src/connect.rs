//! Connecting: the ladder of versions, and one attempt on it.

use crate::calls::Limits;
use crate::client::Client;
use crate::config::Config;
use crate::driver::Driver;
use crate::error::Error;
use crate::shared::Shared;
use helenus_core::ProtocolVersion;
use helenus_tls::MaybeTls;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

/// Connects as `config` says: `open` is given an [`Attempt`], opens a socket, begins the attempt,
/// starts the pump of its [`Driver`] and returns the [`Connecting`]. A server that refuses the version is tried again
/// with the next one that it may speak.
///
/// # Errors
/// What `open` fails with; [`Error::Lost`] if the handshake fails, [`Error::Server`] if the keyspace isn't there.
pub async fn connect<F>(config: Config, mut open: impl FnMut(Attempt) -> F) -> Result<Client, Error>
where
    F: Future<Output = Result<Connecting, Error>>,
{
    let mut attempt = Attempt::new(config);
    let client = loop {
        match open(attempt.clone()).await?.await {
            Ok(client) => break client,
            Err(error) => match error.step_down() {
                Some(version) => attempt.version = version,
                None => return Err(error),
            },
        }
    };
    if let Some(keyspace) = &attempt.config.keyspace {
        client.use_keyspace(keyspace).await?;
    }
    Ok(client)
}

/// One try to connect, with one version of the protocol.
#[derive(Debug, Clone)]
pub struct Attempt {
    config: Arc<Config>,
    version: ProtocolVersion,
}

impl Attempt {
    fn new(config: Config) -> Self {
        let preferred = config.connection.versions.first().copied();
        Attempt {
            config: Arc::new(config),
            version: preferred.unwrap_or(ProtocolVersion::LATEST),
        }
    }

    /// What the client is configured with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Begins the handshake on a socket that was connected to `address` just now: what ends with a client, and what is
    /// to be pumped.
    pub fn begin(self, address: SocketAddr, now: Instant) -> (Connecting, MaybeTls<Driver>) {
        let Attempt { config, version } = self;
        let limits = Limits {
            calls: config.connection.limits.max_in_flight,
            bytes: config.connection.limits.max_unsent,
        };
        let shared = Arc::new(Shared::new(
            version,
            config.connection.request_timeout,
            config.page_size,
            limits,
            config.event_buffer,
        ));
        let driver = Driver::new(Arc::clone(&shared), Arc::clone(&config), version, now);
        let timeout = config.connection.handshake_timeout;
        let driver = match &config.tls {
            Some(tls) => tls.connect(driver, address.ip(), now, timeout),
            None => MaybeTls::plain(driver),
        };
        let connecting = Connecting {
            client: Client::new(shared),
        };
        (connecting, driver)
    }
}

/// A connection in its handshake. Dropped, it is closed.
#[derive(Debug)]
#[must_use = "a connection that nobody waits for is closed"]
pub struct Connecting {
    client: Client,
}

impl Future for Connecting {
    type Output = Result<Client, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let connected = self.client.shared().poll_connected(cx);
        connected.map(|outcome| outcome.map(|()| self.client.clone()))
    }
}
