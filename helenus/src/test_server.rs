//! A running server for tests.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::thread::JoinHandle;

use helenus_server::{Options, ShutdownHandle};

use crate::embedded::{Authentication, EmbeddedService};

/// An engine behind a CQL server on a free port of 127.0.0.1, which ends when this is dropped.
///
/// Every server has an engine of its own, empty but for the system keyspaces, so tests don't see each other. It starts in
/// about a millisecond, on blocking threads, and needs no runtime of the test's.
///
/// ```
/// let server = helenus::TestServer::start()?;
/// let stream = std::net::TcpStream::connect(server.address())?;
/// # drop(stream);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// Through its [`service`](Self::service) it fails on purpose, as a test wants it:
///
/// ```
/// let server = helenus::TestServer::start()?;
/// let timeout = "write on shop.orders error timeout times 1".parse()?;
/// server.service().set_faults([timeout]);
/// // … the application's first INSERT times out; does it try again? …
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TestServer {
    address: SocketAddr,
    service: Arc<EmbeddedService>,
    shutdown: ShutdownHandle,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// A port of 127.0.0.1 that the system chooses.
const FREE_PORT: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0));

impl TestServer {
    /// Starts a server on a free port.
    ///
    /// # Errors
    /// When no port can be listened on or no thread started.
    pub fn start() -> std::io::Result<Self> {
        Self::start_with(EmbeddedService::new(FREE_PORT))
    }

    /// The same for clients that log in, at first as the superuser `cassandra` with the password `cassandra`.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with_logins(authentication: Authentication) -> std::io::Result<Self> {
        Self::start_with(EmbeddedService::with_logins(FREE_PORT, authentication))
    }

    /// The same with an engine that has been prepared: with functions of the test's own, say.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn start_with(service: EmbeddedService) -> std::io::Result<Self> {
        Self::serve(service, Options::default())
    }

    /// The same with other options than a server has by default.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub fn serve(service: EmbeddedService, options: Options) -> std::io::Result<Self> {
        let (listen, service) = (FREE_PORT, Arc::new(service));
        let server = helenus_std::Server::bind(listen, Arc::clone(&service), options)?;
        let address = server.local_addr();
        service.announce(address);
        let shutdown = server.handle();
        let thread = std::thread::Builder::new()
            .name("helenus-test".to_owned())
            .spawn(move || server.run())?;
        Ok(Self {
            address,
            service,
            shutdown,
            thread: Some(thread),
        })
    }

    /// The address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The engine behind it, for its faults and guardrails.
    pub fn service(&self) -> &EmbeddedService {
        &self.service
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.shutdown.shutdown();
        if let Some(thread) = self.thread.take() {
            // A server that panicked has said so; a test's drop is no place to panic again.
            let _ = thread.join();
        }
    }
}
