//! What every helenus runtime shares: services, replies, registries and budgets, without I/O.
//!
//! Whoever answers CQL requests implements [`Service`] (or [`AsyncService`]) and hands it to a
//! runtime crate: `helenus-tokio`, `helenus-smol` or `helenus-std`. Whoever writes a runtime crate
//! makes a [`Hub`], connects each accepted socket to it and pumps the [`Driver`] that comes back.

mod asynchronous;
mod authentication;
mod backoff;
mod budget;
mod clients;
mod control;
mod dispatch;
mod driver;
mod handle;
mod hub;
mod mailbox;
mod metrics;
mod offload;
mod options;
mod rate;
mod registry;
mod scratch;
mod service;
mod shares;
mod sync;
#[cfg(test)]
mod testing;
mod workers;

pub use asynchronous::{AsyncAdapter, AsyncService, AsyncSession, Spawn, Task};
pub use authentication::{Authenticator, Identity, Login};
#[cfg(feature = "password")]
pub use authentication::{
    Credential, CredentialStore, PasswordAuthenticator, hash_password, is_password_hash,
};
pub use backoff::AcceptBackoff;
pub use budget::{Budget, Lease};
pub use clients::{ConnectionSnapshot, ConnectionStage, Held, TlsSession};
pub use control::ShutdownHandle;
pub use dispatch::{Dispatched, Quota, dispatch};
pub use driver::Driver;
pub use handle::ServerHandle;
pub use helenus_tls::{ClientAuth, MaybeTls, Negotiated, PeerIdentity, ServerFiles, ServerTls};
pub use hub::Hub;
pub use metrics::{BUCKETS, Histogram, Totals};
pub use offload::{JobLease, Offload, OffloadLoad, OffloadOptions};
pub use options::{Limits, Linger, Options};
pub use registry::Refusal;
pub use service::{PeerInfo, Service};
pub use sync::Seat;
pub use workers::{Worker, run_workers};
