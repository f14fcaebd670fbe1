//! Faults of streams and versions: whose answer it is, and when a connection may end.

use std::time::Duration;

use helenus_core::compression::Compression;
use helenus_core::connection::ServerConfig;
use helenus_core::error::{Error, PeerMisbehaved};
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::{CallOptions, Flags, Opcode};

use crate::client::{Told, config, connected};
use crate::peer::{self, error, response, segment, void};
use crate::reader::{Client as Reader, query, request, startup};
use crate::server::Server;
use crate::{framed, got, ready_server, refusing, service};

#[test]
fn an_error_comes_on_its_requests_stream() {
    for version in [3, 4, 5] {
        for stream in [0, 1, 77, i16::MAX, -5] {
            let wrong = [
                request(version, 0, stream, 7, &[0, 0, 0, 9]),
                request(version, 0, stream, 0x55, &[]),
                request(version, 0, stream, 1, &[0, 0]),
                request(version, 0, stream, 0x0B, b"\0\x01\0\x01?"),
            ];
            for envelope in wrong {
                let mut server = ready_server(version, service());
                server.receive(
                    &framed(version, std::slice::from_ref(&envelope)),
                    Cuts::Whole,
                );
                let got = got(&mut server);
                assert_eq!(
                    (got[0].opcode, got[0].stream),
                    (Opcode::ERROR, stream),
                    "{envelope:?}"
                );
            }
            let mut server = ready_server(version, refusing());
            server.receive(
                &framed(version, &[query(version, stream, "SELECT 1")]),
                Cuts::Whole,
            );
            assert_eq!(got(&mut server)[0].stream, stream);
        }
    }
}

#[test]
fn every_envelope_carries_the_version_of_its_connection() {
    for version in [3, 4, 5] {
        let mut server = Server::new(ServerConfig::default(), service());
        server.receive(&startup(version, &[]), Cuts::Whole);
        let envelopes = [
            query(version, 1, "SELECT 1"),
            request(version, 0, 2, 7, &[0, 0, 0, 9]),
            request(version, 0, 3, 0x0B, b"\0\x01\0\x0dSTATUS_CHANGE"),
        ];
        server.receive(&framed(version, &envelopes), Cuts::Whole);
        server
            .connection
            .push(&helenus_core::ServerEvent::StatusChange {
                change: helenus_core::message::StatusChange::Up,
                address: "127.0.0.1:9042".parse().unwrap(),
            });
        server.flush();
        let got = got(&mut server);
        assert_eq!(got.len(), 5);
        assert!(got.iter().all(|got| got.version == version));

        let mut client = connected(config(version));
        client.query();
        client.wait(Duration::from_secs(30));
        assert_eq!(client.connection.stats().heartbeats, 1);
        let sent = peer::requests(&client.sent());
        assert!(sent.iter().all(|(header, _)| header.version == version));
    }
}

#[test]
fn the_error_is_there_to_be_sent_before_the_connection_is_finished() {
    let mut damaged = segment(SegmentFormat::Plain, true, &query(5, 1, "SELECT 1"));
    damaged[10] ^= 1;
    let negative = vec![4, 0, 0, 1, 7, 0xFF, 0xFF, 0xFF, 0xFF];
    for (version, bytes) in [(5, damaged), (4, negative)] {
        let mut server = ready_server(version, service());
        server.input.extend_from_slice(&bytes);
        server.dispatch();
        assert!(matches!(
            server.closed,
            Some(Error::Peer(
                PeerMisbehaved::SegmentPayload(_) | PeerMisbehaved::NegativeLength(_)
            ))
        ));
        assert!(!server.connection.is_finished(), "the ERROR isn't sent");
        server.flush();
        assert!(server.connection.is_finished());
        assert_eq!(
            Reader::default().read(&server.sent())[0].opcode,
            Opcode::ERROR
        );
    }
}

#[test]
fn every_way_a_request_ends_frees_its_stream() {
    let mut config = config(4);
    config.compressions = vec![Compression::Lz4];
    config.limits.max_envelope = 1000;
    let mut client = connected(config);
    let flag = Flags::COMPRESSION.0;
    let endings = [
        void(4, 1),
        error(4, 1, 0x1001, "busy"),
        response(4, 0, 1, Opcode::RESULT, &[0xFF; 3]),
        response(4, 0x0E, 1, Opcode::RESULT, &[]),
        response(4, 0, 1, Opcode(0x7F), &[]),
        response(4, 0, 1, Opcode::RESULT, &[0; 2000]),
        response(4, flag, 1, Opcode::RESULT, &[1, 2, 3]),
        response(4, flag, 1, Opcode::RESULT, &[0x7F, 0xFF, 0xFF, 0xFF, 1]),
    ];
    for (index, ending) in endings.iter().enumerate() {
        // Answered, then cancelled and answered late, then timed out and answered late.
        for way in 0..3 {
            let call = client.query();
            assert_eq!(call.stream().0, 1, "{index} {way}");
            match way {
                1 => assert!(client.connection.cancel(call)),
                2 => client.wait(Duration::from_secs(12)),
                _ => {}
            }
            client.receive(ending, Cuts::Every(7));
            let told = client.told();
            assert_eq!(told.len(), usize::from(way != 1), "{index} {way}: {told:?}");
            assert!(!matches!(told.first(), Some(Told::Closed(_))));
            assert_eq!(
                (client.connection.in_flight(), client.connection.orphans()),
                (0, 0)
            );
            client.sent();
        }
    }
    let refused = client.connection.forward(
        client.clock.now(),
        Opcode::STARTUP,
        Flags::NONE,
        &[],
        &CallOptions::default(),
    );
    assert!(refused.is_err());
    assert_eq!(
        client.query().stream().0,
        1,
        "a refused request takes no stream"
    );
}
