//! Headers of envelopes: versions, directions, opcodes, lengths.

use super::*;

#[test]
fn an_opcode_that_no_client_may_send_is_refused_on_its_stream() {
    for version in [3, 4, 5] {
        let (responses, unknown) = (
            [0x00, 0x02, 0x06, 0x08, 0x0C, 0x0E, 0x10],
            [0x11, 0x7F, 0x80, 0xFF],
        );
        hold(responses.into_iter().map(|opcode| {
            let bytes = ready(version, Opcode(opcode), b"whatever");
            Case::new(
                format!("{}", Opcode(opcode)),
                version,
                bytes,
                ErrorKind::Opcode,
            )
            .says("Wrong protocol direction")
        }));
        hold(unknown.into_iter().map(|opcode| {
            let bytes = ready(version, Opcode(opcode), b"whatever");
            Case::new(
                format!("opcode {opcode}"),
                version,
                bytes,
                ErrorKind::Opcode,
            )
            .says(format!("Unknown opcode {opcode}"))
        }));
        let mut response = options(version, 9);
        response[0] |= 0x80;
        hold([
            Case::new(
                "a response",
                version,
                framed(version == 5, None, &response),
                ErrorKind::Opcode,
            )
            .says("Wrong protocol direction"),
            Case::new(
                "CREDENTIALS",
                version,
                ready(version, Opcode(4), b""),
                ErrorKind::State,
            )
            .says("Unexpected message"),
        ]);
    }
}

#[test]
fn a_version_that_is_not_the_agreed_one_is_refused_on_its_stream() {
    for (version, other) in [(3, 4), (4, 3), (4, 5), (5, 4)] {
        let bytes = framed(version == 5, None, &options(other, 9));
        hold([
            Case::new(format!("v{other}"), version, bytes, ErrorKind::Version)
                .says(format!("Invalid message version. Got {other}/v{other}")),
        ]);
    }
}

#[test]
fn a_version_that_is_not_spoken_is_answered_on_stream_0() {
    for other in [0x00, 0x07, 0x42, 0x7F] {
        let foreign = request(other, 0, 9, 5, &[]);
        hold([
            Case::new(format!("version {other}"), 4, foreign, ErrorKind::Version)
                .fresh()
                .on_stream(0)
                .says(format!("Invalid or unsupported protocol version ({other})")),
        ]);
    }
    let beta = request(6, 0, 9, 5, &[]);
    hold([
        Case::new("v6 without its flag", 4, beta, ErrorKind::Version)
            .fresh()
            .on_stream(0)
            .says("Beta version of the protocol used"),
    ]);
}

#[test]
fn what_is_no_cql_closes() {
    for bytes in [
        b"GET / HTTP/1.1\r\n\r\n".as_slice(),
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
        &[0x42; 20],
    ] {
        let (version, bytes) = (bytes[0] & 0x7F, bytes.to_vec());
        hold([Case::new(
            format!("first byte {version}"),
            4,
            bytes,
            ErrorKind::Version,
        )
        .fresh()
        .on_stream(0)
        .says(format!(
            "Invalid or unsupported protocol version ({version})"
        ))
        .closes()]);
    }
}

#[test]
fn a_negative_length_closes_with_an_answer_on_its_stream() {
    for version in [3, 4, 5] {
        for length in [-1_i32, i32::MIN] {
            let mut envelope = options(version, 9);
            envelope[5..].copy_from_slice(&length.to_be_bytes());
            let case = Case::new(
                format!("length {length}"),
                version,
                Vec::new(),
                ErrorKind::Length,
            )
            .says(format!(
                "Invalid value for envelope header body length field: {length}"
            ))
            .closes();
            let bytes = case.framed(&envelope);
            hold([Case {
                bytes,
                ..case.clone()
            }]);
            hold([Case {
                bytes: envelope,
                ..case.fresh()
            }]);
        }
    }
}

#[test]
fn a_custom_payload_before_v4_is_refused() {
    let bytes = request(3, 4, 9, 7, b"\0\0");
    hold([Case::new("payload in v3", 3, bytes, ErrorKind::Payload).says("CUSTOM_PAYLOAD")]);
}
