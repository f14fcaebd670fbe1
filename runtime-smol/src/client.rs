//! The client, on any of the runtimes that speak through smol's reactor: a socket, and a task that pumps it.

use crate::pump::pump;
use crate::runtime::Runtime;
use helenus_client::{Attempt, Config, Connecting, Error};
use smol::future::{FutureExt, or};
use smol::net::{AsyncToSocketAddrs, resolve};
use smol::{Async, Timer};
use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, TcpStream};
use std::ops::Deref;
use std::time::{Duration, Instant};

/// A client on one connection, which a task of the runtime `R` pumps. Its everyday names are
/// [`Client`](crate::Client) and, with the feature `async-std`, `async_std::Client`. It derefs to
/// [`helenus_client::Client`], which has the calls.
#[derive(Debug, Clone)]
pub struct ClientOn<R> {
    client: helenus_client::Client,
    runtime: PhantomData<R>,
}

impl<R: Runtime> ClientOn<R> {
    /// Connects to the first of the addresses that answers, with the highest version that both sides
    /// speak.
    ///
    /// # Errors
    /// [`Error::Lost`] if there is no connection, or the handshake fails; [`Error::Server`] if there is no such
    /// keyspace as the configuration names.
    pub async fn connect(address: impl AsyncToSocketAddrs, config: Config) -> Result<Self, Error> {
        let addresses = resolve(address).await.map_err(Error::socket)?;
        let open = |attempt| open(&addresses, attempt, R::default());
        let client = helenus_client::connect(config, open).await?;
        Ok(ClientOn {
            client,
            runtime: PhantomData,
        })
    }
}

impl<R> Deref for ClientOn<R> {
    type Target = helenus_client::Client;

    fn deref(&self) -> &helenus_client::Client {
        &self.client
    }
}

impl<R> From<ClientOn<R>> for helenus_client::Client {
    fn from(client: ClientOn<R>) -> Self {
        client.client
    }
}

async fn open(
    addresses: &[SocketAddr],
    attempt: Attempt,
    runtime: impl Runtime,
) -> Result<Connecting, Error> {
    let limit = attempt.config().connect_timeout;
    let stream = or(reach(addresses), late(limit)).await;
    let stream = stream
        .and_then(|stream| stream.get_ref().set_nodelay(true).map(|()| stream))
        .map_err(Error::socket)?;
    let peer = stream.get_ref().peer_addr().map_err(Error::socket)?;
    let (connecting, mut driver) = attempt.begin(peer, Instant::now());
    let pumped = async move {
        if let Err(error) = pump(stream, &mut driver, runtime).await {
            driver.broken(error);
        }
    };
    runtime.spawn(pumped.boxed());
    Ok(connecting)
}

/// Connects to the first of `addresses` that answers.
async fn reach(addresses: &[SocketAddr]) -> io::Result<Async<TcpStream>> {
    let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
    for address in addresses {
        outcome = Async::<TcpStream>::connect(*address).await;
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

async fn late<T>(limit: Duration) -> io::Result<T> {
    Timer::after(limit).await;
    Err(io::ErrorKind::TimedOut.into())
}
