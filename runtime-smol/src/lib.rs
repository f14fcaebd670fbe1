//! The CQL server and client of helenus on smol and async-std.
//!
//! [`Server`] starts one executor a core. With the feature `async-std`, the module `async_std` has
//! the same server on that runtime. Implement [`helenus_server::Service`] to answer requests.

mod accept;
#[cfg(feature = "async-std")]
pub mod async_std;
mod client;
mod listen;
mod pump;
mod runtime;
mod server;

pub use client::ClientOn;
pub use runtime::{Runtime, SmolSpawn};
pub use server::ServerOn;

/// A client on smol.
pub type Client = ClientOn<SmolSpawn>;

/// A CQL server on smol, bound to its address.
pub type Server<S> = ServerOn<S, SmolSpawn>;
