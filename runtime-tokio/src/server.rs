//! The server, and the ways to run it.

use crate::accept::serve;
use crate::listen::{listen, share};
use helenus_server::{
    AsyncAdapter, AsyncService, Hub, Options, Service, ShutdownHandle, Spawn, Task, Worker,
    run_workers,
};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use tokio::runtime::Builder;

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
        let listeners = share(self.listener, workers.max(1), self.hub.options().backlog)?;
        run_workers(
            &self.hub,
            "helenus-tokio",
            listeners,
            |listener, hub, worker| {
                let runtime = Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(serve(listener, hub, worker))
            },
        )
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
        serve(self.listener, self.hub, Worker::First).await
    }
}
