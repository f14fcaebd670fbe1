//! A client of raw bytes: protocol v4, envelopes built and taken apart by hand.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::Duration;

/// The longest time that any answer may take.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const ERROR: u8 = 0x00;
pub(crate) const STARTUP: u8 = 0x01;
pub(crate) const READY: u8 = 0x02;
pub(crate) const AUTHENTICATE: u8 = 0x03;
pub(crate) const OPTIONS: u8 = 0x05;
pub(crate) const SUPPORTED: u8 = 0x06;
pub(crate) const QUERY: u8 = 0x07;
pub(crate) const RESULT: u8 = 0x08;
pub(crate) const REGISTER: u8 = 0x0b;
pub(crate) const EVENT: u8 = 0x0c;
pub(crate) const AUTH_RESPONSE: u8 = 0x0f;
pub(crate) const AUTH_SUCCESS: u8 = 0x10;

/// One connection.
pub(crate) struct Client {
    pub(crate) socket: TcpStream,
}

/// A received envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) stream: i16,
    pub(crate) opcode: u8,
    pub(crate) body: Vec<u8>,
}

impl Client {
    /// Connects, without a byte sent.
    pub(crate) fn connect(address: SocketAddr) -> Client {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_nodelay(true).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket.set_write_timeout(Some(PATIENCE)).unwrap();
        Client { socket }
    }

    /// Connects and goes through the handshake.
    pub(crate) fn login(address: SocketAddr) -> Client {
        let mut client = Client::connect(address);
        client.write(&startup());
        assert_eq!(client.receive().opcode, READY);
        client
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    pub(crate) fn query(&mut self, stream: i16, text: &str) {
        self.write(&query(stream, text));
    }

    /// Sends `text` and gives the text that comes back.
    pub(crate) fn ask(&mut self, text: &str) -> String {
        self.query(1, text);
        let answer = self.receive();
        assert_eq!(answer.stream, 1);
        answer.text()
    }

    pub(crate) fn receive(&mut self) -> Answer {
        self.try_receive().unwrap()
    }

    pub(crate) fn try_receive(&mut self) -> io::Result<Answer> {
        let mut header = [0; 9];
        self.socket.read_exact(&mut header)?;
        let [_version, _flags, high, low, opcode, length @ ..] = header;
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        self.socket.read_exact(&mut body)?;
        Ok(Answer {
            stream: i16::from_be_bytes([high, low]),
            opcode,
            body,
        })
    }

    /// Closes the sending half.
    pub(crate) fn half_close(&mut self) {
        self.socket.shutdown(Shutdown::Write).unwrap();
    }

    /// Whether the server closed, with nothing more sent.
    pub(crate) fn is_closed(&mut self) -> bool {
        matches!(self.socket.read(&mut [0]), Ok(0) | Err(_))
    }
}

impl Answer {
    /// The keyspace of a RESULT Set_keyspace, which is how the canned service says something.
    pub(crate) fn text(&self) -> String {
        assert_eq!(
            self.opcode,
            RESULT,
            "{:?}",
            String::from_utf8_lossy(&self.body)
        );
        let (kind, rest) = self.body.split_at(4);
        assert_eq!(kind, [0, 0, 0, 3]);
        String::from_utf8(rest[2..].to_vec()).unwrap()
    }

    /// The code of an ERROR.
    pub(crate) fn error_code(&self) -> u32 {
        assert_eq!(self.opcode, ERROR, "{self:?}");
        u32::from_be_bytes(self.body[..4].try_into().unwrap())
    }
}

/// A v4 request.
pub(crate) fn envelope(stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = header(stream, opcode, body.len());
    bytes.extend_from_slice(body);
    bytes
}

pub(crate) fn header(stream: i16, opcode: u8, length: usize) -> Vec<u8> {
    let mut bytes = vec![4, 0];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.push(opcode);
    bytes.extend_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
    bytes
}

pub(crate) fn startup() -> Vec<u8> {
    envelope(
        0,
        STARTUP,
        &[&[0, 1][..], &string("CQL_VERSION"), &string("3.0.0")].concat(),
    )
}

/// REGISTER for schema changes.
pub(crate) fn register(stream: i16) -> Vec<u8> {
    envelope(
        stream,
        REGISTER,
        &[&[0, 1][..], &string("SCHEMA_CHANGE")].concat(),
    )
}

pub(crate) fn query(stream: i16, text: &str) -> Vec<u8> {
    let mut body = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    body.extend_from_slice(text.as_bytes());
    // Consistency ONE, no flags.
    body.extend_from_slice(&[0, 1, 0]);
    envelope(stream, QUERY, &body)
}

pub(crate) fn string(text: &str) -> Vec<u8> {
    let mut bytes = u16::try_from(text.len()).unwrap().to_be_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}
