//! `WHERE`: which relations select partitions, which select rows within them, and which are left to filter.
//! Answers to Cassandra's `cql3.restrictions.StatementRestrictions`.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::clustering::{ClusteringPlan, Group, GroupKind, TupleTerm};
use super::column::ColumnRef;
use super::filter::{Filter, FilterTest};
use super::indexes::{self, Restriction, Seen};
use super::keys::{KeyPart, KeyPlan, TokenBound};
use super::planner::{Planner, quoted};
use super::relation;
use crate::cql::ast::{self, Comparison, Relation};
use crate::schema::{Column, ColumnKind, Table};
use crate::term::{self, InTerm, Receiver, Term};

/// The refusal of a query that would have to read what it doesn't return.
pub(crate) const FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may have unpredictable performance. If you want to execute this query despite the performance unpredictability, use ALLOW FILTERING";

/// A restriction of one column, its relations merged.
#[derive(Debug, Clone)]
pub(crate) enum ColumnTest {
    /// `=`
    Equal(Term),
    /// `IN`
    In(InTerm),
    /// `<`, `<=`, `>`, `>=`: each bound with whether it is inclusive.
    Slice {
        /// The lower bound.
        lower: Option<(Term, bool)>,
        /// The upper bound.
        upper: Option<(Term, bool)>,
    },
}

/// All relations of a `WHERE`, sorted by what they restrict.
#[derive(Debug, Default)]
pub(crate) struct Relations {
    /// Parts of the partition key, by position.
    pub(crate) partition: Vec<Option<ColumnTest>>,
    /// `token(…)`: lower and upper bound.
    pub(crate) token: Option<(Option<TokenBound>, Option<TokenBound>)>,
    /// Clustering columns, ascending by first column.
    pub(crate) clustering: Vec<Group>,
    /// Static and regular columns.
    pub(crate) others: Vec<(Column, ColumnTest)>,
    /// `CONTAINS`, `CONTAINS KEY` and `column[key] = value`.
    pub(crate) contents: Vec<Filter>,
}

/// What a `SELECT` reads and how it filters.
#[derive(Debug)]
pub(crate) struct Restrictions {
    /// The partitions.
    pub(crate) keys: KeyPlan,
    /// The rows of each.
    pub(crate) clustering: ClusteringPlan,
    /// What rows must meet beyond.
    pub(crate) filters: Vec<Filter>,
    /// Whether clustering columns are restricted at all.
    pub(crate) restricts_clustering: bool,
    /// Whether Cassandra would read an index.
    pub(crate) uses_index: bool,
    /// Whether the query needs `ALLOW FILTERING`.
    pub(crate) must_allow: bool,
}

impl Relations {
    /// Sorts and merges the relations of a statement.
    pub(crate) fn collect(
        planner: &mut Planner<'_>,
        relations: &[Relation],
    ) -> Result<Self, ErrorResponse> {
        let mut all = Self {
            partition: vec![None; planner.table.partition_key_len],
            ..Self::default()
        };
        for relation in relations {
            relation::add(&mut all, planner, relation)?;
        }
        all.clustering.sort_by_key(|group| group.first);
        Ok(all)
    }

    /// Adds a restriction of a single column, merging it with what the column has.
    pub(crate) fn restrict(
        &mut self,
        column: &Column,
        test: ColumnTest,
    ) -> Result<(), ErrorResponse> {
        match column.kind {
            ColumnKind::PartitionKey => match self.partition.get_mut(column.position) {
                Some(place) => merge(place, test, &column.name),
                None => Ok(()),
            },
            ColumnKind::Clustering => {
                let group = Group {
                    first: column.position,
                    len: 1,
                    kind: GroupKind::single(test),
                };
                self.add_group(group, &column.name)
            }
            ColumnKind::Static | ColumnKind::Regular => {
                match self
                    .others
                    .iter_mut()
                    .find(|(other, _)| other.id == column.id)
                {
                    Some((_, existing)) => {
                        let mut place = Some(existing.clone());
                        merge(&mut place, test, &column.name)?;
                        if let Some(merged) = place {
                            *existing = merged;
                        }
                    }
                    None => self.others.push((column.clone(), test)),
                }
                Ok(())
            }
        }
    }

    /// Adds a restriction of clustering columns, merging it with one on the same columns.
    pub(crate) fn add_group(&mut self, group: Group, name: &str) -> Result<(), ErrorResponse> {
        let end = group.first + group.len;
        let Some(existing) = self
            .clustering
            .iter_mut()
            .find(|other| other.first < end && group.first < other.first + other.len)
        else {
            self.clustering.push(group);
            return Ok(());
        };
        let (
            GroupKind::Slice { lower, upper },
            GroupKind::Slice {
                lower: more,
                upper: less,
            },
        ) = (&mut existing.kind, group.kind)
        else {
            return Err(equal_twice(name));
        };
        if existing.first != group.first {
            return Err(ErrorResponse::invalid(format!(
                "Column \"{name}\" cannot be restricted by two inequalities not starting with the same column"
            )));
        }
        set_bound(lower, more, "start", name)?;
        set_bound(upper, less, "end", name)?;
        existing.len = existing.len.max(group.len);
        Ok(())
    }

    /// All of them as tests of a row.
    pub(crate) fn into_filters(self, table: &Table) -> Vec<Filter> {
        let key_len = table.partition_key_len;
        let mut filters = Vec::new();
        for (column, test) in table.partition_key().iter().zip(self.partition) {
            if let Some(test) = test {
                let reference = ColumnRef::new(column, key_len);
                column_filters(&mut filters, reference, &column.name, test);
            }
        }
        for group in self.clustering {
            group_filters(&mut filters, table.clustering(), key_len, group);
        }
        for (column, test) in self.others {
            let reference = ColumnRef::new(&column, key_len);
            column_filters(&mut filters, reference, &column.name, test);
        }
        filters.extend(self.contents);
        filters
    }

    /// The plan of a `SELECT` with these relations; `nearest` is what an `ANN` ordering asks of an index.
    pub(crate) fn into_select(
        self,
        planner: &Planner<'_>,
        allow_filtering: bool,
        nearest: Option<Restriction>,
    ) -> Result<Restrictions, ErrorResponse> {
        let table = planner.table;
        let restricts_clustering = !self.clustering.is_empty();
        let seen = Seen::of(&self, table, nearest);
        let has_index = seen.is_supported(table);
        let mut uses_index = false;
        // What an index must find, or else is filtered.
        let mut wanted = Vec::new();

        let is_token = self.token.is_some();
        let mut partition = self.partition;
        let keys = key_plan(self.token, &mut partition);
        let is_range = !matches!(keys, KeyPlan::Points(_));
        if is_range && !is_token {
            if !seen.partition.is_empty() && !has_index && !allow_filtering {
                return Err(ErrorResponse::invalid(FILTERING));
            }
            uses_index = has_index;
            wanted.extend_from_slice(&seen.partition);
        }
        let (steps, filtered) = prefix(table, self.clustering, has_index, allow_filtering)?;
        uses_index |= has_index && !filtered.is_empty();
        uses_index |= is_range && seen.clustering.iter().any(|one| one.is_supported(table));
        if uses_index || !filtered.is_empty() {
            wanted.extend_from_slice(&seen.clustering);
        }
        if !seen.rest.is_empty() {
            if !has_index && !allow_filtering {
                return Err(ErrorResponse::invalid(FILTERING));
            }
            uses_index |= has_index;
            wanted.extend_from_slice(&seen.rest);
        }
        if uses_index && keys.has_in() {
            return Err(ErrorResponse::invalid(
                "Select on indexed columns and with IN clause for the PRIMARY KEY are not supported",
            ));
        }
        let must_filter = match wanted.is_empty() {
            true => restricts_clustering,
            false => !indexes::cover(table, &wanted),
        };
        let rest = Self {
            partition,
            token: None,
            clustering: filtered,
            others: self.others,
            contents: self.contents,
        };
        Ok(Restrictions {
            keys,
            clustering: ClusteringPlan { steps },
            filters: rest.into_filters(table),
            restricts_clustering,
            uses_index,
            must_allow: (is_range || uses_index) && must_filter,
        })
    }
}

/// The partitions that tests of every part of the key name, which it takes; else those of the tokens, or all.
fn key_plan(
    token: Option<(Option<TokenBound>, Option<TokenBound>)>,
    partition: &mut [Option<ColumnTest>],
) -> KeyPlan {
    if let Some((lower, upper)) = token {
        return KeyPlan::Tokens { lower, upper };
    }
    let is_point =
        |test: &Option<ColumnTest>| matches!(test, Some(ColumnTest::Equal(_) | ColumnTest::In(_)));
    if !partition.iter().all(is_point) {
        return KeyPlan::All;
    }
    let parts = partition
        .iter_mut()
        .filter_map(Option::take)
        .filter_map(|test| match test {
            ColumnTest::Equal(term) => Some(KeyPart::Equal(term)),
            ColumnTest::In(terms) => Some(KeyPart::In(terms)),
            ColumnTest::Slice { .. } => None,
        });
    KeyPlan::Points(parts.collect())
}

/// The restrictions that select a range of each partition, and those that are left to filter.
fn prefix(
    table: &Table,
    groups: Vec<Group>,
    has_index: bool,
    allow_filtering: bool,
) -> Result<(Vec<Group>, Vec<Group>), ErrorResponse> {
    let name = |position: usize| name_of(table.clustering(), position);
    let (mut steps, mut filtered) = (Vec::<Group>::new(), Vec::new());
    let mut next = 0;
    for group in groups {
        let slice = steps
            .last()
            .filter(|last| matches!(last.kind, GroupKind::Slice { .. }));
        if !filtered.is_empty() {
            filtered.push(group);
        } else if let Some(slice) = slice {
            let is_indexed = Restriction::group(table.clustering(), &group)
                .iter()
                .any(|restriction| restriction.is_supported(table));
            if !is_indexed && !allow_filtering {
                return Err(ErrorResponse::invalid(format!(
                    "Clustering column \"{}\" cannot be restricted (preceding column \"{}\" is restricted by a non-EQ relation)",
                    name(group.first),
                    name(slice.first)
                )));
            }
            filtered.push(group);
        } else if group.first > next {
            if !has_index && !allow_filtering {
                return Err(ErrorResponse::invalid(format!(
                    "PRIMARY KEY column \"{}\" cannot be restricted as preceding column \"{}\" is not restricted",
                    name(group.first),
                    name(next)
                )));
            }
            filtered.push(group);
        } else {
            next = group.first + group.len;
            steps.push(group);
        }
    }
    Ok((steps, filtered))
}

fn name_of(columns: &[Column], index: usize) -> &str {
    columns.get(index).map_or("", |column| &*column.name)
}

fn merge(
    place: &mut Option<ColumnTest>,
    test: ColumnTest,
    name: &str,
) -> Result<(), ErrorResponse> {
    match (place, test) {
        (place @ None, test) => {
            *place = Some(test);
            Ok(())
        }
        (
            Some(ColumnTest::Slice { lower, upper }),
            ColumnTest::Slice {
                lower: more,
                upper: less,
            },
        ) => {
            set_bound(lower, more, "start", name)?;
            set_bound(upper, less, "end", name)
        }
        _ => Err(equal_twice(name)),
    }
}

fn set_bound<T>(
    place: &mut Option<T>,
    bound: Option<T>,
    which: &str,
    name: &str,
) -> Result<(), ErrorResponse> {
    match bound {
        Some(_) if place.is_some() => Err(ErrorResponse::invalid(format!(
            "More than one restriction was found for the {which} bound on {}",
            quoted(name)
        ))),
        Some(bound) => {
            *place = Some(bound);
            Ok(())
        }
        None => Ok(()),
    }
}

fn equal_twice(name: &str) -> ErrorResponse {
    ErrorResponse::invalid(format!(
        "{} cannot be restricted by more than one relation if it includes an Equal",
        quoted(name)
    ))
}

fn column_filters(filters: &mut Vec<Filter>, column: ColumnRef, name: &str, test: ColumnTest) {
    let mut push = |test| {
        filters.push(Filter {
            columns: vec![column.clone()],
            name: name.into(),
            test,
        });
    };
    match test {
        ColumnTest::Equal(term) => push(FilterTest::Compare(
            Comparison::Equal,
            TupleTerm::Parts(vec![term]),
        )),
        ColumnTest::In(values) => push(FilterTest::In {
            values,
            tuples: false,
        }),
        ColumnTest::Slice { lower, upper } => {
            if let Some((term, inclusive)) = lower {
                push(FilterTest::Compare(
                    above(inclusive),
                    TupleTerm::Parts(vec![term]),
                ));
            }
            if let Some((term, inclusive)) = upper {
                push(FilterTest::Compare(
                    below(inclusive),
                    TupleTerm::Parts(vec![term]),
                ));
            }
        }
    }
}

fn group_filters(filters: &mut Vec<Filter>, clustering: &[Column], key_len: usize, group: Group) {
    let columns: Vec<_> = clustering
        .iter()
        .skip(group.first)
        .take(group.len)
        .collect();
    let name = name_of(clustering, group.first);
    let mut push = |test, len: usize| {
        filters.push(Filter {
            columns: columns
                .iter()
                .take(len)
                .map(|column| ColumnRef::new(column, key_len))
                .collect(),
            name: name.into(),
            test,
        });
    };
    match group.kind {
        GroupKind::Equal(term) => push(FilterTest::Compare(Comparison::Equal, term), group.len),
        GroupKind::In { values, tuples } => push(FilterTest::In { values, tuples }, group.len),
        GroupKind::Slice { lower, upper } => {
            if let Some((term, inclusive, len)) = lower {
                push(FilterTest::Compare(above(inclusive), term), len);
            }
            if let Some((term, inclusive, len)) = upper {
                push(FilterTest::Compare(below(inclusive), term), len);
            }
        }
    }
}

fn above(inclusive: bool) -> Comparison {
    if inclusive {
        Comparison::GreaterOrEqual
    } else {
        Comparison::Greater
    }
}

fn below(inclusive: bool) -> Comparison {
    if inclusive {
        Comparison::LessOrEqual
    } else {
        Comparison::Less
    }
}

/// Plans `column op term` as a test of the column.
pub(crate) fn plan_comparison(
    planner: &mut Planner<'_>,
    receiver: &Receiver,
    comparison: Comparison,
    written: &ast::Term,
) -> Result<ColumnTest, ErrorResponse> {
    let term = term::plan(planner, written, receiver)?;
    Ok(match comparison {
        Comparison::Equal => ColumnTest::Equal(term),
        Comparison::Less | Comparison::LessOrEqual => ColumnTest::Slice {
            lower: None,
            upper: Some((term, comparison == Comparison::LessOrEqual)),
        },
        Comparison::Greater | Comparison::GreaterOrEqual => ColumnTest::Slice {
            lower: Some((term, comparison == Comparison::GreaterOrEqual)),
            upper: None,
        },
        Comparison::NotEqual => {
            return Err(ErrorResponse::invalid(format!(
                "Unsupported \"!=\" relation: {} != {}",
                quoted(&receiver.name),
                term::text::term(written)
            )));
        }
    })
}

/// Whether a value of the type is kept as several cells.
pub(crate) fn is_complex(ty: &CqlType) -> bool {
    matches!(
        ty,
        CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) | CqlType::Udt(_)
    )
}
