//! Functions of CQL: what they are called, what they take and give, and their evaluation on serialized values.
//! Answers to Cassandra's `cql3.functions`.

mod aggregate;
mod arithmetic;
mod blob;
mod cast;
mod collection;
mod floor;
mod json;
mod math;
mod native;
mod number;
mod resolve;
mod time;
mod user;
mod vector;

pub(crate) use aggregate::{Accumulator, Aggregate, NativeFold};
pub(crate) use arithmetic::{arithmetic, negation};
pub(crate) use cast::cast;
pub(crate) use json::{is_selectable, json_scalar};
pub(crate) use native::NativeState;
pub use native::{NativeAggregate, NativeError, NativeFunction, NativeSignature};
pub(crate) use number::{java_double, java_float, text as number_text};
pub(crate) use resolve::{Argument, compatible, qualified, resolve, signature};
pub(crate) use time::{civil, current_timestamp, time_uuid, uuid_ticks_of_micros};

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use crate::context::Context;
use crate::java::Budget;
use crate::schema::{Code, UserFunction};

/// What a function may know besides its arguments.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    /// The circumstances of the execution.
    pub(crate) context: &'a Context,
    /// What user functions may take.
    pub(crate) budget: Budget,
    calls: Cell<u32>,
}

impl<'a> Environment<'a> {
    /// For the values of one execution.
    pub(crate) fn new(context: &'a Context) -> Self {
        Self {
            context,
            budget: Budget::for_values(),
            calls: Cell::new(0),
        }
    }

    /// For one row of a `SELECT`.
    pub(crate) fn for_row(context: &'a Context) -> Self {
        Self {
            budget: Budget::for_row(),
            ..Self::new(context)
        }
    }

    /// Leaves that many call numbers out, which other rows have used.
    pub(crate) fn skip_calls(&self, calls: u32) {
        self.calls.set(self.calls.get().wrapping_add(calls));
    }

    /// A number that no earlier call of this execution got.
    fn next_call(&self) -> u32 {
        let call = self.calls.get();
        self.calls.set(call.wrapping_add(1));
        call
    }
}

type Run =
    fn(&Function, &[Option<Bytes>], &Environment<'_>) -> Result<Option<Bytes>, ErrorResponse>;

/// A function, its overload chosen.
#[derive(Debug, Clone)]
pub(crate) struct Function {
    /// The name with its keyspace, as messages and column names have it.
    pub(crate) name: Arc<str>,
    /// The arguments' types.
    pub(crate) arguments: Vec<CqlType>,
    /// The result's type.
    pub(crate) returns: CqlType,
    /// How rows are folded, for an aggregate.
    pub(crate) aggregate: Option<Aggregate>,
    body: Body,
}

/// How a function computes its value.
#[derive(Debug, Clone)]
enum Body {
    /// Null if an argument is.
    Strict(Run),
    /// Called with nulls too.
    Total(Run),
    User(Arc<UserFunction>),
}

impl Function {
    fn new(name: &str, arguments: Vec<CqlType>, returns: CqlType, run: Run) -> Self {
        Self {
            name: format!("system.{name}").into(),
            arguments,
            returns,
            aggregate: None,
            body: Body::Strict(run),
        }
    }

    /// The value for these arguments; null if one of them is, unless the function is called with nulls.
    pub(crate) fn call(
        &self,
        arguments: &[Option<Bytes>],
        environment: &Environment<'_>,
    ) -> Result<Option<Bytes>, ErrorResponse> {
        let has_null = || arguments.iter().any(Option::is_none);
        match &self.body {
            Body::Strict(_) if has_null() => Ok(None),
            Body::Strict(run) | Body::Total(run) => run(self, arguments, environment),
            Body::User(function) => user::call(function, arguments, environment),
        }
    }

    /// Whether ascending first arguments, the others being equal, have results that never descend.
    pub(crate) fn is_monotonic(&self) -> bool {
        const MONOTONIC: [&str; 7] = [
            "system.floor",
            "system.todate",
            "system.to_date",
            "system.totimestamp",
            "system.to_timestamp",
            "system.tounixtimestamp",
            "system.to_unix_timestamp",
        ];
        MONOTONIC.contains(&&*self.name)
    }

    /// The native function that it is. Those aren't [called](Self::call): an execution hands their calls out.
    pub(crate) fn native(&self) -> Option<&Arc<NativeFunction>> {
        match &self.body {
            Body::User(function) => match &function.code {
                Code::Native(native) => Some(native),
                Code::Java(_) => None,
            },
            _ => None,
        }
    }

    /// The keyspace that it is of.
    pub(crate) fn keyspace(&self) -> &str {
        self.name
            .split_once('.')
            .map_or("", |(keyspace, _)| keyspace)
    }

    /// The type of an argument.
    pub(crate) fn argument(&self, index: usize) -> CqlType {
        self.arguments.get(index).cloned().unwrap_or(CqlType::Blob)
    }
}

/// An argument that [`Function::call`] has found to be there.
fn given(arguments: &[Option<Bytes>], index: usize) -> &[u8] {
    arguments
        .get(index)
        .and_then(Option::as_deref)
        .unwrap_or_default()
}
