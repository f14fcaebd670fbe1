//! Messages above the limit: bare, in one segment and in many, before login and after. And the other limits
//! of which the peer hears.

use std::time::Duration;

use super::*;

const LIMIT: usize = 10_000;

fn limited(case: Case) -> Case {
    case.configured(|config| {
        config.limits.max_envelope = LIMIT;
        config.limits.max_envelope_before_login = LIMIT;
    })
    .code(ErrorCode::INVALID)
}

/// OPTIONS with so long a body.
fn long(version: u8, opcode: Opcode, body: usize) -> Vec<u8> {
    request(version, 0, 9, opcode.0, &vec![0; body])
}

#[test]
fn an_envelope_above_the_limit_is_discarded_and_answered_on_its_stream() {
    for version in [3, 4, 5] {
        for body in [LIMIT - 8, LIMIT, 20 * LIMIT] {
            let says = format!(
                "Request is too big: length {} exceeds maximum allowed length {LIMIT}.",
                body + 9
            );
            let bytes = long(version, Opcode::OPTIONS, body);
            let case =
                Case::new(format!("{body} bytes"), version, bytes, ErrorKind::TooLong).says(says);
            hold([limited(case.clone().fresh())]);
            if version < 5 {
                let token = long(version, Opcode::AUTH_RESPONSE, body);
                hold([
                    limited(case.clone()),
                    limited(Case {
                        bytes: token,
                        ..case.authenticating()
                    }),
                ]);
            }
        }
    }
}

#[test]
fn a_message_above_the_limit_in_one_segment_is_answered_on_its_stream() {
    for body in [LIMIT + 1, 131_071 - 9] {
        let says =
            format!("CQL Message of size {body} bytes exceeds allowed maximum of {LIMIT} bytes");
        let case = |opcode| {
            let bytes = segment(SegmentFormat::Plain, true, &long(5, opcode, body));
            limited(Case::new(format!("{body} bytes"), 5, bytes, ErrorKind::TooLong).says(&*says))
        };
        hold([
            case(Opcode::OPTIONS),
            case(Opcode::AUTH_RESPONSE).authenticating(),
        ]);
    }
}

#[test]
fn a_message_above_the_limit_in_many_segments_is_answered_on_its_stream() {
    for (format, compression) in [
        (SegmentFormat::Plain, None),
        (SegmentFormat::Lz4, Some("lz4")),
    ] {
        for part in [10, 1000, 100_000] {
            let body = if part == 10 { LIMIT + 1 } else { 30 * LIMIT };
            let envelope = long(5, Opcode::OPTIONS, body);
            let bytes: Vec<u8> = envelope
                .chunks(part)
                .flat_map(|part| segment(format, false, part))
                .collect();
            let name = format!("{body} bytes in parts of {part}");
            hold([limited(Case {
                compression,
                ..Case::new(name, 5, bytes, ErrorKind::TooLong)
            })
            .says(format!("CQL Message of size {body} bytes exceeds"))]);
        }
    }
}

#[test]
fn before_login_many_segments_close_whatever_their_length() {
    let part = segment(
        SegmentFormat::Plain,
        false,
        &long(5, Opcode::AUTH_RESPONSE, 30 * LIMIT)[..1000],
    );
    hold([Case::new("a part", 5, part, ErrorKind::Segment)
        .authenticating()
        .on_stream(0)
        .closes()]);
}

#[test]
fn a_promise_of_length_takes_no_memory() {
    for version in [3, 4, 5] {
        for stage in [Stage::Fresh, Stage::Ready] {
            let case = Case {
                stage,
                ..Case::new("", version, Vec::new(), ErrorKind::TooLong)
            };
            let mut server = case.server();
            let mut header = request(version, 0, 9, 7, b"");
            header[5..].copy_from_slice(&i32::MAX.to_be_bytes());
            let bytes = match case.in_segments() {
                true => segment(SegmentFormat::Plain, false, &header),
                false => header,
            };
            let peak = peak_of(|| server.receive(&bytes, Cuts::BYTES));
            assert!(peak < 2048, "v{version} {stage:?}: {peak}");
            assert!(server.connection.read_hint() <= 64 << 10);
        }
    }
}

#[test]
fn limits_of_load_and_time_have_their_counters() {
    let moved = |server: &Server| server.connection.stats().faults.iter().collect::<Vec<_>>();
    let mut config = ServerConfig::default();
    config.limits.max_requests = 1;
    let mut server = Server::new(
        config,
        Box::new(|_, responder| std::mem::forget(responder.defer())),
    );
    server.receive(&startup(4, &[("THROW_ON_OVERLOAD", "1")]), Cuts::Whole);
    let requests = [ready(4, Opcode::QUERY, b"a"), ready(4, Opcode::QUERY, b"b")].concat();
    server.receive(&requests, Cuts::Whole);
    assert_eq!(moved(&server), [(ErrorKind::Overloaded, 1)]);
    assert_eq!(server.connection.stats().fatal, 0);

    let mut server = Server::new(ServerConfig::default(), service());
    server.clock.advance(Duration::from_secs(30));
    server.connection.handle_timeout(server.clock.now());
    server.run();
    assert_eq!(moved(&server), [(ErrorKind::HandshakeTimeout, 1)]);
    assert_eq!(
        (
            server.connection.stats().errors,
            server.connection.stats().fatal
        ),
        (0, 1)
    );
}
