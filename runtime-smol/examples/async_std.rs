//! A whole CQL server on async-std: `USE name` is granted, all else is refused politely.
//! Try it with any client that speaks raw CQL: `cargo run -p helenus-smol --features async-std --example async_std`.

use helenus_core::{ErrorResponse, Request, RequestBody, Responder, Response};
use helenus_server::{Options, PeerInfo, Service};
use std::sync::Arc;
use std::time::Instant;

struct Granting;

impl Service for Granting {
    type Session = ();

    fn open(&self, _peer: &PeerInfo) {}

    fn call(&self, _: Instant, (): &mut (), request: Request<'_>, responder: Responder<'_>) {
        match request.parse() {
            Ok(RequestBody::Query(query)) => match query.query.strip_prefix("USE ") {
                Some(keyspace) => responder.send(Response::SetKeyspace(keyspace.into())),
                None => responder.error(ErrorResponse::invalid("Only USE is granted here")),
            },
            Ok(_) => responder.error(ErrorResponse::invalid("Only QUERY is answered here")),
            Err(error) => responder.reject(&error),
        }
    }
}

fn main() -> std::io::Result<()> {
    let address = ([127, 0, 0, 1], 9042).into();
    helenus_smol::async_std::Server::bind(address, Arc::new(Granting), Options::default())?.run()
}
