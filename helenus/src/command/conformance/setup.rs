//! The connection beside a probe's own: it runs the statements that the probe needs.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use helenus_core::message::{AuthResponse, Query, QueryParams, RequestBody};
use helenus_core::wire::WireWrite;
use helenus_core::{Consistency, Flags, Opcode, ProtocolVersion, StreamId};

use super::connection::Connection;
use super::probe::Setup;
use super::render::envelope;
use super::reply::Reply;
use crate::command::socket::Endpoint;

/// How long a statement may take; a real server's schema changes take their time.
const PATIENCE: Duration = Duration::from_secs(60);

/// The superuser of a server that asks for a login, as SASL's PLAIN has it.
const LOGIN: &[u8] = b"\0cassandra\0cassandra";

/// A connection of v4 at consistency ONE, opened when it is needed.
#[derive(Debug)]
pub(super) struct SideConnection {
    server: Endpoint,
    connection: Option<Connection>,
    /// What once is enough of and was run.
    done: HashSet<String>,
}

impl SideConnection {
    /// The connection to this server.
    pub(super) fn new(server: Endpoint) -> Self {
        Self {
            server,
            connection: None,
            done: HashSet::new(),
        }
    }

    /// Runs what a probe needs.
    ///
    /// # Errors
    /// Why the probe can't be run.
    pub(super) fn set_up(&mut self, statements: &[Setup]) -> Result<(), String> {
        for statement in statements {
            if statement.once && self.done.contains(&statement.cql) {
                continue;
            }
            let is_done = self.run(&statement.cql, statement.may_fail)?;
            if statement.once && is_done {
                self.done.insert(statement.cql.clone());
            }
        }
        Ok(())
    }

    /// Runs a statement; whether it succeeded.
    ///
    /// # Errors
    /// The server's, unless the statement may fail, or that it didn't answer.
    pub(super) fn run(&mut self, cql: &str, may_fail: bool) -> Result<bool, String> {
        let reply = match self.exchange(cql) {
            Ok(reply) => reply,
            // The server may have closed it since it was used.
            Err(_) => {
                self.connection = None;
                self.exchange(cql)?
            }
        };
        match (reply.header.opcode, may_fail) {
            (Opcode::ERROR, false) => {
                Err(format!("{cql}: {}", reply.message().unwrap_or_default()))
            }
            (opcode, _) => Ok(opcode != Opcode::ERROR),
        }
    }

    fn exchange(&mut self, cql: &str) -> Result<Reply, String> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(open(&self.server, PATIENCE)?),
        };
        let params = QueryParams::new(Consistency::ONE);
        let query = RequestBody::Query(Query { query: cql, params });
        ask(connection, &query, PATIENCE)
    }
}

/// Whether something answers as a CQL server does: opens a connection.
///
/// # Errors
/// What happens instead.
pub(super) fn greet(server: &Endpoint, patience: Duration) -> Result<(), String> {
    open(server, patience).map(drop)
}

fn open(server: &Endpoint, patience: Duration) -> Result<Connection, String> {
    let failed = |error: std::io::Error| format!("can't connect: {error}");
    let mut connection = Connection::open(server, None).map_err(failed)?;
    let mut startup = BytesMut::new();
    startup.put_string_map(&[("CQL_VERSION", "3.0.0")]);
    let mut reply = exchange(&mut connection, Opcode::STARTUP, &startup, patience)?;
    if reply.header.opcode == Opcode::AUTHENTICATE {
        let login = AuthResponse { token: Some(LOGIN) };
        reply = ask(&mut connection, &RequestBody::AuthResponse(login), patience)?;
    }
    match reply.header.opcode {
        Opcode::READY | Opcode::AUTH_SUCCESS => Ok(connection),
        _ => Err(format!(
            "the server refuses a connection: {} {}",
            reply.name(),
            reply.message().unwrap_or_default()
        )),
    }
}

fn ask(
    connection: &mut Connection,
    request: &RequestBody<'_>,
    patience: Duration,
) -> Result<Reply, String> {
    let mut body = BytesMut::new();
    request.encode(ProtocolVersion::V4, &mut body);
    exchange(connection, request.opcode(), &body, patience)
}

fn exchange(
    connection: &mut Connection,
    opcode: Opcode,
    body: &[u8],
    patience: Duration,
) -> Result<Reply, String> {
    let version = ProtocolVersion::V4.as_u8();
    let bytes = envelope(version, Flags::NONE, StreamId(1), opcode, body);
    connection
        .send(&bytes, None, Duration::ZERO)
        .map_err(|error| error.to_string())?;
    connection
        .read(Instant::now() + patience)
        .map_err(|_| format!("the server doesn't answer {opcode}"))
}
