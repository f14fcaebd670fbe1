//! Blocking sockets to CQL servers, encrypted or not.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

use helenus_tls::rustls::{self, ClientConnection, StreamOwned};
use helenus_tls::{ClientTls, Error};

/// Where a server is, and what it is spoken to with.
#[derive(Debug, Clone)]
pub(super) struct Endpoint {
    /// Its address.
    pub(super) address: SocketAddr,
    /// What is encrypted with, if anything is.
    pub(super) tls: Option<ClientTls>,
}

impl Endpoint {
    /// Connects, with the handshake of TLS if there is to be one. Each step of it, and each write that follows, may take
    /// `patience`.
    pub(super) fn connect(&self, patience: Duration) -> io::Result<Socket> {
        let socket = TcpStream::connect_timeout(&self.address, patience)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(patience))?;
        socket.set_write_timeout(Some(patience))?;
        let Some(tls) = &self.tls else {
            return Ok(Socket::Plain(socket));
        };
        let session = tls.session(self.address.ip()).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(session, socket);
        while stream.conn.is_handshaking() {
            stream
                .conn
                .complete_io(&mut stream.sock)
                .map_err(explained)?;
        }
        Ok(Socket::Tls(Box::new(stream)))
    }
}

/// A connection to a server.
#[derive(Debug)]
pub(super) enum Socket {
    /// Bytes as they are.
    Plain(TcpStream),
    /// Bytes that travel encrypted.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Socket {
    /// How long a read may wait.
    pub(super) fn set_read_timeout(&self, patience: Duration) -> io::Result<()> {
        let socket = match self {
            Self::Plain(socket) => socket,
            Self::Tls(stream) => &stream.sock,
        };
        socket.set_read_timeout(Some(patience))
    }

    /// Sends no more, and says so.
    pub(super) fn shutdown_write(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.shutdown(Shutdown::Write),
            Self::Tls(stream) => {
                stream.conn.send_close_notify();
                stream.flush()?;
                stream.sock.shutdown(Shutdown::Write)
            }
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Tls(stream) => stream.read(buffer).map_err(explained),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Tls(stream) => stream.write(bytes).map_err(explained),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush().map_err(explained),
        }
    }
}

/// A failure of TLS in the words that the rest of the command has for it.
fn explained(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    match cause {
        Some(failure) => {
            let failure: &rustls::Error = failure;
            io::Error::new(error.kind(), Error::from(failure.clone()))
        }
        None => error,
    }
}
