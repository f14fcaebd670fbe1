//! Lines, raw bytes and packets; streams put together from segments that come late, twice or never.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use helenus_core::Direction::{self, Request, Response};

use super::hex_lines::HexLines;
use super::packets::Packets;
use super::raw::RawStream;
use super::tcp::{Reassembly, Segment};
use super::{CaptureError, Content, Format, Piece};

const CLIENT: &str = "127.0.0.1:50000";
const SERVER: &str = "127.0.0.1:9042";

fn bytes(direction: Direction, bytes: &[u8]) -> Content {
    Content::Bytes(direction, Bytes::copy_from_slice(bytes))
}

/// A segment of the client's stream, which begins at 4294967290: its numbers wrap.
fn segment(at: u32, payload: &[u8]) -> Segment {
    Segment {
        source: CLIENT.parse().unwrap(),
        target: SERVER.parse().unwrap(),
        sequence: 4_294_967_290_u32.wrapping_add(at),
        syn: false,
        ends: false,
        payload: Bytes::copy_from_slice(payload),
    }
}

fn reassemble(reassembly: &mut Reassembly, segments: Vec<Segment>) -> Vec<Content> {
    let mut out = VecDeque::new();
    for segment in segments {
        reassembly.take(None, segment, &mut out);
    }
    reassembly.finish(&mut out);
    out.into_iter().map(|piece| piece.content).collect()
}

fn opened(from_start: bool) -> Content {
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    Content::Opened {
        client: address(CLIENT),
        server: address(SERVER),
        from_start,
    }
}

#[test]
fn the_first_bytes_tell_the_format() {
    assert_eq!(Format::of(&[0xD4, 0xC3, 0xB2, 0xA1, 2, 0]), Format::Pcap);
    assert_eq!(Format::of(&[0x0A, 0x0D, 0x0D, 0x0A, 0, 0]), Format::Pcap);
    assert_eq!(Format::of(&[4, 0, 0, 1, 5, 0, 0, 0, 0]), Format::Raw);
    assert_eq!(Format::of("a → 0400".as_bytes()), Format::Hex);
}

#[test]
fn a_line_is_a_write_in_a_direction_of_a_connection() {
    let text = "# two connections\n> 04 00\n\nb → 05\na: < 84\n84\nb ← 85\nclient: 03\n";
    let lines = HexLines::new(text.as_bytes(), None);
    let found: Vec<(u32, Content)> = lines
        .map(Result::unwrap)
        .map(|piece| (piece.connection, piece.content))
        .collect();
    assert_eq!(
        found,
        [
            (1, bytes(Request, &[4, 0])),
            (2, bytes(Request, &[5])),
            (3, bytes(Response, &[0x84])),
            (1, bytes(Response, &[0x84])),
            (2, bytes(Response, &[0x85])),
            (1, bytes(Request, &[3])),
        ]
    );
}

#[test]
fn a_line_without_digits_is_told_by_its_number() {
    let mut lines = HexLines::new("> 04\n> 0z\n".as_bytes(), None);
    assert!(lines.next().unwrap().is_ok());
    assert!(matches!(lines.next(), Some(Err(CaptureError::Line(2, _)))));
}

#[test]
fn raw_bytes_are_one_direction() {
    let pieces: Vec<Piece> = RawStream::new(&[1, 2, 3][..], Response)
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        pieces,
        [Piece {
            connection: 1,
            time: None,
            content: bytes(Response, &[1, 2, 3])
        }]
    );
}

#[test]
fn late_repeated_and_overlapping_segments_give_each_byte_once() {
    let mut reassembly = Reassembly::new(9042);
    let segments = vec![
        Segment {
            syn: true,
            sequence: 4_294_967_289,
            ..segment(0, b"")
        },
        segment(4, b"ef"),
        segment(4, b"efgh"),
        segment(0, b"abc"),
        segment(0, b"abc"),
        segment(2, b"cd"),
        segment(6, b"ghij"),
    ];
    assert_eq!(
        reassemble(&mut reassembly, segments),
        [
            opened(true),
            bytes(Request, b"abc"),
            bytes(Request, b"d"),
            bytes(Request, b"efgh"),
            bytes(Request, b"ij"),
            Content::Closed,
        ]
    );
}

#[test]
fn bytes_that_never_come_are_lost() {
    let mut reassembly = Reassembly::new(9042);
    let segments = vec![segment(0, b"ab"), segment(5, b"fg"), segment(9, b"j")];
    assert_eq!(
        reassemble(&mut reassembly, segments),
        [
            opened(false),
            bytes(Request, b"ab"),
            Content::Lost(Request, 3),
            bytes(Request, b"fg"),
            Content::Lost(Request, 2),
            bytes(Request, b"j"),
            Content::Closed,
        ]
    );
}

#[test]
fn what_waits_is_bounded() {
    let mut reassembly = Reassembly::with_room(9042, 4);
    let segments = vec![segment(0, b"a"), segment(2, b"cde"), segment(7, b"hi")];
    assert_eq!(
        reassemble(&mut reassembly, segments),
        [
            opened(false),
            bytes(Request, b"a"),
            Content::Lost(Request, 1),
            bytes(Request, b"cde"),
            Content::Lost(Request, 2),
            bytes(Request, b"hi"),
            Content::Closed,
        ]
    );
}

#[test]
fn the_same_addresses_may_be_used_again_and_other_ports_are_nobodys() {
    let mut reassembly = Reassembly::new(9042);
    let other = Segment {
        target: "127.0.0.1:80".parse().unwrap(),
        ..segment(0, b"GET")
    };
    let again = Segment {
        syn: true,
        sequence: 77,
        ..segment(0, b"")
    };
    let first = Segment {
        sequence: 78,
        ..segment(0, b"b")
    };
    assert_eq!(
        reassemble(&mut reassembly, vec![other, segment(0, b"a"), again, first]),
        [
            opened(false),
            bytes(Request, b"a"),
            Content::Closed,
            opened(true),
            bytes(Request, b"b"),
            Content::Closed,
        ]
    );
}

/// An IPv4 packet with a TCP segment.
fn packet(to_server: bool, sequence: u32, flags: u8, payload: &[u8]) -> Vec<u8> {
    let (source, target) = if to_server {
        (50000_u16, 9042_u16)
    } else {
        (9042, 50000)
    };
    let mut ip = vec![
        0x45,
        0,
        0,
        40 + payload.len() as u8,
        0,
        0,
        0,
        0,
        64,
        6,
        0,
        0,
    ];
    ip.extend([127, 0, 0, 1, 127, 0, 0, 1]);
    ip.extend(source.to_be_bytes());
    ip.extend(target.to_be_bytes());
    ip.extend(sequence.to_be_bytes());
    ip.extend([0, 0, 0, 0, 5 << 4, flags, 0xFF, 0xFF, 0, 0, 0, 0]);
    ip.extend(payload);
    ip
}

fn three_packets() -> [Vec<u8>; 3] {
    [
        packet(true, 9, 2, b""),
        packet(true, 10, 0x18, b"ab"),
        packet(false, 50, 0x18, b"xyz"),
    ]
}

fn expected(first: u64) -> Vec<(Option<Duration>, Content)> {
    let at = |seconds| Some(Duration::new(seconds, 250_000_000));
    vec![
        (at(first), opened(true)),
        (at(first + 1), bytes(Request, b"ab")),
        (at(first + 2), bytes(Response, b"xyz")),
        (None, Content::Closed),
    ]
}

fn read(file: &[u8]) -> Vec<(Option<Duration>, Content)> {
    let pieces = Packets::new(file, 9042).unwrap();
    pieces
        .map(|piece| piece.map(|piece| (piece.time, piece.content)).unwrap())
        .collect()
}

/// A pcap file of packets of this link type.
fn pcap(link: u32, header: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(0xA1B2_C3D4_u32.to_be_bytes());
    file.extend([0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]);
    file.extend(link.to_be_bytes());
    for (second, packet) in (100_u32..).zip(three_packets()) {
        let length = (header.len() + packet.len()) as u32;
        for number in [second, 250_000, length, length] {
            file.extend(number.to_be_bytes());
        }
        file.extend(header);
        file.extend(packet);
    }
    file
}

#[test]
fn pcap_of_several_link_layers_is_read() {
    let mut ethernet = vec![0; 12];
    ethernet.extend([8, 0]);
    let mut cooked = vec![0; 14];
    cooked.extend([8, 0]);
    assert_eq!(read(&pcap(1, &ethernet)), expected(100));
    assert_eq!(read(&pcap(101, &[])), expected(100));
    assert_eq!(read(&pcap(0, &[2, 0, 0, 0])), expected(100));
    assert_eq!(read(&pcap(113, &cooked)), expected(100));
}

#[test]
fn pcapng_is_read_with_the_resolution_of_its_interface() {
    fn block(kind: u32, body: &[u8]) -> Vec<u8> {
        let length = (body.len() + 12) as u32;
        [
            &kind.to_le_bytes(),
            &length.to_le_bytes(),
            body,
            &length.to_le_bytes(),
        ]
        .concat()
    }
    let section = [
        &0x1A2B_3C4D_u32.to_le_bytes()[..],
        &[1, 0, 0, 0],
        &[0xFF; 8],
    ]
    .concat();
    // Raw IP; option 9: milliseconds.
    let interface = [
        &[101, 0, 0, 0, 0, 0, 0, 0][..],
        &[9, 0, 1, 0, 3, 0, 0, 0],
        &[0; 4],
    ]
    .concat();
    let mut file = [block(0x0A0D_0D0A, &section), block(1, &interface)].concat();
    for (second, packet) in (100_u64..).zip(three_packets()) {
        let units = second * 1000 + 250;
        let mut body = vec![0, 0, 0, 0];
        body.extend(((units >> 32) as u32).to_le_bytes());
        body.extend((units as u32).to_le_bytes());
        body.extend([(packet.len() as u32).to_le_bytes(); 2].concat());
        body.extend(&packet);
        body.resize(body.len().next_multiple_of(4), 0);
        file.extend(block(6, &body));
    }
    assert_eq!(read(&file), expected(100));
}

#[test]
fn a_cut_capture_gives_what_it_has_and_says_that_it_is_cut() {
    let file = pcap(101, &[]);
    for length in (24..file.len()).filter(|length| (length - 24) % 7 == 0) {
        let found: Vec<_> = Packets::new(&file[..length], 9042).unwrap().collect();
        let failures = found.iter().filter(|piece| piece.is_err()).count();
        // Packets of 56, 58 and 59 bytes.
        let whole = [24, 24 + 56, 24 + 56 + 58].contains(&length);
        assert_eq!(failures, usize::from(!whole), "{length}");
    }
    assert!(Packets::new(&file[..10], 9042).is_err());
}

#[test]
fn wrong_bytes_of_a_capture_never_panic() {
    let file = pcap(101, &[]);
    for at in 0..file.len() {
        let mut file = file.clone();
        file[at] ^= 0x7F;
        if let Ok(pieces) = Packets::new(&file[..], 9042) {
            assert!(pieces.take(1000).count() < 1000, "{at}");
        }
    }
}
