//! The server, on any of the runtimes that speak through smol's reactor.

use crate::accept::serve;
use crate::listen::listen;
use crate::runtime::Runtime;
use helenus_server::{AsyncAdapter, AsyncService, Hub, Options, Service, ShutdownHandle, Worker};
use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, TcpListener};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;

/// A CQL server on the runtime `R`, bound to its address. Its everyday names are
/// [`Server`](crate::Server) and, with the feature `async-std`, `async_std::Server`.
#[derive(Debug)]
pub struct ServerOn<S: Service, R> {
    pub(crate) listener: TcpListener,
    local_addr: SocketAddr,
    pub(crate) hub: Arc<Hub<S>>,
    runtime: PhantomData<R>,
}

impl<A: AsyncService, R: Runtime> ServerOn<AsyncAdapter<A, R>, R> {
    /// [`ServerOn::bind`] for a service written with `async`.
    pub fn bind_async(address: SocketAddr, service: A, options: Options) -> io::Result<Self> {
        let service = AsyncAdapter::new(service, R::default());
        Self::bind(address, Arc::new(service), options)
    }
}

impl<S: Service, R: Runtime> ServerOn<S, R> {
    /// Listens on `address` (port 0: any free one) and starts `service`. Clients may connect from
    /// now on; they are served once the server runs. An error names the address.
    pub fn bind(address: SocketAddr, service: Arc<S>, options: Options) -> io::Result<Self> {
        let listener = listen(address, options.backlog)?;
        let local_addr = listener.local_addr()?;
        let hub = Hub::new(service, options);
        Ok(ServerOn {
            listener,
            local_addr,
            hub,
            runtime: PhantomData,
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

    /// [`ServerOn::run_workers`] with a worker for each core.
    pub fn run(self) -> io::Result<()> {
        self.run_workers(thread::available_parallelism().map_or(1, NonZeroUsize::get))
    }

    /// Serves until it is shut down, on `workers` threads.
    ///
    /// smol: this thread is one of them; each has an executor and a listener of its own, and a
    /// connection stays on its thread. async-std: its executor is one for the whole process, so
    /// that `workers` counts if nothing has started it before, and `ASYNC_STD_THREAD_COUNT` goes
    /// before both.
    pub fn run_workers(self, workers: usize) -> io::Result<()> {
        R::run(self.listener, self.hub, workers.max(1))
    }

    /// Serves on the runtime's global executor until it is shut down.
    pub async fn serve(self) -> io::Result<()> {
        serve(self.listener, self.hub, R::default(), Worker::First).await
    }
}
