//! Expressions of a `SELECT` clause, planned: what is computed from a row.

use helenus_core::types::CqlType;

use super::column::ColumnRef;
use crate::functions::{Aggregate, Function};
use crate::term::Term;

/// An expression over a row.
#[derive(Debug, Clone)]
pub(crate) enum Expression {
    /// A column.
    Column(ColumnRef),
    /// A term that depends on no row, by its place in [`Selection::terms`].
    Term(usize),
    /// `writetime`, `maxwritetime` or `ttl`.
    Metadata(Metadata),
    /// A function.
    Call(Box<Function>, Vec<Expression>),
    /// A field of a user type.
    Field(Box<Expression>, usize),
    /// An element of a set or map: the collection, its type, the key.
    Element(Box<Expression>, CqlType, usize),
    /// Some elements of a set or map: from one key to another.
    Slice(Box<Expression>, CqlType, Option<usize>, Option<usize>),
    /// A collection, tuple or user type; of a map, keys and values in turn.
    Build(CqlType, Vec<Expression>),
    /// An aggregate, by its place in [`Selection::aggregates`].
    Aggregate(usize),
}

impl Expression {
    /// Whether an aggregate is part of it.
    pub(crate) fn has_aggregate(&self) -> bool {
        match self {
            Self::Aggregate(_) => true,
            Self::Column(_) | Self::Term(_) | Self::Metadata(_) => false,
            Self::Call(_, parts) | Self::Build(_, parts) => parts.iter().any(Self::has_aggregate),
            Self::Field(base, _) | Self::Element(base, ..) | Self::Slice(base, ..) => {
                base.has_aggregate()
            }
        }
    }
}

/// What a cell says about itself.
#[derive(Debug, Clone)]
pub(crate) struct Metadata {
    /// The column.
    pub(crate) column: ColumnRef,
    /// What is asked.
    pub(crate) kind: MetadataKind,
    /// Which cells of a column of several; a key or field that a plain term gives.
    pub(crate) part: MetadataPart,
}

/// What a cell is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetadataKind {
    /// Its timestamp.
    WriteTime,
    /// The greatest timestamp of all cells.
    MaxWriteTime,
    /// The seconds it has left.
    Ttl,
}

/// Which cells are asked.
#[derive(Debug, Clone)]
pub(crate) enum MetadataPart {
    /// All of them: one answer for a simple column, a list for another.
    Whole,
    /// That of one element.
    Element(usize),
    /// That of one field.
    Field(usize),
}

/// An aggregate and what it folds.
#[derive(Debug, Clone)]
pub(crate) struct AggregatePlan {
    /// The function.
    pub(crate) function: Function,
    /// How it folds.
    pub(crate) aggregate: Aggregate,
    /// Its arguments; none count rows.
    pub(crate) arguments: Vec<Expression>,
}

/// What a `SELECT` returns of each row.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    /// The columns of the result.
    pub(crate) output: Output,
    /// Terms within expressions.
    pub(crate) terms: Vec<Term>,
    /// Aggregates within expressions; if there are any, all rows make one.
    pub(crate) aggregates: Vec<AggregatePlan>,
    /// Whether a static column is looked at.
    pub(crate) uses_statics: bool,
}

/// The columns of a result.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    /// Columns as they are.
    Columns(Vec<ColumnRef>),
    /// Computed ones.
    Expressions(Vec<Expression>),
}
