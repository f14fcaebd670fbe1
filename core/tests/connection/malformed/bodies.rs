//! Bodies of requests that don't decode: cut anywhere, with counts and lengths that can't be, with text that
//! is no UTF-8.

use super::*;

const UTF8: &str = "Cannot decode string as UTF8";
const CUT: &str = "Not enough bytes";

/// Parameters of a statement with every field that the version has.
fn params(version: u8) -> Vec<u8> {
    let mut out = vec![0, 1];
    match version {
        5 => out.extend([0, 0, 0x01, 0xFF]),
        _ => out.push(0x7F),
    }
    out.extend([0, 2]);
    out.extend(
        [
            string("a"),
            b"\0\0\0\x01x".to_vec(),
            string("b"),
            b"\xff\xff\xff\xff".to_vec(),
        ]
        .concat(),
    );
    out.extend(b"\0\0\x13\x88\0\0\0\x03pag\0\x08\0\0\0\0\0\0\0\x07");
    if version == 5 {
        out.extend([string("ks"), b"\0\0\0\x01".to_vec()].concat());
    }
    out
}

/// Parameters with these flags, then these bytes.
fn flagged(version: u8, flags: u8, rest: &[u8]) -> Vec<u8> {
    let flags = match version {
        5 => vec![0, 1, 0, 0, 0, flags],
        _ => vec![0, 1, flags],
    };
    [&flags, rest].concat()
}

/// A batch of a text and a prepared statement, each with a value, with every field that the version has.
fn batch(version: u8) -> Vec<u8> {
    let mut out = b"\0\0\x02\0".to_vec();
    out.extend([long_string("INSERT"), b"\0\x01\0\0\0\x01x".to_vec()].concat());
    out.extend(b"\x01\0\x02id\0\x01\0\0\0\x01x\0\x01");
    match version {
        5 => out.extend(b"\0\0\x01\xb0\0\x08\0\0\0\0\0\0\0\x07\0\x02ks\0\0\0\x01"),
        _ => out.extend(b"\x30\0\x08\0\0\0\0\0\0\0\x07"),
    }
    out
}

/// Every request of a ready connection that has a body, whole.
fn bodies(version: u8) -> Vec<(Opcode, Vec<u8>)> {
    let keyspace = b"\0\0\0\x01\0\x02ks".to_vec();
    let prepare = [
        long_string("SELECT"),
        if version == 5 { keyspace } else { Vec::new() },
    ]
    .concat();
    let ids = if version == 5 {
        b"\0\x02id\0\x02md".as_slice()
    } else {
        b"\0\x02id"
    };
    vec![
        (
            Opcode::QUERY,
            [long_string("SELECT"), params(version)].concat(),
        ),
        (Opcode::PREPARE, prepare),
        (Opcode::EXECUTE, [ids, &params(version)].concat()),
        (Opcode::BATCH, batch(version)),
        (
            Opcode::REGISTER,
            [
                b"\0\x02".to_vec(),
                string("STATUS_CHANGE"),
                string("SCHEMA_CHANGE"),
            ]
            .concat(),
        ),
        (Opcode::AUTH_RESPONSE, b"\0\0\0\x05token".to_vec()),
    ]
}

fn broken(name: impl Into<String>, version: u8, opcode: Opcode, body: &[u8]) -> Case {
    Case::new(
        name,
        version,
        ready(version, opcode, body),
        ErrorKind::Decode,
    )
}

#[test]
fn a_body_cut_anywhere_is_refused_on_its_stream() {
    for version in [3, 4, 5] {
        for (opcode, body) in bodies(version) {
            for cut in 0..body.len() {
                hold([broken(
                    format!("{opcode} cut at {cut}"),
                    version,
                    opcode,
                    &body[..cut],
                )
                .says(CUT)]);
            }
        }
    }
}

#[test]
fn a_custom_payload_cut_anywhere_is_refused_on_its_stream() {
    let payload = [
        b"\0\x02".to_vec(),
        string("a"),
        b"\0\0\0\x01x".to_vec(),
        string("b"),
        b"\xff\xff\xff\xff".to_vec(),
    ]
    .concat();
    for version in [4, 5] {
        for cut in 0..payload.len() {
            let envelope = request(version, 4, 9, 7, &payload[..cut]);
            let bytes = framed(version == 5, None, &envelope);
            hold([Case::new(
                format!("payload cut at {cut}"),
                version,
                bytes,
                ErrorKind::Decode,
            )
            .says(CUT)]);
        }
    }
}

#[test]
fn counts_and_lengths_that_cannot_be_are_refused() {
    for version in [3, 4, 5] {
        let query =
            |flags, rest: &[u8]| [long_string("SELECT"), flagged(version, flags, rest)].concat();
        let ids = if version == 5 {
            b"\0\x01i\xff\xffm".as_slice()
        } else {
            b"\xff\xffi"
        };
        let case = |name: &str, opcode, body: &[u8]| broken(name, version, opcode, body);
        let empty_statement = [b"\0".to_vec(), long_string("")].concat();
        hold([
            case("a text of -1 bytes", Opcode::QUERY, &[0xFF; 4]).says(CUT),
            case("a text of 2 GiB", Opcode::QUERY, b"\x7f\xff\xff\xffSELECT").says(CUT),
            case(
                "65,535 values",
                Opcode::QUERY,
                &query(1, b"\xff\xff\0\0\0\0"),
            )
            .says(CUT),
            case(
                "a value of 2 GiB",
                Opcode::QUERY,
                &query(1, b"\0\x01\x7f\xff\xff\xffx"),
            )
            .says(CUT),
            case(
                "a page state of 2 GiB",
                Opcode::QUERY,
                &query(8, b"\x7f\xff\xff\xff"),
            )
            .says(CUT),
            case("a page of no rows", Opcode::QUERY, &query(4, &[0; 4])).says("page size"),
            case(
                "the least timestamp",
                Opcode::QUERY,
                &query(0x20, b"\x80\0\0\0\0\0\0\0"),
            )
            .says("Out of bound timestamp"),
            case(
                "an unknown consistency",
                Opcode::QUERY,
                &[long_string("x"), b"\xff\xff\0".to_vec()].concat(),
            )
            .says("Unknown code 65535 for a consistency level"),
            case("a statement of -1 bytes", Opcode::PREPARE, &[0xFF; 4]).says(CUT),
            case(
                "a statement of 2 GiB",
                Opcode::PREPARE,
                b"\x7f\xff\xff\xffSELECT",
            )
            .says(CUT),
            case("an id of 65,535 bytes", Opcode::EXECUTE, ids)
                .says("Not enough bytes to read a byte array"),
            case("no batch type", Opcode::BATCH, b"\x03\0\0\0\x01\0")
                .says("Invalid BATCH message type 3"),
            case("a negative batch type", Opcode::BATCH, b"\xff\0\0\0\x01\0")
                .says("BATCH message type -1"),
            case("no kind of statement", Opcode::BATCH, b"\0\0\x01\x02")
                .says("Must be 0 or 1 but got 2"),
            case(
                "65,535 statements",
                Opcode::BATCH,
                &[b"\0\xff\xff".to_vec(), empty_statement].concat(),
            )
            .says(CUT),
            case(
                "65,535 values of a statement",
                Opcode::BATCH,
                b"\0\0\x01\x01\0\x01i\xff\xff\0\0\0\0",
            )
            .says(CUT),
            case(
                "65,535 event types",
                Opcode::REGISTER,
                &[b"\xff\xff".to_vec(), string("STATUS_CHANGE")].concat(),
            )
            .says(CUT),
            case(
                "no event type",
                Opcode::REGISTER,
                &[b"\0\x01".to_vec(), string("STATUS")].concat(),
            )
            .says("Invalid value"),
            case(
                "a token of 2 GiB",
                Opcode::AUTH_RESPONSE,
                b"\x7f\xff\xff\xfftoken",
            )
            .says(CUT),
        ]);
        if version > 3 {
            let body = query(1, b"\0\x01\xff\xff\xff\xfd");
            hold([
                case("a value of -3 bytes", Opcode::QUERY, &body).says("Invalid ByteBuf length -3")
            ]);
            let envelope = request(version, 4, 9, 7, b"\xff\xff\0\x01a\xff\xff\xff\xff");
            let bytes = framed(version == 5, None, &envelope);
            hold([Case::new("65,535 entries", version, bytes, ErrorKind::Decode).says(CUT)]);
        }
    }
}

#[test]
fn text_that_is_no_utf8_is_refused_wherever_it_stands() {
    // A lone continuation byte, an overlong form, a surrogate and a cut character.
    for text in [
        b"\x80".as_slice(),
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xe2\x82",
    ] {
        let short = [&u16::try_from(text.len()).unwrap().to_be_bytes(), text].concat();
        let long = [&u32::try_from(text.len()).unwrap().to_be_bytes(), text].concat();
        for version in [3, 4, 5] {
            let case =
                |name: &str, opcode, body: Vec<u8>| broken(name, version, opcode, &body).says(UTF8);
            let named = flagged(
                version,
                0x41,
                &[b"\0\x01", &short[..], b"\0\0\0\x01x"].concat(),
            );
            hold([
                case(
                    "a query",
                    Opcode::QUERY,
                    [long.clone(), flagged(version, 0, b"")].concat(),
                ),
                case(
                    "a value's name",
                    Opcode::QUERY,
                    [long_string("SELECT"), named].concat(),
                ),
                case(
                    "a prepared statement",
                    Opcode::PREPARE,
                    [long.clone(), vec![0; 4]].concat(),
                ),
                case(
                    "a batch's statement",
                    Opcode::BATCH,
                    [b"\0\0\x01\0".to_vec(), long.clone()].concat(),
                ),
                case(
                    "an event type",
                    Opcode::REGISTER,
                    [b"\0\x01".to_vec(), short.clone()].concat(),
                ),
            ]);
            if version == 5 {
                let query = [long_string("SELECT"), flagged(5, 0x80, &short)].concat();
                let prepare =
                    [long_string("SELECT"), b"\0\0\0\x01".to_vec(), short.clone()].concat();
                hold([
                    case("a query's keyspace", Opcode::QUERY, query),
                    case("a prepared statement's keyspace", Opcode::PREPARE, prepare),
                ]);
            }
            if version > 3 {
                let body = [b"\0\x01".to_vec(), short.clone(), vec![0xFF; 4]].concat();
                let bytes = framed(version == 5, None, &request(version, 4, 9, 7, &body));
                hold([Case::new("a payload's key", version, bytes, ErrorKind::Decode).says(UTF8)]);
            }
        }
    }
}

#[test]
fn an_event_type_that_came_later_than_the_version_is_refused() {
    let body = [b"\0\x01".to_vec(), string("TRACE_COMPLETE")].concat();
    hold([broken("TRACE_COMPLETE", 3, Opcode::REGISTER, &body)
        .says("not valid for protocol version 3/v3")]);
}

#[test]
fn a_text_nested_100_000_deep_is_a_text() {
    let text = format!("SELECT {}", "(".repeat(100_000));
    let body = [long_string(&text), flagged(4, 0, b"")].concat();
    let bytes = ready(4, Opcode::QUERY, &body);
    let mut server = broken("", 4, Opcode::QUERY, b"").server();
    server.input.reserve(bytes.len());
    let peak = peak_of(|| server.receive(&bytes, Cuts::Every(1460)));
    assert!(peak <= 64 << 10, "{peak}");
    assert_eq!(server.connection.stats().errors, 0);
}
