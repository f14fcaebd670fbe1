//! RESULT of PREPARE. Answers to native protocol v5, section 4.2.5.4.

use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};

use super::columns::ColumnsView;
use super::metadata::{NO_METADATA, ResultMetadata, read_count};
use crate::codes::ProtocolVersion;
use crate::wire::{DecodeError, DecodeErrorKind, Reader, WireWrite};

/// The id of the metadata of results without columns: the MD5 digest of nothing, as Apache Cassandra
/// has it.
pub const NO_COLUMNS_ID: [u8; 16] = [
    0xD4, 0x1D, 0x8C, 0xD9, 0x8F, 0x00, 0xB2, 0x04, 0xE9, 0x80, 0x09, 0x98, 0xEC, 0xF8, 0x42, 0x7E,
];

/// A statement was prepared.
#[derive(Debug, Clone, PartialEq)]
pub struct Prepared {
    /// The id to execute it by.
    pub id: Bytes,
    /// The variables to bind.
    pub variables: Arc<ResultMetadata>,
    /// For each component of the partition key, in order, which variable binds it; empty if not all are
    /// bound (from v4).
    pub pk_indexes: Vec<u16>,
    /// The result's columns; `None` if it has none.
    pub result: Option<Arc<ResultMetadata>>,
}

impl Prepared {
    pub(crate) fn encode(&self, version: ProtocolVersion, out: &mut BytesMut) {
        out.put_short_bytes(&self.id);
        if version >= ProtocolVersion::V5 {
            let id = self.result.as_ref().and_then(|result| result.id());
            out.put_short_bytes(id.map_or(&NO_COLUMNS_ID, |id| id));
        }
        let described = self.variables.is_described() || self.variables.column_count() == 0;
        let undescribed_flag = if described { 0 } else { NO_METADATA };
        out.put_i32(self.variables.global_flag() | undescribed_flag);
        out.put_u32(self.variables.column_count() as u32);
        if version >= ProtocolVersion::V4 {
            let indexes = self
                .pk_indexes
                .get(..i32::MAX as usize)
                .unwrap_or(&self.pk_indexes);
            out.put_i32(indexes.len() as i32);
            for index in indexes {
                out.put_u16(*index);
            }
        }
        self.variables.put_columns(version, out);
        match self.result.as_ref().filter(|result| result.is_described()) {
            Some(result) => {
                out.put_i32(result.global_flag());
                out.put_u32(result.column_count() as u32);
                result.put_columns(version, out);
            }
            None => {
                out.put_i32(NO_METADATA);
                out.put_i32(0);
            }
        }
    }

    pub(crate) fn decode(
        reader: &mut Reader<'_>,
        version: ProtocolVersion,
    ) -> Result<Self, DecodeError> {
        let id = Bytes::copy_from_slice(reader.short_bytes()?);
        let result_id = match version {
            ProtocolVersion::V5 => Some(Bytes::copy_from_slice(reader.short_bytes()?)),
            ProtocolVersion::V3 | ProtocolVersion::V4 => None,
        };
        let flags = reader.int()?;
        let count = read_count(reader)?;
        let mut pk_indexes = Vec::new();
        if version >= ProtocolVersion::V4 {
            let position = reader.position();
            let length = reader.int()?;
            let room = reader.remaining().len() / 2;
            let fits = usize::try_from(length)
                .ok()
                .filter(|length| *length <= room);
            let Some(fits) = fits else {
                return Err(reader.error_at(DecodeErrorKind::InvalidCount(length), position));
            };
            pk_indexes.reserve_exact(fits);
            for _ in 0..fits {
                pk_indexes.push(reader.short()?);
            }
        }
        let variables = Arc::new(ColumnsView::read(reader, flags, count)?.metadata(None)?);
        let flags = reader.int()?;
        let count = read_count(reader)?;
        let result = ColumnsView::read(reader, flags, count)?.metadata(result_id)?;
        Ok(Self {
            id,
            variables,
            pk_indexes,
            result: Some(Arc::new(result)),
        })
    }
}
