//! What every helenus client shares: calls, statements, pages and events on one connection, without I/O.
//!
//! Who talks to a CQL server uses the `Client` of a runtime crate, `helenus-tokio`, `helenus-smol` or
//! `helenus-std`; all of them are this crate's [`Client`], which the first two lend and the last one wraps in blocking
//! calls. Whoever writes a runtime crate calls [`connect`], and pumps the [`Driver`] of each
//! [`Attempt`] as `helenus_core::Pumped` says.
//!
//! This is a client on **one connection**, complete as that, for tools, tests, proxies and frameworks. It knows no
//! cluster: it finds no other nodes, balances no load, picks no replica, reconnects to nobody and retries
//! nothing. Applications that use a cluster want a driver, such as the `scylla` crate.
//!
//! ```no_run
//! use helenus_client::{Client, Error};
//!
//! // A runtime crate has connected the client.
//! async fn add_and_list(client: &Client) -> Result<(), Error> {
//!     let insert = client.prepare("INSERT INTO ks.users (id, name) VALUES (?, ?)").await?;
//!     client.execute(&insert, (1, "Ada")).await?;
//!     let mut pages = client.query_pages("SELECT id, name FROM ks.users", ())?;
//!     while let Some(page) = pages.next().await {
//!         for user in page?.typed::<(i32, Option<&str>)>()? {
//!             let (id, name) = user?;
//!             println!("{id}: {name:?}");
//!         }
//!     }
//!     Ok(())
//! }
//! ```

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests may read clocks")
)]

mod auth;
mod backlog;
mod batch;
mod call;
mod calls;
mod client;
mod config;
mod connect;
mod driver;
mod error;
mod events;
mod listeners;
mod outgoing;
mod pages;
mod prepared;
mod result;
mod sent;
mod shared;
mod statement;
#[cfg(test)]
mod testing;
#[cfg(feature = "tower")]
pub mod tower;

pub use auth::{Authenticator, PlainText};
pub use batch::Batch;
pub use client::Client;
pub use config::Config;
pub use connect::{Attempt, Connecting, connect};
pub use driver::Driver;
pub use error::{Error, Lost};
pub use events::Events;
pub use helenus_tls::{ClientFiles, ClientTls, MaybeTls};
pub use pages::Pages;
pub use prepared::Prepared;
pub use result::QueryResult;
pub use statement::{Payload, Statement, StatementOptions};
