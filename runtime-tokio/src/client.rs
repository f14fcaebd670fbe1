//! The client: a socket, and a task that pumps it.

use crate::pump::pump;
use helenus_client::{Attempt, Config, Connecting, Error};
use std::io;
use std::net::SocketAddr;
use std::ops::Deref;
use std::time::Instant;
use tokio::net::{TcpStream, ToSocketAddrs, lookup_host};
use tokio::time::timeout;

/// A client on one connection, which a task of the runtime that connected it pumps. It derefs to
/// [`helenus_client::Client`], which has the calls.
#[derive(Debug, Clone)]
pub struct Client(helenus_client::Client);

impl Client {
    /// Connects to the first of the addresses that answers, with the highest version that both sides
    /// speak.
    ///
    /// # Errors
    /// [`Error::Lost`] if there is no connection, or the handshake fails; [`Error::Server`] if there is no such
    /// keyspace as the configuration names.
    pub async fn connect(address: impl ToSocketAddrs, config: Config) -> Result<Client, Error> {
        let addresses = lookup_host(address).await.map_err(Error::socket)?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        let open = |attempt| open(&addresses, attempt);
        helenus_client::connect(config, open).await.map(Client)
    }
}

impl Deref for Client {
    type Target = helenus_client::Client;

    fn deref(&self) -> &helenus_client::Client {
        &self.0
    }
}

impl From<Client> for helenus_client::Client {
    fn from(client: Client) -> Self {
        client.0
    }
}

async fn open(addresses: &[SocketAddr], attempt: Attempt) -> Result<Connecting, Error> {
    let limit = attempt.config().connect_timeout;
    let stream = timeout(limit, TcpStream::connect(addresses)).await;
    let stream = stream
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
        .and_then(|stream| stream.set_nodelay(true).map(|()| stream))
        .map_err(Error::socket)?;
    let peer = stream.peer_addr().map_err(Error::socket)?;
    let (connecting, mut driver) = attempt.begin(peer, Instant::now());
    tokio::spawn(async move {
        if let Err(error) = pump(stream, &mut driver).await {
            driver.broken(error);
        }
    });
    Ok(connecting)
}
