//! Why bytes of another replica don't decode.

use helenus_core::{DecodeError, DecodeErrorKind};

use crate::schema::{ColumnId, TableId};

/// Bytes that are no message of a replica, or one about another schema than this one's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// They end too early, or hold a number that is out of range.
    #[error("{kind}, at byte {offset} of a replica's message")]
    Cut {
        /// What is wrong.
        kind: DecodeErrorKind,
        /// Where, from the start of the message.
        offset: u32,
    },
    /// They are of another version of the encoding.
    #[error("version {0} of the encoding of replicas' messages isn't known")]
    Version(u8),
    /// They are in order up to here, but say what makes no sense.
    #[error("{what}, at byte {offset} of a replica's message")]
    Malformed {
        /// What is wrong.
        what: &'static str,
        /// Where, from the start of the message.
        offset: u32,
    },
    /// They are about a table that this schema doesn't have.
    #[error("no table has the id {0}")]
    UnknownTable(TableId),
    /// They are about a column that this schema's table never had.
    #[error("no column has the id {}", .0.0)]
    UnknownColumn(ColumnId),
}

impl From<DecodeError> for EncodingError {
    fn from(error: DecodeError) -> Self {
        Self::Cut {
            kind: error.kind,
            offset: error.offset,
        }
    }
}
