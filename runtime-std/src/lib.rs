//! The CQL server and client of helenus on blocking threads: one thread a connection, no runtime.
//!
//! Best for few connections, for embedding and for debugging. Implement
//! [`helenus_server::Service`] to answer requests.

mod block;
mod client;
mod pump;
mod server;
mod spawn;
mod wake;

pub use client::{Client, Events, Pages};
pub use server::Server;
pub use spawn::ThreadSpawn;
