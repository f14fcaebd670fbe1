//! The probes and the table that the command carries, and how replies are taken apart and compared.

use std::collections::HashMap;

use bytes::BufMut;
use helenus_core::compression::Compression;

use super::compare::compare;
use super::corpus::{self, Selection};
use super::differences::Differences;
use super::probe::{Expected, Part, Probe};
use super::render::render;
use super::reply::{Framing, Reply};
use crate::command::hex;

fn carried() -> Vec<Probe> {
    corpus::parse(&corpus::text(None).unwrap()).unwrap()
}

/// An ERROR of v4 on stream 5: code, message, and what follows.
fn error(code: u32, message: &str, extra: &[u8]) -> Reply {
    let mut body = Vec::new();
    body.put_u32(code);
    body.put_u16(message.len() as u16);
    body.put_slice(message.as_bytes());
    body.put_slice(extra);
    let mut raw = vec![0x84, 0, 0, 5, 0, 0, 0, 0, body.len() as u8];
    raw.extend(body);
    Reply::new(&raw, 9, Framing::Plain, None)
}

fn expected(json: serde_json::Value) -> Expected {
    serde_json::from_value(json).unwrap()
}

#[test]
fn every_probe_the_command_carries_is_understood() {
    let probes = carried();
    assert!(probes.len() > 2200, "{}", probes.len());
    let ids: std::collections::HashSet<&str> =
        probes.iter().map(|probe| probe.id.as_str()).collect();
    assert_eq!(ids.len(), probes.len(), "each name is one probe's");
    let known = Reply::new(&[0x84, 0, 0, 0, 2, 0, 0, 0, 0], 9, Framing::Plain, None);
    for probe in &probes {
        for step in &probe.steps {
            let replies: Vec<&Expected> = match &step.action {
                super::probe::Action::Expect { expect } => vec![expect],
                super::probe::Action::ExpectAnyOrder { expect_any_order } => {
                    expect_any_order.iter().collect()
                }
                _ => Vec::new(),
            };
            let differences = replies.into_iter().flat_map(|reply| compare(reply, &known));
            for difference in differences {
                assert_ne!(
                    difference.got, "none of that name",
                    "{}: {}",
                    probe.id, difference.field
                );
            }
        }
    }
}

#[test]
fn only_probes_of_quirks_may_differ_deliberately() {
    let (probes, differences) = (carried(), Differences::load().unwrap());
    let quirks: HashMap<&str, bool> = probes
        .iter()
        .map(|probe| (probe.id.as_str(), probe.quirk.is_some()))
        .collect();
    let mut listed = std::collections::HashSet::new();
    for row in differences.rows() {
        assert_eq!(
            row.probes.is_empty(),
            row.instead.is_empty(),
            "{}",
            row.when
        );
        for id in &row.probes {
            assert_eq!(quirks.get(id.as_str()), Some(&true), "{id}");
            assert!(listed.insert(id), "{id} is listed twice");
        }
    }
}

#[test]
fn a_selection_takes_what_all_its_parts_take() {
    let probes = carried();
    let count = |selection: Selection| {
        probes
            .iter()
            .filter(|probe| selection.includes(probe))
            .count()
    };
    let of = |group: &str| Selection {
        groups: vec![group.to_owned()],
        ..Selection::default()
    };
    assert_eq!(count(Selection::default()), probes.len());
    assert_eq!(count(of("options")), 8);
    assert_eq!(
        count(Selection {
            version: Some(5),
            ..of("options")
        }),
        2
    );
    assert_eq!(
        count(Selection {
            only: Some("no-such".to_owned()),
            ..of("options")
        }),
        0
    );
    let all = count(of("handshake"));
    assert!(
        count(Selection {
            without_quirks: true,
            ..of("handshake")
        }) < all
    );
}

#[test]
fn parts_are_rendered_with_headers_checksums_and_captured_bytes() {
    let parts: Vec<Part> = serde_json::from_value(serde_json::json!([
        {"segment": {"payload": [{"envelope": {"version": 5, "stream": 85, "opcode": 5, "body": ""}}]}},
        {"repeat": "0a0b", "count": 2},
        {"var": "id", "as": "short_bytes"},
        {"var": "id", "as": "bytes"},
        {"var": "id"},
    ]))
    .unwrap();
    let captured = HashMap::from([("id".to_owned(), vec![1, 2])]);
    assert_eq!(
        hex::encode(&render(&parts, &captured).unwrap()),
        "090002a4c8c1050000550500000000541f6b11\
         0a0b0a0b00020102000000020102\
         0102"
    );
    assert!(render(&parts, &HashMap::new()).is_err());
}

#[test]
fn a_difference_points_at_its_bytes() {
    let got = error(0x2200, "no", &[1, 2, 4]);
    let wanted = expected(serde_json::json!({
        "framing": "plain", "version": 4, "flags": 0, "stream": 5, "opcode": "ERROR",
        "code": "0x000A", "extra": "010203",
        "compare": ["framing", "version", "stream", "opcode", "code", "extra"],
    }));
    let differences = compare(&wanted, &got);
    let said: Vec<_> = differences
        .iter()
        .map(|d| {
            (
                d.field.as_str(),
                d.expected.as_str(),
                d.got.as_str(),
                d.bytes.clone().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        said,
        [
            (
                "code",
                "0x000A PROTOCOL_ERROR",
                "0x2200 INVALID (no)",
                9..13
            ),
            ("extra from its byte 2 on", "03", "04", 19..20),
        ]
    );
}

#[test]
fn an_equal_reply_has_no_difference() {
    let got = error(0x2200, "no such table", &[]);
    let wanted = expected(serde_json::json!({
        "framing": "plain", "version": 4, "flags": 1, "stream": 5, "opcode": "ERROR",
        "code": "0x2200", "extra": "", "message_contains": ["such"],
        "compare": ["framing", "version", "flags", "stream", "opcode", "code", "extra", "message_contains"],
    }));
    assert_eq!(compare(&wanted, &got), []);
}

#[test]
fn replies_to_v1_and_compressed_ones_are_taken_apart() {
    let v1 = Reply::new(
        &[0x81, 0, 0xFF, 0, 0, 0, 0, 6, 0, 0, 0, 10, 0, 0],
        8,
        Framing::Plain,
        None,
    );
    assert_eq!(
        (v1.header.version, v1.header.stream.0, v1.name().as_str()),
        (1, -1, "ERROR 0x000A")
    );
    assert_eq!(v1.span("code"), Some(8..12));
    let snappy = [0x84, 1, 0, 0, 8, 0, 0, 0, 6, 4, 12, 0, 0, 0, 1];
    let void = Reply::new(&snappy, 9, Framing::Plain, Some(Compression::Snappy));
    assert_eq!((void.name().as_str(), void.broken), ("RESULT Void", None));
}

#[test]
fn a_reply_that_ends_early_says_so() {
    let cut = Reply::new(
        &[0x84, 0, 0, 5, 0, 0, 0, 0, 5, 0, 0, 0, 10, 0],
        9,
        Framing::Plain,
        None,
    );
    assert_eq!(cut.name(), "ERROR 0x000A");
    assert!(cut.broken.is_some());
    assert_eq!(cut.span("message"), None);
}
