//! `ServerConnection` without a socket: bytes in, bytes out.

mod client;
mod probes;
mod segments;
mod server;
