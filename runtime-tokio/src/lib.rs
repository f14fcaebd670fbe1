//! The CQL server of helenus on tokio.
//!
//! [`Server::run`] starts one current-thread loop a core, which is what serves most clients the
//! fastest; [`Server::serve`] runs inside a runtime that is there already. Implement
//! [`helenus_server::Service`] to answer requests.

mod accept;
mod listen;
mod pump;
mod server;

pub use server::{Server, TokioSpawn};
