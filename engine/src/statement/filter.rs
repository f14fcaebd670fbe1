//! Tests of rows beyond what selects them: `ALLOW FILTERING` and what it takes.

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::clustering::{TupleTerm, split};
use super::column::ColumnRef;
use crate::cql::ast::Comparison;
use crate::execution::RowView;
use crate::term::{Binds, Bound, Elements, InTerm, Pairs, Term};
use crate::types::compare;

/// A test of a row.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    /// The column or columns tested.
    pub(crate) columns: Vec<ColumnRef>,
    /// The first one's name, for errors.
    pub(crate) name: Arc<str>,
    /// The test.
    pub(crate) test: FilterTest,
}

/// How a row is tested.
#[derive(Debug, Clone)]
pub(crate) enum FilterTest {
    /// `column op term`, or `(a, b) op (x, y)`.
    Compare(Comparison, TupleTerm),
    /// `IN`
    In {
        /// The values.
        values: InTerm,
        /// Whether each is a tuple.
        tuples: bool,
    },
    /// `CONTAINS`
    Contains(Term),
    /// `CONTAINS KEY`
    ContainsKey(Term),
    /// `column[key] = value`
    Entry(Term, Term),
}

/// A filter with its values.
#[derive(Debug, Clone)]
pub(crate) struct BoundFilter {
    test: BoundTest,
}

#[derive(Debug, Clone)]
enum BoundTest {
    Compare(Comparison, Vec<Bytes>),
    In(Vec<Vec<Bytes>>),
    Contains(Bytes),
    ContainsKey(Bytes),
    Entry(Bytes, Bytes),
}

impl Filter {
    /// The filter with its values, none of which may be null or unset.
    pub(crate) fn bind(&self, binds: &Binds<'_>) -> Result<BoundFilter, ErrorResponse> {
        let one = |term: &Term| self.present(term.bind(binds)?);
        let test = match &self.test {
            FilterTest::Compare(comparison, TupleTerm::Parts(terms)) => {
                let values: Result<_, _> = terms.iter().map(one).collect();
                BoundTest::Compare(*comparison, values?)
            }
            FilterTest::Compare(comparison, TupleTerm::Whole(term)) => {
                BoundTest::Compare(*comparison, self.all_present(split(term.bind(binds)?))?)
            }
            FilterTest::In { values, tuples } => {
                let mut choices = Vec::new();
                for value in values.bind(binds, &self.name)? {
                    choices.push(if *tuples {
                        self.all_present(split(value))?
                    } else {
                        vec![self.present(value)?]
                    });
                }
                BoundTest::In(choices)
            }
            FilterTest::Contains(term) => BoundTest::Contains(one(term)?),
            FilterTest::ContainsKey(term) => BoundTest::ContainsKey(one(term)?),
            FilterTest::Entry(key, value) => BoundTest::Entry(one(key)?, one(value)?),
        };
        Ok(BoundFilter { test })
    }

    fn present(&self, value: Bound<'_>) -> Result<Bytes, ErrorResponse> {
        let kind = if value.is_unset() { "unset" } else { "null" };
        value.into_bytes().ok_or_else(|| {
            ErrorResponse::invalid(format!("Unsupported {kind} value for column {}", self.name))
        })
    }

    fn all_present(&self, values: Vec<Bound<'_>>) -> Result<Vec<Bytes>, ErrorResponse> {
        values
            .into_iter()
            .map(|value| self.present(value))
            .collect()
    }

    /// Whether the row passes.
    pub(crate) fn accepts(&self, bound: &BoundFilter, row: &RowView<'_>) -> bool {
        let Some(column) = self.columns.first() else {
            return true;
        };
        match &bound.test {
            BoundTest::Compare(comparison, values) => {
                let mut order = std::cmp::Ordering::Equal;
                for (column, value) in self.columns.iter().zip(values) {
                    let Some(actual) = row.value(column) else {
                        return false;
                    };
                    if order.is_eq() {
                        order = compare(&column.ty, &actual, value);
                    }
                }
                holds(*comparison, order)
            }
            BoundTest::In(choices) => choices.iter().any(|values| {
                self.columns.iter().zip(values).all(|(column, value)| {
                    row.value(column)
                        .is_some_and(|actual| compare(&column.ty, &actual, value).is_eq())
                })
            }),
            BoundTest::Contains(wanted) => row
                .value(column)
                .is_some_and(|actual| contains(&column.ty, &actual, wanted)),
            BoundTest::ContainsKey(wanted) => row
                .value(column)
                .is_some_and(|actual| contains_key(&column.ty, &actual, wanted)),
            BoundTest::Entry(key, wanted) => row.value(column).is_some_and(|actual| {
                let CqlType::Map(types) = column.ty.strip_frozen() else {
                    return false;
                };
                map_value(&types.0, &actual, key)
                    .is_some_and(|value| compare(&types.1, value, wanted).is_eq())
            }),
        }
    }
}

/// Whether an order is what a comparison asks for.
pub(crate) fn holds(comparison: Comparison, order: std::cmp::Ordering) -> bool {
    match comparison {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }
}

/// Whether a serialized collection has such an element, a map such a value.
pub(crate) fn contains(ty: &CqlType, collection: &[u8], wanted: &[u8]) -> bool {
    match ty.strip_frozen() {
        CqlType::List(element) | CqlType::Set(element) => Elements::new(collection)
            .flatten()
            .any(|item| compare(element, item, wanted).is_eq()),
        CqlType::Map(types) => Pairs::new(collection)
            .filter_map(|(_, value)| value)
            .any(|value| compare(&types.1, value, wanted).is_eq()),
        _ => false,
    }
}

/// Whether a serialized map has such a key.
pub(crate) fn contains_key(ty: &CqlType, map: &[u8], wanted: &[u8]) -> bool {
    match ty.strip_frozen() {
        CqlType::Map(types) => {
            Pairs::new(map).any(|(key, _)| compare(&types.0, key, wanted).is_eq())
        }
        _ => false,
    }
}

/// The value that a serialized map has for a key.
pub(crate) fn map_value<'m>(key_type: &CqlType, map: &'m [u8], wanted: &[u8]) -> Option<&'m [u8]> {
    Pairs::new(map)
        .find(|(key, _)| compare(key_type, key, wanted).is_eq())
        .and_then(|(_, value)| value)
}
