//! What indexes let a query restrict without `ALLOW FILTERING`. Answers to Cassandra's `IndexRestrictions`, and to the
//! `supportsExpression` of its kinds of index.

use helenus_core::types::CqlType;

use super::clustering::{Group, GroupKind};
use super::column::Place;
use super::filter::{Filter, FilterTest};
use super::restrictions::{ColumnTest, Relations};
use crate::cql::ast::TargetKind;
use crate::schema::{Column, ColumnId, Index, IndexKind, Table};

/// A restriction as an index sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Restriction {
    pub(super) column: ColumnId,
    pub(super) operator: Operator,
}

/// How a column is restricted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    /// `=`
    Equal,
    /// `IN`
    In,
    /// `<`, `<=`, `>`, `>=`
    Range,
    /// `CONTAINS`
    Contains,
    /// `CONTAINS KEY`
    ContainsKey,
    /// `column[key] =`
    Entry,
    /// `ANN OF`
    Nearest,
}

impl Restriction {
    /// That of a single column.
    pub(super) fn column(column: &Column, test: &ColumnTest) -> Self {
        let operator = match test {
            ColumnTest::Equal(_) => Operator::Equal,
            ColumnTest::In(_) => Operator::In,
            ColumnTest::Slice { .. } => Operator::Range,
        };
        Self {
            column: column.id,
            operator,
        }
    }

    /// Those of a group of clustering columns.
    pub(super) fn group(clustering: &[Column], group: &Group) -> Vec<Self> {
        let operator = match group.kind {
            GroupKind::Equal(_) => Operator::Equal,
            GroupKind::In { .. } => Operator::In,
            GroupKind::Slice { .. } => Operator::Range,
        };
        let columns = clustering.iter().skip(group.first).take(group.len);
        columns
            .map(|column| Self {
                column: column.id,
                operator,
            })
            .collect()
    }

    /// That of what a collection contains.
    pub(super) fn content(filter: &Filter) -> Option<Self> {
        let column = match filter.columns.first()?.place {
            Place::Static(id) | Place::Regular(id) => id,
            Place::Partition { .. } | Place::Clustering(_) => return None,
        };
        let operator = match filter.test {
            FilterTest::Contains(_) => Operator::Contains,
            FilterTest::ContainsKey(_) => Operator::ContainsKey,
            FilterTest::Entry(..) => Operator::Entry,
            FilterTest::Compare(..) | FilterTest::In { .. } => return None,
        };
        Some(Self { column, operator })
    }

    /// Whether an index finds what it asks for.
    fn is_supported_by(self, table: &Table, index: &Index) -> bool {
        if index.column != self.column {
            return false;
        }
        let Some(column) = table.column_with_id(self.column) else {
            return false;
        };
        let is_vector = matches!(column.ty, CqlType::Vector(..));
        match (index.part, self.operator) {
            (TargetKind::Simple, Operator::Nearest) => {
                is_vector && matches!(index.kind, IndexKind::StorageAttached(_))
            }
            (TargetKind::Simple, _) if is_vector => false,
            (TargetKind::Simple | TargetKind::Full, Operator::Equal)
            | (TargetKind::Values, Operator::Contains)
            | (TargetKind::Keys, Operator::ContainsKey)
            | (TargetKind::Entries, Operator::Entry) => true,
            (TargetKind::Simple, Operator::Range) => {
                matches!(index.kind, IndexKind::StorageAttached(_)) && has_ranges(&column.ty)
            }
            _ => false,
        }
    }

    /// Whether some index finds what it asks for.
    pub(super) fn is_supported(self, table: &Table) -> bool {
        let mut indexes = table.indexes.iter();
        indexes.any(|index| self.is_supported_by(table, index))
    }
}

/// Relations as indexes see them.
pub(super) struct Seen {
    /// Those of the partition key.
    pub(super) partition: Vec<Restriction>,
    /// Those of clustering columns.
    pub(super) clustering: Vec<Restriction>,
    /// All others.
    pub(super) rest: Vec<Restriction>,
}

impl Seen {
    pub(super) fn of(relations: &Relations, table: &Table, nearest: Option<Restriction>) -> Self {
        let partition = table.partition_key().iter().zip(&relations.partition);
        let others = relations.others.iter();
        let mut rest: Vec<_> = others
            .map(|(column, test)| Restriction::column(column, test))
            .collect();
        rest.extend(relations.contents.iter().filter_map(Restriction::content));
        rest.extend(nearest);
        Self {
            partition: partition
                .filter_map(|(column, test)| Some(Restriction::column(column, test.as_ref()?)))
                .collect(),
            clustering: relations
                .clustering
                .iter()
                .flat_map(|group| Restriction::group(table.clustering(), group))
                .collect(),
            rest,
        }
    }

    /// Whether some index finds what some relation asks for.
    pub(super) fn is_supported(&self, table: &Table) -> bool {
        let mut all = self
            .partition
            .iter()
            .chain(&self.clustering)
            .chain(&self.rest);
        all.any(|restriction| restriction.is_supported(table))
    }
}

/// Whether a storage-attached index keeps values of this type in order; of others it knows only equality.
fn has_ranges(ty: &CqlType) -> bool {
    use CqlType::{
        BigInt, Date, Decimal, Double, Float, Inet, Int, SmallInt, Time, Timestamp, Timeuuid,
        TinyInt, Varint,
    };
    matches!(
        ty,
        BigInt
            | Date
            | Decimal
            | Double
            | Float
            | Inet
            | Int
            | SmallInt
            | Time
            | Timestamp
            | Timeuuid
            | TinyInt
            | Varint
    )
}

/// Whether indexes find just the rows that meet all restrictions: one index of the first kind for the only one, or
/// storage-attached ones together.
pub(super) fn cover(table: &Table, restrictions: &[Restriction]) -> bool {
    let by = |wanted: fn(IndexKind) -> bool, restriction: &Restriction| {
        let mut indexes = table.indexes.iter();
        indexes.any(|index| wanted(index.kind) && restriction.is_supported_by(table, index))
    };
    let by_composites = |only| by(|kind| kind == IndexKind::Composites, only);
    let by_attached = |one| by(|kind| matches!(kind, IndexKind::StorageAttached(_)), one);
    match restrictions {
        [] => false,
        [only] if by_composites(only) => true,
        all => all.iter().all(by_attached),
    }
}
