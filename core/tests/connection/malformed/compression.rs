//! Bodies and segments that don't decompress, or would to more than they may.

use bytes::BytesMut;
use helenus_core::compression::{CompressionError, decompress_body, decompress_segment};
use helenus_core::segment::SegmentHeader;

use super::*;

const LZ4: &str = "Provided frame does not appear to be LZ4 compressed";
const SNAPPY: &str = "Provided frame does not appear to be Snappy compressed";

/// An lz4 block of one literal and one match, as long as matches get: `255 × extensions` bytes and some.
fn lz4_bomb(extensions: usize) -> Vec<u8> {
    // A literal, a match of 15 bytes and more at distance 1, its length in bytes of 255.
    [
        &[0x1F, b'x', 1, 0][..],
        &vec![0xFF; extensions],
        &[0, 0x50],
        b"xxxxx",
    ]
    .concat()
}

/// A QUERY with this compressed body on stream 9.
fn compressed(version: u8, body: &[u8]) -> Vec<u8> {
    request(version, 1, 9, 7, body)
}

fn with_length(claimed: u32, block: &[u8]) -> Vec<u8> {
    [&claimed.to_be_bytes(), block].concat()
}

#[test]
fn a_body_that_does_not_decompress_is_answered_on_stream_0() {
    for version in [3, 4] {
        let case = |name: &str, compression, body: &[u8]| {
            Case::new(
                name,
                version,
                compressed(version, body),
                ErrorKind::Compression,
            )
            .compressed(compression)
            .on_stream(0)
        };
        hold([
            case("nothing", "lz4", b"").says(LZ4),
            case("a cut length", "lz4", b"\0\0\0").says(LZ4),
            case("no block", "lz4", &with_length(100, &[0xFF; 8])).says(LZ4),
            case(
                "fewer bytes than claimed",
                "lz4",
                &with_length(100, b"\x10x"),
            )
            .says(LZ4),
            case(
                "more bytes than claimed",
                "lz4",
                &with_length(1, b"\x50xxxxx"),
            )
            .says(LZ4),
            case(
                "a claim of 4 GiB",
                "lz4",
                &with_length(u32::MAX, &lz4_bomb(10)),
            )
            .says("4294967295 exceeds"),
            case(
                "a claim beyond the ratio",
                "lz4",
                &with_length(2551, &[0; 10]),
            )
            .says("2551 exceeds"),
            case("nothing", "snappy", b"").says(SNAPPY),
            case("no block", "snappy", b"\x10\xff\xff").says(SNAPPY),
            case("a claim of 4 GiB", "snappy", b"\xff\xff\xff\xff\x0f\0").says(SNAPPY),
            case("a length without end", "snappy", &[0xFF; 20]).says(SNAPPY),
        ]);
    }
}

#[test]
fn a_segment_that_does_not_decompress_is_answered_on_stream_0() {
    let segment = |uncompressed: u32, block: &[u8], self_contained| {
        let format = SegmentFormat::Lz4;
        let header = SegmentHeader {
            payload: u32::try_from(block.len()).unwrap(),
            uncompressed,
            self_contained,
        };
        let crc = helenus_core::crc::crc32(block).to_le_bytes();
        [&header.encode(format)[..format.header_len()], block, &crc].concat()
    };
    for self_contained in [true, false] {
        let case = |name: &str, uncompressed, block: &[u8]| {
            let bytes = segment(uncompressed, block, self_contained);
            Case::new(name, 5, bytes, ErrorKind::Compression)
                .compressed("lz4")
                .on_stream(0)
        };
        hold([
            case("no block", 100, &[0xFF; 8]).says(LZ4),
            case("fewer bytes than claimed", 100, b"\x10x").says(LZ4),
            case("more bytes than claimed", 1, b"\x50xxxxx").says(LZ4),
            case("a claim beyond the ratio", 131_071, &[0; 8]).says("131071 exceeds"),
        ]);
    }
}

#[test]
fn a_bomb_is_refused_before_its_room_is_taken() {
    // 64 KiB that would be 16 MiB: as dense as lz4 gets, and honest about its length.
    let block = lz4_bomb(64 << 10);
    let honest = 1 + 4 + 15 + 255 * (64 << 10) + 5;
    let body = with_length(honest, &block);
    let before_login = Case::new("a bomb", 4, compressed(4, &body), ErrorKind::Compression)
        .compressed("lz4")
        .on_stream(0)
        .configured(|config| config.limits.max_envelope = 1 << 20)
        .says("exceeds what 1048576 bytes may hold");
    hold([before_login]);
}

/// The bound of the design: min(claimed, 255 × compressed, limit).
#[test]
fn decompression_takes_no_more_room_than_its_bound() {
    let mut out = BytesMut::new();
    for (claimed, extensions, limit) in [
        (5_000, 10, 1 << 20),
        (2_575, 10, 1 << 20),
        (1 << 19, 4096, 1 << 18),
        (u32::MAX, 4096, 1 << 18),
    ] {
        let block = lz4_bomb(extensions);
        let body = with_length(claimed, &block);
        let bound = (claimed as usize).min(255 * block.len()).min(limit) as u64;
        let peak = peak_of(|| {
            let _ = decompress_body(Compression::Lz4, &body, limit, &mut out);
            out = BytesMut::new();
        });
        assert!(
            peak <= bound,
            "{claimed} claimed of {}: {peak}",
            block.len()
        );
    }
    for (claimed, limit) in [
        (&b"\x80\x80\x01"[..], 1 << 20),
        (b"\xff\xff\xff\xff\x07", 1 << 16),
    ] {
        let body = [claimed, &[0xFE, 1, 0].repeat(100)].concat();
        let peak = peak_of(|| {
            let _ = decompress_body(Compression::Snappy, &body, limit, &mut out);
            out = BytesMut::new();
        });
        assert!(peak <= 255 * body.len() as u64, "{peak}");
        assert!(peak <= limit as u64, "{peak}");
    }
    let peak = peak_of(|| {
        let error = decompress_segment(&[0; 8], 131_071, &mut out).unwrap_err();
        assert!(matches!(
            error,
            CompressionError::TooLong {
                claimed: 131_071,
                available: 2040
            }
        ));
    });
    assert_eq!(peak, 0);
}

#[test]
fn a_refused_block_leaves_what_was_there() {
    let mut out = BytesMut::from(&b"kept"[..]);
    for body in [
        with_length(100, &[0xFF; 8]),
        with_length(u32::MAX, b"x"),
        b"\0".to_vec(),
    ] {
        decompress_body(Compression::Lz4, &body, 1 << 20, &mut out).unwrap_err();
        assert_eq!(out, b"kept"[..]);
    }
    decompress_body(Compression::Snappy, b"\x10\xff\xff", 1 << 20, &mut out).unwrap_err();
    decompress_segment(&[0xFF; 8], 100, &mut out).unwrap_err();
    assert_eq!(out, b"kept"[..]);
}
