//! The contract's rules, one test each.

mod handshake;
