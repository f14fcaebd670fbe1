//! An embedded Cassandra: a CQL server of one small process, for tests and for programs that want one inside.
//!
//! [`TestServer`] gives a test a running server in a line; [`EmbeddedService`] is the same engine as a
//! [`Service`](helenus_server::Service), to be served on any [`Runtime`] by a [`Server`]:
//!
//! ```
//! use std::sync::Arc;
//!
//! use helenus::{EmbeddedService, Options, Runtime, Server};
//!
//! let listen = "127.0.0.1:0".parse()?;
//! let service = Arc::new(EmbeddedService::new(listen));
//! let server = Server::bind(Runtime::Tokio, listen, Arc::clone(&service), Options::default())?;
//! service.announce(server.local_addr());
//! let shutdown = server.handle();
//! let thread = std::thread::spawn(move || server.run(2));
//! // … connect any driver to it …
//! shutdown.shutdown();
//! thread.join().expect("the server doesn't panic")?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`EmbeddedService::builder`] adds code of the program's own: functions that statements call ([`NativeFunction`],
//! [`NativeAggregate`]), and who decides what users may do ([`Authorizer`]). None of it runs on an event loop.

mod cluster;
mod connect;
mod embedded;
mod proxy;
mod runtime;
mod server;
mod test_cluster;
mod test_server;

pub use cluster::{Cluster, ClusterError, ClusterOptions, NodeState};
pub use connect::RuntimeSpawn;
pub use embedded::{
    Authentication, Authorizer, Builder, EmbeddedService, Fault, FaultError, FaultOperation,
    InvalidFault, LoginMethod, Session,
};
pub use helenus_client::{Client, Config as ClientConfig};
pub use helenus_core::types;
pub use helenus_engine::access::{Permission, Resource};
pub use helenus_engine::schema::InvalidNative;
pub use helenus_engine::{Guardrails, NativeAggregate, NativeError, NativeFunction};
pub use helenus_server::{Options, ShutdownHandle};
pub use helenus_tls as tls;
pub use proxy::{Line, Proxy, Upstream};
pub use runtime::{Runtime, UnknownRuntime};
pub use server::Server;
pub use test_cluster::TestCluster;
pub use test_server::TestServer;
