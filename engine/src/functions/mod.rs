//! Functions of CQL: what they are called, what they take and give, and their evaluation on serialized values.
//! Answers to Cassandra's `cql3.functions`.

mod aggregate;
mod arithmetic;
mod blob;
mod cast;
mod collection;
mod math;
mod number;
mod resolve;
mod time;
mod vector;

pub(crate) use aggregate::{Accumulator, Aggregate};
pub(crate) use arithmetic::{arithmetic, negation};
pub(crate) use cast::cast;
pub(crate) use resolve::{Argument, compatible, qualified, resolve, signature};
pub(crate) use time::{current_timestamp, time_uuid, uuid_ticks_of_micros};

use std::cell::Cell;
use std::sync::Arc;

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use crate::context::Context;

/// What a function may know besides its arguments.
#[derive(Debug)]
pub(crate) struct Environment<'a> {
    /// The circumstances of the execution.
    pub(crate) context: &'a Context,
    calls: Cell<u32>,
}

impl<'a> Environment<'a> {
    /// For one execution.
    pub(crate) fn new(context: &'a Context) -> Self {
        Self {
            context,
            calls: Cell::new(0),
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
    run: Run,
}

impl Function {
    fn new(name: &str, arguments: Vec<CqlType>, returns: CqlType, run: Run) -> Self {
        Self {
            name: format!("system.{name}").into(),
            arguments,
            returns,
            aggregate: None,
            run,
        }
    }

    /// The value for these arguments; null if one of them is.
    pub(crate) fn call(
        &self,
        arguments: &[Option<Bytes>],
        environment: &Environment<'_>,
    ) -> Result<Option<Bytes>, ErrorResponse> {
        if arguments.iter().any(Option::is_none) {
            return Ok(None);
        }
        (self.run)(self, arguments, environment)
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
