//! The same server on async-std's executor. Both speak through one reactor, so that the pump is the
//! same; only who polls it differs.

use crate::runtime::Runtime;
use crate::server::{Bound, Timers, serve};
use helenus_server::{
    AsyncAdapter, AsyncService, Hub, Options, Service, ShutdownHandle, Spawn, Task,
};
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::task::Context;
use std::thread;

/// Spawns on async-std.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsyncStdSpawn;

impl Spawn for AsyncStdSpawn {
    fn spawn(&self, task: Task) {
        async_std::task::spawn(task);
    }
}

impl Runtime for AsyncStdSpawn {
    fn yield_now(&self, cx: &Context<'_>) {
        cx.waker().wake_by_ref();
    }
}

/// A CQL server on async-std, bound to its address.
#[derive(Debug)]
pub struct Server<S: Service> {
    bound: Bound<S>,
}

impl<A: AsyncService> Server<AsyncAdapter<A, AsyncStdSpawn>> {
    /// [`Server::bind`] for a service written with `async`.
    pub fn bind_async(address: SocketAddr, service: A, options: Options) -> io::Result<Self> {
        Server::bind(
            address,
            Arc::new(AsyncAdapter::new(service, AsyncStdSpawn)),
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

    /// Serves on async-std's executor until it is shut down. That executor is one for the whole
    /// process: `workers` is its number of threads if nothing has started it before, and
    /// `ASYNC_STD_THREAD_COUNT` goes before both.
    pub fn run_workers(self, workers: usize) -> io::Result<()> {
        let config = async_global_executor::GlobalExecutorConfig::default()
            .with_env_var("ASYNC_STD_THREAD_COUNT")
            .with_min_threads(workers.max(1))
            .with_max_threads(workers.max(1))
            .with_thread_name_fn(|| "helenus-async-std".to_owned());
        async_global_executor::init_with_config(config);
        async_std::task::block_on(self.serve())
    }

    /// Serves on async-std's executor until it is shut down.
    pub async fn serve(self) -> io::Result<()> {
        serve(
            self.bound.listener,
            self.bound.hub,
            AsyncStdSpawn,
            Timers::Here,
        )
        .await
    }
}
