//! The server: accepting, the service's timers, the graceful end.

use crate::listen::{listen, share};
use crate::pump::pump;
use crate::runtime::{Runtime, SmolSpawn, run_core};
use helenus_server::{
    AcceptBackoff, AsyncAdapter, AsyncService, Hub, Options, Service, ShutdownHandle,
};
use smol::future::{FutureExt, or};
use smol::{Async, Timer};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

/// How long connections that were told to close at once may take to hear it.
const ABORT: Duration = Duration::from_secs(1);

/// A CQL server on smol, bound to its address.
#[derive(Debug)]
pub struct Server<S: Service> {
    pub(crate) bound: Bound<S>,
}

/// What a server is before it runs, whatever runs it.
#[derive(Debug)]
pub(crate) struct Bound<S: Service> {
    pub(crate) listener: TcpListener,
    pub(crate) local_addr: SocketAddr,
    pub(crate) hub: Arc<Hub<S>>,
}

impl<S: Service> Bound<S> {
    pub(crate) fn new(address: SocketAddr, service: Arc<S>, options: Options) -> io::Result<Self> {
        let listener = listen(address, options.backlog)?;
        let local_addr = listener.local_addr()?;
        Ok(Bound {
            listener,
            local_addr,
            hub: Hub::new(service, options),
        })
    }
}

impl<A: AsyncService> Server<AsyncAdapter<A, SmolSpawn>> {
    /// [`Server::bind`] for a service written with `async`.
    pub fn bind_async(address: SocketAddr, service: A, options: Options) -> io::Result<Self> {
        Server::bind(
            address,
            Arc::new(AsyncAdapter::new(service, SmolSpawn)),
            options,
        )
    }
}

impl<S: Service> Server<S> {
    /// Listens on `address` (port 0: any free one) and starts `service`. Clients may connect from
    /// now on; they are served once the server runs. An error names the address.
    pub fn bind(address: SocketAddr, service: Arc<S>, options: Options) -> io::Result<Self> {
        Bound::new(address, service, options).map(|bound| Server { bound })
    }

    /// The address it listens on, with the real port.
    pub fn local_addr(&self) -> SocketAddr {
        self.bound.local_addr
    }

    /// A handle that shuts the server down.
    pub fn handle(&self) -> ShutdownHandle {
        self.bound.hub.shutdown_handle()
    }

    /// What the server's connections share.
    pub fn hub(&self) -> &Arc<Hub<S>> {
        &self.bound.hub
    }

    /// [`Server::run_workers`] with a worker for each core.
    pub fn run(self) -> io::Result<()> {
        self.run_workers(thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }

    /// Serves on `workers` threads, this one among them, each with an executor and a listener of
    /// its own, until it is shut down. A connection stays on its thread.
    pub fn run_workers(self, workers: usize) -> io::Result<()> {
        let Bound { listener, hub, .. } = self.bound;
        let mut listeners = share(listener, workers.max(1), hub.options().backlog)?.into_iter();
        let first = listeners.next();
        let mut result = Ok(());
        let mut threads = Vec::new();
        for (listener, number) in listeners.zip(1..) {
            let worker = Arc::clone(&hub);
            let name = format!("helenus-smol-{number}");
            let work = move || run_core(serve(listener, worker, SmolSpawn, Timers::Elsewhere));
            match thread::Builder::new().name(name).spawn(work) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    result = Err(error);
                    hub.shutdown_handle().shutdown();
                }
            }
        }
        if let Some(listener) = first {
            result = result.and(run_core(serve(listener, hub, SmolSpawn, Timers::Here)));
        }
        for thread in threads {
            let ended = thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a worker panicked")));
            result = result.and(ended);
        }
        result
    }

    /// Serves on smol's global executor until it is shut down.
    pub async fn serve(self) -> io::Result<()> {
        serve(self.bound.listener, self.bound.hub, SmolSpawn, Timers::Here).await
    }
}

/// Which of a server's workers runs the service's timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Timers {
    Here,
    Elsewhere,
}

pub(crate) async fn serve<S: Service>(
    listener: TcpListener,
    hub: Arc<Hub<S>>,
    runtime: impl Runtime,
    timers: Timers,
) -> io::Result<()> {
    let listener = Async::new(listener)?;
    let accepting = accept(listener, &hub, runtime);
    match timers {
        Timers::Here => or(accepting, run_timers(&hub)).await,
        Timers::Elsewhere => accepting.await,
    }
    hub.drain();
    if !emptied(&hub, hub.options().drain_timeout).await {
        hub.abort();
        emptied(&hub, ABORT).await;
    }
    Ok(())
}

/// Accepts until a shutdown is asked for.
async fn accept<S: Service>(
    listener: Async<TcpListener>,
    hub: &Arc<Hub<S>>,
    runtime: impl Runtime,
) {
    let mut backoff = AcceptBackoff::default();
    let shutdown = || poll_fn(|cx| hub.poll_shutdown(cx.waker()));
    loop {
        let accepted = or(async { Some(listener.accept().await) }, async {
            shutdown().await;
            None
        });
        match accepted.await {
            None => return,
            Some(_) if hub.shutdown_handle().is_shutdown() => return,
            Some(Ok((stream, peer))) => {
                backoff.succeeded();
                start(hub, stream, peer, runtime);
            }
            Some(Err(error)) => {
                let pause = backoff.failed(&error);
                if !pause.is_zero() {
                    tracing::warn!(%error, "cannot accept connections; trying again");
                    or(shutdown(), sleep(pause)).await;
                }
            }
        }
    }
}

fn start<S: Service>(
    hub: &Arc<Hub<S>>,
    stream: Async<TcpStream>,
    peer: SocketAddr,
    runtime: impl Runtime,
) {
    let socket = stream.get_ref();
    let connected = socket.set_nodelay(true).and_then(|()| socket.local_addr());
    match connected.map(|local| hub.connect(peer, local, Instant::now())) {
        Ok(Ok(driver)) => runtime.spawn(pump(stream, driver, runtime).boxed()),
        Ok(Err(refusal)) => tracing::warn!(%peer, %refusal, "refused a connection"),
        Err(error) => tracing::debug!(%peer, %error, "a connection broke"),
    }
}

/// Waits until no connection is open, `limit` at most. True if so.
async fn emptied<S: Service>(hub: &Hub<S>, limit: Duration) -> bool {
    let empty = async {
        poll_fn(|cx| hub.poll_empty(cx.waker())).await;
        true
    };
    let late = async {
        sleep(limit).await;
        false
    };
    or(empty, late).await
}

async fn sleep(pause: Duration) {
    Timer::after(pause).await;
}

/// Runs the service's own timers; pending for ever while it has none.
async fn run_timers<S: Service>(hub: &Hub<S>) {
    let mut alarm = Timer::never();
    poll_fn(|cx| {
        while let Some(deadline) = hub.poll_service_timer(Instant::now(), cx.waker()) {
            alarm.set_at(deadline);
            if Pin::new(&mut alarm).poll(cx).is_pending() {
                break;
            }
        }
        Poll::Pending
    })
    .await
}
