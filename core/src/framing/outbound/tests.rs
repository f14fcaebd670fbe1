//! Segments are opened, shared, cut and sealed by rule.

use super::*;
use crate::compression::decompress_segment;
use crate::framing::Dialect;
use crate::segment::{TRAILER, check_payload};

const PLAIN: SegmentFormat = SegmentFormat::Plain;

fn outbound(framing: Framing) -> Outbound {
    let mut outbound = Outbound::new(Direction::Response);
    outbound.switch(framing);
    outbound
}

fn envelope(outbound: &mut Outbound, stream: i16, body: &[u8]) {
    let stamp = Dialect::LATEST.into();
    let mark = outbound.begin(stamp, StreamId(stream), Opcode::RESULT, Flags::NONE);
    outbound.buffer().extend_from_slice(body);
    outbound.finish(mark);
}

/// Reads segments; for each, whether it is self-contained, and its payload.
fn segments(format: SegmentFormat, mut bytes: &[u8]) -> Vec<(bool, Vec<u8>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let header = SegmentHeader::decode(format, bytes).unwrap().unwrap();
        bytes = &bytes[format.header_len()..];
        let length = header.payload as usize;
        check_payload(bytes, length).unwrap().unwrap();
        let mut payload = BytesMut::new();
        match header.uncompressed {
            0 => payload.extend_from_slice(&bytes[..length]),
            plain => decompress_segment(&bytes[..length], plain as usize, &mut payload).unwrap(),
        }
        found.push((header.self_contained, payload.to_vec()));
        bytes = &bytes[length + TRAILER..];
    }
    found
}

fn sealed(outbound: &mut Outbound) -> Vec<u8> {
    outbound.seal();
    outbound.sendable().to_vec()
}

#[test]
fn an_envelope_has_its_bodys_length() {
    let mut outbound = outbound(Framing::Bare(None));
    envelope(&mut outbound, 7, b"abc");
    assert_eq!(
        outbound.sendable(),
        [0x85, 0, 0, 7, 8, 0, 0, 0, 3, b'a', b'b', b'c']
    );
}

#[test]
fn a_body_whose_length_no_header_can_say_becomes_an_error() {
    let mut outbound = outbound(Framing::Bare(None));
    outbound.longest = 80;
    envelope(&mut outbound, 6, &[1; 80]);
    envelope(&mut outbound, 7, &[1; 81]);
    let sent = sealed(&mut outbound);
    assert_eq!(sent[..9], [0x85, 0, 0, 6, 8, 0, 0, 0, 80]);
    let error = &sent[9 + 80..];
    assert_eq!(
        error[..9],
        [0x85, 0, 0, 7, 0, 0, 0, 0, error.len() as u8 - 9]
    );
    assert_eq!(error[9..13], [0; 4]);
    assert!(error[15..].starts_with(b"The response is longer"));
}

#[test]
fn v1_and_v2_get_a_header_of_eight_bytes() {
    let mut outbound = outbound(Framing::Bare(None));
    let stamp = Stamp {
        version: 2,
        flags: Flags::NONE,
    };
    let mark = outbound.begin(stamp, StreamId(0), Opcode::ERROR, Flags::NONE);
    outbound.buffer().extend_from_slice(b"xy");
    outbound.finish(mark);
    assert_eq!(outbound.sendable(), [0x82, 0, 0, 0, 0, 0, 0, 2, b'x', b'y']);
}

#[test]
fn answers_share_a_segment_until_it_is_sent() {
    let mut outbound = outbound(Framing::Segments(PLAIN));
    envelope(&mut outbound, 1, b"one");
    envelope(&mut outbound, 2, b"two");
    assert!(outbound.sendable().is_empty(), "sealed only when sent");
    let bytes = sealed(&mut outbound);
    envelope(&mut outbound, 3, b"three");
    let found = segments(PLAIN, &bytes);
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0, found[0].1.len()), (true, 24));
    assert_eq!(segments(PLAIN, &sealed(&mut outbound)).len(), 2);
}

#[test]
fn a_full_segment_is_cut_between_envelopes() {
    for format in [PLAIN, SegmentFormat::Lz4] {
        let mut outbound = outbound(Framing::Segments(format));
        let body = vec![b'x'; 50_000];
        for stream in 0..5 {
            envelope(&mut outbound, stream, &body);
        }
        let found = segments(format, &sealed(&mut outbound));
        let lengths: Vec<usize> = found.iter().map(|(_, payload)| payload.len()).collect();
        assert_eq!(lengths, [100_018, 100_018, 50_009]);
        assert!(found.iter().all(|(self_contained, _)| *self_contained));
    }
}

#[test]
fn a_long_envelope_takes_segments_of_its_own() {
    for format in [PLAIN, SegmentFormat::Lz4] {
        let mut outbound = outbound(Framing::Segments(format));
        let body: Vec<u8> = (0..300_000_u32).flat_map(u32::to_be_bytes).collect();
        envelope(&mut outbound, 1, b"before");
        envelope(&mut outbound, 2, &body);
        envelope(&mut outbound, 3, b"behind");
        let found = segments(format, &sealed(&mut outbound));
        assert_eq!(found.first(), Some(&(true, found[0].1.clone())));
        let parts = &found[1..found.len() - 1];
        assert!(parts.iter().all(|(self_contained, _)| !self_contained));
        let whole: Vec<u8> = parts.iter().flat_map(|(_, part)| part.clone()).collect();
        assert_eq!(whole.len(), 9 + body.len());
        assert_eq!(whole[9..], body);
        assert_eq!(found[found.len() - 1].1[9..], *b"behind");
    }
}

#[test]
fn an_envelope_of_a_full_segment_stays_self_contained() {
    let mut outbound = outbound(Framing::Segments(PLAIN));
    envelope(&mut outbound, 1, &vec![0; MAX_PAYLOAD - 9]);
    let found = segments(PLAIN, &sealed(&mut outbound));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].0, found[0].1.len()), (true, MAX_PAYLOAD));
}

#[test]
fn an_abandoned_envelope_leaves_no_empty_segment() {
    let mut outbound = outbound(Framing::Segments(PLAIN));
    let stamp = Dialect::LATEST.into();
    let mark = outbound.begin(stamp, StreamId(1), Opcode::RESULT, Flags::NONE);
    outbound.buffer().extend_from_slice(b"half");
    outbound.abandon(mark);
    assert_eq!(sealed(&mut outbound), b"");
    envelope(&mut outbound, 2, b"");
    assert_eq!(segments(PLAIN, &sealed(&mut outbound)).len(), 1);
}

#[test]
fn a_partial_write_leaves_the_rest() {
    let mut outbound = outbound(Framing::Segments(PLAIN));
    envelope(&mut outbound, 1, b"one");
    let first = sealed(&mut outbound);
    outbound.advance(5);
    envelope(&mut outbound, 2, b"two");
    let rest = sealed(&mut outbound);
    assert_eq!(rest[..first.len() - 5], first[5..]);
    let whole = [&first[..5], &rest].concat();
    assert_eq!(segments(PLAIN, &whole).len(), 2);
    assert_eq!(outbound.sealed_position(), whole.len() as u64);
}

#[test]
fn a_short_payload_is_stored_and_a_long_one_compressed() {
    let mut outbound = outbound(Framing::Segments(SegmentFormat::Lz4));
    envelope(&mut outbound, 1, b"short");
    let short = sealed(&mut outbound);
    let header = SegmentHeader::decode(SegmentFormat::Lz4, &short)
        .unwrap()
        .unwrap();
    assert_eq!((header.payload, header.uncompressed), (14, 0));
    outbound.advance(short.len());
    envelope(&mut outbound, 1, &[b'x'; 1000]);
    let long = sealed(&mut outbound);
    let header = SegmentHeader::decode(SegmentFormat::Lz4, &long)
        .unwrap()
        .unwrap();
    assert_eq!(header.uncompressed, 1009);
    assert!(header.payload < 100);
}

#[test]
fn room_for_a_burst_is_given_back() {
    let mut outbound = outbound(Framing::Bare(None));
    envelope(&mut outbound, 1, &vec![0; 1 << 20]);
    let length = sealed(&mut outbound).len();
    outbound.advance(length);
    assert_eq!(outbound.buffer().capacity(), 0);
}
