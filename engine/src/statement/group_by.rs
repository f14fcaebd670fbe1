//! Planning `GROUP BY`. Answers to `SelectStatement.getAggregationSpecFactory`.

use helenus_core::ErrorResponse;

use super::column::{ColumnRef, Place};
use super::expression::{Expression, Selection};
use super::names;
use super::planner::Planner;
use super::selection;
use crate::cql::ast::{self, Selectable};
use crate::functions::signature;
use crate::schema::{Column, ColumnKind, Table};

/// What tells groups apart besides the partition they lie in: a group never spans two.
#[derive(Debug)]
pub(crate) struct GroupBy {
    /// Clustering columns by their values.
    pub(crate) columns: Vec<ColumnRef>,
    /// A function of the clustering column behind them, by its result.
    pub(crate) function: Option<Expression>,
}

/// Plans a `GROUP BY`; `is_equal` says whether a column of the primary key is restricted to one value, so that it may
/// be left out.
pub(super) fn plan(
    planner: &mut Planner<'_>,
    select: &ast::Select,
    selection: &mut Selection,
    is_equal: impl Fn(&Column) -> bool,
) -> Result<Option<GroupBy>, ErrorResponse> {
    if select.group_by.is_empty() {
        return Ok(None);
    }
    let table = planner.table.clone();
    let mut key = table.primary_key().iter();
    let mut columns = Vec::new();
    let mut function = None;
    for written in &select.group_by {
        let column = match written {
            Selectable::Column(name) => {
                let column = planner.column(name)?.clone();
                if !column.is_primary_key() {
                    return Err(invalid(format!(
                        "Group by is currently only supported on the columns of the PRIMARY KEY, got {name}"
                    )));
                }
                if function.is_some() {
                    return Err(invalid(
                        "Functions are only supported on the last element of the GROUP BY clause",
                    ));
                }
                column
            }
            _ => {
                let (expression, _) = selection::plan_expression(planner, selection, written)?;
                let column = argument(&table, &expression, written)?;
                function = Some(expression);
                column.clone()
            }
        };
        loop {
            let Some(next) = key.next() else {
                return Err(out_of_order());
            };
            let is_last = next.id == column.id;
            if next.kind == ColumnKind::Clustering && !(is_last && function.is_some()) {
                columns.push(ColumnRef::new(next, table.partition_key_len));
            }
            if is_last {
                break;
            }
            if !is_equal(next) {
                return Err(out_of_order());
            }
        }
    }
    if key
        .next()
        .is_some_and(|next| next.kind == ColumnKind::PartitionKey)
    {
        return Err(invalid(
            "Group by is not supported on only a part of the partition key",
        ));
    }
    if select.distinct && (!columns.is_empty() || function.is_some()) {
        return Err(invalid(
            "Grouping on clustering columns is not allowed for SELECT DISTINCT queries",
        ));
    }
    Ok(Some(GroupBy { columns, function }))
}

/// The one clustering column that an expression of a `GROUP BY` is about.
fn argument<'t>(
    table: &'t Table,
    expression: &Expression,
    written: &Selectable,
) -> Result<&'t Column, ErrorResponse> {
    let Expression::Call(function, _) = expression else {
        return Err(match expression {
            Expression::Aggregate(_) => invalid(format!(
                "Aggregate functions are not supported within the GROUP BY clause, got: {}",
                function_name(written)
            )),
            _ => invalid(format!(
                "Group by is currently only supported on the columns of the PRIMARY KEY and functions of them, got {}",
                names::text(written)
            )),
        });
    };
    let mut places = Vec::new();
    collect(expression, &mut places)?;
    let [place] = places.as_slice() else {
        return Err(match places.is_empty() {
            true => invalid("GROUP BY functions must have one clustering column name as parameter"),
            false => {
                let names: Vec<_> = places.iter().map(|place| name(table, *place)).collect();
                invalid(format!(
                    "GROUP BY functions accept only one clustering column as parameter, got: {}",
                    names.join(",")
                ))
            }
        });
    };
    let Place::Clustering(position) = place else {
        return Err(invalid(format!(
            "Group by functions are only supported on clustering columns, got {}",
            name(table, *place)
        )));
    };
    if !is_monotonic(expression) {
        return Err(invalid(format!(
            "Only monotonic functions are supported in the GROUP BY clause. Got: {}",
            signature(function)
        )));
    }
    table.clustering().get(*position).ok_or_else(out_of_order)
}

/// The columns an expression looks at.
fn collect(expression: &Expression, places: &mut Vec<Place>) -> Result<(), ErrorResponse> {
    match expression {
        Expression::Column(column) => places.push(column.place),
        Expression::Call(_, parts) | Expression::Build(_, parts) => {
            for part in parts {
                collect(part, places)?;
            }
        }
        Expression::Native { .. } => {
            return Err(invalid(
                "Native functions are not supported within the GROUP BY clause",
            ));
        }
        Expression::Aggregate(_) => {
            return Err(invalid(
                "Aggregate functions are not supported within the GROUP BY clause",
            ));
        }
        Expression::Metadata(metadata) => places.push(metadata.column.place),
        Expression::Field(base, _)
        | Expression::Element(base, ..)
        | Expression::Slice(base, ..) => {
            collect(base, places)?;
        }
        Expression::Term(_) => {}
    }
    Ok(())
}

/// Whether rows in clustering order have results in order, so that equal ones lie together.
fn is_monotonic(expression: &Expression) -> bool {
    match expression {
        Expression::Column(_) => true,
        Expression::Call(function, parts) => {
            let [first, rest @ ..] = parts.as_slice() else {
                return false;
            };
            function.is_monotonic()
                && is_monotonic(first)
                && rest.iter().all(|part| matches!(part, Expression::Term(_)))
        }
        _ => false,
    }
}

fn name(table: &Table, place: Place) -> &str {
    let column = match place {
        Place::Partition { position, .. } => table.partition_key().get(position),
        Place::Clustering(position) => table.clustering().get(position),
        Place::Static(id) | Place::Regular(id) => table.column_with_id(id),
    };
    column.map_or("", |column| &*column.name)
}

fn function_name(written: &Selectable) -> String {
    let text = names::text(written);
    match text.split_once('(') {
        Some((name, _)) => name.to_owned(),
        None => text,
    }
}

fn out_of_order() -> ErrorResponse {
    invalid(
        "Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
    )
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> ErrorResponse {
    ErrorResponse::invalid(message)
}
