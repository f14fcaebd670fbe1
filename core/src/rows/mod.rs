//! Rows: written cell by cell straight into the output, read lazily from what was received.
//! Answers to native protocol v5, section 4.2.5.2.
//!
//! ```
//! use bytes::BytesMut;
//! use helenus_core::rows::{RowsHeader, RowsWriter};
//! use helenus_core::{ColumnSpec, CqlType, Opcode, ProtocolVersion, Response, ResultMetadata};
//!
//! let column = |name: &'static str, ty| ColumnSpec {
//!     keyspace: "ks".into(),
//!     table: "t".into(),
//!     name: name.into(),
//!     ty,
//! };
//! let metadata = ResultMetadata::new(vec![column("k", CqlType::Int), column("v", CqlType::Text)]);
//! let mut out = BytesMut::new();
//! let mut writer = RowsWriter::new(&mut out, &RowsHeader::new(&metadata), ProtocolVersion::V5);
//! writer.row(&(7, "seven"))?;
//! writer.finish()?;
//!
//! let response = Response::decode(Opcode::RESULT, ProtocolVersion::V5, &out.freeze(), 0)?;
//! let Response::Rows(rows) = response else { unreachable!() };
//! for row in rows.iter() {
//!     assert_eq!(row?.get::<&str>("v")?, "seven");
//! }
//! for row in rows.typed::<(i32, Option<&str>)>()? {
//!     assert_eq!(row?, (7, Some("seven")));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod iter;
#[cfg(test)]
mod tests;
mod typed;
mod writer;

pub use crate::message::RowsHeader;
pub use error::{InvalidCell, RowError, TypeMismatch};
pub use iter::{Cells, Row, RowIter};
pub use typed::{FromRow, RowReader, TypedRows, check_column};
pub use writer::{IncompleteRow, RowsWriter};
