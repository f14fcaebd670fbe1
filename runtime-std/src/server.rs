//! The server: accepting, the service's timers, the graceful end.

use crate::pump::pump;
use crate::spawn::ThreadSpawn;
use crate::wake::WakeHandle;
use helenus_server::{AsyncAdapter, AsyncService, Hub, Options, Seat, Service, ShutdownHandle};
use rustix::event::PollFlags;
use rustix::fd::AsFd;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// How long connections that were told to close at once may take to hear it.
const ABORT: Duration = Duration::from_secs(1);

/// A CQL server on blocking threads, bound to its address.
#[derive(Debug)]
pub struct Server<S: Service> {
    listener: TcpListener,
    local_addr: SocketAddr,
    hub: Arc<Hub<S>>,
    wake: WakeHandle,
}

impl<A: AsyncService> Server<AsyncAdapter<A, ThreadSpawn>> {
    /// [`Server::bind`] for a service written with `async`.
    pub fn bind_async(address: SocketAddr, service: A, options: Options) -> io::Result<Self> {
        Server::bind(
            address,
            Arc::new(AsyncAdapter::new(service, ThreadSpawn::default())),
            options,
        )
    }
}

impl<S: Service> Server<S> {
    /// Listens on `address` (port 0: any free one) and starts `service`. Clients may connect from
    /// now on; they are served once the server runs. An error names the address.
    pub fn bind(address: SocketAddr, service: Arc<S>, options: Options) -> io::Result<Self> {
        let listener = listen(address, options.backlog).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
        })?;
        let local_addr = listener.local_addr()?;
        let hub = Hub::new(service, options);
        Ok(Server {
            listener,
            local_addr,
            hub,
            wake: WakeHandle::new()?,
        })
    }

    /// The address it listens on, with the real port.
    pub fn local_addr(&self) -> SocketAddr {
        self.local_addr
    }

    /// A handle that shuts the server down.
    pub fn handle(&self) -> ShutdownHandle {
        self.hub.shutdown_handle()
    }

    /// What the server's connections share.
    pub fn hub(&self) -> &Arc<Hub<S>> {
        &self.hub
    }

    /// Serves until it is shut down: accepts on this thread, and gives each connection one of its
    /// own.
    pub fn run(self) -> io::Result<()> {
        self.accept()?;
        drop(self.listener);
        self.hub.drain();
        if !emptied(&self.hub, &self.wake, self.hub.options().drain_timeout)? {
            self.hub.abort();
            emptied(&self.hub, &self.wake, ABORT)?;
        }
        Ok(())
    }

    /// [`Server::run`]: threads are as many as connections, whatever `workers` says.
    pub fn run_workers(self, _workers: usize) -> io::Result<()> {
        self.run()
    }

    /// Accepts, and runs the service's timers, until a shutdown is asked for.
    fn accept(&self) -> io::Result<()> {
        let (waker, seat) = (self.wake.waker(), Seat::default());
        let mut backoff = self.hub.accept_backoff();
        let mut rest = None;
        let mut spare = None;
        while self.hub.poll_shutdown(&seat, waker).is_pending() {
            let now = Instant::now();
            let timer = self.hub.poll_service_timer(now, waker);
            if rest.is_none_or(|until| until <= now) {
                rest = None;
                match self.accept_one(&mut spare) {
                    Ok((stream, peer, wake)) => {
                        backoff.succeeded();
                        if let Err(error) = start(&self.hub, stream, peer, wake) {
                            tracing::warn!(%peer, %error, "cannot serve a connection");
                        }
                        continue;
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(error) => {
                        let pause = backoff.failed(&error);
                        if pause.is_zero() {
                            continue;
                        }
                        rest = Some(now + pause);
                    }
                }
            }
            let events = if rest.is_none() {
                PollFlags::IN
            } else {
                PollFlags::empty()
            };
            let deadline = rest.into_iter().chain(timer).min();
            self.wake.wait(self.listener.as_fd(), events, deadline)?;
        }
        Ok(())
    }

    /// Accepts, with all the descriptors that a connection needs or not at all: one that can't be
    /// served yet waits in the kernel's queue. `spare` keeps what was made in vain.
    fn accept_one(
        &self,
        spare: &mut Option<WakeHandle>,
    ) -> io::Result<(TcpStream, SocketAddr, WakeHandle)> {
        let wake = spare.take().map_or_else(WakeHandle::new, Ok)?;
        match self.listener.accept() {
            Ok((stream, peer)) => Ok((stream, peer, wake)),
            Err(error) => {
                *spare = Some(wake);
                Err(error)
            }
        }
    }
}

/// Waits until no connection is open, `limit` at most, and runs the service's timers meanwhile. True
/// if none is open.
fn emptied<S: Service>(hub: &Hub<S>, wake: &WakeHandle, limit: Duration) -> io::Result<bool> {
    let (until, seat) = (Instant::now() + limit, Seat::default());
    while hub.poll_empty(&seat, wake.waker()).is_pending() {
        let now = Instant::now();
        if now >= until {
            return Ok(false);
        }
        let timer = hub.poll_service_timer(now, wake.waker());
        wake.wait_alone(timer.map_or(until, |timer| timer.min(until)))?;
    }
    Ok(true)
}

fn start<S: Service>(
    hub: &Arc<Hub<S>>,
    stream: TcpStream,
    peer: SocketAddr,
    wake: WakeHandle,
) -> io::Result<()> {
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    let mut driver = match hub.connect(peer, stream.local_addr()?, Instant::now()) {
        // On the heap, as two copies of it would lie on the thread's stack: a page of each idle connection.
        Ok(driver) => Box::new(driver),
        Err(refusal) => return Err(io::Error::other(refusal)),
    };
    let serve = move || {
        if let Err(error) = pump(&stream, &mut *driver, &wake) {
            tracing::debug!(%error, "a connection broke");
        }
    };
    thread::Builder::new()
        .name("helenus-connection".to_owned())
        .spawn(serve)
        .map(drop)
}

fn listen(address: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_nonblocking(true)?;
    // A restarted server takes its port back from connections that are still dying.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(backlog)?;
    Ok(socket.into())
}
