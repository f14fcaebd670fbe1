//! Where Apache Cassandra isn't followed: the table in the documentation of `connection`, row by row.

use std::path::Path;

use super::*;

/// The rows of a table in the documentation of a module: what stands between the bars.
fn documented(module: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(module)).unwrap();
    let rows = text
        .lines()
        .filter_map(|line| line.strip_prefix("//! | ")?.strip_suffix(" |"));
    let cells = |row: &str| row.split(" | ").map(str::to_owned).collect();
    rows.skip(1).map(cells).collect()
}

#[test]
fn the_documentation_has_the_rows_of_the_table_that_the_probes_are_judged_by() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../helenus/probes/differences.json");
    let table: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let rows = table.as_array().unwrap().iter();
    let text = |row: &serde_json::Value, name: &str| row[name].as_str().unwrap().to_owned();
    let expected: Vec<Vec<String>> = rows
        .filter(|row| row["layer"] == "protocol")
        .map(|row| {
            ["when", "cassandra", "here"]
                .map(|name| text(row, name))
                .to_vec()
        })
        .collect();
    assert_eq!(documented("src/connection/mod.rs"), expected);
}

/// The streams and error codes (or opcodes) of the answers to these writes.
fn answers(server: &mut Server, writes: &[Vec<u8>]) -> Vec<(i16, String)> {
    for write in writes {
        server.receive(write, Cuts::Whole);
    }
    let describe = |got: &Got| match got.opcode {
        Opcode::ERROR => format!("{:#06x}", got.code()),
        opcode => opcode.to_string(),
    };
    got(server)
        .iter()
        .map(|got| (got.stream, describe(got)))
        .collect()
}

fn said(answers: &[(i16, &str)]) -> Vec<(i16, String)> {
    answers
        .iter()
        .map(|(stream, text)| (*stream, (*text).to_owned()))
        .collect()
}

fn whole(payload: &[u8]) -> Vec<u8> {
    segment(SegmentFormat::Plain, true, payload)
}

fn part(payload: &[u8]) -> Vec<u8> {
    segment(SegmentFormat::Plain, false, payload)
}

#[test]
fn an_envelope_that_may_not_come_is_consumed() {
    let mut server = ready(4, ServerConfig::default(), VOID());
    let mut response = options(4, 3);
    response[0] |= 0x80;
    let writes = [
        request(4, 0, 1, 0x1F, b"abc"),
        request(4, 0, 2, 0x08, b""),
        response,
        request(4, 0, 4, 0xFF, b""),
        options(4, 5),
    ];
    let expected = [
        (1, "0x000a"),
        (2, "0x000a"),
        (3, "0x000a"),
        (4, "0x000a"),
        (5, "SUPPORTED"),
    ];
    assert_eq!(answers(&mut server, &[writes.concat()]), said(&expected));
}

#[test]
fn a_negative_length_closes_with_an_answer() {
    let mut server = ready(4, ServerConfig::default(), VOID());
    let mut header = options(4, 9);
    header[5..].copy_from_slice(&[0xFF; 4]);
    assert_eq!(answers(&mut server, &[header]), said(&[(9, "0x000a")]));
    assert_eq!(
        server.closed,
        Some(Error::Peer(PeerMisbehaved::NegativeLength(-1)))
    );
    assert!(server.connection.is_finished());
}

#[test]
fn an_unsupported_version_is_passed_over_or_closes() {
    let mut server = Server::new(ServerConfig::default(), VOID());
    let foreign = request(7, 0, 1, 1, &options(4, 2));
    let expected = said(&[(0, "0x000a"), (3, "SUPPORTED")]);
    assert_eq!(answers(&mut server, &[foreign, options(4, 3)]), expected);
    let mut server = Server::new(ServerConfig::default(), VOID());
    let hello = b"GET / HTTP/1.1\r\n\r\n".to_vec();
    assert_eq!(answers(&mut server, &[hello]), said(&[(0, "0x000a")]));
    assert!(server.connection.is_finished());
}

#[test]
fn a_request_behind_startup_is_answered() {
    for version in [4, 5] {
        let mut server = Server::new(ServerConfig::default(), VOID());
        let behind = query(version, 2, "SELECT 1");
        let behind = if version == 5 { whole(&behind) } else { behind };
        let write = [startup(version, &[]), behind].concat();
        assert_eq!(
            answers(&mut server, &[write]),
            said(&[(0, "READY"), (2, "RESULT")])
        );
    }
}

#[test]
fn a_refused_startup_leaves_the_framing_as_it_was() {
    let mut server = Server::new(ServerConfig::default(), VOID());
    let writes = [startup(5, &[("CQL_VERSION", "2.0.0")]), startup(5, &[])];
    assert_eq!(
        answers(&mut server, &writes),
        said(&[(0, "0x000a"), (0, "READY")])
    );
}

#[test]
fn parts_are_put_together_wherever_they_are_cut() {
    let mut server = ready(5, ServerConfig::default(), VOID());
    let (first, second) = (query(5, 1, "SELECT 1"), query(5, 2, "SELECT 2"));
    let both = [first.clone(), second].concat();
    let writes = [part(&first[..5]), part(&[]), part(&first[5..]), part(&both)];
    let expected = said(&[(1, "RESULT"), (1, "RESULT"), (2, "RESULT")]);
    assert_eq!(answers(&mut server, &writes), expected);
}

#[test]
fn a_cut_or_interrupted_message_is_answered_on_its_stream() {
    let mut server = ready(5, ServerConfig::default(), VOID());
    let cut = query(5, 1, "SELECT 1");
    let writes = [
        whole(&cut[..cut.len() - 1]),
        part(&query(5, 2, "SELECT 2")[..12]),
        whole(&options(5, 3)),
    ];
    let expected = said(&[(1, "0x000a"), (2, "0x000a"), (3, "SUPPORTED")]);
    assert_eq!(answers(&mut server, &writes), expected);
    assert_eq!(server.closed, None);
}

#[test]
fn what_does_not_decompress_is_a_protocol_error() {
    let mut server = Server::new(ServerConfig::default(), VOID());
    let bad = request(4, 1, 1, 7, &[0, 0, 0, 9, 0xFF, 0xFF]);
    let writes = [startup(4, &[("COMPRESSION", "lz4")]), bad, options(4, 2)];
    for write in &writes {
        server.receive(write, Cuts::Whole);
    }
    let got = Client::new(Some(helenus_core::compression::Compression::Lz4)).read(&server.sent());
    assert_eq!(streams(&got), [0, 0, 2]);
    assert_eq!(got[1].code(), ErrorCode::PROTOCOL_ERROR.0);
}

#[test]
fn text_that_is_no_utf8_is_not_repeated() {
    let mut server = ready(4, ServerConfig::default(), parsing());
    let text = vec![0x80; 1 << 20];
    let length = u32::try_from(text.len()).unwrap().to_be_bytes();
    let body = [&length[..], &text, &[0, 1, 0]].concat();
    server.receive(&request(4, 0, 3, 7, &body), Cuts::Whole);
    let got = got(&mut server);
    assert_eq!(got[0].code(), ErrorCode::PROTOCOL_ERROR.0);
    assert_eq!(got[0].message(), "Cannot decode string as UTF8");
}

#[test]
fn a_value_longer_than_any_memory_is_a_protocol_error() {
    let mut server = ready(4, ServerConfig::default(), parsing());
    let token = request(4, 0, 3, 0x0F, b"\x7f\xff\xff\xffx");
    let body = b"\0\0\0\x06SELECT\0\x01\x01\0\x01\x7f\xff\xff\xffx";
    let query = request(4, 0, 4, 7, body);
    let expected = said(&[(3, "0x000a"), (4, "0x000a")]);
    assert_eq!(answers(&mut server, &[token, query]), expected);
}

fn parsing() -> Service {
    Box::new(|request, responder| match request.parse() {
        Ok(_) => responder.send(Response::Void),
        Err(error) => responder.reject(&error),
    })
}
