//! Terms: planned against the type of what receives them, then bound to serialized bytes at execution.
//! Answers to Cassandra's `cql3.Term` and its subclasses.

mod binds;
mod build;
mod elements;
mod marker;
mod normal;
mod plan;
pub(crate) mod relation;
pub(crate) mod text;

pub(crate) use binds::{Binds, Bound, OwnedBinds};
pub(crate) use build::{Shape, assemble};
pub(crate) use elements::{Elements, Fields, Pairs, begin_count, put_element};
pub(crate) use marker::{Markers, NativeCall, Receiver};
pub(crate) use normal::form as normal_form;
pub(crate) use plan::{fits, plan, plan_in, plan_untyped};

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use crate::functions::Function;

/// A planned term: what of it is constant has been serialized already.
#[derive(Debug, Clone)]
pub(crate) enum Term {
    /// `null`
    Null,
    /// A constant.
    Constant(Bytes),
    /// A bind variable, by its place.
    Marker(usize),
    /// A collection, tuple, user type or vector of which some part isn't constant.
    Build(Box<Shape>),
    /// A function of terms, arithmetic and casts among them.
    Call(Box<Call>),
}

/// A function with its arguments.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// What is called.
    pub(crate) function: Function,
    /// With what.
    pub(crate) arguments: Vec<Term>,
}

impl Term {
    /// The value under these bindings.
    pub(crate) fn bind<'a>(&'a self, binds: &Binds<'a>) -> Result<Bound<'a>, ErrorResponse> {
        match self {
            Self::Null => Ok(Bound::Null),
            Self::Constant(bytes) => Ok(Bound::Bytes(bytes.clone())),
            Self::Marker(index) => Ok(binds.get(*index)),
            Self::Build(shape) => shape.bind(binds),
            Self::Call(call) => {
                let mut arguments = Vec::with_capacity(call.arguments.len());
                for argument in &call.arguments {
                    match argument.bind(binds)? {
                        Bound::Unset => {
                            return Err(ErrorResponse::invalid(format!(
                                "Invalid unset value for argument in call to function {}",
                                call.function.name
                            )));
                        }
                        bound => arguments.push(bound.into_bytes()),
                    }
                }
                Ok(match call.function.call(&arguments, binds.environment())? {
                    Some(bytes) => Bound::Bytes(bytes),
                    None => Bound::Null,
                })
            }
        }
    }

    /// Whether the value is the same at every execution.
    pub(crate) fn is_constant(&self) -> bool {
        matches!(self, Self::Null | Self::Constant(_))
    }
}

/// The right side of `IN`.
#[derive(Debug, Clone)]
pub(crate) enum InTerm {
    /// `(a, b)`
    List(Vec<Term>),
    /// One term whose value is the list, elements of the given type.
    Whole(Term),
}

impl InTerm {
    /// Every value, in the order given; a list that is null is an error, as in Cassandra.
    pub(crate) fn bind<'a>(
        &'a self,
        binds: &Binds<'a>,
        name: &str,
    ) -> Result<Vec<Bound<'a>>, ErrorResponse> {
        match self {
            Self::List(terms) => terms.iter().map(|term| term.bind(binds)).collect(),
            Self::Whole(term) => match term.bind(binds)? {
                Bound::Null => Err(ErrorResponse::invalid(format!(
                    "Invalid null value for IN restriction {name}"
                ))),
                Bound::Unset => Err(ErrorResponse::invalid(format!(
                    "Invalid unset value for column {name}"
                ))),
                bound => {
                    let bytes = bound.into_bytes().unwrap_or_default();
                    Ok(Elements::new(&bytes)
                        .map(|element| match element {
                            Some(slice) => Bound::Bytes(bytes.slice_ref(slice)),
                            None => Bound::Null,
                        })
                        .collect())
                }
            },
        }
    }
}

/// The value a type's `IN ?` takes.
pub(crate) fn list_of(ty: &CqlType) -> CqlType {
    CqlType::List(std::sync::Arc::new(ty.clone()))
}
