//! RESULT with rows.

use cassandra_protocol::compression::Compression;
use cassandra_protocol::frame::message_response::ResponseBody;
use cassandra_protocol::frame::message_result::{
    BodyResResultRows, ColSpec, ColType, ColTypeOption, ResResultBody, RowsMetadata,
    RowsMetadataFlags, TableSpec,
};
use cassandra_protocol::frame::{Direction, Envelope, Flags, Opcode, Serialize, Version};
use cassandra_protocol::types::blob::Blob;
use cassandra_protocol::types::rows::Row;
use cassandra_protocol::types::{ByIndex, CBytes};
use uuid::Uuid;

use crate::data::{KEYSPACE, TABLE, Wide, digest, narrow_digest};

#[inline]
fn rows(body: &[u8]) -> Option<BodyResResultRows> {
    match ResponseBody::try_from(body, Opcode::Result, Version::V4).ok()? {
        ResponseBody::Result(ResResultBody::Rows(rows)) => Some(rows),
        _ => None,
    }
}

/// The cells as slices.
pub fn raw(body: &[u8]) -> Option<u64> {
    let rows = rows(body)?;
    let mut sum = 0;
    for row in &rows.rows_content {
        for cell in row {
            sum += cell.as_slice().map_or(0, <[u8]>::len) as u64;
        }
    }
    Some(sum)
}

/// The cells of wide rows as values.
pub fn wide(body: &[u8]) -> Option<u64> {
    let mut sum = 0_u64;
    for row in Row::from_body(rows(body)?) {
        let name: String = row.r_by_index(2).ok()?;
        let key: Uuid = row.r_by_index(3).ok()?;
        let blob: Blob = row.r_by_index(7).ok()?;
        let note: String = row.r_by_index(9).ok()?;
        sum = sum.wrapping_add(digest(
            row.r_by_index(0).ok()?,
            row.r_by_index(1).ok()?,
            &name,
            key,
            row.r_by_index(4).ok()?,
            row.r_by_index(5).ok()?,
            row.r_by_index(6).ok()?,
            &blob.into_vec(),
            row.r_by_index(8).ok()?,
            &note,
        ));
    }
    Some(sum)
}

/// The cells of narrow rows as values.
pub fn narrow(body: &[u8]) -> Option<u64> {
    let mut sum = 0_u64;
    for row in Row::from_body(rows(body)?) {
        let name: String = row.r_by_index(1).ok()?;
        sum = sum.wrapping_add(narrow_digest(
            row.r_by_index(0).ok()?,
            &name,
            row.r_by_index(2).ok()?,
        ));
    }
    Some(sum)
}

/// The description of wide rows.
#[must_use]
pub fn metadata() -> RowsMetadata {
    let column = |name: &str, id| ColSpec {
        table_spec: None,
        name: name.to_owned(),
        col_type: ColTypeOption { id, value: None },
    };
    RowsMetadata {
        flags: RowsMetadataFlags::GLOBAL_TABLE_SPACE,
        columns_count: 10,
        paging_state: None,
        new_metadata_id: None,
        global_table_spec: Some(TableSpec {
            ks_name: KEYSPACE.to_owned(),
            table_name: TABLE.to_owned(),
        }),
        col_specs: vec![
            column("id", ColType::Int),
            column("count", ColType::Bigint),
            column("name", ColType::Varchar),
            column("key", ColType::Uuid),
            column("ratio", ColType::Double),
            column("active", ColType::Boolean),
            column("at", ColType::Timestamp),
            column("blob", ColType::Blob),
            column("weight", ColType::Float),
            column("note", ColType::Varchar),
        ],
    }
}

/// An envelope with these rows.
pub fn encode(metadata: &RowsMetadata, rows: &[Wide]) -> Option<Vec<u8>> {
    let rows_content = rows
        .iter()
        .map(|row| {
            vec![
                CBytes::new(row.id.to_be_bytes().to_vec()),
                CBytes::new(row.count.to_be_bytes().to_vec()),
                CBytes::new(row.name.clone().into_bytes()),
                CBytes::new(row.key.as_bytes().to_vec()),
                CBytes::new(row.ratio.to_be_bytes().to_vec()),
                CBytes::new(vec![u8::from(row.active)]),
                CBytes::new(row.at.to_be_bytes().to_vec()),
                CBytes::new(row.blob.clone()),
                CBytes::new(row.weight.to_be_bytes().to_vec()),
                CBytes::new(row.note.clone().into_bytes()),
            ]
        })
        .collect();
    let body = ResResultBody::Rows(BodyResResultRows {
        metadata: metadata.clone(),
        rows_count: rows.len() as i32,
        rows_content,
        protocol_version: Version::V4,
    });
    let envelope = Envelope::new(
        Version::V4,
        Direction::Response,
        Flags::empty(),
        Opcode::Result,
        1,
        body.serialize_to_vec(Version::V4),
        None,
        Vec::new(),
    );
    envelope.encode_with(Compression::None).ok()
}
