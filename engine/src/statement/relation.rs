//! One relation of a `WHERE`: Cassandra's checks of what may be compared how.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::clustering::{Group, GroupKind, TupleTerm};
use super::column::ColumnRef;
use super::filter::{Filter, FilterTest};
use super::planner::Planner;
use super::restrictions::{ColumnTest, Relations, is_complex, plan_comparison};
use crate::cql::ast::{self, Comparison, InValues, Relation};
use crate::schema::{Column, ColumnKind, Table};
use crate::term::relation::sign;
use crate::term::{self, InTerm, Receiver, Shape, list_of};

/// Adds a relation to what was found so far.
pub(crate) fn add(
    all: &mut Relations,
    planner: &mut Planner<'_>,
    relation: &Relation,
) -> Result<(), ErrorResponse> {
    match relation {
        Relation::Column(name, comparison, written) => {
            let column = planner.column(name)?.clone();
            check_vector(planner.table, &column)?;
            check_comparable(&column, *comparison)?;
            let receiver = Receiver::column(planner.table, &column);
            let test = plan_comparison(planner, &receiver, *comparison, written)?;
            all.restrict(&column, test)
        }
        Relation::In(name, values) => {
            let column = planner.column(name)?.clone();
            check_vector(planner.table, &column)?;
            check_simple(&column, "IN")?;
            let receiver = Receiver::column(planner.table, &column);
            // One value is that value, as in Cassandra.
            let test = match term::plan_in(planner, values, &receiver)? {
                InTerm::List(terms) => match <[term::Term; 1]>::try_from(terms) {
                    Ok([only]) => ColumnTest::Equal(only),
                    Err(terms) => ColumnTest::In(InTerm::List(terms)),
                },
                whole => ColumnTest::In(whole),
            };
            all.restrict(&column, test)
        }
        Relation::Element(name, key, comparison, value) => {
            add_entry(all, planner, name, key, *comparison, value)
        }
        Relation::Contains(name, written) => {
            let column = planner.column(name)?.clone();
            let element = match column.ty.strip_frozen() {
                CqlType::List(element) | CqlType::Set(element) => CqlType::clone(element),
                CqlType::Map(types) => types.1.clone(),
                _ => {
                    return Err(ErrorResponse::invalid(format!(
                        "Cannot use CONTAINS on non-collection column {name}"
                    )));
                }
            };
            let receiver = Receiver::named(planner.table, &format!("value({name})"), element);
            let wanted = term::plan(planner, written, &receiver)?;
            add_content(all, planner, &column, FilterTest::Contains(wanted));
            Ok(())
        }
        Relation::ContainsKey(name, written) => {
            let column = planner.column(name)?.clone();
            let CqlType::Map(types) = column.ty.strip_frozen() else {
                return Err(ErrorResponse::invalid(format!(
                    "Cannot use CONTAINS KEY on non-map column {name}"
                )));
            };
            let receiver = Receiver::named(planner.table, &format!("key({name})"), types.0.clone());
            let wanted = term::plan(planner, written, &receiver)?;
            add_content(all, planner, &column, FilterTest::ContainsKey(wanted));
            Ok(())
        }
        Relation::Columns(names, comparison, written) => {
            add_columns(all, planner, names, *comparison, written)
        }
        Relation::ColumnsIn(names, values) => add_columns_in(all, planner, names, values),
        Relation::Token(names, comparison, written) => {
            add_token(all, planner, names, *comparison, written)
        }
        Relation::Like(name, written) => {
            planner.column(name)?;
            Err(ErrorResponse::invalid(format!(
                "LIKE restriction is only supported on properly indexed columns. {name} LIKE {} is not valid.",
                term::text::term(written)
            )))
        }
        Relation::IsNotNull(name) => {
            planner.column(name)?;
            Err(ErrorResponse::invalid(format!(
                "Unsupported restriction: {name} IS NOT NULL"
            )))
        }
        Relation::Expression(name, _) => Err(no_expression(planner.table, name)),
    }
}

/// No index here takes an expression of its own.
fn no_expression(table: &Table, name: &str) -> ErrorResponse {
    let index = table.indexes.iter().find(|index| &*index.name == name);
    ErrorResponse::invalid(match index {
        None => format!(
            "Invalid index expression, index {name} not found for {}.{}",
            table.keyspace, table.name
        ),
        Some(index) if index.class().is_none() => {
            format!(
                "Only CUSTOM indexes may be used in custom index expressions, {name} is not valid"
            )
        }
        Some(_) => format!("Index {name} does not support custom expressions"),
    })
}

/// Refuses to compare a vector that has an index.
fn check_vector(table: &Table, column: &Column) -> Result<(), ErrorResponse> {
    let mut indexes = table.indexes.iter();
    if matches!(column.ty, CqlType::Vector(..)) && indexes.any(|index| index.column == column.id) {
        return Err(ErrorResponse::invalid(
            "Vector indexes only support ANN queries",
        ));
    }
    Ok(())
}

fn check_comparable(column: &Column, comparison: Comparison) -> Result<(), ErrorResponse> {
    check_simple(column, sign(comparison))?;
    let slice = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
    if slice && matches!(column.ty, CqlType::Duration) {
        return Err(ErrorResponse::invalid(
            "Slice restrictions are not supported on duration columns",
        ));
    }
    Ok(())
}

/// Refuses columns kept as several cells, which no relation can compare.
fn check_simple(column: &Column, sign: &str) -> Result<(), ErrorResponse> {
    if !is_complex(&column.ty) {
        return Ok(());
    }
    Err(ErrorResponse::invalid(match &column.ty {
        CqlType::Udt(udt) => format!(
            "Non-frozen UDT column '{}' ({}) cannot be restricted by any relation",
            column.name, udt.name
        ),
        ty => format!(
            "Collection column '{}' ({ty}) cannot be restricted by a '{sign}' relation",
            column.name
        ),
    }))
}

fn add_content(all: &mut Relations, planner: &Planner<'_>, column: &Column, test: FilterTest) {
    all.contents.push(Filter {
        columns: vec![ColumnRef::new(column, planner.table.partition_key_len)],
        name: column.name.clone(),
        test,
    });
}

fn add_entry(
    all: &mut Relations,
    planner: &mut Planner<'_>,
    name: &ast::Name,
    key: &ast::Term,
    comparison: Comparison,
    value: &ast::Term,
) -> Result<(), ErrorResponse> {
    let column = planner.column(name)?.clone();
    let types = match column.ty.strip_frozen() {
        CqlType::Map(types) => types.clone(),
        CqlType::List(_) => {
            return Err(ErrorResponse::invalid(
                "Indexes on list entries (l[index] = value) are not currently supported.",
            ));
        }
        _ => {
            return Err(ErrorResponse::invalid(format!(
                "Column {name} cannot be used as a map"
            )));
        }
    };
    if comparison != Comparison::Equal {
        return Err(ErrorResponse::invalid(
            "Only EQ relations are supported on map entries",
        ));
    }
    if matches!(column.ty, CqlType::Frozen(_)) {
        return Err(ErrorResponse::invalid(format!(
            "Map-entry equality predicates on frozen map column {name} are not supported"
        )));
    }
    let key_receiver = Receiver::named(planner.table, &format!("key({name})"), types.0.clone());
    let value_receiver = Receiver::named(planner.table, &format!("value({name})"), types.1.clone());
    let key = term::plan(planner, key, &key_receiver)?;
    let value = term::plan(planner, value, &value_receiver)?;
    add_content(all, planner, &column, FilterTest::Entry(key, value));
    Ok(())
}

/// The clustering columns of a multi-column relation, which must follow each other.
fn tuple_columns(
    planner: &Planner<'_>,
    names: &[ast::Name],
    written: &str,
) -> Result<Vec<Column>, ErrorResponse> {
    let mut columns: Vec<Column> = Vec::with_capacity(names.len());
    for name in names {
        let column = planner.column(name)?;
        if column.kind != ColumnKind::Clustering {
            return Err(ErrorResponse::invalid(format!(
                "Multi-column relations can only be applied to clustering columns but was applied to: {name}"
            )));
        }
        if columns.iter().any(|other| other.id == column.id) {
            return Err(ErrorResponse::invalid(format!(
                "Column \"{name}\" appeared twice in a relation: {written}"
            )));
        }
        if columns
            .last()
            .is_some_and(|last| last.position + 1 != column.position)
        {
            return Err(ErrorResponse::invalid(format!(
                "Clustering columns must appear in the PRIMARY KEY order in multi-column relations: {written}"
            )));
        }
        columns.push(column.clone());
    }
    Ok(columns)
}

fn tuple_receiver(planner: &Planner<'_>, columns: &[Column]) -> Receiver {
    let names: Vec<_> = columns.iter().map(|column| &*column.name).collect();
    let types: Vec<_> = columns.iter().map(|column| column.ty.clone()).collect();
    Receiver::named(
        planner.table,
        &format!("({})", names.join(",")),
        CqlType::Tuple(types.into()),
    )
}

fn names_text(names: &[ast::Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| &**name).collect();
    format!("({})", names.join(", "))
}

fn tuple_parts(
    planner: &mut Planner<'_>,
    columns: &[Column],
    items: &[ast::Term],
) -> Result<Vec<term::Term>, ErrorResponse> {
    if items.len() != columns.len() {
        return Err(ErrorResponse::invalid(format!(
            "Expected {} elements in value tuple, but got {}: ({})",
            columns.len(),
            items.len(),
            term::text::terms(items)
        )));
    }
    items
        .iter()
        .zip(columns)
        .map(|(item, column)| {
            let receiver = Receiver::column(planner.table, column);
            term::plan(planner, item, &receiver)
        })
        .collect()
}

fn add_columns(
    all: &mut Relations,
    planner: &mut Planner<'_>,
    names: &[ast::Name],
    comparison: Comparison,
    written: &ast::Term,
) -> Result<(), ErrorResponse> {
    let text = format!(
        "{} {} {}",
        names_text(names),
        sign(comparison),
        term::text::term(written)
    );
    let columns = tuple_columns(planner, names, &text)?;
    let tuple = match written {
        ast::Term::Tuple(items) => TupleTerm::Parts(tuple_parts(planner, &columns, items)?),
        other => {
            let receiver = tuple_receiver(planner, &columns);
            TupleTerm::Whole(term::plan(planner, other, &receiver)?)
        }
    };
    let len = columns.len();
    let (inclusive_low, inclusive_high) = (
        comparison == Comparison::GreaterOrEqual,
        comparison == Comparison::LessOrEqual,
    );
    let kind = match comparison {
        Comparison::Equal => GroupKind::Equal(tuple),
        Comparison::Greater | Comparison::GreaterOrEqual => GroupKind::Slice {
            lower: Some((tuple, inclusive_low, len)),
            upper: None,
        },
        Comparison::Less | Comparison::LessOrEqual => GroupKind::Slice {
            lower: None,
            upper: Some((tuple, inclusive_high, len)),
        },
        Comparison::NotEqual => {
            return Err(ErrorResponse::invalid(format!(
                "Unsupported \"!=\" relation: {text}"
            )));
        }
    };
    add_tuple_group(all, &columns, kind)
}

fn add_columns_in(
    all: &mut Relations,
    planner: &mut Planner<'_>,
    names: &[ast::Name],
    values: &InValues,
) -> Result<(), ErrorResponse> {
    let columns = tuple_columns(planner, names, &names_text(names))?;
    let receiver = tuple_receiver(planner, &columns);
    let values = match values {
        InValues::List(items) => {
            let mut terms = Vec::with_capacity(items.len());
            for item in items {
                terms.push(match item {
                    ast::Term::Tuple(items) => Shape {
                        ty: receiver.ty.clone(),
                        elements: tuple_parts(planner, &columns, items)?,
                    }
                    .into_term()?,
                    other => term::plan(planner, other, &receiver)?,
                });
            }
            InTerm::List(terms)
        }
        InValues::Marker(marker) => {
            let name = format!("in{}", receiver.name);
            let receiver = receiver.part(name, list_of(&receiver.ty));
            InTerm::Whole(term::plan(planner, marker, &receiver)?)
        }
    };
    add_tuple_group(
        all,
        &columns,
        GroupKind::In {
            values,
            tuples: true,
        },
    )
}

fn add_tuple_group(
    all: &mut Relations,
    columns: &[Column],
    kind: GroupKind,
) -> Result<(), ErrorResponse> {
    let Some(first) = columns.first() else {
        return Ok(());
    };
    let group = Group {
        first: first.position,
        len: columns.len(),
        kind,
    };
    all.add_group(group, &first.name)
}

fn add_token(
    all: &mut Relations,
    planner: &mut Planner<'_>,
    names: &[ast::Name],
    comparison: Comparison,
    written: &ast::Term,
) -> Result<(), ErrorResponse> {
    let table = planner.table.clone();
    for name in names {
        planner.column(name)?;
    }
    let key = table.partition_key();
    let is_part = |name: &ast::Name| key.iter().any(|column| column.name == *name);
    if !(names.len() == key.len() && names.iter().all(is_part)) {
        let extra = key.iter().all(|column| names.contains(&column.name));
        return Err(ErrorResponse::invalid(if extra {
            "The token() function must contains only partition key components"
        } else {
            "The token() function must be applied to all partition key components or none of them"
        }));
    }
    if !names
        .iter()
        .zip(key)
        .all(|(name, column)| *name == column.name)
    {
        let order: Vec<_> = key.iter().map(|column| &*column.name).collect();
        return Err(ErrorResponse::invalid(format!(
            "The token function arguments must be in the partition key order: {}",
            order.join(", ")
        )));
    }
    let receiver = Receiver::named(&table, "partition key token", CqlType::BigInt);
    let name = names
        .iter()
        .map(|name| &**name)
        .collect::<Vec<_>>()
        .join(", ");
    let (lower, upper) = match plan_comparison(planner, &receiver, comparison, written)? {
        ColumnTest::Equal(term) => (Some((term.clone(), true)), Some((term, true))),
        ColumnTest::Slice { lower, upper } => (lower, upper),
        ColumnTest::In(_) => (None, None),
    };
    let place = all.token.get_or_insert((None, None));
    for (bound, place, which) in [(lower, &mut place.0, "start"), (upper, &mut place.1, "end")] {
        if bound.is_some() && place.is_some() {
            return Err(ErrorResponse::invalid(format!(
                "More than one restriction was found for the {which} bound on {name}"
            )));
        }
        if bound.is_some() {
            *place = bound;
        }
    }
    Ok(())
}
