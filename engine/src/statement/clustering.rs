//! Which rows of a partition a statement means: restrictions on clustering columns, bound to keys or ranges of them.
//! Answers to Cassandra's `ClusteringColumnRestrictions`.

use std::cmp::Ordering;

use bytes::Bytes;
use helenus_core::ErrorResponse;

use super::keys::check_combinations;
use super::restrictions::ColumnTest;
use crate::schema::{Column, Table};
use crate::storage::{ClusteringBound, ClusteringKey};
use crate::term::{Binds, Bound, Fields, InTerm, Term};
use crate::types::comparable;

/// The right side of a relation on one or more columns.
#[derive(Debug, Clone)]
pub(crate) enum TupleTerm {
    /// A term a column.
    Parts(Vec<Term>),
    /// One term whose value is a tuple.
    Whole(Term),
}

/// A restriction of neighbouring clustering columns.
#[derive(Debug, Clone)]
pub(crate) struct Group {
    /// The position of the first column.
    pub(crate) first: usize,
    /// How many columns.
    pub(crate) len: usize,
    /// How.
    pub(crate) kind: GroupKind,
}

/// The kind of a [`Group`].
#[derive(Debug, Clone)]
pub(crate) enum GroupKind {
    /// `=`
    Equal(TupleTerm),
    /// `IN`
    In {
        /// The values.
        values: InTerm,
        /// Whether each is a tuple.
        tuples: bool,
    },
    /// A range; each bound with whether it is inclusive and how many columns it has.
    Slice {
        /// The lower bound.
        lower: Option<(TupleTerm, bool, usize)>,
        /// The upper bound.
        upper: Option<(TupleTerm, bool, usize)>,
    },
}

impl GroupKind {
    /// The restriction of a single column.
    pub(crate) fn single(test: ColumnTest) -> Self {
        let part = |(term, inclusive)| (TupleTerm::Parts(vec![term]), inclusive, 1);
        match test {
            ColumnTest::Equal(term) => Self::Equal(TupleTerm::Parts(vec![term])),
            ColumnTest::In(values) => Self::In {
                values,
                tuples: false,
            },
            ColumnTest::Slice { lower, upper } => Self::Slice {
                lower: lower.map(part),
                upper: upper.map(part),
            },
        }
    }
}

/// Restrictions of a prefix of the clustering columns.
#[derive(Debug, Clone, Default)]
pub(crate) struct ClusteringPlan {
    /// Ascending, without gaps; only the last may be a range.
    pub(crate) steps: Vec<Group>,
}

/// The rows a plan means under some bindings.
#[derive(Debug, Clone)]
pub(crate) enum BoundRows {
    /// All of them.
    All,
    /// One row.
    One(ClusteringKey),
    /// These rows, ascending; perhaps none.
    Keys(Vec<ClusteringKey>),
    /// The rows between these bounds: ascending, disjoint; perhaps none.
    Ranges(Vec<(ClusteringBound, ClusteringBound)>),
}

impl BoundRows {
    /// The rows named one by one: none where ranges are meant.
    pub(crate) fn keys(&self) -> &[ClusteringKey] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Keys(keys) => keys,
            Self::All | Self::Ranges(_) => &[],
        }
    }
}

impl TupleTerm {
    /// The values of `columns`, none of which may be null or unset.
    pub(crate) fn bind<'a>(
        &'a self,
        binds: &Binds<'a>,
        columns: &[Column],
    ) -> Result<Vec<Bound<'a>>, ErrorResponse> {
        let values = match self {
            Self::Parts(terms) => {
                let values: Result<Vec<_>, _> = terms.iter().map(|term| term.bind(binds)).collect();
                values?
            }
            Self::Whole(term) => split(term.bind(binds)?),
        };
        for (index, column) in columns.iter().enumerate() {
            match values.get(index) {
                Some(Bound::Unset) => return Err(unset_in_condition(&column.name)),
                Some(Bound::Slice(_) | Bound::Bytes(_)) => {}
                Some(Bound::Null) | None => return Err(null_in_condition(&column.name)),
            }
        }
        Ok(values)
    }
}

/// The fields of a bound tuple.
pub(crate) fn split(tuple: Bound<'_>) -> Vec<Bound<'_>> {
    let bytes = tuple.into_bytes().unwrap_or_default();
    Fields::new(&bytes)
        .map(|field| match field {
            Some(slice) => Bound::Bytes(bytes.slice_ref(slice)),
            None => Bound::Null,
        })
        .collect()
}

/// Cassandra's refusal of a null in a key.
pub(crate) fn null_in_condition(name: &str) -> ErrorResponse {
    ErrorResponse::invalid(format!("Invalid null value in condition for column {name}"))
}

/// Cassandra's refusal of an unset value in a key.
pub(crate) fn unset_in_condition(name: &str) -> ErrorResponse {
    ErrorResponse::invalid(format!("Invalid unset value for column {name}"))
}

/// Leading clustering values in both forms.
#[derive(Debug, Clone, Default)]
struct Prefix {
    sort: Vec<u8>,
    values: Vec<u8>,
}

impl Prefix {
    fn push(&mut self, column: &Column, value: &[u8]) -> Result<(), ErrorResponse> {
        if value.len() > 65_535 {
            return Err(ErrorResponse::invalid(format!(
                "Key length of {} is longer than maximum of 65535",
                value.len()
            )));
        }
        comparable::encode(&column.ty, value, column.descending, &mut self.sort);
        crate::term::put_element(&mut self.values, Some(value));
        Ok(())
    }

    fn into_key(self) -> ClusteringKey {
        ClusteringKey {
            sort: self.sort.into(),
            values: self.values.into(),
        }
    }

    fn sort_with(&self, columns: &[Column], values: &[Bound<'_>]) -> Vec<u8> {
        let mut sort = self.sort.clone();
        for (column, value) in columns.iter().zip(values) {
            comparable::encode(
                &column.ty,
                value.as_slice().unwrap_or_default(),
                column.descending,
                &mut sort,
            );
        }
        sort
    }
}

impl ClusteringPlan {
    /// Whether every clustering column is restricted to values.
    pub(crate) fn is_full(&self, table: &Table) -> bool {
        let columns: usize = self.steps.iter().map(|step| step.len).sum();
        columns == table.clustering_len && !self.has_slice()
    }

    /// Whether the plan ends in a range.
    pub(crate) fn has_slice(&self) -> bool {
        self.steps
            .last()
            .is_some_and(|step| matches!(step.kind, GroupKind::Slice { .. }))
    }

    /// Whether some restriction is an `IN`.
    pub(crate) fn has_in(&self) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(step.kind, GroupKind::In { .. }))
    }

    /// Whether exactly one row is named by values, whatever the bindings.
    pub(crate) fn is_one(&self, table: &Table) -> bool {
        self.is_full(table) && !self.has_in()
    }

    /// The place of the one row, in the form that sorts; `None` if another plan names it, or a value can't be in a key.
    pub(crate) fn bind_one(&self, table: &Table, binds: &Binds<'_>) -> Option<Bytes> {
        match self.bind(table, binds).ok()? {
            BoundRows::One(key) => Some(key.sort),
            _ => None,
        }
    }

    /// The rows under these bindings.
    pub(crate) fn bind(
        &self,
        table: &Table,
        binds: &Binds<'_>,
    ) -> Result<BoundRows, ErrorResponse> {
        if self.steps.is_empty() {
            return Ok(if table.clustering_len == 0 {
                BoundRows::One(ClusteringKey::default())
            } else {
                BoundRows::All
            });
        }
        let clustering = table.clustering();
        let mut first = Prefix::default();
        let mut others: Option<Vec<Prefix>> = None;
        let mut bound = 0;
        for step in &self.steps {
            let columns = clustering.get(step.first..).unwrap_or_default();
            let columns = columns.get(..step.len).unwrap_or(columns);
            bound = step.first + columns.len();
            match &step.kind {
                GroupKind::Equal(term) => {
                    if let (TupleTerm::Parts(terms), [column], None) = (term, columns, &others)
                        && let [term] = terms.as_slice()
                    {
                        let value = term.bind(binds)?;
                        first.push(column, not_null(&value, column)?)?;
                        continue;
                    }
                    let values = term.bind(binds, columns)?;
                    for prefix in others
                        .as_mut()
                        .map_or(std::slice::from_mut(&mut first), Vec::as_mut_slice)
                    {
                        for (column, value) in columns.iter().zip(&values) {
                            prefix.push(column, not_null(value, column)?)?;
                        }
                    }
                }
                GroupKind::In { values, tuples } => {
                    let name = columns.first().map_or("", |column| &*column.name);
                    let choices = values.bind(binds, name)?;
                    let prefixes = others
                        .take()
                        .unwrap_or_else(|| vec![std::mem::take(&mut first)]);
                    check_combinations(prefixes.len(), choices.len())?;
                    let mut product = Vec::with_capacity(prefixes.len() * choices.len());
                    for prefix in &prefixes {
                        for choice in &choices {
                            let fields = if *tuples {
                                split(choice.clone())
                            } else {
                                vec![choice.clone()]
                            };
                            let mut prefix = prefix.clone();
                            for (index, column) in columns.iter().enumerate() {
                                let field = fields.get(index).unwrap_or(&Bound::Null);
                                prefix.push(column, not_null(field, column)?)?;
                            }
                            product.push(prefix);
                        }
                    }
                    others = Some(product);
                }
                GroupKind::Slice { lower, upper } => {
                    let prefixes = others.unwrap_or_else(|| vec![first]);
                    return slice_ranges(&prefixes, columns, lower.as_ref(), upper.as_ref(), binds);
                }
            }
        }
        let full = bound == table.clustering_len;
        let Some(mut prefixes) = others else {
            return Ok(if full {
                BoundRows::One(first.into_key())
            } else {
                BoundRows::Ranges(vec![within(first.sort.into())])
            });
        };
        prefixes.sort_by(|a, b| a.sort.cmp(&b.sort));
        prefixes.dedup_by(|a, b| a.sort == b.sort);
        Ok(if full {
            BoundRows::Keys(prefixes.into_iter().map(Prefix::into_key).collect())
        } else {
            BoundRows::Ranges(
                prefixes
                    .into_iter()
                    .map(|prefix| within(prefix.sort.into()))
                    .collect(),
            )
        })
    }
}

fn not_null<'v>(value: &'v Bound<'_>, column: &Column) -> Result<&'v [u8], ErrorResponse> {
    match value {
        Bound::Unset => Err(unset_in_condition(&column.name)),
        value => value
            .as_slice()
            .ok_or_else(|| null_in_condition(&column.name)),
    }
}

/// The rows that begin with these sort bytes.
fn within(sort: Bytes) -> (ClusteringBound, ClusteringBound) {
    (before(sort.clone()), after(sort))
}

fn before(sort: Bytes) -> ClusteringBound {
    if sort.is_empty() {
        ClusteringBound::Start
    } else {
        ClusteringBound::Before(sort)
    }
}

fn after(sort: Bytes) -> ClusteringBound {
    if sort.is_empty() {
        ClusteringBound::End
    } else {
        ClusteringBound::After(sort)
    }
}

type Range = (ClusteringBound, ClusteringBound);
type SliceBound = (TupleTerm, bool, usize);

fn slice_ranges(
    prefixes: &[Prefix],
    columns: &[Column],
    lower: Option<&SliceBound>,
    upper: Option<&SliceBound>,
    binds: &Binds<'_>,
) -> Result<BoundRows, ErrorResponse> {
    let bind = |bound: Option<&SliceBound>| -> Result<Option<(Vec<Bytes>, bool)>, ErrorResponse> {
        let Some((term, inclusive, len)) = bound else {
            return Ok(None);
        };
        let values = term.bind(binds, columns.get(..*len).unwrap_or(columns))?;
        let values = values.into_iter().filter_map(Bound::into_bytes).collect();
        Ok(Some((values, *inclusive)))
    };
    let (lower, upper) = (bind(lower)?, bind(upper)?);
    let mut ranges = Vec::with_capacity(prefixes.len());
    for prefix in prefixes {
        let all = vec![within(prefix.sort.clone().into())];
        let from = match &lower {
            Some((values, inclusive)) => beyond(prefix, columns, values, *inclusive, Side::Above),
            None => all.clone(),
        };
        let to = match &upper {
            Some((values, inclusive)) => beyond(prefix, columns, values, *inclusive, Side::Below),
            None => all,
        };
        ranges.append(&mut intersect(&from, &to));
    }
    ranges.sort_by(|a, b| compare_bounds(&a.0, &b.0));
    ranges.dedup();
    Ok(BoundRows::Ranges(ranges))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Above,
    Below,
}

/// The rows whose leading values lie above or below the given ones. Each column but the last splits the set: the first
/// columns equal and the next one beyond. Where all columns have one direction, these pieces adjoin and are merged.
fn beyond(
    prefix: &Prefix,
    columns: &[Column],
    values: &[Bytes],
    inclusive: bool,
    side: Side,
) -> Vec<Range> {
    let bounds: Vec<_> = values
        .iter()
        .map(|value| Bound::Bytes(value.clone()))
        .collect();
    let sort =
        |len: usize| Bytes::from(prefix.sort_with(columns, bounds.get(..len).unwrap_or(&bounds)));
    let mut ranges = Vec::with_capacity(values.len() + 1);
    for (index, column) in columns.iter().enumerate().take(values.len()) {
        let (outer, inner) = (sort(index), sort(index + 1));
        if column.descending == (side == Side::Above) {
            ranges.push((before(outer), ClusteringBound::Before(inner)));
        } else {
            ranges.push((ClusteringBound::After(inner), after(outer)));
        }
    }
    if inclusive {
        ranges.push(within(sort(values.len())));
    }
    ranges.sort_by(|a, b| compare_bounds(&a.0, &b.0));
    merge_adjoining(ranges)
}

fn merge_adjoining(ranges: Vec<Range>) -> Vec<Range> {
    let mut merged: Vec<Range> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            // Nothing lies between one range's end and the next one's beginning.
            Some(last) if compare_bounds(&last.1, &range.0).is_eq() => last.1 = range.1,
            _ => merged.push(range),
        }
    }
    merged
}

fn intersect(left: &[Range], right: &[Range]) -> Vec<Range> {
    let mut both = Vec::new();
    for (a, b) in left {
        for (c, d) in right {
            let start = if compare_bounds(a, c).is_ge() { a } else { c };
            let end = if compare_bounds(b, d).is_le() { b } else { d };
            if compare_bounds(start, end).is_lt() {
                both.push((start.clone(), end.clone()));
            }
        }
    }
    both
}

/// The order of bounds along a partition.
pub(crate) fn compare_bounds(a: &ClusteringBound, b: &ClusteringBound) -> Ordering {
    use ClusteringBound::{After, Before, End, Start};
    let (x, x_after, y, y_after) = match (a, b) {
        (Start, Start) | (End, End) => return Ordering::Equal,
        (Start, _) | (_, End) => return Ordering::Less,
        (End, _) | (_, Start) => return Ordering::Greater,
        (Before(x), Before(y)) => (x, false, y, false),
        (Before(x), After(y)) => (x, false, y, true),
        (After(x), Before(y)) => (x, true, y, false),
        (After(x), After(y)) => (x, true, y, true),
    };
    if x == y {
        return x_after.cmp(&y_after);
    }
    if y.starts_with(x) {
        return if x_after {
            Ordering::Greater
        } else {
            Ordering::Less
        };
    }
    if x.starts_with(y) {
        return if y_after {
            Ordering::Less
        } else {
            Ordering::Greater
        };
    }
    x.cmp(y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_order_along_the_partition() {
        use ClusteringBound::{After, Before, End, Start};
        let bytes = |text: &'static str| Bytes::from_static(text.as_bytes());
        let along = [
            Start,
            Before(bytes("a")),
            Before(bytes("ab")),
            After(bytes("ab")),
            Before(bytes("ac")),
            After(bytes("a")),
            Before(bytes("b")),
            End,
        ];
        for (i, a) in along.iter().enumerate() {
            for (j, b) in along.iter().enumerate() {
                assert_eq!(compare_bounds(a, b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn ranges_that_adjoin_become_one() {
        let before =
            |text: &'static str| ClusteringBound::Before(Bytes::from_static(text.as_bytes()));
        let ranges = vec![
            (before("a"), before("b")),
            (before("b"), before("c")),
            (before("d"), before("e")),
        ];
        let merged = merge_adjoining(ranges);
        assert_eq!(
            merged,
            [(before("a"), before("c")), (before("d"), before("e"))]
        );
        assert_eq!(
            intersect(&merged, &[(before("b"), before("dd"))]),
            [(before("b"), before("c")), (before("d"), before("dd"))]
        );
    }
}
