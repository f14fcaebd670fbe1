//! Expressions of a `SELECT` clause, planned: what is computed from a row.

use std::sync::Arc;

use helenus_core::types::CqlType;

use super::column::ColumnRef;
use crate::functions::{Aggregate, Function, NativeFunction};
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
    /// A native function, by its place in [`Selection::natives`].
    Native {
        /// The place.
        index: usize,
        /// Whether an aggregate is part of its arguments.
        has_aggregate: bool,
    },
}

impl Expression {
    /// Whether an aggregate is part of it.
    pub(crate) fn has_aggregate(&self) -> bool {
        match self {
            Self::Aggregate(_) => true,
            Self::Native { has_aggregate, .. } => *has_aggregate,
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

/// A call of a native function in a `SELECT` clause.
#[derive(Debug, Clone)]
pub(crate) struct NativePlan {
    /// What is called.
    pub(crate) function: Arc<NativeFunction>,
    /// With what.
    pub(crate) arguments: Vec<Expression>,
    /// Whether an aggregate is part of that, so that it is called once a group rather than once a row.
    pub(crate) has_aggregate: bool,
    /// How many calls of that kind it waits for, one behind the other.
    pub(crate) round: usize,
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
    /// Calls of native functions within expressions, each behind those in its arguments.
    pub(crate) natives: Vec<NativePlan>,
    /// Whether a static column is looked at.
    pub(crate) uses_statics: bool,
}

impl Selection {
    /// Whether native functions are called for each row.
    pub(crate) fn calls_for_rows(&self) -> bool {
        self.natives.iter().any(|native| !native.has_aggregate)
    }

    /// Whether native functions or aggregates are called for each group.
    pub(crate) fn calls_for_groups(&self) -> bool {
        let is_native = |plan: &AggregatePlan| matches!(plan.aggregate, Aggregate::Native(_));
        self.natives.iter().any(|native| native.has_aggregate)
            || self.aggregates.iter().any(is_native)
    }

    /// Adds the call of a native function, as an expression that stands for its result.
    pub(crate) fn call(
        &mut self,
        function: Arc<NativeFunction>,
        arguments: Vec<Expression>,
    ) -> Expression {
        let has_aggregate = arguments.iter().any(Expression::has_aggregate);
        let rounds = arguments
            .iter()
            .map(|argument| self.rounds(argument, has_aggregate));
        self.natives.push(NativePlan {
            round: rounds.max().unwrap_or(0),
            function,
            arguments,
            has_aggregate,
        });
        Expression::Native {
            index: self.natives.len() - 1,
            has_aggregate,
        }
    }

    /// How many rounds of calls, for rows or for groups, must have ended before an expression has a value.
    fn rounds(&self, expression: &Expression, for_groups: bool) -> usize {
        match expression {
            Expression::Native {
                index,
                has_aggregate,
            } if *has_aggregate == for_groups => self
                .natives
                .get(*index)
                .map_or(0, |native| native.round + 1),
            Expression::Call(_, parts) | Expression::Build(_, parts) => {
                let rounds = parts.iter().map(|part| self.rounds(part, for_groups));
                rounds.max().unwrap_or(0)
            }
            Expression::Field(base, _)
            | Expression::Element(base, ..)
            | Expression::Slice(base, ..) => self.rounds(base, for_groups),
            Expression::Native { .. }
            | Expression::Column(_)
            | Expression::Term(_)
            | Expression::Metadata(_)
            | Expression::Aggregate(_) => 0,
        }
    }
}

/// The columns of a result.
#[derive(Debug, Clone)]
pub(crate) enum Output {
    /// Columns as they are.
    Columns(Vec<ColumnRef>),
    /// Computed ones.
    Expressions(Vec<Expression>),
}
