//! Whatever bytes come, in whatever order the methods are called: nothing panics, loops or piles up.

use bytes::Buf;
use helenus_core::connection::ServerConfig;
use helenus_core::message::Response;
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use proptest::prelude::*;

use crate::client::{Client, options, query, request, segment, startup};
use crate::server::{Server, Service};

/// Bytes that get past the first checks often enough to be interesting.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let version = prop_oneof![8 => 3_u8..=5, 1 => any::<u8>()];
    let opcode = prop_oneof![6 => 0_u8..=0x10, 1 => any::<u8>()];
    let body = prop::collection::vec(any::<u8>(), 0..80);
    let header = (version, any::<u8>(), any::<i16>(), opcode, body);
    let envelope = header.prop_map(|(version, flags, stream, opcode, body)| {
        request(version, flags, stream, opcode, &body)
    });
    let good = (3_u8..=5, any::<i16>(), any::<bool>()).prop_map(|(version, stream, ask)| {
        if ask {
            options(version, stream)
        } else {
            query(version, stream, "SELECT v FROM probe.kv")
        }
    });
    let payload = prop_oneof![envelope, good, prop::collection::vec(any::<u8>(), 0..60)].boxed();
    let format = prop_oneof![Just(SegmentFormat::Plain), Just(SegmentFormat::Lz4)];
    let segments = (format, any::<bool>(), payload.clone())
        .prop_map(|(format, whole, payload)| segment(format, whole, &payload));
    prop_oneof![2 => payload, 2 => segments]
}

fn service() -> Service {
    Box::new(|request, responder| match request.parse() {
        Ok(_) => responder.send(Response::Void),
        Err(error) => responder.reject(&error),
    })
}

fn hello() -> impl Strategy<Value = Vec<u8>> {
    let compression = prop_oneof![Just(None), Just(Some("lz4")), Just(Some("snappy"))];
    (3_u8..=5, compression).prop_map(|(version, compression)| match compression {
        Some(name) => startup(version, &[("COMPRESSION", name)]),
        None => startup(version, &[]),
    })
}

/// What was sent, and whether the connection is over.
fn outcome(bytes: &[u8], cuts: Cuts) -> (Vec<u8>, bool) {
    let mut server = Server::new(ServerConfig::default(), service());
    server.receive(bytes, cuts);
    (server.sent(), server.connection.is_finished())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn arbitrary_messages_are_answered_or_refused_whatever_the_cuts(
        hello in prop::option::of(hello()),
        messages in prop::collection::vec(message(), 0..12),
        seed in any::<u64>(),
    ) {
        let bytes = [hello.unwrap_or_default(), messages.concat()].concat();
        let (whole, over) = outcome(&bytes, Cuts::Whole);
        let random = outcome(&bytes, Cuts::Random { seed, longest: 20 });
        let single = outcome(&bytes, Cuts::BYTES);
        prop_assert_eq!(over, single.1);
        prop_assert_eq!(over, random.1);
        let read = |bytes: &[u8]| Client::new(None).read_lenient(bytes);
        prop_assert_eq!(read(&whole), read(&single.0));
        prop_assert_eq!(read(&whole), read(&random.0));
    }

    #[test]
    fn any_order_of_calls_is_safe(
        hello in hello(),
        messages in prop::collection::vec(message(), 0..8),
        calls in prop::collection::vec(0_u8..9, 0..60),
    ) {
        let mut server = Server::new(ServerConfig::default(), service());
        server.receive(&hello, Cuts::Whole);
        let mut messages = messages.into_iter();
        for call in calls {
            let now = server.clock.now();
            match call {
                0 | 1 => server.input.extend_from_slice(&messages.next().unwrap_or_default()),
                2 => { server.dispatch(); }
                3 => {
                    if let Some(mut output) = server.connection.poll_transmit() {
                        output.advance(3);
                    }
                }
                4 => { server.connection.take_output(&mut Default::default()); }
                5 => server.clock.advance(std::time::Duration::from_secs(7)),
                6 => server.connection.handle_timeout(now),
                7 => {
                    let at = server.connection.poll_timeout();
                    prop_assert!(at.is_none_or(|at| at > server.clock.now() - std::time::Duration::from_secs(600)));
                }
                _ if server.input.len() > 200 => server.connection.handle_eof(now),
                _ => server.connection.drain(),
            }
        }
        server.run();
    }
}
