//! `IF`: what must hold of a row before it is changed. Answers to Cassandra's `cql3.conditions`.

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::column::ColumnRef;
use super::filter::{contains, contains_key, holds, map_value};
use super::planner::Planner;
use super::restrictions::is_complex;
use crate::cql::ast::{self, Comparison, ConditionSubject, ConditionTest, Conditions};
use crate::execution::{RowView, list_element};
use crate::term::{self, Binds, Bound, Fields, InTerm, Receiver, Term};
use crate::types::compare;

/// The condition of a statement.
#[derive(Debug)]
pub(crate) enum Condition {
    /// None.
    None,
    /// `IF NOT EXISTS`
    NotExists,
    /// `IF EXISTS`
    Exists,
    /// `IF a AND b`
    Columns(Vec<ColumnCondition>),
}

/// A condition on a column.
#[derive(Debug)]
pub(crate) struct ColumnCondition {
    /// The column.
    pub(crate) column: ColumnRef,
    /// Its name.
    pub(crate) name: Arc<str>,
    subject: Subject,
    ty: CqlType,
    test: Test,
}

#[derive(Debug)]
enum Subject {
    Column,
    Element(Term),
    Field(usize),
}

#[derive(Debug)]
enum Test {
    Compare(Comparison, Term),
    In(InTerm),
    Contains(Term),
    ContainsKey(Term),
}

/// A condition with its values.
#[derive(Debug, Clone)]
pub(crate) enum BoundCondition {
    /// None.
    None,
    /// `IF NOT EXISTS`
    NotExists,
    /// `IF EXISTS`
    Exists,
    /// All of these.
    Columns(Vec<BoundColumnCondition>),
}

/// A column's condition with its values.
#[derive(Debug, Clone)]
pub(crate) struct BoundColumnCondition {
    /// The column.
    pub(crate) column: ColumnRef,
    /// Its name.
    pub(crate) name: Arc<str>,
    subject: BoundSubject,
    ty: CqlType,
    test: BoundTest,
}

#[derive(Debug, Clone)]
enum BoundSubject {
    Column,
    Element(Bytes),
    Field(usize),
}

#[derive(Debug, Clone)]
enum BoundTest {
    Compare(Comparison, Option<Bytes>),
    In(Vec<Option<Bytes>>),
    Contains(Bytes),
    ContainsKey(Bytes),
}

impl Condition {
    /// Whether only static columns are asked, or nothing in particular.
    pub(crate) fn is_static(&self) -> bool {
        match self {
            Self::None | Self::NotExists | Self::Exists => true,
            Self::Columns(columns) => columns.iter().all(|condition| condition.column.is_static()),
        }
    }

    /// The condition with its values.
    pub(crate) fn bind(&self, binds: &Binds<'_>) -> Result<BoundCondition, ErrorResponse> {
        Ok(match self {
            Self::None => BoundCondition::None,
            Self::NotExists => BoundCondition::NotExists,
            Self::Exists => BoundCondition::Exists,
            Self::Columns(columns) => {
                let columns: Result<_, _> = columns
                    .iter()
                    .map(|condition| condition.bind(binds))
                    .collect();
                BoundCondition::Columns(columns?)
            }
        })
    }
}

/// Plans an `IF`.
pub(crate) fn plan(
    planner: &mut Planner<'_>,
    conditions: &Conditions,
) -> Result<Condition, ErrorResponse> {
    match conditions {
        Conditions::None => Ok(Condition::None),
        Conditions::Exists => Ok(Condition::Exists),
        Conditions::If(conditions) => {
            let planned: Result<_, _> = conditions
                .iter()
                .map(|condition| plan_one(planner, condition))
                .collect();
            Ok(Condition::Columns(planned?))
        }
    }
}

fn plan_one(
    planner: &mut Planner<'_>,
    condition: &ast::Condition,
) -> Result<ColumnCondition, ErrorResponse> {
    let (ConditionSubject::Column(name)
    | ConditionSubject::Element(name, _)
    | ConditionSubject::Field(name, _)) = &condition.subject;
    let column = planner.column(name)?.clone();
    if column.is_primary_key() {
        return Err(ErrorResponse::invalid(format!(
            "PRIMARY KEY column '{name}' cannot have IF conditions"
        )));
    }
    let table = planner.table.clone();
    let (subject, receiver) = match &condition.subject {
        ConditionSubject::Column(_) => (Subject::Column, Receiver::column(&table, &column)),
        ConditionSubject::Element(_, key) => {
            let (key_receiver, value_type) = match column.ty.strip_frozen() {
                CqlType::List(element) => (
                    Receiver::named(&table, &format!("idx({name})"), CqlType::Int),
                    CqlType::clone(element),
                ),
                CqlType::Map(types) => (
                    Receiver::named(&table, &format!("key({name})"), types.0.clone()),
                    types.1.clone(),
                ),
                CqlType::Set(_) => {
                    return Err(ErrorResponse::invalid(format!(
                        "Invalid element access syntax for set column {name}"
                    )));
                }
                _ => {
                    return Err(ErrorResponse::invalid(format!(
                        "Invalid element access syntax for non-collection column {name}"
                    )));
                }
            };
            let key = term::plan(planner, key, &key_receiver)?;
            (
                Subject::Element(key),
                Receiver::named(&table, &format!("value({name})"), value_type),
            )
        }
        ConditionSubject::Field(_, field) => {
            let CqlType::Udt(udt) = column.ty.strip_frozen() else {
                return Err(ErrorResponse::invalid(format!(
                    "Invalid field access syntax for non-UDT column {name}"
                )));
            };
            let position = udt
                .fields
                .iter()
                .position(|(other, _)| other == field)
                .ok_or_else(|| {
                    ErrorResponse::invalid(format!("Unknown field {field} for column {name}"))
                })?;
            let ty = udt
                .fields
                .get(position)
                .map_or(CqlType::Blob, |(_, ty)| ty.clone());
            (
                Subject::Field(position),
                Receiver::named(&table, &format!("{name}.{field}"), ty),
            )
        }
    };
    let test = plan_test(planner, &condition.test, &column.ty, &receiver)?;
    Ok(ColumnCondition {
        column: ColumnRef::new(&column, table.partition_key_len),
        name: column.name.clone(),
        subject,
        ty: receiver.ty,
        test,
    })
}

fn plan_test(
    planner: &mut Planner<'_>,
    test: &ConditionTest,
    column: &CqlType,
    receiver: &Receiver,
) -> Result<Test, ErrorResponse> {
    let name = &receiver.name;
    Ok(match test {
        ConditionTest::Compare(comparison, written) => {
            let sign = match comparison {
                Comparison::Equal | Comparison::NotEqual => None,
                Comparison::Less => Some("<"),
                Comparison::LessOrEqual => Some("<="),
                Comparison::Greater => Some(">"),
                Comparison::GreaterOrEqual => Some(">="),
            };
            if let (Some(sign), CqlType::Duration) = (sign, receiver.ty.strip_frozen()) {
                return Err(ErrorResponse::invalid(format!(
                    "Slice conditions ( {sign} ) are not supported on durations"
                )));
            }
            let planned = term::plan(planner, written, receiver)?;
            if let (Some(sign), Term::Null) = (sign, &planned) {
                return Err(null_comparison(sign));
            }
            Test::Compare(*comparison, planned)
        }
        ConditionTest::In(values) => Test::In(term::plan_in(planner, values, receiver)?),
        ConditionTest::Contains(written) => {
            let element = match column.strip_frozen() {
                CqlType::List(element) | CqlType::Set(element) => CqlType::clone(element),
                CqlType::Map(types) => types.1.clone(),
                _ => {
                    return Err(ErrorResponse::invalid(format!(
                        "Cannot use CONTAINS on non-collection column {name}"
                    )));
                }
            };
            let receiver = receiver.part(format!("value({name})"), element);
            Test::Contains(term::plan(planner, written, &receiver)?)
        }
        ConditionTest::ContainsKey(written) => {
            let CqlType::Map(types) = column.strip_frozen() else {
                return Err(ErrorResponse::invalid(format!(
                    "Cannot use CONTAINS KEY on non-map column {name}"
                )));
            };
            let receiver = receiver.part(format!("key({name})"), types.0.clone());
            Test::ContainsKey(term::plan(planner, written, &receiver)?)
        }
    })
}

fn null_comparison(sign: &str) -> ErrorResponse {
    ErrorResponse::invalid(format!(
        "Invalid comparison with null for operator \"{sign}\""
    ))
}

impl ColumnCondition {
    fn bind(&self, binds: &Binds<'_>) -> Result<BoundColumnCondition, ErrorResponse> {
        let value = |bound: Bound<'_>| -> Result<Option<Bytes>, ErrorResponse> {
            if bound.is_unset() {
                return Err(ErrorResponse::invalid(format!(
                    "Invalid unset value for column {}",
                    self.name
                )));
            }
            // An empty collection of several cells is no value at all.
            let empty =
                is_complex(&self.ty) && bound.as_slice().is_some_and(|bytes| bytes == [0; 4]);
            Ok(if empty { None } else { bound.into_bytes() })
        };
        let present = |term: &Term| -> Result<Bytes, ErrorResponse> {
            value(term.bind(binds)?)?.ok_or_else(|| {
                ErrorResponse::invalid(format!(
                    "Invalid null value for a condition on column {}",
                    self.name
                ))
            })
        };
        let subject = match &self.subject {
            Subject::Column => BoundSubject::Column,
            Subject::Element(key) => BoundSubject::Element(present(key)?),
            Subject::Field(field) => BoundSubject::Field(*field),
        };
        let test = match &self.test {
            Test::Compare(comparison, term) => {
                let wanted = value(term.bind(binds)?)?;
                if wanted.is_none()
                    && !matches!(comparison, Comparison::Equal | Comparison::NotEqual)
                {
                    return Err(null_comparison(match comparison {
                        Comparison::Less => "<",
                        Comparison::LessOrEqual => "<=",
                        Comparison::Greater => ">",
                        _ => ">=",
                    }));
                }
                BoundTest::Compare(*comparison, wanted)
            }
            Test::In(terms) => {
                let values: Result<_, _> = terms
                    .bind(binds, &self.name)?
                    .into_iter()
                    .map(value)
                    .collect();
                BoundTest::In(values?)
            }
            Test::Contains(term) => BoundTest::Contains(present(term)?),
            Test::ContainsKey(term) => BoundTest::ContainsKey(present(term)?),
        };
        Ok(BoundColumnCondition {
            column: self.column.clone(),
            name: self.name.clone(),
            subject,
            ty: self.ty.clone(),
            test,
        })
    }
}

impl BoundColumnCondition {
    /// Whether the condition holds of a row.
    pub(crate) fn holds(&self, row: &RowView<'_>) -> bool {
        let column = row.value(&self.column);
        let actual: Option<&[u8]> = match (&self.subject, column.as_deref()) {
            (BoundSubject::Column, value) => value,
            (BoundSubject::Field(field), Some(value)) => Fields::new(value).nth(*field).flatten(),
            (BoundSubject::Element(key), Some(value)) => match self.column.ty.strip_frozen() {
                CqlType::Map(types) => map_value(&types.0, value, key),
                _ => <[u8; 4]>::try_from(&key[..])
                    .ok()
                    .and_then(|index| usize::try_from(i32::from_be_bytes(index)).ok())
                    .and_then(|index| list_element(value, index)),
            },
            (_, None) => None,
        };
        match &self.test {
            BoundTest::Compare(comparison, wanted) => match (actual, wanted) {
                (Some(actual), Some(wanted)) => {
                    holds(*comparison, compare(&self.ty, actual, wanted))
                }
                (None, None) => *comparison == Comparison::Equal,
                _ => *comparison == Comparison::NotEqual,
            },
            BoundTest::In(choices) => choices.iter().any(|wanted| match (actual, wanted) {
                (Some(actual), Some(wanted)) => compare(&self.ty, actual, wanted).is_eq(),
                (None, None) => true,
                _ => false,
            }),
            BoundTest::Contains(wanted) => {
                actual.is_some_and(|actual| contains(&self.column.ty, actual, wanted))
            }
            BoundTest::ContainsKey(wanted) => {
                actual.is_some_and(|actual| contains_key(&self.column.ty, actual, wanted))
            }
        }
    }
}
