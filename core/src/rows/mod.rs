//! Rows: written cell by cell straight into the output, read lazily from what was received.
//! Answers to native protocol v5, section 4.2.5.2.

mod iter;
#[cfg(test)]
mod tests;
mod writer;

pub use crate::message::RowsHeader;
pub use iter::{Cells, Row, RowIter};
pub use writer::{IncompleteRow, RowsWriter};
