//! Result metadata and its id, by which a client learns that it has changed.

use bytes::Bytes;
use helenus_core::ColumnSpec;
use md5::{Digest as _, Md5};

/// The id of a result's columns: equal for equal keyspaces, tables, names and types.
pub(crate) fn columns_id(columns: &[ColumnSpec<'_>]) -> Bytes {
    let mut hash = Md5::new();
    for column in columns {
        for part in [
            &*column.keyspace,
            &*column.table,
            &*column.name,
            &*column.ty.class_name(),
        ] {
            hash.update(part);
            hash.update([0]);
        }
    }
    Bytes::copy_from_slice(&hash.finalize())
}
