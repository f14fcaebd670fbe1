//! The server: accepting, the service's timers, the graceful end.

use crate::listen::{listen, share};
use crate::pump::pump;
use helenus_server::{
    AcceptBackoff, AsyncAdapter, AsyncService, Hub, Options, Service, ShutdownHandle, Spawn, Task,
};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::time::{sleep, sleep_until, timeout};

/// How long connections that were told to close at once may take to hear it.
const ABORT: Duration = Duration::from_secs(1);

/// A CQL server on tokio, bound to its address.
#[derive(Debug)]
pub struct Server<S: Service> {
    listener: TcpListener,
    local_addr: SocketAddr,
    hub: Arc<Hub<S>>,
}

/// Spawns the waiting futures of an [`AsyncService`] on tokio.
#[derive(Debug, Clone, Copy, Default)]
pub struct TokioSpawn;

impl Spawn for TokioSpawn {
    fn spawn(&self, task: Task) {
        tokio::spawn(task);
    }
}

impl<A: AsyncService> Server<AsyncAdapter<A, TokioSpawn>> {
    /// [`Server::bind`] for a service written with `async`.
    pub fn bind_async(address: SocketAddr, service: A, options: Options) -> io::Result<Self> {
        Server::bind(
            address,
            Arc::new(AsyncAdapter::new(service, TokioSpawn)),
            options,
        )
    }
}

impl<S: Service> Server<S> {
    /// Listens on `address` (port 0: any free one) and starts `service`. Clients may connect from
    /// now on; they are served once the server runs. An error names the address.
    pub fn bind(address: SocketAddr, service: Arc<S>, options: Options) -> io::Result<Self> {
        let listener = listen(address, options.backlog)?;
        let local_addr = listener.local_addr()?;
        Ok(Server {
            listener,
            local_addr,
            hub: Hub::new(service, options),
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

    /// [`Server::run_workers`] with a worker for each core.
    pub fn run(self) -> io::Result<()> {
        self.run_workers(thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }

    /// Serves on `workers` threads, this one among them, each with a current-thread loop and a
    /// listener of its own, until it is shut down. A connection stays on its thread.
    pub fn run_workers(self, workers: usize) -> io::Result<()> {
        let backlog = self.hub.options().backlog;
        let mut listeners = share(self.listener, workers.max(1), backlog)?.into_iter();
        let first = listeners.next();
        let mut result = Ok(());
        let mut threads = Vec::new();
        for (listener, number) in listeners.zip(1..) {
            let hub = Arc::clone(&self.hub);
            let name = format!("helenus-tokio-{number}");
            let work = move || current_thread()?.block_on(serve(listener, hub, Timers::Elsewhere));
            match thread::Builder::new().name(name).spawn(work) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    result = Err(error);
                    self.hub.shutdown_handle().shutdown();
                }
            }
        }
        if let Some(listener) = first {
            let served = current_thread()
                .and_then(|runtime| runtime.block_on(serve(listener, self.hub, Timers::Here)));
            result = result.and(served);
        }
        for thread in threads {
            let ended = thread
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a worker panicked")));
            result = result.and(ended);
        }
        result
    }

    /// Serves on a work-stealing runtime of `workers` threads until it is shut down: better than
    /// [`Server::run_workers`] when a few connections make most of the work.
    pub fn run_work_stealing(self, workers: usize) -> io::Result<()> {
        let mut builder = Builder::new_multi_thread();
        let runtime = builder
            .worker_threads(workers.max(1))
            .enable_all()
            .build()?;
        runtime.block_on(self.serve())
    }

    /// Serves on the runtime that polls this future, until it is shut down.
    pub async fn serve(self) -> io::Result<()> {
        serve(self.listener, self.hub, Timers::Here).await
    }
}

fn current_thread() -> io::Result<tokio::runtime::Runtime> {
    Builder::new_current_thread().enable_all().build()
}

/// Which of a server's workers runs the service's timers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timers {
    Here,
    Elsewhere,
}

async fn serve<S: Service>(
    listener: TcpListener,
    hub: Arc<Hub<S>>,
    timers: Timers,
) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let timers = (timers == Timers::Here).then(|| tokio::spawn(run_timers(Arc::clone(&hub))));
    let mut backoff = AcceptBackoff::default();
    loop {
        tokio::select! {
            biased;
            () = poll_fn(|cx| hub.poll_shutdown(cx.waker())) => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, peer)) => {
                    backoff.succeeded();
                    start(&hub, stream, peer);
                }
                Err(error) => rest(&hub, backoff.failed(&error), &error).await,
            },
        }
    }
    drop(listener);
    hub.drain();
    let empty = || poll_fn(|cx| hub.poll_empty(cx.waker()));
    if timeout(hub.options().drain_timeout, empty()).await.is_err() {
        hub.abort();
        let _ = timeout(ABORT, empty()).await;
    }
    if let Some(timers) = timers {
        timers.abort();
    }
    Ok(())
}

fn start<S: Service>(hub: &Arc<Hub<S>>, stream: tokio::net::TcpStream, peer: SocketAddr) {
    let connected = stream.set_nodelay(true).and_then(|()| stream.local_addr());
    match connected.map(|local| hub.connect(peer, local, Instant::now())) {
        Ok(Ok(driver)) => drop(tokio::spawn(pump(stream, driver))),
        Ok(Err(refusal)) => tracing::warn!(%peer, %refusal, "refused a connection"),
        Err(error) => tracing::debug!(%peer, %error, "a connection broke"),
    }
}

async fn rest<S: Service>(hub: &Hub<S>, pause: Duration, error: &io::Error) {
    if pause.is_zero() {
        return;
    }
    tracing::warn!(%error, "cannot accept connections; trying again");
    tokio::select! {
        () = poll_fn(|cx| hub.poll_shutdown(cx.waker())) => {}
        () = sleep(pause) => {}
    }
}

/// Runs the service's own timers; pending for ever while it has none.
async fn run_timers<S: Service>(hub: Arc<Hub<S>>) {
    let mut alarm = pin!(sleep(Duration::ZERO));
    poll_fn(|cx| {
        while let Some(deadline) = hub.poll_service_timer(Instant::now(), cx.waker()) {
            alarm.set(sleep_until(deadline.into()));
            if alarm.as_mut().poll(cx).is_pending() {
                break;
            }
        }
        Poll::<()>::Pending
    })
    .await;
}
