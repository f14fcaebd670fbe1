//! What mutation begins with: the golden vectors and recorded probes of `tests/vectors`, as each target
//! takes its input, and what is kept in `corpus/`.

use std::collections::BTreeSet;
use std::path::Path;

use bytes::{Bytes, BytesMut};
use helenus_core::message::{RequestBody, Response};
use helenus_core::types::write_type;
use helenus_core::wire::Reader;
use helenus_core::{CqlType, Direction, Extras, Flags, Header, Opcode, ProtocolVersion, StreamId};
use serde_json::Value as Json;

use crate::corpus::{from_hex, kept};
use crate::mutate::LONGEST;
use crate::targets::replica_messages;

/// The inputs a target begins with, in an order that stays the same.
///
/// # Panics
/// If the vectors can't be read.
#[must_use]
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut seeds = match target {
        "server" | "chunking" => conversations(),
        "client" | "client_chunking" => answers(),
        "forward" => forwarded(),
        "requests" => messages(Direction::Request),
        "responses" => messages(Direction::Response),
        "segments" => payloads(4),
        "decompression" => payloads(4),
        "class_names" => class_names(),
        "values" => values(),
        "replica" => replica_messages(),
        "cql" => statements(),
        _ => Vec::new(),
    };
    seeds.retain(|seed| seed.len() <= LONGEST);
    seeds.extend(kept(target));
    seeds
        .into_iter()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn lines(file: &str) -> Vec<Json> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../vectors")
        .join(file);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect()
}

fn hex(json: &Json) -> Vec<u8> {
    json.as_str().and_then(from_hex).unwrap_or_default()
}

/// As `Input::version` reads it.
fn choice(version: ProtocolVersion) -> u8 {
    5 - version.as_u8()
}

fn envelopes(direction: Direction) -> impl Iterator<Item = (Header, ProtocolVersion, Vec<u8>)> {
    lines("envelopes.jsonl")
        .into_iter()
        .filter_map(move |line| {
            let bytes = hex(&line["hex"]);
            let (head, body) = bytes.split_first_chunk::<{ Header::SIZE }>()?;
            let header = Header::decode(head);
            let version = ProtocolVersion::from_u8(header.version)?;
            (header.direction == direction).then(|| (header, version, body.to_vec()))
        })
}

/// Everything that was recorded of clients, handshakes included, and golden requests after a handshake.
fn conversations() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for probe in lines("probes.jsonl") {
        let writes = probe["send"].as_array().cloned().unwrap_or_default();
        let bytes: Vec<u8> = writes.iter().flat_map(hex).collect();
        // Setting, version, compression, cuts: no handshake of ours.
        seeds.push([&[5, 0, 0, 1, 7][..], &bytes].concat());
    }
    for (header, version, body) in envelopes(Direction::Request) {
        let envelope = [&header.encode()[..], &body].concat();
        seeds.push(sealed(version, &envelope));
    }
    seeds
}

/// Everything that was recorded of servers, and golden responses after a handshake, on the stream of a first call.
fn answers() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for probe in lines("probes.jsonl") {
        let replies = probe["reply"].as_array().cloned().unwrap_or_default();
        let bytes: Vec<u8> = replies
            .iter()
            .flat_map(|reply| hex(&reply["hex"]))
            .collect();
        // Setting, version, compression, cuts: no handshake of ours.
        seeds.push([&[4, 1, 0, 1, 7][..], &bytes].concat());
    }
    for (mut header, version, body) in envelopes(Direction::Response) {
        if header.opcode != Opcode::EVENT {
            header.stream = StreamId(1);
        }
        let envelope = [&header.encode()[..], &body].concat();
        seeds.push(sealed(version, &envelope));
    }
    seeds
}

/// An envelope behind the choices of a handshake without compression.
fn sealed(version: ProtocolVersion, envelope: &[u8]) -> Vec<u8> {
    // Setting, version, compression, cuts.
    let mut seed = vec![0, choice(version), 0, 1, 7];
    if version == ProtocolVersion::V5 {
        // Sealed, self-contained, so long.
        seed.extend([1, 0]);
        seed.extend((envelope.len() as u16).to_be_bytes());
    } else {
        seed.push(0);
    }
    seed.extend(envelope);
    seed
}

/// All golden messages, each to every version.
fn forwarded() -> Vec<Vec<u8>> {
    let both = envelopes(Direction::Request).chain(envelopes(Direction::Response));
    both.flat_map(|(header, version, body)| {
        ProtocolVersion::ALL.map(|to| {
            let choices = [choice(version), header.opcode.0, header.flags.0, choice(to)];
            [&choices[..], &body].concat()
        })
    })
    .collect()
}

fn messages(direction: Direction) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (header, version, body) in envelopes(direction) {
        let mut seed = vec![choice(version), header.opcode.0];
        let mut reader = Reader::new(&body);
        match direction {
            Direction::Response => seed.push(header.flags.0),
            Direction::Request if header.flags.contains(Flags::CUSTOM_PAYLOAD) => {
                reader.bytes_map().expect("a good payload");
            }
            Direction::Request => {}
        }
        seed.extend(reader.remaining());
        seeds.push(seed);
    }
    seeds
}

/// Golden segments, and what is in them, behind so many bytes of choices.
fn payloads(choices: usize) -> Vec<Vec<u8>> {
    lines("segments.jsonl")
        .iter()
        .flat_map(|line| [hex(&line["hex"]), hex(&line["payload_hex"])])
        .map(|bytes| [&vec![1; choices], &bytes[..]].concat())
        .collect()
}

/// The types of all golden results, and a value of each where there is one.
fn typed_cells() -> Vec<(CqlType, Vec<u8>)> {
    let mut cells = Vec::new();
    for (header, version, body) in envelopes(Direction::Response) {
        let body = Bytes::from(body);
        let mut reader = Reader::new(&body);
        if Extras::decode(header.flags, &mut reader).is_err() || header.opcode != Opcode::RESULT {
            continue;
        }
        let decoded = Response::decode(header.opcode, version, &body, reader.position());
        let Ok(Response::Rows(rows)) = decoded else {
            continue;
        };
        let columns = rows.metadata.columns();
        for row in rows.iter().flatten() {
            let with_types = row.cells().zip(columns);
            cells.extend(
                with_types
                    .map(|(cell, column)| (column.ty.clone(), cell.unwrap_or_default().to_vec())),
            );
        }
        cells.extend(columns.iter().map(|column| (column.ty.clone(), Vec::new())));
    }
    cells
}

fn class_names() -> Vec<Vec<u8>> {
    typed_cells()
        .iter()
        .map(|(ty, _)| ty.class_name().into_bytes())
        .collect()
}

fn values() -> Vec<Vec<u8>> {
    typed_cells()
        .iter()
        .map(|(ty, cell)| {
            let mut seed = BytesMut::from(&[0][..]);
            write_type(&mut seed, ty, ProtocolVersion::V5);
            seed.extend_from_slice(cell);
            seed.to_vec()
        })
        .collect()
}

/// All CQL that probes and golden requests have.
fn statements() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for probe in lines("probes.jsonl") {
        for statement in probe["setup"].as_array().into_iter().flatten() {
            seeds.extend(statement["cql"].as_str().map(|cql| cql.as_bytes().to_vec()));
        }
    }
    for (header, version, body) in envelopes(Direction::Request) {
        let decoded = RequestBody::decode(header.opcode, version, &mut Reader::new(&body));
        match decoded {
            Ok(RequestBody::Query(query)) => seeds.push(query.query.into()),
            Ok(RequestBody::Prepare(prepare)) => seeds.push(prepare.query.into()),
            _ => {}
        }
    }
    seeds
}
