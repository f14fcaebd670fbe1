//! The contract's rules, one test each.

mod answers;
mod calls;
mod handshake;
mod lifetime;
mod malformed;
mod memory;
