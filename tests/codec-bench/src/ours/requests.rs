//! EXECUTE and QUERY, in v4.

use bytes::{BufMut, BytesMut};
use helenus_core::message::{Execute, Query, QueryParams, RequestBody, ValueList};
use helenus_core::wire::Reader;
use helenus_core::{Consistency, Opcode, ProtocolVersion, ResultMetadata};

use crate::data::NARROW;

const V4: ProtocolVersion = ProtocolVersion::V4;

#[inline(always)]
fn envelope(opcode: u8, request: &RequestBody<'_>, out: &mut BytesMut) {
    out.clear();
    out.put_slice(&[4, 0, 0, 1, opcode, 0, 0, 0, 0]);
    request.encode(V4, out);
    let length = (out.len() - 9) as u32;
    out[5..9].copy_from_slice(&length.to_be_bytes());
}

/// What a client keeps: its buffers, and the variables of the statement, as PREPARE described them.
pub struct Encoder {
    variables: ResultMetadata,
    values: ValueList,
    out: BytesMut,
}

impl Default for Encoder {
    /// Empty buffers.
    fn default() -> Self {
        Self {
            variables: super::rows::metadata(&NARROW),
            values: ValueList::new(),
            out: BytesMut::new(),
        }
    }
}

impl Encoder {
    /// Writes an EXECUTE with three values and a page size.
    pub fn execute(
        &mut self,
        id: &[u8],
        (number, text, count): (i32, &str, i64),
        page_size: i32,
    ) -> Option<&[u8]> {
        let values = (number, text, count);
        self.values.bind(&values, Some(&self.variables)).ok()?;
        let execute = Execute {
            id,
            result_metadata_id: None,
            params: QueryParams {
                values: self.values.as_values(),
                page_size: Some(page_size),
                ..QueryParams::new(Consistency::LOCAL_QUORUM)
            },
        };
        envelope(0x0A, &RequestBody::Execute(execute), &mut self.out);
        Some(&self.out)
    }
}

/// Reads an EXECUTE's body: id, values and page size.
pub fn decode_execute(body: &[u8]) -> Option<u64> {
    let mut reader = Reader::new(body);
    let RequestBody::Execute(execute) =
        RequestBody::decode(Opcode::EXECUTE, V4, &mut reader).ok()?
    else {
        return None;
    };
    let parameters = &execute.params;
    let mut values = 0;
    for (_, value) in parameters.values {
        values += value.bytes()?.len() as u64;
    }
    Some(
        execute.id.len() as u64
            + u64::from(parameters.consistency.0)
            + values
            + parameters.page_size? as u64,
    )
}

/// Writes a QUERY without values.
pub fn encode_query(query: &str, out: &mut BytesMut) {
    let query = Query {
        query,
        params: QueryParams::new(Consistency::LOCAL_QUORUM),
    };
    envelope(0x07, &RequestBody::Query(query), out);
}

/// Reads a QUERY's body: its statement and its consistency.
pub fn decode_query(body: &[u8]) -> Option<u64> {
    let mut reader = Reader::new(body);
    let RequestBody::Query(query) = RequestBody::decode(Opcode::QUERY, V4, &mut reader).ok()?
    else {
        return None;
    };
    Some(query.query.len() as u64 + u64::from(query.params.consistency.0))
}
