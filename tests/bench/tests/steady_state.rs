//! What core may cost in memory. Alone in its binary, and one test: the allocator counts every thread.

use std::sync::Arc;
use std::time::Instant;

use bytes::{Buf, BytesMut};
use helenus_allocations as allocations;
use helenus_bench::client::startup;
use helenus_bench::{SCENARIOS, run};
use helenus_core::message::{Extras, Response};
use helenus_core::{Event, Next, Outbox, RequestTicket, ServerConfig, ServerConnection};

#[test]
fn core_keeps_its_bounds_of_memory() {
    nothing_is_allocated_in_steady_state();
    live_memory_is_bounded_by_what_was_received();
}

fn nothing_is_allocated_in_steady_state() {
    for entry in SCENARIOS
        .iter()
        .filter(|entry| entry.name.starts_with("core v"))
    {
        let mut scenario = (entry.make)();
        run(&mut *scenario, 3200);
        let before = allocations::count();
        run(&mut *scenario, 3200);
        assert_eq!(allocations::count() - before, 0, "{}", entry.name);
    }
}

struct Nowhere;

impl Outbox for Nowhere {
    fn deliver(&self, _: RequestTicket, _: Response, _: Option<Box<Extras>>) {}
}

/// The bound: three times the bytes received, and 64 KiB.
fn bound(received: usize) -> u64 {
    3 * received as u64 + (64 << 10)
}

/// Bytes of a peer that promises much and sends little, or sends much that isn't wanted.
fn live_memory_is_bounded_by_what_was_received() {
    let huge = |version: u8, opcode: u8, length: u32| {
        let mut out = vec![version, 0, 0, 1, opcode];
        out.extend(length.to_be_bytes());
        out
    };
    let noise: Vec<u8> = (0..400_000_u32)
        .map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let bomb = {
        let mut out = startup(4, false);
        out.extend(huge(4, 7, 20));
        // Flagged as compressed, though nothing was agreed upon.
        let flags = out.len() - 8;
        out[flags] = 1;
        out.extend(u32::MAX.to_be_bytes());
        out.extend([0; 16]);
        out
    };
    let cases = [
        huge(4, 1, 16 << 20),
        [startup(4, false), huge(4, 7, 16 << 20)].concat(),
        [
            startup(4, false),
            huge(4, 7, i32::MAX as u32),
            noise.clone(),
        ]
        .concat(),
        [startup(4, false), huge(4, 7, 300_000), noise.clone()].concat(),
        [startup(5, false), noise.clone()].concat(),
        noise,
        bomb,
    ];
    for (number, case) in cases.iter().enumerate() {
        for piece in [1 << 20, 1000, 7] {
            let mut connection = None;
            let peak = allocations::peak_of(|| connection = Some(receive(case, piece)));
            assert!(
                peak <= bound(case.len()),
                "case {number} in pieces of {piece}: {peak} for {} bytes",
                case.len()
            );
        }
    }
}

/// A connection that has received these bytes, and the buffer they came in.
fn receive(bytes: &[u8], piece: usize) -> (ServerConnection, BytesMut) {
    let now = Instant::now();
    let config = Arc::new(ServerConfig::default());
    let mut connection = ServerConnection::new(config, Arc::new(Nowhere), now);
    let mut input = BytesMut::new();
    for piece in bytes.chunks(piece) {
        input.extend_from_slice(piece);
        while let Next::Event(event) = connection.next(now, &mut input) {
            if let Event::Request(_, responder) = event {
                responder.send(Response::Void);
            }
        }
        while let Some(mut transmit) = connection.poll_transmit() {
            let length = transmit.remaining();
            transmit.advance(length);
        }
    }
    (connection, input)
}
