//! The CQL server and client of helenus on tokio.
//!
//! [`Server::run`] starts one current-thread loop a core, which is what serves most clients the
//! fastest; [`Server::serve`] runs inside a runtime that is there already. Implement
//! [`helenus_server::Service`] to answer requests. [`Client::connect`] is the other end.

mod accept;
mod client;
mod listen;
mod pump;
mod server;
#[cfg(feature = "tower")]
pub mod tower;

pub use client::Client;
pub use server::{Server, TokioSpawn};
