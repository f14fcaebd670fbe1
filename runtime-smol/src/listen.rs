//! Listening sockets: one that owns its address, and more that share it, one a core.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener};

/// Binds and listens. The error names the address.
pub(crate) fn listen(address: SocketAddr, backlog: i32) -> io::Result<TcpListener> {
    let socket = socket(address)?;
    bind(&socket, address, backlog).map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
    })?;
    Ok(socket.into())
}

/// `count` listeners on the address of `first`, it included. The kernel spreads connections over
/// them where it can; elsewhere they take turns on one queue.
///
/// The port is shared only after it was bound alone: so a second server on it is refused, though
/// both would have shared.
pub(crate) fn share(
    first: TcpListener,
    count: usize,
    backlog: i32,
) -> io::Result<Vec<TcpListener>> {
    let mut listeners = vec![first];
    while let (Some(first), true) = (listeners.first(), listeners.len() < count) {
        let next = match another(first, backlog) {
            Ok(listener) => listener,
            Err(error) => {
                tracing::debug!(%error, "the port cannot be shared; workers take turns on it");
                first.try_clone()?
            }
        };
        listeners.push(next);
    }
    Ok(listeners)
}

#[cfg(target_os = "linux")]
fn another(first: &TcpListener, backlog: i32) -> io::Result<TcpListener> {
    socket2::SockRef::from(first).set_reuse_port(true)?;
    let address = first.local_addr()?;
    let socket = socket(address)?;
    socket.set_reuse_port(true)?;
    bind(&socket, address, backlog)?;
    Ok(socket.into())
}

#[cfg(not(target_os = "linux"))]
fn another(_first: &TcpListener, _backlog: i32) -> io::Result<TcpListener> {
    // Elsewhere the option only lets the last socket have all connections.
    Err(io::ErrorKind::Unsupported.into())
}

fn socket(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::STREAM,
        Some(Protocol::TCP),
    )?;
    socket.set_nonblocking(true)?;
    // A restarted server takes its port back from connections that are still dying.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    Ok(socket)
}

fn bind(socket: &Socket, address: SocketAddr, backlog: i32) -> io::Result<()> {
    socket.bind(&address.into())?;
    socket.listen(backlog)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpStream;

    fn any() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[test]
    fn shared_listeners_have_one_address_and_every_connection_reaches_one() {
        let first = listen(any(), 16).unwrap();
        let address = first.local_addr().unwrap();
        let listeners = share(first, 3, 16).unwrap();
        let _clients: Vec<TcpStream> = (0..12)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        let accepted: usize = listeners
            .iter()
            .map(|listener| {
                assert_eq!(listener.local_addr().unwrap(), address);
                std::iter::from_fn(|| listener.accept().ok()).count()
            })
            .sum();
        assert_eq!(accepted, 12);
    }

    #[test]
    fn a_second_server_on_a_shared_port_is_refused_with_the_address() {
        let first = listen(any(), 16).unwrap();
        let address = first.local_addr().unwrap();
        let _listeners = share(first, 2, 16).unwrap();
        let error = listen(address, 16).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        assert!(error.to_string().contains(&address.to_string()), "{error}");
    }
}
