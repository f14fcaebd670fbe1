//! The lines of the files, and the JSON forms that they share.

use bytes::Bytes;
use helenus_core::{Consistency, Direction, Header, ProtocolVersion};
use serde_json::Value as Json;

/// One envelope and what it says.
pub(crate) struct Golden {
    pub(crate) id: String,
    pub(crate) header: Header,
    pub(crate) version: ProtocolVersion,
    pub(crate) body: Bytes,
    pub(crate) fields: Json,
}

/// The lines of one of the files.
pub(crate) fn lines(file: &str) -> Vec<Json> {
    let path = format!(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/vectors/{}"),
        file
    );
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The envelopes of one direction, their headers checked against what the file says of them.
pub(crate) fn envelopes(direction: Direction) -> Vec<Golden> {
    let name = match direction {
        Direction::Request => "request",
        Direction::Response => "response",
    };
    let all = lines("envelopes.jsonl");
    let chosen = all.into_iter().filter(|line| line["direction"] == name);
    chosen.map(|line| golden(&line, direction)).collect()
}

fn golden(line: &Json, direction: Direction) -> Golden {
    let id = string(&line["id"]);
    let bytes = hex(&line["hex"]);
    let (head, body) = bytes.split_first_chunk::<{ Header::SIZE }>().unwrap();
    let header = Header::decode(head);
    assert_eq!(header.encode(), *head, "{id}");
    assert_eq!(header.direction, direction, "{id}");
    assert_eq!(u64::from(header.version), line["version"], "{id}");
    assert_eq!(u64::from(header.flags.0), line["flags"], "{id}");
    assert_eq!(i64::from(header.stream.0), line["stream"], "{id}");
    assert_eq!(u64::from(header.opcode.0), line["opcode"], "{id}");
    assert_eq!(header.opcode.name(), line["name"].as_str(), "{id}");
    let trailing = line["trailing_bytes"].as_u64().unwrap_or(0) as usize;
    assert_eq!(header.length as usize, body.len(), "{id}");
    let body = Bytes::copy_from_slice(&body[..body.len() - trailing]);
    let version = ProtocolVersion::from_u8(header.version).unwrap();
    Golden {
        id,
        header,
        version,
        body,
        fields: line["fields"].clone(),
    }
}

pub(crate) fn string(json: &Json) -> String {
    json.as_str().unwrap().to_owned()
}

pub(crate) fn strings(json: &Json) -> Vec<String> {
    json.as_array().unwrap().iter().map(string).collect()
}

pub(crate) fn hex(json: &Json) -> Vec<u8> {
    let digits = json.as_str().unwrap();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

/// Bytes or null.
pub(crate) fn optional_hex(json: &Json) -> Option<Vec<u8>> {
    if json.is_null() {
        None
    } else {
        Some(hex(json))
    }
}

pub(crate) fn int(json: &Json) -> i32 {
    i32::try_from(json.as_i64().unwrap()).unwrap()
}

pub(crate) fn consistency(json: &Json) -> Consistency {
    let known = (0..12)
        .map(Consistency)
        .find(|known| known.name() == json.as_str());
    known.unwrap()
}

/// A custom payload, sorted by key as JSON has it.
pub(crate) fn payload(json: &Json) -> Option<Vec<(String, Option<Bytes>)>> {
    let entries = json.as_object()?;
    let entry =
        |(key, value): (&String, &Json)| (key.clone(), optional_hex(value).map(Bytes::from));
    Some(entries.iter().map(entry).collect())
}
