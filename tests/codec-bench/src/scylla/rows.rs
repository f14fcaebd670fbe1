//! RESULT with rows.

use std::sync::Arc;

use bytes::Bytes;
use scylla_cql::deserialize::row::{ColumnIterator, DeserializeRow};
use scylla_cql::frame::protocol_features::ProtocolFeatures;
use scylla_cql::frame::response::result::{
    DeserializedMetadataAndRawRows, Result as CqlResult, ResultMetadata,
};
use scylla_cql::frame::response::{ResponseOpcode, ResponseV2};
use scylla_cql::value::CqlTimestamp;
use uuid::Uuid;

use crate::data::{digest, narrow_digest};

/// Metadata that was kept from PREPARE.
pub type Cached = Arc<ResultMetadata<'static>>;

/// What a statement's metadata is, of a RESULT that describes it.
#[must_use]
pub fn metadata(described: &Bytes) -> Option<Cached> {
    let features = ProtocolFeatures::default();
    let rows = rows(described, None, &features)?;
    Some(rows.into_metadata().make_owned_arced())
}

#[inline]
fn rows(
    body: &Bytes,
    cached: Option<&Cached>,
    features: &ProtocolFeatures,
) -> Option<DeserializedMetadataAndRawRows> {
    let response =
        ResponseV2::deserialize(features, ResponseOpcode::Result, body.clone(), cached).ok()?;
    match response {
        ResponseV2::Result(CqlResult::Rows((rows, _))) => rows.deserialize_metadata().ok(),
        _ => None,
    }
}

/// The cells as slices.
pub fn raw(body: &Bytes, features: &ProtocolFeatures) -> Option<u64> {
    let rows = rows(body, None, features)?;
    let mut sum = 0;
    for row in rows.rows_iter::<ColumnIterator<'_, '_>>().ok()? {
        for column in row.ok()? {
            sum += column.ok()?.slice.map_or(0, |slice| slice.as_slice().len()) as u64;
        }
    }
    Some(sum)
}

fn typed<'a, R: DeserializeRow<'a, 'a>>(
    rows: &'a DeserializedMetadataAndRawRows,
    digest: impl Fn(R) -> u64,
) -> Option<u64> {
    let mut sum = 0_u64;
    for row in rows.rows_iter::<R>().ok()? {
        sum = sum.wrapping_add(digest(row.ok()?));
    }
    Some(sum)
}

type Wide<'a> = (
    i32,
    i64,
    &'a str,
    Uuid,
    f64,
    bool,
    CqlTimestamp,
    &'a [u8],
    f32,
    &'a str,
);

/// The cells of wide rows as values.
pub fn wide(body: &Bytes, cached: Option<&Cached>, features: &ProtocolFeatures) -> Option<u64> {
    let rows = rows(body, cached, features)?;
    typed(
        &rows,
        |(id, count, name, key, ratio, active, at, blob, weight, note): Wide<'_>| {
            digest(
                id, count, name, key, ratio, active, at.0, blob, weight, note,
            )
        },
    )
}

/// The cells of narrow rows as values.
pub fn narrow(body: &Bytes, cached: Option<&Cached>, features: &ProtocolFeatures) -> Option<u64> {
    let rows = rows(body, cached, features)?;
    typed(&rows, |(id, name, count): (i32, &str, i64)| {
        narrow_digest(id, name, count)
    })
}
