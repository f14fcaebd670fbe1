//! A service tested with no socket at all: bytes in, bytes out, and a clock that stands still.

use bytes::{Buf, BytesMut};
use helenus_core::{ErrorResponse, Pumped, Request, RequestBody, Responder, Response};
use helenus_server::{Driver, Hub, Options, PeerInfo, Service};
use std::convert::Infallible;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

/// Counts the requests of each connection.
struct Counting;

impl Service for Counting {
    type Session = u32;

    fn open(&self, _peer: &PeerInfo) -> u32 {
        0
    }

    fn call(&self, _: Instant, count: &mut u32, request: Request<'_>, responder: Responder<'_>) {
        *count += 1;
        match request.parse() {
            Ok(RequestBody::Query(_)) => {
                responder.send(Response::SetKeyspace(format!("request{count}").into()));
            }
            Ok(_) => responder.error(ErrorResponse::invalid("Only QUERY is answered here")),
            Err(error) => responder.reject(&error),
        }
    }
}

/// What `driver` answers to `bytes`.
fn exchange(driver: &mut Driver<Counting>, bytes: &[u8]) -> Vec<u8> {
    let now = Instant::now();
    let _ = driver.read(now, |buffer: &mut BytesMut| {
        buffer.extend_from_slice(bytes);
        Poll::Ready(Ok::<_, Infallible>(bytes.len()))
    });
    driver.turn(now);
    let mut answer = Vec::new();
    while let Some(mut transmit) = driver.poll_transmit() {
        answer.extend_from_slice(transmit.chunk());
        transmit.advance(transmit.chunk().len());
    }
    answer
}

fn main() {
    let address = ([127, 0, 0, 1], 9042).into();
    let hub = Hub::new(Arc::new(Counting), Options::default());
    let mut driver = hub
        .connect(address, address, Instant::now())
        .expect("the first connection");

    // STARTUP of protocol v4 on stream 1, answered READY.
    let startup = b"\x04\x00\x00\x01\x01\x00\x00\x00\x16\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0";
    assert_eq!(
        exchange(&mut driver, startup),
        b"\x84\x00\x00\x01\x02\x00\x00\x00\x00"
    );

    // The QUERY "x" at ONE on stream 2, twice in one read, is answered by two RESULTs of kind 3.
    let query = b"\x04\x00\x00\x02\x07\x00\x00\x00\x08\x00\x00\x00\x01x\x00\x01\x00";
    let answer = exchange(&mut driver, &[*query, *query].concat());
    let expected: Vec<u8> = [b"request1", b"request2"]
        .iter()
        .flat_map(|said| {
            [
                &b"\x84\x00\x00\x02\x08\x00\x00\x00\x0e\x00\x00\x00\x03\x00\x08"[..],
                &said[..],
            ]
            .concat()
        })
        .collect();
    assert_eq!(answer, expected);
}
