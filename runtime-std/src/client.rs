//! The client: a socket, a thread that pumps it, and calls that block.

use crate::block::block_on;
use crate::pump::pump;
use crate::wake::WakeHandle;
use helenus_client::{Attempt, Batch, Config, Connecting, Error, Prepared, QueryResult, Statement};
use helenus_core::message::{BindValues, EventType, Supported};
use helenus_core::{ProtocolVersion, ServerEvent};
use std::future::ready;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::thread;
use std::time::Instant;

/// A client on one connection, which a thread of its own pumps. Calls block; clones share the
/// connection, and the calls that several threads make at once are pipelined. When the last clone is
/// gone, the connection closes.
///
/// It has the calls of [`helenus_client::Client`], with their promises; [`Client::asynchronous`] gives that client
/// itself, for futures: one that is dropped cancels its call.
#[derive(Debug, Clone)]
pub struct Client(helenus_client::Client);

impl Client {
    /// Connects to the first of the addresses that answers, with the highest version that both sides
    /// speak.
    ///
    /// # Errors
    /// [`Error::Lost`] if there is no connection, or the handshake fails; [`Error::Server`] if there is no such
    /// keyspace as the configuration names.
    pub fn connect(address: impl ToSocketAddrs, config: Config) -> Result<Client, Error> {
        let addresses = address.to_socket_addrs().map_err(Error::socket)?;
        let addresses: Vec<SocketAddr> = addresses.collect();
        let open = |attempt| ready(open(&addresses, attempt).map_err(Error::socket));
        block_on(helenus_client::connect(config, open)).map(Client)
    }

    /// The client whose calls are futures, for an executor of yours. The connection's thread wakes them.
    #[must_use]
    pub fn asynchronous(&self) -> &helenus_client::Client {
        &self.0
    }

    /// The protocol version that was agreed on.
    #[must_use]
    pub fn version(&self) -> ProtocolVersion {
        self.0.version()
    }

    /// Whether the connection takes calls still; false once it is over.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.0.is_open()
    }

    /// As [`helenus_client::Client::query`].
    ///
    /// # Errors
    /// As there.
    pub fn query<'a>(
        &self,
        statement: impl Into<Statement<'a>>,
        values: impl BindValues,
    ) -> Result<QueryResult, Error> {
        block_on(self.0.query(statement, values))
    }

    /// As [`helenus_client::Client::prepare`].
    ///
    /// # Errors
    /// As there.
    pub fn prepare<'a>(&self, statement: impl Into<Statement<'a>>) -> Result<Prepared, Error> {
        block_on(self.0.prepare(statement))
    }

    /// As [`helenus_client::Client::execute`].
    ///
    /// # Errors
    /// As there.
    pub fn execute(
        &self,
        statement: &Prepared,
        values: impl BindValues,
    ) -> Result<QueryResult, Error> {
        block_on(self.0.execute(statement, values))
    }

    /// As [`helenus_client::Client::batch`].
    ///
    /// # Errors
    /// As there.
    pub fn batch(&self, batch: &Batch) -> Result<QueryResult, Error> {
        block_on(self.0.batch(batch))
    }

    /// As [`helenus_client::Client::query_pages`].
    ///
    /// # Errors
    /// As there.
    pub fn query_pages<'a>(
        &self,
        statement: impl Into<Statement<'a>>,
        values: impl BindValues,
    ) -> Result<Pages, Error> {
        self.0.query_pages(statement, values).map(Pages)
    }

    /// As [`helenus_client::Client::execute_pages`].
    ///
    /// # Errors
    /// As there.
    pub fn execute_pages(
        &self,
        statement: &Prepared,
        values: impl BindValues,
    ) -> Result<Pages, Error> {
        self.0.execute_pages(statement, values).map(Pages)
    }

    /// As [`helenus_client::Client::use_keyspace`].
    ///
    /// # Errors
    /// As there.
    pub fn use_keyspace(&self, keyspace: &str) -> Result<(), Error> {
        block_on(self.0.use_keyspace(keyspace))
    }

    /// As [`helenus_client::Client::options`].
    ///
    /// # Errors
    /// As there.
    pub fn options(&self) -> Result<Supported, Error> {
        block_on(self.0.options())
    }

    /// As [`helenus_client::Client::events`].
    ///
    /// # Errors
    /// As there.
    pub fn events(&self, types: &[EventType]) -> Result<Events, Error> {
        block_on(self.0.events(types)).map(Events)
    }
}

/// The answers to a statement, page by page, as [`helenus_client::Pages`] asks for them.
#[derive(Debug)]
pub struct Pages(helenus_client::Pages);

impl Iterator for Pages {
    type Item = Result<QueryResult, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        block_on(self.0.next())
    }
}

/// The events of a connection, as [`helenus_client::Events`] buffers them.
#[derive(Debug)]
pub struct Events(helenus_client::Events);

impl Iterator for Events {
    type Item = Result<ServerEvent, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        block_on(self.0.next())
    }
}

fn open(addresses: &[SocketAddr], attempt: Attempt) -> io::Result<Connecting> {
    let stream = reach(addresses, &attempt)?;
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    let wake = WakeHandle::new()?;
    let (connecting, mut driver) = attempt.begin(stream.peer_addr()?, Instant::now());
    let serve = move || {
        if let Err(error) = pump(&stream, &mut driver, &wake) {
            driver.broken(error);
        }
    };
    thread::Builder::new()
        .name("helenus-client".to_owned())
        .spawn(serve)?;
    Ok(connecting)
}

/// Connects to the first of `addresses` that answers.
fn reach(addresses: &[SocketAddr], attempt: &Attempt) -> io::Result<TcpStream> {
    let started = Instant::now();
    let mut outcome = Err(io::ErrorKind::AddrNotAvailable.into());
    for address in addresses {
        let limit = attempt.config().connect_timeout;
        let left = limit.saturating_sub(started.elapsed());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        outcome = TcpStream::connect_timeout(address, left);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}
