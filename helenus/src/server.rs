//! A CQL server on whichever runtime is asked for at run time.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use helenus_server::{AsyncAdapter, AsyncService, Hub, Options, Service, ShutdownHandle};

use crate::Runtime;
use crate::connect::RuntimeSpawn;

/// A listening CQL server on any of the runtimes. Who knows the runtime when compiling uses its crate's own `Server`.
#[derive(Debug)]
pub struct Server<S: Service> {
    runtime: Running<S>,
}

impl<A: AsyncService> Server<AsyncAdapter<A, RuntimeSpawn>> {
    /// [`Server::bind`] for a service written with `async`.
    ///
    /// # Errors
    /// As there.
    pub fn bind_async(
        runtime: Runtime,
        address: SocketAddr,
        service: A,
        options: Options,
    ) -> io::Result<Self> {
        let service = AsyncAdapter::new(service, runtime.into());
        Self::bind(runtime, address, Arc::new(service), options)
    }
}

#[derive(Debug)]
enum Running<S: Service> {
    Tokio(helenus_tokio::Server<S>),
    Smol(helenus_smol::Server<S>),
    AsyncStd(helenus_smol::async_std::Server<S>),
    Threads(helenus_std::Server<S>),
}

impl<S: Service> Server<S> {
    /// Listens on an address; port 0 takes a free one. Clients can connect from now on and wait for [`run`](Self::run).
    ///
    /// # Errors
    /// When the address can't be listened on; the error names it.
    pub fn bind(
        runtime: Runtime,
        address: SocketAddr,
        service: Arc<S>,
        options: Options,
    ) -> io::Result<Self> {
        let runtime = match runtime {
            Runtime::Tokio => {
                helenus_tokio::Server::bind(address, service, options).map(Running::Tokio)
            }
            Runtime::Smol => {
                helenus_smol::Server::bind(address, service, options).map(Running::Smol)
            }
            Runtime::AsyncStd => helenus_smol::async_std::Server::bind(address, service, options)
                .map(Running::AsyncStd),
            Runtime::Threads => {
                helenus_std::Server::bind(address, service, options).map(Running::Threads)
            }
        }?;
        Ok(Self { runtime })
    }

    /// The address listened on, with the port that was taken.
    pub fn local_addr(&self) -> SocketAddr {
        match &self.runtime {
            Running::Tokio(server) => server.local_addr(),
            Running::Smol(server) => server.local_addr(),
            Running::AsyncStd(server) => server.local_addr(),
            Running::Threads(server) => server.local_addr(),
        }
    }

    /// What ends the server.
    pub fn handle(&self) -> ShutdownHandle {
        match &self.runtime {
            Running::Tokio(server) => server.handle(),
            Running::Smol(server) => server.handle(),
            Running::AsyncStd(server) => server.handle(),
            Running::Threads(server) => server.handle(),
        }
    }

    /// What the server's connections share: its counters, and who is connected.
    pub fn hub(&self) -> &Arc<Hub<S>> {
        match &self.runtime {
            Running::Tokio(server) => server.hub(),
            Running::Smol(server) => server.hub(),
            Running::AsyncStd(server) => server.hub(),
            Running::Threads(server) => server.hub(),
        }
    }

    /// Serves on so many event loops until it is shut down and what was in flight is answered. On blocking threads every
    /// connection has its own and `workers` doesn't matter.
    ///
    /// # Errors
    /// When the runtime can't start.
    pub fn run(self, workers: usize) -> io::Result<()> {
        match self.runtime {
            Running::Tokio(server) => server.run_workers(workers),
            Running::Smol(server) => server.run_workers(workers),
            Running::AsyncStd(server) => server.run_workers(workers),
            Running::Threads(server) => server.run_workers(workers),
        }
    }
}
