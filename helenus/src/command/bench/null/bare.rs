//! The null server's loops: one a worker, each with a listener of its own; one read for many requests and one write for
//! many replies.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::thread;

use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use socket2::{Domain, Protocol, Socket, Type};

use super::connection::{AllReplies, Connection};
use super::output::Output;

/// How much one read takes at most.
const READ: usize = 64 << 10;

/// Connections the kernel may hold that weren't accepted yet.
const BACKLOG: i32 = 4096;

const LISTENER: Token = Token(usize::MAX);

/// A listener a worker on one address; where the system can't spread connections over several, there is but one.
pub(super) fn listen(
    address: SocketAddr,
    workers: usize,
) -> io::Result<Vec<std::net::TcpListener>> {
    let first = bind(address).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
    })?;
    let local = first.local_addr()?;
    let workers = if cfg!(target_os = "linux") {
        workers
    } else {
        1
    };
    let more = (1..workers).map(|_| bind(local));
    std::iter::once(Ok(first)).chain(more).collect()
}

fn bind(address: SocketAddr) -> io::Result<std::net::TcpListener> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    #[cfg(target_os = "linux")]
    socket.set_reuse_port(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Serves on a thread a listener, for ever or until one fails.
pub(super) fn run(listeners: Vec<std::net::TcpListener>) -> io::Result<()> {
    thread::scope(|scope| {
        let workers: Vec<_> = listeners
            .into_iter()
            .map(|listener| scope.spawn(|| Worker::new(listener)?.run()))
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

#[derive(Debug)]
struct Worker {
    poll: Poll,
    listener: TcpListener,
    clients: Vec<Option<Client>>,
    /// Free places among the clients.
    free: Vec<usize>,
    shared: Shared,
}

/// What the connections of a worker share.
#[derive(Debug)]
struct Shared {
    replies: AllReplies,
    scratch: Vec<u8>,
    out: Output,
}

#[derive(Debug)]
struct Client {
    socket: TcpStream,
    connection: Connection,
    /// The beginning of a request whose rest hasn't come, or requests that wait until replies are sent.
    input: Vec<u8>,
    /// Whether whole requests wait in the input.
    has_more: bool,
    /// Replies that the socket didn't take yet.
    unsent: Vec<u8>,
    is_readable: bool,
    /// Whether the client has ended its side: then there is something to read until nothing is.
    has_ended: bool,
}

impl Worker {
    fn new(listener: std::net::TcpListener) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            listener,
            clients: Vec::new(),
            free: Vec::new(),
            shared: Shared {
                replies: AllReplies::default(),
                scratch: vec![0; READ],
                out: Output::default(),
            },
        })
    }

    fn run(mut self) -> io::Result<()> {
        let mut events = Events::with_capacity(1024);
        loop {
            match self.poll.poll(&mut events, None) {
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for event in &events {
                if event.token() == LISTENER {
                    self.accept()?;
                    continue;
                }
                let at = event.token().0;
                let Some(Some(client)) = self.clients.get_mut(at) else {
                    continue;
                };
                client.has_ended |= event.is_read_closed();
                client.is_readable |= event.is_readable() || client.has_ended;
                if client.serve(&mut self.shared).is_err() {
                    self.clients[at] = None;
                    self.free.push(at);
                }
            }
        }
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let mut socket = match self.listener.accept() {
                Ok((socket, _)) => socket,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(()),
                    ErrorKind::Interrupted | ErrorKind::ConnectionAborted => continue,
                    _ => return Err(error),
                },
            };
            let at = self.free.pop().unwrap_or(self.clients.len());
            let interest = Interest::READABLE | Interest::WRITABLE;
            self.poll
                .registry()
                .register(&mut socket, Token(at), interest)?;
            if socket.set_nodelay(true).is_err() {
                // It is gone already.
                self.free.push(at);
                continue;
            }
            let client = Client {
                socket,
                connection: Connection::default(),
                input: Vec::new(),
                has_more: false,
                unsent: Vec::new(),
                is_readable: false,
                has_ended: false,
            };
            match self.clients.get_mut(at) {
                Some(place) => *place = Some(client),
                None => self.clients.push(Some(client)),
            }
        }
    }
}

impl Client {
    /// Reads, answers and writes as far as it goes. An error ends the connection.
    fn serve(&mut self, shared: &mut Shared) -> io::Result<()> {
        loop {
            if !self.flush()? {
                return Ok(());
            }
            // Another connection that broke may have left replies.
            shared.out.clear();
            if self.has_more {
                self.answer_input(shared)?;
            } else if self.is_readable {
                self.read(shared)?;
            } else {
                return Ok(());
            }
            self.write(shared.out.finish())?;
        }
    }

    /// Sends what waits; whether all of it went.
    fn flush(&mut self) -> io::Result<bool> {
        if !self.unsent.is_empty() {
            let unsent = std::mem::take(&mut self.unsent);
            self.write(&unsent)?;
        }
        Ok(self.unsent.is_empty())
    }

    fn read(&mut self, shared: &mut Shared) -> io::Result<()> {
        let bytes = match self.socket.read(&mut shared.scratch) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.is_readable = false;
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(error),
        };
        // After a short read the socket is empty: the poll tells when it isn't any more.
        self.is_readable = bytes == READ || self.has_ended;
        let came = shared.scratch.get(..bytes).unwrap_or_default();
        if !self.input.is_empty() {
            self.input.extend_from_slice(came);
            return self.answer_input(shared);
        }
        let (taken, has_more) = answered(self.connection.answer(
            came,
            &shared.replies,
            &mut shared.out,
        ))?;
        self.has_more = has_more;
        self.input
            .extend_from_slice(came.get(taken..).unwrap_or_default());
        Ok(())
    }

    fn answer_input(&mut self, shared: &mut Shared) -> io::Result<()> {
        let (taken, has_more) = answered(self.connection.answer(
            &self.input,
            &shared.replies,
            &mut shared.out,
        ))?;
        self.has_more = has_more;
        self.input.drain(..taken);
        Ok(())
    }

    /// Writes as far as the socket takes it, and keeps the rest.
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.socket.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.unsent.extend_from_slice(bytes);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn answered<T>(outcome: Result<T, super::connection::Garbled>) -> io::Result<T> {
    outcome.map_err(|_| ErrorKind::InvalidData.into())
}
