//! Whatever bytes come, in whatever order the methods are called: nothing panics, loops or piles up.

use std::time::Duration;

use bytes::{Buf, BytesMut};
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{CallOptions, Flags, Opcode};
use proptest::prelude::*;

use crate::client::{Client, Told, config};
use crate::peer::{error, ready, response, segment, supported, void};

/// Bytes that get past the first checks often enough to be interesting.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let version = prop_oneof![8 => 3_u8..=5, 1 => 0_u8..0x7F];
    let opcode = prop_oneof![8 => 0_u8..=0x10, 1 => any::<u8>()];
    let stream = prop_oneof![6 => 0_i16..8, 1 => any::<i16>()];
    let body = prop::collection::vec(any::<u8>(), 0..80);
    let envelope = (version, any::<u8>(), stream, opcode, body).prop_map(
        |(version, flags, stream, opcode, body)| {
            response(version, flags, stream, Opcode(opcode), &body)
        },
    );
    let good = (3_u8..=5, 0_i16..8, 0..4).prop_map(|(version, stream, kind)| match kind {
        0 => error(version, stream, 0x1001, "busy"),
        1 => supported(version, &[("COMPRESSION", &["lz4"])]),
        2 => response(version, 0, -1, Opcode::EVENT, b"\0\x01?"),
        _ => void(version, stream),
    });
    let payload = prop_oneof![envelope, good, prop::collection::vec(any::<u8>(), 0..60)].boxed();
    let segments = (any::<bool>(), payload.clone())
        .prop_map(|(whole, payload)| segment(SegmentFormat::Plain, whole, &payload));
    prop_oneof![2 => payload, 3 => segments]
}

/// A client in some version, perhaps ready, with requests in flight.
fn client(version: u8, is_ready: bool) -> Client {
    let mut client = Client::new(config(version));
    if is_ready {
        client.receive(&ready(version), Cuts::Whole);
        for _ in 0..6 {
            client.query();
        }
    }
    client
}

/// What was told, and how many bytes of the input were left.
fn outcome(version: u8, is_ready: bool, bytes: &[u8], cuts: Cuts) -> Vec<Told> {
    let mut client = client(version, is_ready);
    client.receive(bytes, cuts);
    let told = client.told();
    let ended = told
        .iter()
        .filter(|told| matches!(told, Told::Answer(..) | Told::Failed(..)))
        .count();
    if is_ready {
        assert_eq!(ended + client.connection.in_flight(), 6);
    }
    let closed = told
        .iter()
        .filter(|told| matches!(told, Told::Closed(_)))
        .count();
    assert!(closed <= 1);
    assert_eq!(closed == 1, client.connection.is_finished());
    told
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn arbitrary_bytes_are_told_the_same_whatever_the_cuts(
        version in 3_u8..=5,
        is_ready in prop::bool::weighted(0.8),
        messages in prop::collection::vec(message(), 0..12),
        seed in any::<u64>(),
    ) {
        let bytes = messages.concat();
        let whole = outcome(version, is_ready, &bytes, Cuts::Whole);
        prop_assert_eq!(&whole, &outcome(version, is_ready, &bytes, Cuts::BYTES));
        let random = Cuts::Random { seed, longest: 20 };
        prop_assert_eq!(&whole, &outcome(version, is_ready, &bytes, random));
    }

    #[test]
    fn any_order_of_calls_is_safe(
        version in 3_u8..=5,
        messages in prop::collection::vec(message(), 0..8),
        calls in prop::collection::vec(0_u8..14, 0..80),
    ) {
        let mut client = Client::new(config(version));
        let mut messages = messages.into_iter();
        let mut last = None;
        for call in calls {
            let now = client.clock.now();
            match call {
                0 => client.input.extend_from_slice(&ready(version)),
                1 | 2 => client.input.extend_from_slice(&messages.next().unwrap_or_default()),
                3 | 4 => { client.run(); }
                5 => last = client.try_query(&CallOptions::default()).ok().or(last),
                6 => {
                    let options = CallOptions::default().with_timeout(Duration::from_secs(1));
                    let _ = client.connection.forward(now, Opcode(0x55), Flags(0xFF), b"?", &options);
                }
                7 => { last.map(|call| client.connection.cancel(call)); }
                8 => client.clock.advance(Duration::from_secs(7)),
                9 => client.connection.handle_timeout(now),
                10 => {
                    if let Some(mut output) = client.connection.poll_transmit() {
                        output.advance(3);
                    }
                }
                11 => { client.connection.take_output(&mut BytesMut::new()); }
                12 => { let _ = client.connection.authenticate(None); }
                _ if client.input.len() > 100 => client.connection.handle_eof(now),
                _ if client.input.len() > 50 => client.connection.close(),
                _ => { let _ = client.connection.poll_timeout(); }
            }
        }
        client.run();
    }
}
