//! The contract's rules, one test each: limits, credits, tickets, ends and deadlines.

mod answers;
mod differences;
mod lifetime;
mod limits;
mod stats;

use std::time::Duration;

use bytes::{Buf, BytesMut};
use helenus_core::connection::{Progress, Reply, ServerConfig};
use helenus_core::error::{Error, ErrorKind, Misuse, PeerMisbehaved};
use helenus_core::message::{
    ChangeType, ErrorResponse, Extras, Response, SchemaChange, SchemaTarget, ServerEvent,
};
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{ErrorCode, Event, Next, Opcode};

use crate::client::{Client, Got, options, query, request, segment, startup};
use crate::server::{Server, Service};

const VOID: fn() -> Service = || Box::new(|_, responder| responder.send(Response::Void));
/// Defers every request and keeps the replies in the thread's drawer.
const DEFER: fn() -> Service =
    || Box::new(|_, responder| DRAWER.with_borrow_mut(|drawer| drawer.push(responder.defer())));

thread_local! {
    static DRAWER: std::cell::RefCell<Vec<Reply>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn replies() -> Vec<Reply> {
    DRAWER.take()
}

/// A server after the handshake of this version.
fn ready(version: u8, config: ServerConfig, service: Service) -> Server {
    let mut server = Server::new(config, service);
    server.receive(&startup(version, &[]), Cuts::Whole);
    assert!(server.connection.is_ready());
    server.sent();
    server
}

fn limited(limit: impl FnOnce(&mut helenus_core::connection::Limits)) -> ServerConfig {
    let mut config = ServerConfig::default();
    limit(&mut config.limits);
    config
}

fn got(server: &mut Server) -> Vec<Got> {
    Client::default().read(&server.sent())
}

fn streams(got: &[Got]) -> Vec<i16> {
    got.iter().map(|got| got.stream).collect()
}

/// Passes deferred answers on.
fn deliver(server: &mut Server) {
    for (ticket, response, extras) in server.mailbox.take() {
        server.connection.respond(ticket, response, extras).unwrap();
    }
}

fn pipeline(version: u8, streams: std::ops::Range<i16>) -> Vec<u8> {
    streams
        .flat_map(|stream| query(version, stream, "SELECT 1"))
        .collect()
}

fn authenticating() -> ServerConfig {
    let mut config = ServerConfig::default();
    config.authenticator = Some("org.apache.cassandra.auth.PasswordAuthenticator".to_owned());
    config
}

fn schema_event() -> ServerEvent {
    ServerEvent::SchemaChange(SchemaChange {
        change: ChangeType::Created,
        target: SchemaTarget::Keyspace {
            keyspace: "ks".into(),
        },
    })
}
