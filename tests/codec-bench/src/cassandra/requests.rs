//! EXECUTE and QUERY, in v4.

use cassandra_protocol::compression::Compression;
use cassandra_protocol::consistency::Consistency;
use cassandra_protocol::frame::message_request::RequestBody;
use cassandra_protocol::frame::{Envelope, Flags, Opcode, Version};
use cassandra_protocol::query::{QueryParams, QueryValues};
use cassandra_protocol::types::CBytesShort;
use cassandra_protocol::types::value::Value;

fn encoded(mut envelope: Envelope) -> Option<Vec<u8>> {
    envelope.stream_id = 1;
    envelope.encode_with(Compression::None).ok()
}

/// Writes an EXECUTE with three values and a page size.
pub fn encode_execute(
    id: &CBytesShort,
    (number, text, count): (i32, &str, i64),
    page_size: i32,
) -> Option<Vec<u8>> {
    let values = vec![Value::new(number), Value::new(text), Value::new(count)];
    let parameters = QueryParams {
        consistency: Consistency::LocalQuorum,
        values: Some(QueryValues::SimpleValues(values)),
        page_size: Some(page_size),
        ..QueryParams::default()
    };
    encoded(Envelope::new_req_execute(
        id,
        None,
        &parameters,
        Flags::empty(),
        Version::V4,
    ))
}

/// Reads an EXECUTE's body: id, values and page size.
pub fn decode_execute(body: &[u8]) -> Option<u64> {
    let RequestBody::Execute(execute) =
        RequestBody::try_from(body, Opcode::Execute, Version::V4).ok()?
    else {
        return None;
    };
    let parameters = execute.query_parameters;
    let mut values = 0;
    if let Some(QueryValues::SimpleValues(list)) = &parameters.values {
        for value in list {
            if let Value::Some(bytes) = value {
                values += bytes.len() as u64;
            }
        }
    }
    let id = execute.id.into_bytes()?;
    let consistency = i16::from(parameters.consistency);
    Some(id.len() as u64 + consistency as u64 + values + parameters.page_size? as u64)
}

/// Writes a QUERY without values.
pub fn encode_query(query: &str) -> Option<Vec<u8>> {
    encoded(Envelope::new_req_query(
        query.to_owned(),
        Consistency::LocalQuorum,
        None,
        false,
        None,
        None,
        None,
        None,
        None,
        None,
        Flags::empty(),
        Version::V4,
    ))
}

/// Reads a QUERY's body: its statement and its consistency.
pub fn decode_query(body: &[u8]) -> Option<u64> {
    let RequestBody::Query(query) = RequestBody::try_from(body, Opcode::Query, Version::V4).ok()?
    else {
        return None;
    };
    let consistency = i16::from(query.query_params.consistency);
    Some(query.query.len() as u64 + consistency as u64)
}
