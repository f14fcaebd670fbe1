//! The CQL server of helenus on blocking threads: one thread a connection, no runtime.
//!
//! Best for few connections, for embedding and for debugging. Implement
//! [`helenus_server::Service`] to answer requests.

mod pump;
mod server;
mod spawn;
mod wake;

pub use server::Server;
pub use spawn::ThreadSpawn;
