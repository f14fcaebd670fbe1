//! [`BindError`]: why values can't be bound. Nothing is formatted before it is displayed.

use std::fmt;
use std::sync::Arc;

use crate::message::result::ColumnSpec;
use crate::types::{CqlType, ValueError};

/// Why values can't be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// There are more or fewer values than variables.
    Count {
        /// How many values.
        values: usize,
        /// How many variables.
        variables: usize,
    },
    /// More than 65,535 values.
    TooMany,
    /// Some values carry names and some don't.
    Unnamed,
    /// No variable has the name of this value.
    UnknownName(Box<str>),
    /// This variable has no value.
    Missing(Arc<str>),
    /// A value isn't of its variable's type.
    Value(Box<InvalidValue>),
}

/// A value isn't of its variable's type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidValue {
    /// The place of the value, from 0.
    pub index: usize,
    /// The variable's name, or the column's, and its type, if they are known.
    pub variable: Option<(Arc<str>, CqlType)>,
    /// The name of the Rust type.
    pub rust: &'static str,
    /// What is wrong.
    pub error: ValueError,
}

impl BindError {
    #[cold]
    pub(super) fn value<T: ?Sized>(
        variable: Option<&ColumnSpec<'_>>,
        index: usize,
        error: ValueError,
    ) -> Self {
        Self::Value(Box::new(InvalidValue {
            index,
            variable: variable.map(|variable| (variable.name.to_shared(), variable.ty.clone())),
            rust: std::any::type_name::<T>(),
            error,
        }))
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { values, variables } => {
                write!(f, "There are {values} values for {variables} variables")
            }
            Self::TooMany => f.write_str("There are more than 65,535 values"),
            Self::Unnamed => f.write_str("Some values carry names and some don't"),
            Self::UnknownName(name) => write!(f, "There is no variable {name}"),
            Self::Missing(name) => write!(f, "There is no value for variable {name}"),
            Self::Value(value) => match &value.variable {
                Some((name, ty)) => write!(
                    f,
                    "{name} is of type {ty} and can't be written from {}: {}",
                    value.rust, value.error
                ),
                None => write!(
                    f,
                    "Value {} of {}, counted from 0, can't be written: {}",
                    value.index, value.rust, value.error
                ),
            },
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Value(value) => Some(&value.error),
            _ => None,
        }
    }
}
