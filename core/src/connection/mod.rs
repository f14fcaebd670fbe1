//! The state machine of a connection, one end of it: the server's.
//!
//! It answers the handshake by itself, lends requests out, and keeps to the [`Limits`] of what a peer may
//! make it hold.

mod config;
mod event;
mod exchange;
mod handshake;
mod limits;
mod request;
mod responder;
mod server;
mod stats;
mod subscriptions;
mod ticket;
mod transmit;

pub use config::ServerConfig;
pub use event::{Event, Next, Progress};
pub use limits::Limits;
pub use request::{AuthToken, Request};
pub use responder::{Outbox, Reply, Responder};
pub use server::ServerConnection;
pub use stats::Stats;
pub use ticket::RequestTicket;
pub use transmit::Transmit;
