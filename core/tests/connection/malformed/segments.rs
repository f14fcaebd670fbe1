//! v5's segments: damaged, cut, interrupted.

use super::*;

const FORMATS: [(SegmentFormat, Option<&str>); 2] = [
    (SegmentFormat::Plain, None),
    (SegmentFormat::Lz4, Some("lz4")),
];

fn case(
    name: impl Into<String>,
    compression: Option<&'static str>,
    bytes: Vec<u8>,
    kind: ErrorKind,
) -> Case {
    Case {
        compression,
        ..Case::new(name, 5, bytes, kind)
    }
}

#[test]
fn a_damaged_header_closes_with_an_answer_on_stream_0() {
    for (format, compression) in FORMATS {
        for bit in 0..8 * format.header_len() {
            let mut bytes = segment(format, true, &options(5, 9));
            bytes[bit / 8] ^= 1 << (bit % 8);
            let damaged = case(
                format!("bit {bit} of a header"),
                compression,
                bytes,
                ErrorKind::Checksum,
            )
            .on_stream(0)
            .says("CRC mismatch detected in frame header")
            .closes();
            hold([damaged.clone(), damaged.authenticating()]);
        }
    }
}

#[test]
fn a_damaged_payload_closes_with_an_answer_on_stream_0() {
    for (format, compression) in FORMATS {
        let good = segment(format, true, &options(5, 9));
        for at in format.header_len()..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 0x40;
            let damaged = case(
                format!("byte {at} of a payload"),
                compression,
                bytes,
                ErrorKind::Checksum,
            )
            .on_stream(0)
            .says("CRC mismatch detected in frame body")
            .closes();
            hold([damaged.clone(), damaged.authenticating()]);
        }
    }
}

#[test]
fn an_envelope_that_goes_on_beyond_its_segment_is_answered() {
    for (format, compression) in FORMATS {
        let envelope = request(5, 0, 9, 5, b"body");
        for length in 1..envelope.len() {
            // Within its header the stream can't be told.
            let stream = if length < 9 { 0 } else { 9 };
            let bytes = segment(format, true, &envelope[..length]);
            hold([case(
                format!("cut at {length}"),
                compression,
                bytes,
                ErrorKind::Segment,
            )
            .on_stream(stream)
            .says("beyond its self-contained frame")]);
        }
    }
}

#[test]
fn a_message_that_is_interrupted_is_answered_on_its_stream() {
    for (format, compression) in FORMATS {
        let part = segment(format, false, &request(5, 0, 9, 5, b"body")[..12]);
        let empty = segment(format, true, b"");
        hold([case(
            "an interrupted message",
            compression,
            [part, empty].concat(),
            ErrorKind::Segment,
        )
        .says("interrupts a message of several frames")]);
    }
}

#[test]
fn a_message_of_several_segments_before_login_closes() {
    for (format, compression) in FORMATS {
        let part = segment(format, false, &request(5, 0, 9, 0x0F, b"\0\0\0\x01x")[..10]);
        hold([
            case("a part before login", compression, part, ErrorKind::Segment)
                .authenticating()
                .on_stream(0)
                .says("before authentication was complete")
                .closes(),
        ]);
    }
}

#[test]
fn what_is_wrong_with_an_envelope_of_several_segments_closes() {
    let mut negative = options(5, 9);
    negative[5..].copy_from_slice(&[0xFF; 4]);
    let cases = [
        (
            "an unknown opcode",
            request(5, 0, 9, 0x1F, b""),
            ErrorKind::Opcode,
            "Unknown opcode 31",
        ),
        (
            "another version",
            options(4, 9),
            ErrorKind::Version,
            "Invalid message version",
        ),
        (
            "a negative length",
            negative,
            ErrorKind::Length,
            "body length field: -1",
        ),
    ];
    for (format, compression) in FORMATS {
        hold(cases.clone().map(|(name, envelope, kind, message)| {
            let bytes = segment(format, false, &envelope);
            case(name, compression, bytes, kind)
                .on_stream(0)
                .says(message)
                .closes()
        }));
    }
}

#[test]
fn a_second_malformed_envelope_in_a_segment_closes_and_counts_as_such() {
    let bad = |stream| request(5, 0, stream, 7, b"\0\0\0\x09x");
    let unknown = |stream| request(5, 0, stream, 0x1F, b"");
    for (first, second, kinds) in [
        (
            bad(1),
            bad(2),
            vec![(ErrorKind::Decode, 2), (ErrorKind::Repeated, 1)],
        ),
        (
            unknown(1),
            unknown(2),
            vec![(ErrorKind::Opcode, 2), (ErrorKind::Repeated, 1)],
        ),
        (
            bad(1),
            unknown(2),
            vec![
                (ErrorKind::Decode, 1),
                (ErrorKind::Opcode, 1),
                (ErrorKind::Repeated, 1),
            ],
        ),
    ] {
        let payload = [first, second, options(5, 3)].concat();
        let mut server = case("", None, Vec::new(), ErrorKind::Repeated).server();
        server.receive(&segment(SegmentFormat::Plain, true, &payload), Cuts::Whole);
        let got = Client::default().read(&server.sent());
        assert_eq!(got.iter().map(|got| got.stream).collect::<Vec<_>>(), [1, 2]);
        let stats = server.connection.stats();
        assert_eq!(stats.faults.iter().collect::<Vec<_>>(), kinds);
        assert_eq!((stats.errors, stats.fatal), (2, 1));
        assert!(server.connection.is_finished());
    }
}
