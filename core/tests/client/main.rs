//! `ClientConnection` without a socket: a server's bytes in, requests out.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may read clocks"
)]

mod client;
mod peer;
mod rules;
