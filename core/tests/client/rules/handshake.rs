//! How a connection begins: versions, compression, authentication, and the switch to segments.

use helenus_core::compression::Compression;
use helenus_core::connection::{Challenge, SendRefused};
use helenus_core::error::{Misuse, PeerMisbehaved};
use helenus_core::segment::SegmentFormat;
use helenus_core::testing::Cuts;
use helenus_core::transition::State;
use helenus_core::{
    CallOptions, ClientConfig, ClientError, ErrorCode, Opcode, ProtocolVersion, Response, StreamId,
};

use crate::client::{Client, Told, config, connected};
use crate::peer::{error, put_string, ready, requests, response, segment, supported, void};

/// The ERROR the connection ended with.
fn closed(client: &mut Client) -> ClientError {
    match &client.told()[..] {
        [Told::Closed(error)] => error.clone(),
        other => panic!("unexpected {other:?}"),
    }
}

#[test]
fn options_come_first_and_startup_demands_what_is_supported() {
    for (version, expected) in [
        (ProtocolVersion::V3, Compression::Snappy),
        (ProtocolVersion::V4, Compression::Snappy),
        (ProtocolVersion::V5, Compression::Lz4),
    ] {
        let mut config = ClientConfig::default();
        config.versions = vec![version];
        config.compressions = vec![Compression::Snappy, Compression::Lz4];
        config.startup_options = vec![("NO_COMPACT".to_owned(), "true".to_owned())];
        let mut client = Client::new(config);
        assert_eq!(client.asked(), [(Opcode::OPTIONS, 0)]);
        let options: &[(&str, &[&str])] = &[("COMPRESSION", &["LZ4", "snappy"])];
        client.receive(&supported(version.as_u8(), options), Cuts::BYTES);
        let sent = requests(&client.sent());
        let mut body = Vec::new();
        body.extend_from_slice(&[0, 5]);
        for text in [
            "CQL_VERSION",
            "3.0.0",
            "DRIVER_NAME",
            "helenus",
            "DRIVER_VERSION",
            env!("CARGO_PKG_VERSION"),
            "COMPRESSION",
            expected.name(),
            "NO_COMPACT",
            "true",
        ] {
            put_string(&mut body, text);
        }
        assert_eq!(
            (sent[0].0.opcode, sent[0].0.stream),
            (Opcode::STARTUP, StreamId(0))
        );
        assert_eq!(sent[0].1, body);
        client.receive(&ready(version.as_u8()), Cuts::Whole);
        assert_eq!(client.told(), [Told::Ready]);
        assert_eq!(client.connection.compression(), Some(expected));
        let named = client.connection.supported().unwrap().get("COMPRESSION");
        assert_eq!(named, ["LZ4", "snappy"]);
    }
}

#[test]
fn a_compression_that_the_server_lacks_is_not_demanded() {
    let mut config = ClientConfig::default();
    config.compressions = vec![Compression::Lz4];
    let mut client = Client::new(config);
    client.sent();
    client.receive(&supported(5, &[("COMPRESSION", &["zstd"])]), Cuts::Whole);
    assert_eq!(client.asked(), [(Opcode::STARTUP, 0)]);
    assert_eq!(client.connection.compression(), None);
}

#[test]
fn a_refused_version_names_the_next_whoever_refuses_it_and_how() {
    let cassandra =
        "Invalid or unsupported protocol version (5); supported versions are (3/v3, 4/v4)";
    let scylla = "Invalid or unsupported protocol version: 5";
    let old = "Invalid or unsupported protocol version: 5; the highest is 2";
    let mut old_header = vec![0x82, 0, 0, 0, 0, 0, 0, 0];
    old_header.extend_from_slice(&error(2, 0, 0x0A, old)[9..]);
    old_header[7] = u8::try_from(old_header.len() - 8).unwrap();
    let refusals = [
        error(4, 0, 0x0A, cassandra),
        error(5, 0, 0x0A, cassandra),
        error(4, 77, 0x0A, scylla),
        error(5, 0, 0, scylla),
        error(3, 0, 0, "another version's header says enough"),
        error(6, 0, 0x0A, "even an unknown one's"),
        old_header,
    ];
    for refusal in refusals {
        for asks in [false, true] {
            let mut config = ClientConfig::default();
            config.ask_options = asks;
            let mut client = Client::new(config);
            client.sent();
            client.receive(&refusal, Cuts::BYTES);
            let error = closed(&mut client);
            assert_eq!(error.step_down(), Some(ProtocolVersion::V4), "{error}");
            assert!(client.connection.is_finished());
        }
    }
}

#[test]
fn the_ladder_ends_at_its_last_step() {
    let mut client = Client::new(config(4));
    client.receive(
        &error(3, 0, 0x0A, "unsupported protocol version"),
        Cuts::Whole,
    );
    assert_eq!(closed(&mut client).step_down(), None);
}

#[test]
fn another_refusal_of_startup_is_told_as_it_is() {
    let mut client = Client::new(config(5));
    client.receive(
        &error(5, 0, 0x0A, "Unknown compression algorithm: x"),
        Cuts::Whole,
    );
    let error = closed(&mut client);
    assert_eq!(error.step_down(), None);
    match error {
        ClientError::Refused { state, error } => {
            assert_eq!(
                (state, error.code),
                (State::Starting, ErrorCode::PROTOCOL_ERROR)
            );
        }
        other => panic!("unexpected {other:?}"),
    }
}

#[test]
fn only_an_error_may_come_in_another_version() {
    let mut client = Client::new(config(5));
    client.receive(&ready(4), Cuts::Whole);
    let expected = PeerMisbehaved::VersionChanged { got: 4, agreed: 5 };
    assert_eq!(closed(&mut client), ClientError::Peer(expected));
    let mut client = connected(config(4));
    client.query();
    client.receive(&void(3, 1), Cuts::Whole);
    let expected = PeerMisbehaved::VersionChanged { got: 3, agreed: 4 };
    assert_eq!(client.told().last(), Some(&Told::Closed(expected.into())));
}

#[test]
fn segments_begin_right_behind_ready_even_within_one_read() {
    for cuts in [Cuts::Whole, Cuts::BYTES] {
        let mut client = Client::new(config(5));
        let startup = client.sent();
        assert_eq!(startup[..5], [5, 0, 0, 0, 1], "bare");
        let event = response(5, 0, -1, Opcode::EVENT, b"\0\x01?");
        let behind = segment(SegmentFormat::Plain, true, &event);
        client.receive(&[ready(5), behind].concat(), cuts);
        assert_eq!(client.told(), [Told::Ready, Told::Server(None)]);
        client.query();
        let sent = client.sent();
        assert_eq!(
            sent[..3],
            [u8::try_from(sent.len() - 10).unwrap(), 0, 2],
            "in a segment"
        );
    }
}

#[test]
fn authentication_goes_on_until_success_and_in_segments_from_the_challenge_on() {
    for version in [3, 4, 5] {
        let framed = |bytes: Vec<u8>| match version {
            5 => segment(SegmentFormat::Plain, true, &bytes),
            _ => bytes,
        };
        let mut client = Client::new(config(version));
        client.sent();
        assert_eq!(
            client.connection.authenticate(None),
            Err(Misuse::NotChallenged)
        );
        let mut class = Vec::new();
        put_string(&mut class, "PasswordAuthenticator");
        client.receive(
            &response(version, 0, 0, Opcode::AUTHENTICATE, &class),
            Cuts::Whole,
        );
        let challenge = Challenge::Authenticator("PasswordAuthenticator".to_owned());
        assert_eq!(client.told(), [Told::Challenge(challenge)]);
        assert_eq!(
            client.try_query(&CallOptions::default()),
            Err(SendRefused::NotReady)
        );
        client.connection.authenticate(Some(b"\0u\0p")).unwrap();
        assert_eq!(
            client.connection.authenticate(None),
            Err(Misuse::NotChallenged)
        );
        let sent = client.sent();
        assert_eq!(sent[0] == version, version != 5, "in a segment in v5");
        assert_eq!(requests(&sent)[0].1, b"\0\0\0\x04\0u\0p");
        let token = response(version, 0, 0, Opcode::AUTH_CHALLENGE, b"\0\0\0\x01x");
        client.receive(&framed(token), Cuts::BYTES);
        let challenge = Challenge::Token(Some(b"x"[..].into()));
        assert_eq!(client.told(), [Told::Challenge(challenge)]);
        client.connection.authenticate(None).unwrap();
        assert_eq!(requests(&client.sent())[0].1, b"\xFF\xFF\xFF\xFF");
        let success = response(version, 0, 0, Opcode::AUTH_SUCCESS, b"\0\0\0\x02ok");
        client.receive(&framed(success), Cuts::Whole);
        assert_eq!(client.told(), [Told::Ready]);
        assert_eq!(client.connection.final_token().unwrap(), &b"ok"[..]);
        let call = client.query();
        client.receive(&framed(void(version, 1)), Cuts::Whole);
        let answer = Told::Answer(call, Ok((Response::Void, Default::default())));
        assert_eq!(client.told(), [answer]);
    }
}

#[test]
fn wrong_credentials_are_the_callers_fault() {
    let mut client = Client::new(config(4));
    client.receive(
        &response(4, 0, 0, Opcode::AUTHENTICATE, b"\0\x01A"),
        Cuts::Whole,
    );
    client.connection.authenticate(None).unwrap();
    client.told();
    client.receive(&error(4, 0, 0x0100, "no"), Cuts::Whole);
    let error = closed(&mut client);
    assert_eq!(error.owner(), helenus_core::connection::Owner::Caller);
    assert!(matches!(
        error,
        ClientError::Refused {
            state: State::Authenticating,
            ..
        }
    ));
}

#[test]
fn what_the_handshake_has_no_place_for_ends_it() {
    let wrong = [
        response(4, 0, 0, Opcode::RESULT, &[0, 0, 0, 1]),
        response(4, 0, 0, Opcode::SUPPORTED, &[0, 0]),
        response(4, 0, 0, Opcode::AUTH_SUCCESS, &[0xFF; 4]),
        response(4, 0, 0, Opcode(0x55), &[]),
        response(4, 0, 1, Opcode::READY, &[]),
        response(4, 0, -1, Opcode::EVENT, b"\0\x01?"),
        response(4, 0, 0, Opcode::AUTHENTICATE, &[0, 9]),
        response(4, 0, 0, Opcode::ERROR, &[0, 0]),
        response(4, 0, 0, Opcode::STARTUP, &[]),
        vec![4, 0, 0, 0, 2],
        b"HTTP/1.1 400 Bad Request".to_vec(),
        vec![0x84, 0, 0, 0, 2, 0xFF, 0xFF, 0xFF, 0xFF],
        vec![0x84, 0, 0, 0, 2, 0x00, 0x0F, 0xFF, 0xFF],
    ];
    for bytes in wrong {
        let mut client = Client::new(config(4));
        client.sent();
        client.receive(&bytes, Cuts::BYTES);
        let error = closed(&mut client);
        let is_peers = matches!(error, ClientError::Peer(_) | ClientError::Decode(_));
        assert!(is_peers, "{error:?} to {bytes:?}");
        assert_eq!(client.connection.stats().faults.total(), 1);
    }
}
