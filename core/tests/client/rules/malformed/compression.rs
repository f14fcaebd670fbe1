//! Answers and segments that don't decompress, or would to more than they may; compressions that nobody agreed on.

use helenus_core::compression::{Compression, CompressionError};
use helenus_core::connection::{CallError, Owner, Retry};
use helenus_core::crc::crc32;
use helenus_core::error::{ErrorKind, PeerMisbehaved};
use helenus_core::segment::{SegmentFormat, SegmentHeader};
use helenus_core::testing::Cuts;
use helenus_core::{ClientConfig, ClientError, Flags, Opcode};

use super::receive;
use crate::client::{Client, Told, answered, config, connected, limited};
use crate::peer::{ready, requests, response, segment, supported, void};

const LZ4: CompressionError = CompressionError::Corrupt(Compression::Lz4);
const SNAPPY: CompressionError = CompressionError::Corrupt(Compression::Snappy);

fn too_long(claimed: u32, available: u32) -> CompressionError {
    CompressionError::TooLong { claimed, available }
}

/// A client that agreed on a compression, and takes answers of 1 MiB.
fn compressing(version: u8, compression: Compression) -> Client {
    let mut config = limited(version, |limits| limits.max_envelope = 1 << 20);
    config.compressions = vec![compression];
    connected(config)
}

/// A RESULT of request 1 with this compressed body.
fn compressed(version: u8, body: &[u8]) -> Vec<u8> {
    response(version, Flags::COMPRESSION.0, 1, Opcode::RESULT, body)
}

fn with_length(claimed: u32, block: &[u8]) -> Vec<u8> {
    [&claimed.to_be_bytes(), block].concat()
}

/// An lz4 block as dense as they get, and how many bytes it gives.
fn lz4_bomb(extensions: usize) -> (u32, Vec<u8>) {
    let run = vec![0xFF; extensions];
    let block = [&[0x1F, b'x', 1, 0][..], &run, &[0, 0x50], b"xxxxx"].concat();
    let length = 1 + 4 + 15 + 255 * extensions + 5;
    (u32::try_from(length).unwrap(), block)
}

/// A compressed segment.
fn packed(uncompressed: u32, self_contained: bool, block: &[u8]) -> Vec<u8> {
    let format = SegmentFormat::Lz4;
    let header = SegmentHeader {
        payload: u32::try_from(block.len()).unwrap(),
        uncompressed,
        self_contained,
    };
    let front = header.encode(format);
    [
        &front[..format.header_len()],
        block,
        &crc32(block).to_le_bytes(),
    ]
    .concat()
}

#[test]
fn an_answer_that_does_not_decompress_fails_alone() {
    let (honest, bomb) = lz4_bomb(64 << 10);
    let lz4_cases = [
        ("nothing", vec![], LZ4),
        ("a cut length", vec![0, 0, 0], LZ4),
        ("no block", with_length(100, &[0xFF; 8]), LZ4),
        ("fewer bytes than claimed", with_length(100, b"\x10x"), LZ4),
        ("more bytes than claimed", with_length(1, b"\x50xxxxx"), LZ4),
        (
            "a claim of 4 GiB",
            with_length(u32::MAX, &[0; 10]),
            too_long(u32::MAX, 2550),
        ),
        (
            "a claim beyond the ratio",
            with_length(2551, &[0; 10]),
            too_long(2551, 2550),
        ),
        (
            "a bomb",
            with_length(honest, &bomb),
            too_long(honest, 1 << 20),
        ),
    ];
    let snappy_cases = [
        ("nothing", vec![], SNAPPY),
        ("no block", b"\x10\xff\xff".to_vec(), SNAPPY),
        (
            "a claim of 4 GiB",
            b"\xff\xff\xff\xff\x0f\0".to_vec(),
            SNAPPY,
        ),
        ("a length without end", vec![0xFF; 20], SNAPPY),
        (
            "a bomb",
            [&b"\x80\x80\x80\x08"[..], &[0xFE, 1, 0].repeat(200_000)].concat(),
            SNAPPY,
        ),
    ];
    let cases = lz4_cases.map(|case| (Compression::Lz4, case));
    let cases = cases
        .into_iter()
        .chain(snappy_cases.map(|case| (Compression::Snappy, case)));
    for (compression, (name, body, expected)) in cases {
        for version in [3, 4] {
            let label = format!("v{version} {} {name}", compression.name());
            let bytes = [compressed(version, &body), void(version, 2)].concat();
            for cuts in [Cuts::Whole, Cuts::Every(1460)] {
                let mut client = compressing(version, compression);
                let (broken, good) = (client.query(), client.query());
                receive(&mut client, &bytes, cuts);
                let error = CallError::Compression(expected);
                assert_eq!(
                    (error.may_retry(), error.owner()),
                    (Retry::IfIdempotent, Owner::Peer)
                );
                let told = [Told::Failed(broken, error), answered(good)];
                assert_eq!(client.told(), told, "{label}");
                faults(&client, &[(ErrorKind::Compression, 1)], &label);
            }
        }
    }
}

#[test]
fn a_segment_that_does_not_decompress_ends_the_connection() {
    let cases = [
        ("no block", packed(100, true, &[0xFF; 8]), LZ4),
        ("fewer bytes than claimed", packed(100, true, b"\x10x"), LZ4),
        (
            "more bytes than claimed",
            packed(1, true, b"\x50xxxxx"),
            LZ4,
        ),
        (
            "a claim beyond the ratio",
            packed(131_071, true, &[0; 8]),
            too_long(131_071, 2040),
        ),
        ("a part of a message", packed(100, false, &[0xFF; 8]), LZ4),
        (
            "the second part",
            [
                segment(SegmentFormat::Lz4, false, &void(5, 1)[..10]),
                packed(100, false, &[0xFF; 8]),
            ]
            .concat(),
            LZ4,
        ),
    ];
    for (name, bytes, expected) in cases {
        for cuts in [Cuts::Whole, Cuts::BYTES] {
            let mut client = compressing(5, Compression::Lz4);
            let call = client.query();
            receive(&mut client, &bytes, cuts);
            let reason = ClientError::Peer(PeerMisbehaved::Compression(expected));
            assert_eq!(reason.owner(), Owner::Peer);
            let lost = CallError::Lost {
                sent: false,
                reason: reason.clone(),
            };
            let told = [Told::Failed(call, lost), Told::Closed(reason)];
            assert_eq!(client.told(), told, "{name}");
            faults(&client, &[(ErrorKind::Compression, 1)], name);
        }
    }
}

#[test]
fn a_compressed_answer_to_startup_that_does_not_decompress_ends_the_handshake() {
    for compression in [Compression::Lz4, Compression::Snappy] {
        let mut config = config(4);
        config.compressions = vec![compression];
        let mut client = Client::new(config);
        client.sent();
        let bytes = response(4, Flags::COMPRESSION.0, 0, Opcode::READY, &[0xFF; 9]);
        receive(&mut client, &bytes, Cuts::BYTES);
        let told = client.told();
        assert!(
            matches!(
                told[..],
                [Told::Closed(ClientError::Peer(
                    PeerMisbehaved::Compression(_)
                ))]
            ),
            "{told:?}"
        );
        faults(&client, &[(ErrorKind::Compression, 1)], compression.name());
    }
}

/// There is nothing that the flag could mean; Cassandra takes it so too.
#[test]
fn the_flag_without_an_agreement_is_ignored() {
    for (version, wrapped) in [(3, false), (4, false), (5, true)] {
        let mut client = connected(config(version));
        let call = client.query();
        let mut bytes = compressed(version, &[0, 0, 0, 1]);
        if wrapped {
            bytes = segment(SegmentFormat::Plain, true, &bytes);
        }
        receive(&mut client, &bytes, Cuts::BYTES);
        assert_eq!(client.told(), [answered(call)], "v{version}");
        faults(&client, &[], "the flag");
    }
}

#[test]
fn an_answer_may_stay_as_it_is_where_compression_was_agreed_on() {
    for compression in [Compression::Lz4, Compression::Snappy] {
        let mut client = compressing(4, compression);
        let call = client.query();
        receive(&mut client, &void(4, 1), Cuts::BYTES);
        assert_eq!(client.told(), [answered(call)]);
    }
}

/// What a server supports and this end or the version lacks is passed over, however much of it there is.
#[test]
fn a_compression_that_is_unknown_or_has_no_place_is_not_demanded() {
    let many: Vec<String> = (0..2000).map(|n| format!("c{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let cases: [(&str, u8, &[&str]); 6] = [
        ("unknown", 4, &["zstd", "brotli"]),
        ("nothing", 4, &[]),
        ("an empty name", 4, &[""]),
        ("another's", 4, &["lz4x", "sna ppy", "LZ4\0"]),
        ("snappy in v5", 5, &["snappy"]),
        ("thousands", 4, &many),
    ];
    for (name, version, offered) in cases {
        let mut config = ClientConfig::default();
        config.versions = vec![crate::client::version(version)];
        config.compressions = vec![Compression::Snappy, Compression::Lz4];
        let mut client = Client::new(config);
        client.sent();
        let said = supported(version, &[("COMPRESSION", offered)]);
        // Two allocations an option of a few bytes: its String and its place in the Vec.
        client.input.reserve(said.len());
        let peak = helenus_allocations::peak_of(|| client.receive(&said, Cuts::Whole));
        assert!(
            peak <= 12 * said.len() as u64 + (64 << 10),
            "{name}: {peak}"
        );
        let sent = requests(&client.sent());
        assert_eq!(sent[0].0.opcode, Opcode::STARTUP, "{name}");
        let named = sent[0].1.windows(11).any(|part| part == b"COMPRESSION");
        assert!(!named, "{name}");
        client.receive(&ready(version), Cuts::Whole);
        assert_eq!(client.told(), [Told::Ready], "{name}");
        assert_eq!(client.connection.compression(), None, "{name}");
        faults(&client, &[], name);
    }
}

fn faults(client: &Client, expected: &[(ErrorKind, u64)], label: &str) {
    let faults = client.connection.stats().faults;
    assert_eq!(faults.iter().collect::<Vec<_>>(), expected, "{label}");
}
