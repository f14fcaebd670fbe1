//! EXECUTE. Answers to native protocol v5, section 4.1.6.

use bytes::BytesMut;

use super::query::QueryParams;
use crate::codes::ProtocolVersion;
use crate::wire::{DecodeError, Reader, WireWrite};

/// EXECUTE: runs a prepared statement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Execute<'a> {
    /// The prepared statement's id.
    pub id: &'a [u8],
    /// The id of the result metadata that the client knows (v5, where `None` is written as an empty id).
    pub result_metadata_id: Option<&'a [u8]>,
    /// What the statement is run with.
    pub params: QueryParams<'a>,
}

impl<'a> Execute<'a> {
    #[inline(always)]
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let id = reader.short_bytes()?;
        let result_metadata_id = match version {
            ProtocolVersion::V5 => Some(reader.short_bytes()?),
            ProtocolVersion::V3 | ProtocolVersion::V4 => None,
        };
        Ok(Self {
            id,
            result_metadata_id,
            params: QueryParams::decode(reader, version)?,
        })
    }

    #[inline(always)]
    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        out.put_short_bytes(self.id);
        if version >= ProtocolVersion::V5 {
            out.put_short_bytes(self.result_metadata_id.unwrap_or_default());
        }
        self.params.encode(version, out);
    }
}
