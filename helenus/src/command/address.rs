//! The addresses of servers on the command line.

use std::net::{SocketAddr, ToSocketAddrs};

/// The first address of `HOST:PORT`.
pub(super) fn parse_server(text: &str) -> Result<SocketAddr, String> {
    let refused = |why: String| format!("{text:?} is no HOST:PORT: {why}");
    let mut found = text
        .to_socket_addrs()
        .map_err(|error| refused(error.to_string()))?;
    found
        .next()
        .ok_or_else(|| refused("the name has no address".to_owned()))
}
