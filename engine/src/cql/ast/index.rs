//! `CREATE INDEX`.

use std::sync::Arc;

use super::{Name, Properties, TableName};

/// `CREATE [CUSTOM] INDEX`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateIndex {
    /// The name, if the text has one.
    pub name: Option<Name>,
    /// The table.
    pub table: TableName,
    /// `IF NOT EXISTS`
    pub if_not_exists: bool,
    /// `CUSTOM`
    pub is_custom: bool,
    /// What is indexed; perhaps nothing, which only planning refuses.
    pub targets: Vec<IndexTarget>,
    /// `USING`
    pub class: Option<Arc<str>>,
    /// `WITH`
    pub properties: Properties,
}

/// What an index is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexTarget {
    /// Which part of the column.
    pub kind: TargetKind,
    /// The column.
    pub column: Name,
}

/// Which part of a column is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetKind {
    /// `column`: its value; of a collection that isn't frozen, its values.
    Simple,
    /// `values(column)`
    Values,
    /// `keys(column)`
    Keys,
    /// `entries(column)`
    Entries,
    /// `full(column)`
    Full,
}

impl TargetKind {
    /// The word in front of the parenthesis; none for a plain column.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Simple => None,
            Self::Values => Some("values"),
            Self::Keys => Some("keys"),
            Self::Entries => Some("entries"),
            Self::Full => Some("full"),
        }
    }
}
