//! `ClientConnection` without a socket: a server's bytes in, requests out. And both ends joined in memory.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests may read clocks"
)]

mod client;
mod damage;
mod golden;
mod interleaving;
mod joined;
mod peer;
mod pressure;
mod proxy;
mod random;
mod rules;
#[path = "../golden/vectors.rs"]
#[allow(
    dead_code,
    reason = "shared with the golden tests, which use all of it"
)]
mod vectors;
