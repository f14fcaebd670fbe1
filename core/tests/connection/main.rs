//! `ServerConnection` without a socket: bytes in, bytes out.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may read clocks and take locks"
)]

mod client;
mod malformed;
mod probes;
mod random;
mod rules;
mod segments;
mod server;
