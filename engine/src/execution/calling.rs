//! Requests that begin later: what was bound waits until somebody has said that they may, and until the native functions
//! that their terms call have been called.

use std::cell::Cell;
use std::sync::Arc;

use helenus_core::ErrorResponse;
use helenus_core::message::{BatchType, QueryParams};

use super::Run;
use super::calls::Calls;
use super::start::{self, Beginning, Settings};
use crate::access::{Permission, Resource};
use crate::context::Context;
use crate::guardrails::Guard;
use crate::schema::{Schema, Table};
use crate::statement::{Plan, Statement};
use crate::term::{Binds, Bound, NativeCall, OwnedBinds};

/// Where the calls of other functions in the arguments are numbered from.
const ARGUMENT_CALLS: u32 = 1 << 25;

/// A request that waits for its permission, or for native functions.
#[derive(Debug)]
pub(super) struct Calling {
    /// What has yet to be allowed.
    asked: Vec<(Permission, Resource)>,
    /// The statements with their values, the results so far among them.
    statements: Vec<(Arc<Statement>, OwnedBinds)>,
    /// How many rounds of calls are over.
    round: usize,
    request: Request,
}

/// What a request says besides its values.
#[derive(Debug)]
pub(super) enum Request {
    /// Of one statement.
    Statement {
        /// Without values and paging state.
        params: QueryParams<'static>,
        paging_state: Option<Box<[u8]>>,
        result_metadata_id: Option<Box<[u8]>>,
    },
    /// Of a batch.
    Batch { kind: BatchType, settings: Settings },
}

impl Request {
    /// What a request of one statement says.
    pub(super) fn statement(params: &QueryParams<'_>, result_metadata_id: Option<&[u8]>) -> Self {
        Self::Statement {
            params: QueryParams {
                flags: params.flags,
                page_size: params.page_size,
                serial_consistency: params.serial_consistency,
                timestamp: params.timestamp,
                now_in_seconds: params.now_in_seconds,
                ..QueryParams::new(params.consistency)
            },
            paging_state: params.paging_state.map(Into::into),
            result_metadata_id: result_metadata_id.map(Into::into),
        }
    }
}

impl Calling {
    /// For statements with what was bound.
    pub(super) fn new(statements: Vec<(Arc<Statement>, OwnedBinds)>, request: Request) -> Self {
        Self {
            asked: Vec::new(),
            statements,
            round: 0,
            request,
        }
    }

    /// The same for statements that need these permissions first.
    pub(super) fn asking(mut self, asked: Vec<(Permission, Resource)>) -> Self {
        self.asked = asked;
        self
    }

    /// What has yet to be allowed, if anything has.
    pub(super) fn asked(&self) -> Option<Vec<(Permission, Resource)>> {
        (!self.asked.is_empty()).then(|| self.asked.clone())
    }

    /// Takes in that it was allowed.
    pub(super) fn authorized(&mut self) {
        self.asked.clear();
    }

    /// The tables that it is about to use.
    pub(super) fn tables(&self) -> Vec<&Table> {
        let plans = self
            .statements
            .iter()
            .map(|(statement, _)| statement.plan());
        let tables = plans.flat_map(|plan| match plan {
            Plan::Select(select) => vec![&*select.table],
            Plan::Modify(modify) => vec![&*modify.table],
            Plan::Batch(batch) => batch
                .statements
                .iter()
                .map(|modify| &*modify.table)
                .collect(),
            _ => Vec::new(),
        });
        tables.collect()
    }

    /// Whether it is about to read.
    pub(super) fn is_select(&self) -> bool {
        let is_select = |statement: &Statement| matches!(statement.plan(), Plan::Select(_));
        self.statements
            .iter()
            .any(|(statement, _)| is_select(statement))
    }

    /// The calls of this round, with the statement that each is of.
    fn due(&self) -> impl Iterator<Item = (usize, &NativeCall)> {
        let statements = self.statements.iter().enumerate();
        statements.flat_map(|(index, (statement, _))| {
            let natives = statement.natives().iter();
            let due = natives.filter(|call| call.round == self.round);
            due.map(move |call| (index, call))
        })
    }

    /// The calls to make next; none when all have been made.
    ///
    /// Fails where an argument has no value.
    pub(super) fn next_calls(&self, context: &Context) -> Result<Option<Calls>, ErrorResponse> {
        let list_elements = Cell::new(0);
        let mut calls = Calls::default();
        let mut bound: Option<(usize, Binds<'_>)> = None;
        for (index, call) in self.due() {
            let Some((_, owned)) = self.statements.get(index) else {
                continue;
            };
            if bound.as_ref().is_none_or(|(known, _)| *known != index) {
                let binds = Binds::again(owned, context, &list_elements);
                binds
                    .environment()
                    .skip_calls(first_call(index, self.round));
                bound = Some((index, binds));
            }
            let Some((_, binds)) = &bound else {
                continue;
            };
            let mut arguments = Vec::with_capacity(call.arguments.len());
            for argument in &call.arguments {
                match argument.bind(binds)? {
                    Bound::Unset => return Err(unset(call)),
                    value => arguments.push(value.into_bytes()),
                }
            }
            calls.push(&call.function, arguments);
        }
        Ok((!calls.is_empty()).then_some(calls))
    }

    /// Binds the results.
    pub(super) fn called(&mut self, calls: Calls) {
        let places: Vec<_> = self
            .due()
            .map(|(index, call)| (index, call.place))
            .collect();
        for ((index, place), returned) in places.into_iter().zip(calls.into_returned()) {
            if let Some((_, owned)) = self.statements.get_mut(index) {
                owned.set(place, returned.into_value());
            }
        }
        self.round += 1;
    }

    /// Begins, all calls having been made.
    pub(super) fn begin(
        &self,
        schema: &Schema,
        session_keyspace: Option<&Arc<str>>,
        context: Context,
        guard: &mut Guard<'_>,
    ) -> Result<Run, ErrorResponse> {
        let list_elements = Cell::new(0);
        match &self.request {
            Request::Statement {
                params,
                paging_state,
                result_metadata_id,
            } => {
                let Some((statement, owned)) = self.statements.first() else {
                    return Ok(Run::Done(helenus_core::Response::Void));
                };
                let params = QueryParams {
                    paging_state: paging_state.as_deref(),
                    ..*params
                };
                let beginning = Beginning {
                    schema,
                    params: &params,
                    result_metadata_id: result_metadata_id.as_deref(),
                    session_keyspace,
                    context,
                };
                let binds = Binds::again(owned, &context, &list_elements);
                start::bound_statement(statement.clone(), binds, &list_elements, beginning, guard)
            }
            Request::Batch { kind, settings } => {
                let statements = self.statements.iter();
                let bound = statements.map(|(statement, owned)| {
                    let binds = Binds::again(owned, &context, &list_elements);
                    (statement, binds)
                });
                let bound = bound.collect();
                start::bound_batch(schema, *kind, bound, settings, &list_elements, guard)
            }
        }
    }
}

/// Leaves each statement and round its own numbers for `uuid()` and the like.
fn first_call(statement: usize, round: usize) -> u32 {
    let block = statement.wrapping_mul(16).wrapping_add(round);
    ARGUMENT_CALLS.wrapping_add(u32::try_from(block).unwrap_or(u32::MAX).wrapping_mul(64))
}

fn unset(call: &NativeCall) -> ErrorResponse {
    let signature = call.function.signature();
    ErrorResponse::invalid(format!(
        "Invalid unset value for argument in call to function {}.{}",
        signature.keyspace, signature.name
    ))
}
