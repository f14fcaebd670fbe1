//! Bodies of every opcode in both directions: what decodes is encoded, and decodes to the same again.

use bytes::{Bytes, BytesMut};
use helenus_core::message::{QueryFlags, RequestBody, Response, ServerEvent};
use helenus_core::types::Value;
use helenus_core::wire::Reader;
use helenus_core::{Extras, Flags, Opcode, ProtocolVersion};

use crate::input::Input;

/// A request's body.
pub(super) fn requests(data: &[u8]) {
    let mut input = Input::new(data);
    let (version, opcode) = (input.version(), Opcode(input.byte() % 16));
    let body = input.rest();
    let Ok(request) = RequestBody::decode(opcode, version, &mut Reader::new(body)) else {
        return;
    };
    match &request {
        RequestBody::Query(query) => query.params.values.iter().for_each(drop),
        RequestBody::Execute(execute) => execute.params.values.iter().for_each(drop),
        RequestBody::Batch(batch) => batch
            .statements
            .iter()
            .for_each(|statement| statement.values.iter().for_each(drop)),
        _ => {}
    }
    let mut encoded = BytesMut::new();
    request.encode(version, &mut encoded);
    let again = RequestBody::decode(opcode, version, &mut Reader::new(&encoded));
    let again = again.expect("what was encoded decodes");
    let mut twice = BytesMut::new();
    again.encode(version, &mut twice);
    assert_eq!(encoded, twice);
    assert_eq!(without_flags(request), without_flags(again));
}

/// The request but for its flags: those that mean nothing where they stand are not written.
fn without_flags(mut request: RequestBody<'_>) -> RequestBody<'_> {
    match &mut request {
        RequestBody::Query(query) => query.params.flags = QueryFlags::default(),
        RequestBody::Execute(execute) => execute.params.flags = QueryFlags::default(),
        RequestBody::Batch(batch) => batch.flags = QueryFlags::default(),
        _ => {}
    }
    request
}

/// A response's body, its extras in front.
pub(super) fn responses(data: &[u8]) {
    let mut input = Input::new(data);
    let (version, opcode, flags) = (input.version(), Opcode(input.byte() % 17), input.byte());
    let body = Bytes::copy_from_slice(input.rest());
    let mut reader = Reader::new(&body);
    let Ok(extras) = Extras::decode(Flags(flags), &mut reader) else {
        return;
    };
    let mut encoded = BytesMut::new();
    if version >= ProtocolVersion::V4 {
        let written = extras.encode(version, &mut encoded);
        let mut again = Reader::new(&encoded);
        let decoded = Extras::decode(written, &mut again).expect("what was encoded decodes");
        assert!(again.is_empty());
        assert_eq!(decoded, extras);
    }
    if opcode == Opcode::EVENT {
        event(version, &mut reader);
    } else if let Ok(response) = Response::decode(opcode, version, &body, reader.position()) {
        round_trip(version, &response);
        cells(&response);
    }
}

fn event(version: ProtocolVersion, reader: &mut Reader<'_>) {
    let Ok(event) = ServerEvent::decode(reader, version) else {
        return;
    };
    let mut encoded = BytesMut::new();
    event.encode(version, &mut encoded);
    let again = ServerEvent::decode(&mut Reader::new(&encoded), version);
    assert_eq!(again.as_ref(), Ok(&event));
}

fn round_trip(version: ProtocolVersion, response: &Response) {
    let mut encoded = BytesMut::new();
    response.encode(version, &mut encoded);
    let encoded = encoded.freeze();
    let again = Response::decode(response.opcode(), version, &encoded, 0);
    let again = again.expect("what was encoded decodes");
    let mut twice = BytesMut::new();
    again.encode(version, &mut twice);
    assert_eq!(encoded, twice);
}

/// Every cell of rows, read lazily and as a value.
fn cells(response: &Response) {
    let Response::Rows(rows) = response else {
        return;
    };
    let columns = rows.metadata.columns();
    for row in rows.iter() {
        let Ok(row) = row else { return };
        assert_eq!(row.len(), rows.metadata.column_count());
        for (index, (cell, column)) in row.cells().zip(columns).enumerate() {
            let value = cell
                .map(|bytes| Value::decode(&column.ty, bytes))
                .transpose();
            let typed = row.get::<Option<Value>>(index);
            assert_eq!(typed.is_ok(), value.is_ok());
        }
    }
}
