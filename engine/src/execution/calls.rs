//! Calls of native functions on their way: handed out by an execution, made by its driver where nobody waits, and taken back.

use std::sync::Arc;

use bytes::Bytes;
use helenus_core::ErrorResponse;

use crate::functions::{NativeAggregate, NativeFold, NativeFunction, NativeSignature, NativeState};

/// Calls of native functions that an execution waits for, those of many rows together.
///
/// A call may block, never end, or panic, which is an error like others: make them where that holds nobody up.
///
/// ```
/// # use helenus_core::ErrorResponse;
/// # use helenus_engine::execution::{Calls, Outcome};
/// # fn make(mut calls: Calls) -> Outcome {
/// while let Some(function) = calls.peek() {
///     let _ = function; // … is it one that may be called? …
///     if let Err(error) = calls.make() {
///         return Outcome::Failed(error);
///     }
/// }
/// Outcome::Called(calls)
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Calls {
    calls: Vec<Call>,
    /// How many at the front have been made.
    made: usize,
}

/// One call, or all those that fold rows into a state.
#[derive(Debug)]
enum Call {
    Function(Arc<NativeFunction>, Vec<Option<Bytes>>),
    Fold {
        aggregate: Arc<NativeAggregate>,
        state: Option<NativeState>,
        rows: std::vec::IntoIter<Vec<Option<Bytes>>>,
        /// Whether these are the last rows.
        is_last: bool,
    },
    /// The result.
    Returned(Option<Bytes>),
    /// The state after some rows.
    Folded(Option<NativeState>),
}

/// What came of one call.
#[derive(Debug)]
pub(super) enum Returned {
    /// A result.
    Value(Option<Bytes>),
    /// The state of an aggregate that isn't at its end.
    State(Option<NativeState>),
}

impl Returned {
    /// The result; null of what has none yet.
    pub(super) fn into_value(self) -> Option<Bytes> {
        match self {
            Self::Value(value) => value,
            Self::State(_) => None,
        }
    }
}

impl Calls {
    /// Adds the call of a function, which isn't made if it gives null for nulls and is given one.
    pub(super) fn push(&mut self, function: &Arc<NativeFunction>, arguments: Vec<Option<Bytes>>) {
        let is_null = !function.signature().called_on_null && arguments.iter().any(Option::is_none);
        self.calls.push(match is_null {
            true => Call::Returned(None),
            false => Call::Function(Arc::clone(function), arguments),
        });
    }

    /// Adds what an aggregate has to take in, and the end of it after the last row.
    pub(super) fn push_fold(
        &mut self,
        aggregate: &Arc<NativeAggregate>,
        fold: &mut NativeFold,
        is_last: bool,
    ) {
        self.calls.push(Call::Fold {
            aggregate: Arc::clone(aggregate),
            state: fold.state.take(),
            rows: std::mem::take(&mut fold.rows).into_iter(),
            is_last,
        });
    }

    /// Whether there is nothing to be called.
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// What came of each, in the order they were added.
    pub(super) fn into_returned(self) -> impl Iterator<Item = Returned> {
        self.calls.into_iter().map(|call| match call {
            Call::Returned(value) => Returned::Value(value),
            Call::Folded(state) => Returned::State(state),
            // A driver that made no calls gave none a value.
            Call::Function(..) | Call::Fold { .. } => Returned::Value(None),
        })
    }

    /// The function that is called next; `None` when all calls have been made.
    pub fn peek(&mut self) -> Option<&Arc<NativeSignature>> {
        while let Some(Call::Returned(_) | Call::Folded(_)) = self.calls.get(self.made) {
            self.made += 1;
        }
        self.next()
    }

    /// The functions that are still to be called, once for each call.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<NativeSignature>> {
        self.calls.iter().filter_map(Call::signature)
    }

    fn next(&self) -> Option<&Arc<NativeSignature>> {
        self.calls.get(self.made)?.signature()
    }

    /// Calls the function that [`peek`](Self::peek) names, and takes as long as that does.
    ///
    /// # Errors
    /// `FUNCTION_FAILURE` with what the function says, if it fails, panics or gives no value of its type. The statement is
    /// over then: the error is its answer.
    pub fn make(&mut self) -> Result<(), ErrorResponse> {
        let Some(call) = self.calls.get_mut(self.made) else {
            return Ok(());
        };
        match call {
            Call::Function(function, arguments) => {
                *call = Call::Returned(function.call(arguments)?);
            }
            Call::Fold {
                aggregate,
                state,
                rows,
                is_last,
            } => match rows.next() {
                Some(row) => aggregate.step(state, &row)?,
                None if *is_last => *call = Call::Returned(aggregate.finish(state.take())?),
                None => *call = Call::Folded(state.take()),
            },
            Call::Returned(_) | Call::Folded(_) => self.made += 1,
        }
        Ok(())
    }
}

impl Call {
    fn signature(&self) -> Option<&Arc<NativeSignature>> {
        match self {
            Self::Function(function, _) => Some(function.signature()),
            Self::Fold { aggregate, .. } => Some(aggregate.signature()),
            Self::Returned(_) | Self::Folded(_) => None,
        }
    }
}
