//! What a modification does to a column: planning of `SET` and of what a `DELETE` names.
//! Answers to Cassandra's `cql3.Operation`.

use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::planner::Planner;
use super::restrictions::is_complex;
use crate::cql::ast::{self, Assignment, DeleteTarget};
use crate::schema::{Column, ColumnId, ColumnKind};
use crate::term::{self, Receiver, Term, text};

/// A change of one column.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    /// The column.
    pub(crate) column: ColumnId,
    /// Whether it is static.
    pub(crate) is_static: bool,
    /// Its type.
    pub(crate) ty: CqlType,
    /// The change.
    pub(crate) change: Change,
}

/// How a column changes.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// The whole value.
    Set(Term),
    /// `c = c + term` of a collection.
    Append(Term),
    /// `c = term + c` of a list.
    Prepend(Term),
    /// `c = c - term` of a collection; of a map, the term is a set of keys.
    Discard(Term),
    /// `c[key] = value` of a map.
    SetEntry(Term, Term),
    /// `c[index] = value` of a list.
    SetIndex(Term, Term),
    /// `c.field = value`
    SetField(usize, Term),
    /// The column goes.
    Delete,
    /// The element of a set or entry of a map goes.
    DeleteEntry(Term),
    /// The element of a list at an index goes.
    DeleteIndex(Term),
    /// The field goes.
    DeleteField(usize),
    /// `c = c + term` of a counter.
    Increment(Term),
    /// `c = c - term` of a counter.
    Decrement(Term),
}

impl Operation {
    /// The assignment of a whole value.
    pub(crate) fn set(column: &Column, term: Term) -> Self {
        Self::new(column, Change::Set(term))
    }

    fn new(column: &Column, change: Change) -> Self {
        Self {
            column: column.id,
            is_static: column.kind == ColumnKind::Static,
            ty: column.ty.clone(),
            change,
        }
    }

    /// Whether the list must be read first.
    pub(crate) fn reads(&self) -> bool {
        match self.change {
            Change::SetIndex(..) | Change::DeleteIndex(_) => true,
            Change::Discard(_) => matches!(self.ty, CqlType::List(_)),
            _ => false,
        }
    }
}

/// Plans one entry of `SET`.
pub(crate) fn plan_assignment(
    planner: &mut Planner<'_>,
    assignment: &Assignment,
) -> Result<Operation, ErrorResponse> {
    let (Assignment::Set(name, _)
    | Assignment::Add(name, _)
    | Assignment::Prepend(name, _)
    | Assignment::Subtract(name, _)
    | Assignment::SetElement(name, _, _)
    | Assignment::SetField(name, _, _)) = assignment;
    let column = planner.column(name)?.clone();
    if column.is_primary_key() {
        return Err(ErrorResponse::invalid(format!(
            "PRIMARY KEY part {name} found in SET part"
        )));
    }
    let receiver = Receiver::column(planner.table, &column);
    let change = match assignment {
        Assignment::Set(_, written) => {
            if column.ty.is_counter() {
                return Err(ErrorResponse::invalid(format!(
                    "Cannot set the value of counter column {name} (counters can only be incremented/decremented, not set)"
                )));
            }
            Change::Set(term::plan(planner, written, &receiver)?)
        }
        Assignment::Add(_, written) => plan_add(planner, &column, &receiver, written)?,
        Assignment::Prepend(_, written) => {
            if !matches!(column.ty, CqlType::List(_)) {
                // The sign is Cassandra's.
                let operation = format!("{name} = {} - {name}", text::term(written));
                let what = if matches!(column.ty.strip_frozen(), CqlType::List(_)) {
                    "frozen list"
                } else {
                    "non list"
                };
                return Err(invalid_operation(&operation, what, name));
            }
            Change::Prepend(term::plan(planner, written, &receiver)?)
        }
        Assignment::Subtract(_, written) => plan_subtract(planner, &column, &receiver, written)?,
        Assignment::SetElement(_, key, value) => plan_element(planner, &column, key, value)?,
        Assignment::SetField(_, field, value) => plan_field(planner, &column, field, value)?,
    };
    Ok(Operation::new(&column, change))
}

fn invalid_operation(operation: &str, what: &str, name: &str) -> ErrorResponse {
    ErrorResponse::invalid(format!(
        "Invalid operation ({operation}) for {what} column {name}"
    ))
}

/// The error of adding to a column that is neither a counter nor a collection kept in cells, or of taking from one.
fn no_arithmetic(column: &Column, operation: &str) -> ErrorResponse {
    let what = match &column.ty {
        CqlType::Frozen(inner) if inner.is_collection() => "frozen collection",
        _ => "non counter",
    };
    invalid_operation(operation, what, &column.name)
}

fn plan_add(
    planner: &mut Planner<'_>,
    column: &Column,
    receiver: &Receiver,
    written: &ast::Term,
) -> Result<Change, ErrorResponse> {
    let name = &column.name;
    let operation = || format!("{name} = {name} + {}", text::term(written));
    match &column.ty {
        CqlType::Counter => Ok(Change::Increment(term::plan(planner, written, receiver)?)),
        CqlType::List(_) | CqlType::Set(_) => {
            Ok(Change::Append(term::plan(planner, written, receiver)?))
        }
        CqlType::Map(_) => match term::plan(planner, written, receiver) {
            Ok(planned) => Ok(Change::Append(planned)),
            Err(error)
                if matches!(written, ast::Term::Map(_)) && error.message.starts_with("null") =>
            {
                Err(ErrorResponse::invalid(format!(
                    "Value for a map addition has to be a map, but was: '{}'",
                    text::term(written)
                )))
            }
            Err(error) => Err(error),
        },
        _ => Err(no_arithmetic(column, &operation())),
    }
}

fn plan_subtract(
    planner: &mut Planner<'_>,
    column: &Column,
    receiver: &Receiver,
    written: &ast::Term,
) -> Result<Change, ErrorResponse> {
    let name = &column.name;
    let operation = || format!("{name} = {name} - {}", text::term(written));
    match &column.ty {
        CqlType::Counter => Ok(Change::Decrement(term::plan(planner, written, receiver)?)),
        CqlType::List(_) | CqlType::Set(_) => {
            Ok(Change::Discard(term::plan(planner, written, receiver)?))
        }
        CqlType::Map(types) => {
            if matches!(written, ast::Term::Map(_)) {
                return Err(ErrorResponse::invalid(format!(
                    "Value for a map substraction has to be a set, but was: '{}'",
                    text::term(written)
                )));
            }
            let keys = receiver.part(name.to_string(), CqlType::Set(types.0.clone().into()));
            Ok(Change::Discard(term::plan(planner, written, &keys)?))
        }
        _ => Err(no_arithmetic(column, &operation())),
    }
}

fn plan_element(
    planner: &mut Planner<'_>,
    column: &Column,
    key: &ast::Term,
    value: &ast::Term,
) -> Result<Change, ErrorResponse> {
    let name = &column.name;
    let operation = || format!("{name}[{}] = {}", text::term(key), text::term(value));
    let table = planner.table.clone();
    let (key_receiver, value_type) = match &column.ty {
        CqlType::List(element) => (
            Receiver::named(&table, &format!("idx({name})"), CqlType::Int),
            CqlType::clone(element),
        ),
        CqlType::Map(types) => (
            Receiver::named(&table, &format!("key({name})"), types.0.clone()),
            types.1.clone(),
        ),
        CqlType::Set(_) => return Err(invalid_operation(&operation(), "set", name)),
        CqlType::Frozen(inner) if inner.is_collection() => {
            return Err(invalid_operation(&operation(), "frozen collection", name));
        }
        _ => return Err(invalid_operation(&operation(), "non collection", name)),
    };
    let value_receiver = Receiver::named(&table, &format!("value({name})"), value_type);
    let key = term::plan(planner, key, &key_receiver)?;
    let value = term::plan(planner, value, &value_receiver)?;
    Ok(if matches!(column.ty, CqlType::List(_)) {
        Change::SetIndex(key, value)
    } else {
        Change::SetEntry(key, value)
    })
}

fn plan_field(
    planner: &mut Planner<'_>,
    column: &Column,
    field: &ast::Name,
    value: &ast::Term,
) -> Result<Change, ErrorResponse> {
    let name = &column.name;
    let operation = || format!("{name}.{field} = {}", text::term(value));
    let udt = match &column.ty {
        CqlType::Udt(udt) => udt,
        CqlType::Frozen(inner) if matches!(**inner, CqlType::Udt(_)) => {
            return Err(invalid_operation(&operation(), "frozen UDT", name));
        }
        _ => return Err(invalid_operation(&operation(), "non-UDT", name)),
    };
    let position = field_of(udt, field, name)?;
    let ty = udt
        .fields
        .get(position)
        .map_or(CqlType::Blob, |(_, ty)| ty.clone());
    let receiver = Receiver::named(planner.table, &format!("{name}.{field}"), ty);
    Ok(Change::SetField(
        position,
        term::plan(planner, value, &receiver)?,
    ))
}

fn field_of(
    udt: &helenus_core::types::UserType,
    field: &str,
    column: &str,
) -> Result<usize, ErrorResponse> {
    udt.fields
        .iter()
        .position(|(name, _)| &**name == field)
        .ok_or_else(|| {
            ErrorResponse::invalid(format!(
                "UDT column {column} does not have a field named {field}"
            ))
        })
}

/// Plans one entry of a `DELETE`'s list.
pub(crate) fn plan_deletion(
    planner: &mut Planner<'_>,
    target: &DeleteTarget,
) -> Result<Operation, ErrorResponse> {
    let (DeleteTarget::Column(name)
    | DeleteTarget::Element(name, _)
    | DeleteTarget::Field(name, _)) = target;
    let column = planner.column(name)?.clone();
    if column.is_primary_key() {
        return Err(ErrorResponse::invalid(format!(
            "Invalid identifier {name} for deletion (should not be a PRIMARY KEY part)"
        )));
    }
    let table = planner.table.clone();
    let change = match target {
        DeleteTarget::Column(_) => Change::Delete,
        DeleteTarget::Element(_, key) => {
            let receiver = match &column.ty {
                CqlType::List(_) => Receiver::named(&table, &format!("idx({name})"), CqlType::Int),
                CqlType::Set(element) => {
                    Receiver::named(&table, &format!("value({name})"), CqlType::clone(element))
                }
                CqlType::Map(types) => {
                    Receiver::named(&table, &format!("key({name})"), types.0.clone())
                }
                ty => {
                    let frozen = ty.strip_frozen().is_collection() && !is_complex(ty);
                    return Err(ErrorResponse::invalid(format!(
                        "Invalid deletion operation for {} column {name}",
                        if frozen {
                            "frozen collection"
                        } else {
                            "non collection"
                        }
                    )));
                }
            };
            let key = term::plan(planner, key, &receiver)?;
            if matches!(column.ty, CqlType::List(_)) {
                Change::DeleteIndex(key)
            } else {
                Change::DeleteEntry(key)
            }
        }
        DeleteTarget::Field(_, field) => match &column.ty {
            CqlType::Udt(udt) => Change::DeleteField(field_of(udt, field, name)?),
            CqlType::Frozen(inner) if matches!(**inner, CqlType::Udt(_)) => {
                return Err(ErrorResponse::invalid(format!(
                    "Frozen UDT column {name} does not support field deletions"
                )));
            }
            _ => {
                return Err(ErrorResponse::invalid(format!(
                    "Invalid field deletion operation for non-UDT column {name}"
                )));
            }
        },
    };
    Ok(Operation::new(&column, change))
}
