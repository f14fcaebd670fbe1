//! Secondary indexes as the schema has them.
//!
//! An index says which restrictions a query may make without `ALLOW FILTERING`, and which neighbours a vector has. It is
//! no structure of its own: who reads through it reads the table and keeps what fits.

use std::sync::Arc;

use super::{ColumnId, OptionMap};
use crate::cql::ast::TargetKind;

/// A secondary index of a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// The name, alone of its kind in the keyspace.
    pub name: Arc<str>,
    /// The column.
    pub column: ColumnId,
    /// Which part of the column. Never [`TargetKind::Simple`] for a collection.
    pub part: TargetKind,
    /// What it can do.
    pub kind: IndexKind,
    /// `target` as CQL text, `class_name` of a custom index, and what `WITH OPTIONS` said.
    pub options: OptionMap,
}

/// What an index can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexKind {
    /// Cassandra's first kind: equality, and one restriction a query.
    Composites,
    /// Storage-attached: ranges too, any number of restrictions together, and nearest neighbours of a vector.
    StorageAttached(Similarity),
}

/// How near two vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Similarity {
    /// By their angle.
    #[default]
    Cosine,
    /// By their distance.
    Euclidean,
    /// By their dot product.
    DotProduct,
}

impl Index {
    /// The column or a part of it, as CQL has it.
    pub fn target(&self) -> &str {
        self.options.get("target").map_or("", |target| target)
    }

    /// The class of a custom index, as it was written.
    pub fn class(&self) -> Option<&str> {
        self.options.get("class_name").map(|class| &**class)
    }

    /// The word `system_schema.indexes.kind` has for it.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            IndexKind::Composites => "COMPOSITES",
            IndexKind::StorageAttached(_) => "CUSTOM",
        }
    }

    /// Whether both say the same but for their names.
    pub(super) fn is_duplicate(&self, other: &Self) -> bool {
        self.options == other.options
    }
}

impl Similarity {
    /// The function of that name, whatever its case.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_uppercase().as_str() {
            "COSINE" => Some(Self::Cosine),
            "EUCLIDEAN" => Some(Self::Euclidean),
            "DOT_PRODUCT" => Some(Self::DotProduct),
            _ => None,
        }
    }
}
