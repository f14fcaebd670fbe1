//! TLS beneath a CQL connection, without I/O: a layer between the pump that owns a socket and the driver that
//! knows the protocol, the same on every runtime and at either end.
//!
//! [`MaybeTls`] wraps a driver and is itself [`Pumped`](helenus_core::Pumped), so that a pump doesn't know of it: what
//! the pump reads is decrypted into the driver's buffer, what the driver has to send is encrypted into a bounded
//! buffer. It is made by [`ServerTls::accept`], [`ClientTls::connect`] or, for a connection without
//! TLS, [`MaybeTls::plain`]. The driver hears of the handshake, and of its failure, as [`Driver`] says.
//!
//! ```no_run
//! use helenus_tls::{ClientAuth, ClientFiles, ClientTls, ServerFiles, ServerTls};
//!
//! let mut files = ServerFiles::new("server.crt", "server.key");
//! files.client_ca = Some("ca.crt".into());
//! files.client_auth = ClientAuth::Required;
//! let server = ServerTls::load(&files)?;
//! // … a certificate was renewed: new connections have it, open ones stay …
//! server.replace(&ServerTls::load(&files)?);
//!
//! let client = ClientTls::load(&ClientFiles::trusting("ca.crt"))?.with_server_name("db.example.com")?;
//! # Ok::<(), helenus_tls::LoadError>(())
//! ```

mod certificate;
mod client;
mod error;
mod files;
mod layer;
mod maybe;
mod negotiated;
mod outgoing;
mod plaintext;
mod scratch;
mod server;
mod session;
#[cfg(test)]
mod testing;

pub use client::{ClientFiles, ClientTls};
pub use error::{Error, LoadError};
pub use maybe::{Driver, MaybeTls};
pub use negotiated::{Negotiated, PeerIdentity, SubjectName};
pub use rustls;
pub use server::{ClientAuth, ServerFiles, ServerTls, UnknownClientAuth, Warning};
