//! RESULT: what a statement returned. Answers to native protocol v5, section 4.2.5.

mod column;
mod columns;
mod metadata;
mod prepared;
mod rows;
mod view;

pub use column::{ColumnSpec, Name};
pub use columns::ColumnsView;
pub use metadata::ResultMetadata;
pub use prepared::{NO_COLUMNS_ID, Prepared};
pub use rows::{Rows, RowsHeader};
pub use view::RowsView;

/// The kinds of RESULT.
pub(crate) mod kind {
    pub(crate) const VOID: i32 = 0x0001;
    pub(crate) const ROWS: i32 = 0x0002;
    pub(crate) const SET_KEYSPACE: i32 = 0x0003;
    pub(crate) const PREPARED: i32 = 0x0004;
    pub(crate) const SCHEMA_CHANGE: i32 = 0x0005;
}
