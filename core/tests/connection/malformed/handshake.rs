//! STARTUP and what comes instead of it, and what comes instead of a token.

use super::*;

/// STARTUP of these pairs on stream 9.
fn pairs(version: u8, pairs: &[(&str, &str)]) -> Vec<u8> {
    let mut body = u16::try_from(pairs.len()).unwrap().to_be_bytes().to_vec();
    for (key, value) in pairs {
        body.extend([string(key), string(value)].concat());
    }
    request(version, 0, 9, 1, &body)
}

const CQL: (&str, &str) = ("CQL_VERSION", "3.0.0");

#[test]
fn a_startup_that_asks_for_what_is_not_there_is_refused_on_its_stream() {
    let refused = |name: &str, version, options: &[(&str, &str)], message: &str| {
        let bytes = pairs(version, options);
        Case::new(name, version, bytes, ErrorKind::Startup)
            .fresh()
            .says(message)
    };
    let unknown = "Unknown compression algorithm: ";
    for version in [3, 4, 5] {
        let zstd = ("COMPRESSION", "zstd");
        let lz4 = ("COMPRESSION", "lz4");
        hold([
            refused(
                "unknown compression",
                version,
                &[CQL, zstd],
                &format!("{unknown}zstd"),
            ),
            refused(
                "no compression's name",
                version,
                &[CQL, ("COMPRESSION", "")],
                unknown,
            ),
            refused(
                "unavailable compression",
                version,
                &[CQL, lz4],
                &format!("{unknown}lz4"),
            )
            .configured(|config| config.compressions.clear()),
            refused(
                "compression twice, the last one counts",
                version,
                &[CQL, lz4, zstd],
                unknown,
            ),
            refused("no key at all", version, &[], "Missing value CQL_VERSION"),
            refused(
                "no CQL_VERSION",
                version,
                &[lz4],
                "Missing value CQL_VERSION",
            ),
            refused(
                "CQL_VERSION twice",
                version,
                &[CQL, ("CQL_VERSION", "x")],
                "Invalid version",
            ),
            refused(
                "no version",
                version,
                &[("CQL_VERSION", "three")],
                "Invalid version value: three",
            ),
            refused(
                "an old version",
                version,
                &[("CQL_VERSION", "2.0.0")],
                "CQL version 2.0.0",
            ),
        ]);
    }
    let snappy = [CQL, ("COMPRESSION", "snappy")];
    hold([refused(
        "snappy",
        5,
        &snappy,
        "Snappy compression is not supported in protocol V5",
    )]);
}

#[test]
fn the_last_of_a_startups_doubles_counts() {
    let mut server = Server::new(ServerConfig::default(), service());
    let twice = [CQL, ("COMPRESSION", "zstd"), ("COMPRESSION", "lz4")];
    server.receive(&pairs(4, &twice), Cuts::Whole);
    assert!(server.connection.is_ready());
}

#[test]
fn a_startup_that_does_not_decode_is_answered_on_stream_0() {
    let body = [
        b"\0\x02".to_vec(),
        string("CQL_VERSION"),
        string("3.0.0"),
        string("a"),
        string("b"),
    ]
    .concat();
    for version in [3, 4, 5] {
        let broken = |name: String, body: &[u8]| {
            let bytes = request(version, 0, 9, 1, body);
            Case::new(name, version, bytes, ErrorKind::Decode)
                .fresh()
                .on_stream(0)
        };
        for cut in 0..body.len() {
            hold([broken(format!("STARTUP cut at {cut}"), &body[..cut]).says("Not enough bytes")]);
        }
        let huge = [b"\xff\xff".to_vec(), string("CQL_VERSION"), string("3.0.0")].concat();
        let no_key = [b"\0\x01\0\x02\xc3\x28".to_vec(), string("3.0.0")].concat();
        let no_value = [
            b"\0\x01".to_vec(),
            string("CQL_VERSION"),
            b"\0\x01\xff".to_vec(),
        ]
        .concat();
        let utf8 = "Cannot decode string as UTF8";
        hold([
            broken("a count of 65,535".into(), &huge).says("Not enough bytes"),
            broken("a key that is no UTF-8".into(), &no_key).says(utf8),
            broken("a value that is no UTF-8".into(), &no_value).says(utf8),
        ]);
    }
}

/// Every opcode that a client may send.
const REQUESTS: [Opcode; 8] = [
    Opcode::STARTUP,
    Opcode::OPTIONS,
    Opcode::QUERY,
    Opcode::PREPARE,
    Opcode::EXECUTE,
    Opcode::REGISTER,
    Opcode::BATCH,
    Opcode::AUTH_RESPONSE,
];

#[test]
fn before_startup_only_options_and_startup_may_come() {
    for version in [3, 4, 5] {
        let rest = REQUESTS
            .iter()
            .filter(|opcode| !matches!(**opcode, Opcode::STARTUP | Opcode::OPTIONS));
        hold(rest.map(|opcode| {
            let bytes = request(version, 0, 9, opcode.0, b"whatever");
            Case::new(
                format!("{opcode} before STARTUP"),
                version,
                bytes,
                ErrorKind::State,
            )
            .fresh()
            .on_stream(0)
            .says(format!(
                "Unexpected message {opcode}, expecting STARTUP or OPTIONS"
            ))
        }));
    }
}

#[test]
fn during_authentication_only_a_token_may_come() {
    for version in [3, 4, 5] {
        let rest = REQUESTS
            .iter()
            .filter(|opcode| **opcode != Opcode::AUTH_RESPONSE);
        hold(rest.map(|opcode| {
            let bytes = ready(version, *opcode, b"whatever");
            Case::new(
                format!("{opcode} for a token"),
                version,
                bytes,
                ErrorKind::State,
            )
            .authenticating()
            .says(format!(
                "Unexpected message {opcode}, expecting SASL_RESPONSE"
            ))
        }));
        hold(
            [
                b"".as_slice(),
                b"\0\0\0",
                b"\0\0\0\x09token",
                b"\x7f\xff\xff\xfftoken",
            ]
            .map(|body| {
                let bytes = ready(version, Opcode::AUTH_RESPONSE, body);
                Case::new(
                    format!("a token cut as {body:?}"),
                    version,
                    bytes,
                    ErrorKind::Decode,
                )
                .authenticating()
                .says("Not enough bytes")
            }),
        );
    }
}

#[test]
fn a_second_startup_is_refused() {
    for version in [3, 4, 5] {
        let bytes = framed(version == 5, None, &pairs(version, &[CQL]));
        hold(
            [Case::new("STARTUP again", version, bytes, ErrorKind::State)
                .says("Unexpected message STARTUP, the connection is already initialized")],
        );
    }
}
