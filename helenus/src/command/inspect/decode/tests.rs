//! Both directions of a connection: golden messages and segments, what one direction tells of the other, and what breaks.

use std::path::Path;
use std::time::Duration;

use helenus_core::Direction::{self, Request, Response};
use helenus_core::compression::Compression;
use helenus_core::{Header, ProtocolVersion};
use serde_json::{Value, json};

use super::{Broken, Conversation, Event, Kind, Message, Settings};
use crate::command::hex;

const STARTUP_V4: &str = "0400000001000000160001000b43514c5f56455253494f4e0005332e302e30";
const READY_V4: &str = "840000000200000000";
const STARTUP_V5: &str = "0500000001000000160001000b43514c5f56455253494f4e0005332e302e30";
const READY_V5: &str = "850000000200000000";
const OPTIONS_SEGMENT: &str = "090002a4c8c1050000550500000000541f6b11";

fn settings() -> Settings {
    Settings {
        rows: 10,
        ..Settings::default()
    }
}

fn events(settings: Settings, writes: &[(Direction, &str)]) -> Vec<Event> {
    let mut conversation = Conversation::new(settings);
    let mut events = Vec::new();
    for (index, (direction, digits)) in writes.iter().enumerate() {
        let time = Some(Duration::from_millis(index as u64));
        let bytes = hex::decode(digits).unwrap();
        conversation.receive(*direction, time, &bytes, &mut |event| events.push(event));
    }
    conversation.finish(&mut |event| events.push(event));
    events
}

fn messages(events: Vec<Event>) -> Vec<Message> {
    let message = |event: Event| match event.kind {
        Kind::Message(message) => *message,
        Kind::Broken(broken) => panic!("{broken:?}"),
    };
    events.into_iter().map(message).collect()
}

fn broken(event: &Event) -> &Broken {
    match &event.kind {
        Kind::Broken(broken) => broken,
        Kind::Message(message) => panic!("{message:?}"),
    }
}

fn field<'a>(message: &'a Message, name: &str) -> Option<&'a Value> {
    message
        .fields
        .iter()
        .find(|(field, _)| *field == name)
        .map(|(_, value)| value)
}

/// The lines of a file of golden data.
fn golden(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/vectors")
        .join(file);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_golden_envelope_decodes_in_its_direction() {
    let all = golden("envelopes.jsonl");
    for line in &all {
        let direction = if line["direction"] == "request" {
            Request
        } else {
            Response
        };
        let compression = line["compression"]
            .as_str()
            .and_then(Compression::from_name);
        let one_sided = Settings {
            one_sided: true,
            compression,
            ..settings()
        };
        // As the connection carried it, if that differs.
        let digits = line["wire_hex"].as_str().or(line["hex"].as_str()).unwrap();
        let messages = messages(events(one_sided, &[(direction, digits)]));
        let [message] = &messages[..] else {
            panic!("{}", line["id"])
        };
        assert_eq!(
            message.bytes[Header::SIZE..],
            hex::decode(&line["hex"].as_str().unwrap()[18..]).unwrap()
        );
        assert_eq!(message.header.opcode.name(), line["name"].as_str());
        for name in ["query", "keyspace", "authenticator", "message", "row_count"] {
            if let (Some(found), Some(listed)) = (field(message, name), line["fields"].get(name)) {
                assert_eq!(found, listed, "{}: {name}", line["id"]);
            }
        }
    }
    assert!(all.len() > 2000);
}

/// The direction of all envelopes in a segment.
fn only_direction(mut payload: &[u8]) -> Option<Direction> {
    let mut only = None;
    while let Some((head, rest)) = payload.split_first_chunk::<{ Header::SIZE }>() {
        let header = Header::decode(head);
        payload = &rest[header.length as usize..];
        if *only.get_or_insert(header.direction) != header.direction {
            return None;
        }
    }
    only
}

#[test]
fn every_golden_segment_gives_its_payload() {
    let all = golden("segments.jsonl");
    let mut whole = 0;
    for line in all.iter().filter(|line| line["self_contained"] == true) {
        let payload = hex::decode(line["payload_hex"].as_str().unwrap()).unwrap();
        // Some hold messages of both directions, which no connection carries.
        let Some(direction) = only_direction(&payload) else {
            continue;
        };
        let begun = Settings {
            begun: Some(ProtocolVersion::V5),
            ..settings()
        };
        let found = messages(events(begun, &[(direction, line["hex"].as_str().unwrap())]));
        let bytes: Vec<u8> = found
            .iter()
            .flat_map(|message| message.bytes.to_vec())
            .collect();
        assert_eq!(bytes, payload, "{}", line["id"]);
        whole += 1;
    }
    assert!(whole > 20, "{whole}");
}

#[test]
fn an_answer_names_its_request_and_how_long_it_took() {
    let found = messages(events(
        settings(),
        &[
            (Request, STARTUP_V4),
            (Response, READY_V4),
            (Request, "04000007070000000f0000000855534520736f6d65000100"),
            (Response, "8400000708000000040000 0001"),
        ],
    ));
    assert_eq!(
        field(&found[0], "options"),
        Some(&json!({"CQL_VERSION": "3.0.0"}))
    );
    assert_eq!(
        found[3].answers,
        Some(("QUERY USE some".to_owned(), Some(Duration::from_millis(1))))
    );
    assert_eq!(field(&found[3], "kind"), Some(&json!("Void")));
}

#[test]
fn v5_goes_on_in_segments_after_ready_whatever_came_first() {
    let in_order = [
        (Request, STARTUP_V5),
        (Response, READY_V5),
        (Request, OPTIONS_SEGMENT),
    ];
    let ahead = [
        (Request, STARTUP_V5),
        (Request, OPTIONS_SEGMENT),
        (Response, READY_V5),
    ];
    for writes in [in_order, ahead] {
        let found = messages(events(settings(), &writes));
        let opcodes: Vec<String> = found.iter().map(|m| m.header.opcode.to_string()).collect();
        assert_eq!(opcodes.len(), 3);
        assert!(opcodes.contains(&"OPTIONS".to_owned()));
    }
    let refused = "85000000000000 0008 0000000a 0002 6e6f";
    let again = [
        (Request, STARTUP_V5),
        (Response, refused),
        (Request, STARTUP_V5),
        (Response, READY_V5),
    ];
    assert_eq!(messages(events(settings(), &again)).len(), 4);
}

#[test]
fn one_direction_alone_is_read_without_the_other() {
    let one_sided = Settings {
        one_sided: true,
        ..settings()
    };
    let requests = [(Request, STARTUP_V5), (Request, OPTIONS_SEGMENT)];
    assert_eq!(messages(events(one_sided, &requests)).len(), 2);
    let begun = Settings {
        begun: Some(ProtocolVersion::V5),
        ..one_sided
    };
    assert_eq!(
        messages(events(begun, &[(Request, OPTIONS_SEGMENT)])).len(),
        1
    );
}

#[test]
fn values_and_rows_of_prepared_statements_are_typed() {
    // PREPARE; its answer: k int is bound, v text comes back; EXECUTE with 7, metadata skipped; one row.
    let text = hex::encode(b"SELECT v FROM ks.t WHERE k = ?");
    let prepare = format!("04000001 09 00000022 0000001e {text}");
    let prepared = "84000001 08 00000036 00000004 0002 abcd \
        00000001 00000001 00000001 0000 0002 6b73 0001 74 0001 6b 0009 \
        00000001 00000001 0002 6b73 0001 74 0001 76 000d";
    let execute = "04000002 0a 00000011 0002 abcd 0001 03 0001 00000004 00000007";
    let rows = "84000002 08 00000017 00000002 00000004 00000001 00000001 00000003 6f6e65";
    let found = messages(events(
        settings(),
        &[
            (Request, &prepare),
            (Response, prepared),
            (Request, execute),
            (Response, rows),
        ],
    ));
    assert_eq!(field(&found[1], "variables"), Some(&json!(["k int"])));
    assert_eq!(
        field(&found[2], "query"),
        Some(&json!("SELECT v FROM ks.t WHERE k = ?"))
    );
    assert_eq!(field(&found[2], "values"), Some(&json!([{"k": 7}])));
    assert_eq!(field(&found[3], "columns"), Some(&json!(["v text"])));
    assert_eq!(field(&found[3], "rows"), Some(&json!([["one"]])));
    assert_eq!(field(&found[3], "metadata_skipped"), Some(&json!(true)));
}

#[test]
fn a_cut_message_is_pointed_at_and_the_next_one_is_read() {
    let cut = "04000005 07 00000006 00000009 5553";
    let found = events(
        settings(),
        &[
            (Request, STARTUP_V4),
            (Request, cut),
            (Request, "04000006 05 00000000"),
        ],
    );
    assert_eq!(found[1].offset, 31);
    let broken = broken(&found[1]);
    assert_eq!(
        broken.what,
        "QUERY on stream 5: Not enough bytes to read an UTF8 serialized string preceded by its 4 bytes length"
    );
    assert_eq!((broken.mark.clone(), broken.is_final), (13..13, false));
    assert!(matches!(found[2].kind, Kind::Message(_)));
}

#[test]
fn every_way_to_break_a_stream_is_told_with_its_place() {
    let flip = |digits: &str, at: usize| {
        let mut bytes = hex::decode(digits).unwrap();
        bytes[at] ^= 1;
        hex::encode(&bytes)
    };
    let begun = Settings {
        begun: Some(ProtocolVersion::V5),
        ..settings()
    };
    let cases: [(Settings, String, &str, std::ops::Range<usize>, bool); 7] = [
        (
            settings(),
            "09000001 05 00000000".into(),
            "protocol version 9",
            0..1,
            true,
        ),
        (
            settings(),
            "84000001 05 00000000".into(),
            "a request has the direction bit",
            0..1,
            true,
        ),
        (
            settings(),
            "04000001 05 ffffffff".into(),
            "a body of -1 bytes",
            5..9,
            true,
        ),
        (
            settings(),
            "04010001 07 00000001 00".into(),
            "the body is compressed",
            9..10,
            false,
        ),
        (
            settings(),
            "04000001 05".into(),
            "the capture ends here, within a header",
            5..5,
            true,
        ),
        (
            begun,
            flip(OPTIONS_SEGMENT, 0),
            "the CRC24 of the segment's header",
            0..6,
            true,
        ),
        (
            begun,
            flip(OPTIONS_SEGMENT, 7),
            "the CRC32 of the segment's payload",
            15..19,
            false,
        ),
    ];
    for (settings, digits, what, mark, is_final) in cases {
        let found = events(settings, &[(Request, &digits)]);
        let broken = broken(&found[0]);
        assert!(broken.what.starts_with(what), "{}", broken.what);
        assert_eq!(
            (broken.mark.clone(), broken.is_final),
            (mark, is_final),
            "{what}"
        );
        assert_eq!(found.len(), 1, "{what}");
    }
}

#[test]
fn lost_bytes_end_their_direction_alone() {
    let mut conversation = Conversation::new(settings());
    let mut found = Vec::new();
    let startup = hex::decode(STARTUP_V4).unwrap();
    conversation.receive(Request, None, &startup, &mut |event| found.push(event));
    conversation.lose(Request, None, 7, &mut |event| found.push(event));
    conversation.receive(Request, None, &startup, &mut |event| found.push(event));
    let ready = hex::decode(READY_V4).unwrap();
    conversation.receive(Response, None, &ready, &mut |event| found.push(event));
    conversation.finish(&mut |event| found.push(event));
    assert_eq!(found.len(), 3);
    assert!(
        broken(&found[1])
            .what
            .starts_with("7 bytes weren't captured")
    );
}

#[test]
fn what_is_found_does_not_depend_on_how_the_bytes_were_cut() {
    let writes = [
        (Request, STARTUP_V5),
        (Response, READY_V5),
        (Request, OPTIONS_SEGMENT),
    ];
    let whole = events(settings(), &writes);
    let mut conversation = Conversation::new(settings());
    let mut found = Vec::new();
    for (index, (direction, digits)) in writes.iter().enumerate() {
        let time = Some(Duration::from_millis(index as u64));
        for byte in hex::decode(digits).unwrap() {
            conversation.receive(*direction, time, &[byte], &mut |event| found.push(event));
        }
    }
    assert_eq!(found, whole);
}

#[test]
fn wrong_bytes_never_panic() {
    let streams = [
        (Request, [STARTUP_V5, OPTIONS_SEGMENT].concat()),
        (Response, [READY_V5, "850000010800000004000000 01"].concat()),
    ];
    for (direction, digits) in streams {
        let bytes = hex::decode(&digits).unwrap();
        for at in 0..bytes.len() {
            for wrong in [0, 0x7F, 0xFF] {
                let mut bytes = bytes.clone();
                bytes[at] = wrong;
                events(
                    Settings {
                        one_sided: true,
                        ..settings()
                    },
                    &[(direction, &hex::encode(&bytes))],
                );
            }
        }
    }
}
