//! PREPARE. Answers to native protocol v5, section 4.1.5.

use bytes::{BufMut, BytesMut};

use crate::codes::ProtocolVersion;
use crate::wire::{DecodeError, Reader, WireWrite};

/// PREPARE: prepares a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepare<'a> {
    /// The statement.
    pub query: &'a str,
    /// The keyspace that unqualified names mean (v5).
    pub keyspace: Option<&'a str>,
}

const KEYSPACE: u32 = 0x01;

impl<'a> Prepare<'a> {
    pub(crate) fn decode(
        reader: &mut Reader<'a>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let query = reader.long_string()?;
        let mut keyspace = None;
        if version >= ProtocolVersion::V5 && reader.int()?.cast_unsigned() & KEYSPACE != 0 {
            keyspace = Some(reader.string()?);
        }
        Ok(Self { query, keyspace })
    }

    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        out.put_long_string(self.query);
        if version < ProtocolVersion::V5 {
            return;
        }
        match self.keyspace {
            Some(keyspace) => {
                out.put_u32(KEYSPACE);
                out.put_string(keyspace);
            }
            None => out.put_u32(0),
        }
    }
}
