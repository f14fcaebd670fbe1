//! `helenus ping`: whether a CQL server answers OPTIONS, which any does, login or not.

use std::io::{self, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use helenus_client::ClientTls;
use helenus_core::{Direction, Flags, Header, Opcode, ProtocolVersion, Response, StreamId};
use helenus_tls::LoadError;
use thiserror::Error;

use super::address::parse_server;
use super::socket::Endpoint;
use super::tls::TlsFlags;

/// How long one attempt may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long to wait between attempts.
const PAUSE: Duration = Duration::from_millis(20);
/// No SUPPORTED is longer.
const MAX_BODY: u32 = 64 << 10;

/// The flags of `helenus ping`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "\
Exit status: 0 if it answers, 1 if it doesn't, 2 if it can't be asked.

Examples:
  helenus ping 127.0.0.1:9042 --wait 60 && cqlsh 127.0.0.1 9042
  helenus ping db.example.com:9042 --tls --tls-ca ca.pem --tls-name db.example.com")]
pub(super) struct Ping {
    /// The server
    #[arg(value_name = "HOST:PORT", default_value = "127.0.0.1:9042")]
    server: String,

    /// Try again for so long while it doesn't answer
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,

    #[command(flatten)]
    tls: TlsFlags,
}

/// Why there was no answer.
#[derive(Debug, Error)]
pub(super) enum PingError {
    /// A file for TLS is of no use.
    #[error("{0}")]
    Tls(#[from] LoadError),
    /// Nobody answered, or nobody who speaks CQL.
    #[error("{server} doesn't answer: {reason}")]
    NoAnswer {
        /// Who was asked.
        server: String,
        /// What happened.
        reason: io::Error,
    },
}

/// Prints what the server supports.
///
/// # Errors
/// The last attempt's, when the time is up.
pub(super) fn ping(flags: &Ping) -> Result<(), PingError> {
    let supported = answer(flags)?;
    // Who doesn't read it has the exit status.
    let _ = writeln!(io::stdout().lock(), "{} answers: {supported}", flags.server);
    Ok(())
}

/// What the server says within the time to wait.
fn answer(flags: &Ping) -> Result<String, PingError> {
    let tls = flags.tls.load()?;
    let end = Instant::now() + Duration::from_secs(flags.wait);
    loop {
        match ask(&flags.server, tls.as_ref()) {
            Ok(supported) => return Ok(supported),
            Err(_) if Instant::now() < end => thread::sleep(PAUSE),
            Err(reason) => {
                return Err(PingError::NoAnswer {
                    server: flags.server.clone(),
                    reason,
                });
            }
        }
    }
}

/// The options of SUPPORTED, as one line.
fn ask(server: &str, tls: Option<&ClientTls>) -> io::Result<String> {
    let endpoint = Endpoint {
        address: parse_server(server).map_err(io::Error::other)?,
        tls: tls.cloned(),
    };
    let mut stream = endpoint.connect(PATIENCE)?;
    let version = ProtocolVersion::V4;
    let options = Header {
        version: version.as_u8(),
        direction: Direction::Request,
        flags: Flags::NONE,
        stream: StreamId(0),
        opcode: Opcode::OPTIONS,
        length: 0,
    };
    stream.write_all(&options.encode())?;
    let mut header = [0; Header::SIZE];
    stream.read_exact(&mut header)?;
    let header = Header::decode(&header);
    if header.direction != Direction::Response || header.length > MAX_BODY {
        return Err(io::Error::other("what it says is no CQL"));
    }
    let mut body = Vec::new();
    stream
        .take(u64::from(header.length))
        .read_to_end(&mut body)?;
    match Response::decode(header.opcode, version, &body.into(), 0) {
        Ok(Response::Supported(supported)) => Ok(line(&supported.options)),
        Ok(Response::Error(error)) => Err(io::Error::other(error.message)),
        _ => Err(io::Error::other("it answers otherwise than SUPPORTED")),
    }
}

fn line(options: &[(String, Vec<String>)]) -> String {
    let each = |(name, values): &(String, Vec<String>)| format!("{name} {}", values.join(" "));
    options.iter().map(each).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn flags(server: &str, wait: u64) -> Ping {
        Ping {
            server: server.to_owned(),
            wait,
            tls: TlsFlags::default(),
        }
    }

    #[test]
    fn a_server_that_answers_says_what_it_supports() {
        let server = helenus::TestServer::start().unwrap();
        let said = ask(&server.address().to_string(), None).unwrap();
        assert!(said.contains("PROTOCOL_VERSIONS 3/v3 4/v4 5/v5"), "{said}");
        assert!(said.contains("COMPRESSION "), "{said}");
    }

    #[test]
    fn nobody_and_what_speaks_no_cql_are_no_servers() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let other = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(b"HTTP/1.1 400 Bad Request\r\n").unwrap();
        });
        let error = answer(&flags(&address, 0)).unwrap_err().to_string();
        assert!(error.ends_with("what it says is no CQL"), "{error}");
        other.join().unwrap();
        let error = answer(&flags(&address, 0)).unwrap_err().to_string();
        assert!(
            error.starts_with(&format!("{address} doesn't answer: ")),
            "{error}"
        );
    }

    #[test]
    fn it_waits_for_a_server_that_starts_late() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let late = thread::spawn(move || {
            thread::sleep(PAUSE);
            let listener = TcpListener::bind(address).unwrap();
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; Header::SIZE]).unwrap();
            stream
                .write_all(&[0x84, 0, 0, 0, 6, 0, 0, 0, 2, 0, 0])
                .unwrap();
        });
        assert_eq!(answer(&flags(&address.to_string(), 60)).unwrap(), "");
        late.join().unwrap();
    }
}
