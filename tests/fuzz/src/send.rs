//! The same inputs over sockets, to a server in another process: what a client sends, and CQL texts.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use helenus_core::{Direction, Opcode, ProtocolVersion};

use crate::targets::client_bytes;
use crate::wire;

/// A server that doesn't answer for so long is left.
const PATIENCE: Duration = Duration::from_millis(200);

/// What a client that sends this input of a target sends; `None` for targets that no client can reach.
#[must_use]
pub fn sent_bytes(target: &str, input: &[u8]) -> Option<Vec<u8>> {
    match target {
        "server" => Some(client_bytes(input)),
        "cql" => {
            let text = String::from_utf8_lossy(input);
            let mut body = (text.len() as u32).to_be_bytes().to_vec();
            body.extend_from_slice(text.as_bytes());
            // Consistency ONE, no flags.
            body.extend([0, 1, 0]);
            let version = ProtocolVersion::V4;
            let query = wire::envelope(version, Direction::Request, 1, Opcode::QUERY, &body);
            Some([wire::startup(version, None), query].concat())
        }
        _ => None,
    }
}

/// Sends bytes over a connection of their own, ends it, and reads what comes back.
///
/// # Errors
/// If there is no server to connect to. A connection that the server closes is none.
pub fn send(address: SocketAddr, bytes: &[u8]) -> io::Result<()> {
    let mut socket = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.set_write_timeout(Some(PATIENCE))?;
    let sent = socket
        .write_all(bytes)
        .and_then(|()| socket.shutdown(Shutdown::Write));
    if sent.is_ok() {
        let mut scratch = [0; 4096];
        while matches!(socket.read(&mut scratch), Ok(1..)) {}
    }
    Ok(())
}
