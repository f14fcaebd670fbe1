//! What the load asks for.

use bytes::{BufMut, Bytes, BytesMut};
use helenus_core::message::{
    Execute, Prepare, Query, QueryParams, RequestBody, Startup, ValueList,
};
use helenus_core::wire::Reader;
use helenus_core::{Consistency, Direction, Flags, Header, ProtocolVersion, RawValue, StreamId};

/// The protocol version of the load: the highest that all servers speak without segments.
pub(crate) const VERSION: ProtocolVersion = ProtocolVersion::V4;

/// The keyspace and tables.
pub(crate) const SETUP: [&str; 3] = [
    "CREATE KEYSPACE IF NOT EXISTS load WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    "CREATE TABLE IF NOT EXISTS load.kv (k int PRIMARY KEY, v text)",
    "CREATE TABLE IF NOT EXISTS load.scan (k int PRIMARY KEY, v text)",
];

/// The read.
pub(crate) const SELECT: &str = "SELECT v FROM load.kv WHERE k = ?";

/// The scan.
pub(crate) const COUNT: &str = "SELECT count(*) FROM load.scan";

/// What a row holds: 100 bytes.
const VALUE: [u8; 100] = [b'v'; 100];

/// The options of STARTUP, serialized: one entry, the version of CQL.
const STARTUP: &[u8] = b"\x00\x01\x00\x0bCQL_VERSION\x00\x053.0.0";

/// The write.
pub(crate) fn insert(table: &str) -> String {
    format!("INSERT INTO load.{table} (k, v) VALUES (?, ?)")
}

pub(crate) fn startup() -> RequestBody<'static> {
    let options = Reader::new(STARTUP)
        .string_map()
        .expect("the constant is a string map");
    RequestBody::Startup(Startup { options })
}

pub(crate) fn query(text: &str) -> RequestBody<'_> {
    RequestBody::Query(Query {
        query: text,
        params: QueryParams::new(Consistency::ONE),
    })
}

pub(crate) fn prepare(text: &str) -> RequestBody<'_> {
    RequestBody::Prepare(Prepare {
        query: text,
        keyspace: None,
    })
}

pub(crate) fn write_select(output: &mut BytesMut, stream: u16, id: &Bytes, key: u32) {
    execute(output, stream, id, &[&key.to_be_bytes()]);
}

pub(crate) fn write_insert(output: &mut BytesMut, stream: u16, id: &Bytes, key: u32) {
    execute(output, stream, id, &[&key.to_be_bytes(), &VALUE]);
}

pub(crate) fn write_count(output: &mut BytesMut, stream: u16, id: &Bytes) {
    execute(output, stream, id, &[]);
}

pub(crate) fn write_options(output: &mut BytesMut, stream: u16) {
    write(output, stream, &RequestBody::Options);
}

fn execute(output: &mut BytesMut, stream: u16, id: &Bytes, values: &[&[u8]]) {
    let mut list = ValueList::new();
    for value in values {
        list.push(RawValue::Bytes(value)).expect("two values fit");
    }
    let params = QueryParams {
        values: list.as_values(),
        ..QueryParams::new(Consistency::ONE)
    };
    let execute = Execute {
        id,
        result_metadata_id: None,
        params,
    };
    write(output, stream, &RequestBody::Execute(execute));
}

/// Appends a request's envelope.
pub(crate) fn write(output: &mut BytesMut, stream: u16, body: &RequestBody<'_>) {
    let mut header = Header {
        version: VERSION.as_u8(),
        direction: Direction::Request,
        flags: Flags::NONE,
        stream: StreamId(stream as i16),
        opcode: body.opcode(),
        length: 0,
    };
    let start = output.len();
    output.put_slice(&header.encode());
    body.encode(VERSION, output);
    header.length = (output.len() - start - Header::SIZE) as u32;
    output[start..start + Header::SIZE].copy_from_slice(&header.encode());
}
