//! Faults of compression and of what is longer than a segment.

use bytes::BytesMut;
use helenus_core::compression::{Compression, decompress_body};
use helenus_core::connection::ServerConfig;
use helenus_core::segment::{MAX_PAYLOAD, SegmentFormat, SegmentHeader};
use helenus_core::testing::Cuts;
use helenus_core::{Flags, Opcode, Request, Responder, Response};

use crate::client::{Told, answered, config, connected};
use crate::peer::{response, segment, void};
use crate::reader::{Client as Reader, query};
use crate::{configured_server, service};

const LZ4: &[(&str, &str)] = &[("COMPRESSION", "lz4")];

/// Bytes that no compression makes shorter.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    })
    .take(length)
    .collect()
}

#[test]
fn what_does_not_fit_a_segment_takes_several() {
    for (bytes, compresses) in [
        (vec![7; 3 * MAX_PAYLOAD], true),
        (noise(3 * MAX_PAYLOAD), false),
    ] {
        let token = bytes.clone();
        let service = move |_: Request<'_>, responder: Responder<'_>| {
            responder.send(Response::AuthChallenge(Some(token.clone().into())));
        };
        let config = ServerConfig::default();
        let mut server = configured_server(5, LZ4, config, Box::new(service));
        server.receive(
            &segment(SegmentFormat::Lz4, true, &query(5, 1, "SELECT 1")),
            Cuts::Whole,
        );
        let sent = server.sent();
        assert_eq!(sent.len() < MAX_PAYLOAD, compresses);
        let mut reader = Reader::default();
        let got = reader.read(&sent);
        assert_eq!((got.len(), reader.segments), (1, 4));
        assert_eq!(got[0].body[4..], bytes);

        let mut config = crate::client::config(5);
        config.compressions = vec![Compression::Lz4];
        let mut client = connected(config);
        let call = client.query();
        client.receive(&sent, Cuts::Every(1460));
        let challenge = Response::AuthChallenge(Some(bytes.into()));
        assert_eq!(
            client.told(),
            [Told::Answer(call, Ok((challenge, Default::default())))]
        );
    }
}

#[test]
fn the_length_in_front_of_an_lz4_body_is_that_of_the_body() {
    // Four literals: a token of 0x40, and the bytes. The length is big-endian, unlike lz4's own formats.
    let block = [0, 0, 0, 4, 0x40, 0, 0, 0, 1];
    let mut plain = BytesMut::new();
    decompress_body(Compression::Lz4, &block, 100, &mut plain).unwrap();
    assert_eq!(&plain[..], [0, 0, 0, 1]);
    let mut config = config(4);
    config.compressions = vec![Compression::Lz4];
    let mut client = connected(config);
    let flag = Flags::COMPRESSION.0;
    let call = client.query();
    client.receive(&response(4, flag, 1, Opcode::RESULT, &block), Cuts::BYTES);
    assert_eq!(client.told(), [answered(call)]);
    // That of the block, or little-endian, isn't it.
    for length in [[0, 0, 0, 5], [4, 0, 0, 0], [0, 0, 0, 3], [0, 0, 0, 9]] {
        let wrong = [&length[..], &block[4..]].concat();
        client.query();
        client.receive(&response(4, flag, 1, Opcode::RESULT, &wrong), Cuts::Whole);
        assert!(
            matches!(client.told()[..], [Told::Failed(..)]),
            "{length:?}"
        );
    }
    // And an answer without the flag isn't compressed, whatever was agreed.
    let call = client.query();
    client.receive(&void(4, 1), Cuts::Whole);
    assert_eq!(client.told(), [answered(call)]);
}

#[test]
fn an_uncompressed_length_of_zero_means_stored() {
    let payload = query(5, 1, "SELECT 1");
    let bytes = segment(SegmentFormat::Lz4, true, &payload);
    let header = SegmentHeader::decode(SegmentFormat::Lz4, &bytes)
        .unwrap()
        .unwrap();
    assert_eq!(
        (header.payload as usize, header.uncompressed),
        (payload.len(), 0)
    );
    let mut server = configured_server(5, LZ4, ServerConfig::default(), service());
    server.receive(&bytes, Cuts::BYTES);
    assert_eq!(
        Reader::default().read(&server.sent())[0].opcode,
        Opcode::RESULT
    );
    let mut config = config(5);
    config.compressions = vec![Compression::Lz4];
    let mut client = connected(config);
    let call = client.query();
    client.receive(&segment(SegmentFormat::Lz4, true, &void(5, 1)), Cuts::BYTES);
    assert_eq!(client.told(), [answered(call)]);
}

#[test]
fn the_compression_flag_means_nothing_in_v5() {
    for (options, format, compressions) in [
        (&[][..], SegmentFormat::Plain, vec![]),
        (LZ4, SegmentFormat::Lz4, vec![Compression::Lz4]),
    ] {
        let mut envelope = query(5, 1, "SELECT 1");
        envelope[1] = Flags::COMPRESSION.0;
        let mut server = configured_server(5, options, ServerConfig::default(), service());
        server.receive(&segment(format, true, &envelope), Cuts::Whole);
        let got = Reader::default().read(&server.sent());
        assert_eq!((got[0].opcode, got[0].flags), (Opcode::RESULT, 0));

        let mut config = config(5);
        config.compressions = compressions;
        let mut client = connected(config);
        let call = client.query();
        let flagged = response(5, Flags::COMPRESSION.0, 1, Opcode::RESULT, &[0, 0, 0, 1]);
        client.receive(&segment(format, true, &flagged), Cuts::Whole);
        assert_eq!(client.told(), [answered(call)]);
    }
}
