//! Executing planned statements as a state machine that leaves all reading and writing to its driver.
//!
//! ```text
//! loop {
//!     match execution.poll_action() {
//!         Action::Read(command) => { let progress = read(command, &mut execution); execution.resume(Outcome::Read(progress)) }
//!         Action::Write(mutations) => { apply(mutations); execution.resume(Outcome::Written) }
//!         …
//!         Action::Done(completed) => break completed,
//!     }
//! }
//! ```

mod action;
mod attributes;
mod calling;
mod calls;
mod cas;
mod cells;
mod change;
mod expression;
mod lookup;
mod mutate;
mod page;
mod row;
mod select;
mod size;
mod start;
#[cfg(test)]
mod tests;
mod view;
mod work;
mod write;

pub use action::{Action, Completed, Outcome, not_logged_in};
pub use calls::Calls;
pub use lookup::{Lookup, LookupOutcome, LookupRow};
pub(crate) use row::{RowView, clustering_part, list_element};
pub(crate) use select::limit_value;
pub use start::plain_mutations;
pub use work::{Work, WorkKind};

use std::ops::ControlFlow;
use std::sync::Arc;

use helenus_core::message::{Batch, QueryParams, Values};
use helenus_core::{ErrorResponse, Response};

use crate::context::Context;
use crate::guardrails::{Guard, Guardrails, check_values};
use crate::readers::{Consumer, Fragment, ReadProgress};
use crate::schema::Schema;
use crate::statement::Statement;
use crate::storage::{DecoratedKey, Mutation};
use calling::Calling;
use cas::CasRun;
use select::SelectRun;
use view::{Progress, ViewRun};
use write::WriteRun;

/// A statement or batch under way.
///
/// It owns all it needs of its request. Ask it for an [`Action`], do that, and [`resume`](Self::resume) it with the
/// [`Outcome`], until it is [`Done`](Action::Done).
#[derive(Debug)]
pub struct Execution {
    run: Run,
    yielding: bool,
    /// Whether it has yet to be taken to where it may take long.
    deferring: bool,
    warnings: Vec<String>,
    schema: Arc<Schema>,
    session_keyspace: Option<Arc<str>>,
    context: Context,
    guardrails: Arc<Guardrails>,
    request: work::Request,
}

/// What an execution is about.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "one lives in each execution; a box would cost every read an allocation"
)]
enum Run {
    /// A request whose terms call native functions; it begins after them.
    Calling(Box<Calling>),
    /// A `SELECT`.
    Select(SelectRun),
    /// A `SELECT` on a view.
    View(Box<ViewRun>),
    /// Modifications that read before they write.
    Write(WriteRun),
    /// Conditional modifications.
    Cas(CasRun),
    /// One action, and the answer after it.
    Act {
        /// `None` once it was handed out.
        action: Option<Action>,
        /// The answer.
        response: Response,
    },
    /// Only the answer is left.
    Done(Response),
}

impl Execution {
    /// Binds a statement to its values and begins it.
    ///
    /// `result_metadata_id` is what the client of a prepared statement says it knows (v5). `guardrails` are those that
    /// count for the client's user.
    ///
    /// # Errors
    /// Invalid for values that don't fit, Unavailable for a consistency level that one replica can't meet,
    /// `PROTOCOL_ERROR` for a foreign paging state. An error that has warnings with it, as those of guardrails have, is
    /// the outcome of an execution that begins.
    pub fn new(
        schema: Arc<Schema>,
        statement: Arc<Statement>,
        params: &QueryParams<'_>,
        result_metadata_id: Option<&[u8]>,
        session_keyspace: Option<Arc<str>>,
        context: Context,
        guardrails: Arc<Guardrails>,
    ) -> Result<Self, ErrorResponse> {
        let deferring = statement.may_take_long();
        let request = work::Request::of_statement(&statement, params);
        let mut guard = Guard::new(&guardrails);
        let begun = start::statement(
            &schema,
            statement,
            params,
            result_metadata_id,
            session_keyspace.as_ref(),
            context,
            &mut guard,
        );
        let warnings = guard.into_warnings();
        Ok(Self {
            run: match begun {
                Ok(run) => run,
                Err(error) => refused(error, &warnings)?,
            },
            yielding: false,
            deferring,
            warnings,
            schema,
            session_keyspace,
            context,
            guardrails,
            request,
        })
    }

    /// As [`new`](Self::new), but asks first whether it may: its first action is [`Authorize`](Action::Authorize) with
    /// what the statement needs, and nothing is computed before that is answered.
    ///
    /// # Errors
    /// Invalid for values that don't fit. What else is wrong is its outcome.
    pub fn asking(
        schema: Arc<Schema>,
        statement: Arc<Statement>,
        params: &QueryParams<'_>,
        result_metadata_id: Option<&[u8]>,
        session_keyspace: Option<Arc<str>>,
        context: Context,
        guardrails: Arc<Guardrails>,
    ) -> Result<Self, ErrorResponse> {
        let asked = statement.permissions(&schema, session_keyspace.as_deref());
        let calling = start::later(&statement, params, result_metadata_id, &context)?;
        Ok(Self {
            run: Run::Calling(Box::new(calling.asking(asked))),
            yielding: false,
            deferring: statement.may_take_long(),
            warnings: Vec::new(),
            request: work::Request::of_statement(&statement, params),
            schema,
            session_keyspace,
            context,
            guardrails,
        })
    }

    /// As [`batch`](Self::batch), but asks first whether it may, as [`asking`](Self::asking) does.
    ///
    /// # Errors
    /// Invalid for values that don't fit, and for statements that may not stand together in such a batch.
    pub fn asking_batch(
        schema: Arc<Schema>,
        statements: Vec<(Arc<Statement>, Values<'_>)>,
        batch: &Batch<'_>,
        session_keyspace: Option<Arc<str>>,
        context: Context,
        guardrails: Arc<Guardrails>,
    ) -> Result<Self, ErrorResponse> {
        let mut asked = Vec::new();
        for (statement, _) in &statements {
            for permission in statement.permissions(&schema, session_keyspace.as_deref()) {
                if !asked.contains(&permission) {
                    asked.push(permission);
                }
            }
        }
        let calling = start::later_batch(&statements, batch, context)?;
        let long = |(statement, _): &(Arc<Statement>, Values<'_>)| statement.may_take_long();
        Ok(Self {
            run: Run::Calling(Box::new(calling.asking(asked))),
            yielding: false,
            deferring: statements.iter().any(long),
            warnings: Vec::new(),
            request: work::Request::of_batch(batch),
            schema,
            session_keyspace,
            context,
            guardrails,
        })
    }

    /// Binds the statements of a batch to their values and begins it.
    ///
    /// # Errors
    /// As [`new`](Self::new), and Invalid for statements that may not stand together in such a batch.
    pub fn batch(
        schema: Arc<Schema>,
        statements: Vec<(Arc<Statement>, Values<'_>)>,
        batch: &Batch<'_>,
        session_keyspace: Option<Arc<str>>,
        context: Context,
        guardrails: Arc<Guardrails>,
    ) -> Result<Self, ErrorResponse> {
        let mut guard = Guard::new(&guardrails);
        let begun = start::batch(&schema, &statements, batch, context, &mut guard);
        let warnings = guard.into_warnings();
        let long = |(statement, _): &(Arc<Statement>, Values<'_>)| statement.may_take_long();
        Ok(Self {
            run: match begun {
                Ok(run) => run,
                Err(error) => refused(error, &warnings)?,
            },
            yielding: false,
            deferring: statements.iter().any(long),
            warnings,
            schema,
            session_keyspace,
            context,
            guardrails,
            request: work::Request::of_batch(batch),
        })
    }

    /// The circumstances it was given.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether its next action hashes a password, which is long work of its own kind.
    pub fn hashes_password(&self) -> bool {
        matches!(&self.run, Run::Act { action: Some(Action::Access { statement, .. }), .. }
            if statement.password().is_some())
    }

    /// The session's keyspace when it began.
    pub fn session_keyspace(&self) -> Option<&str> {
        self.session_keyspace.as_deref()
    }

    /// What to do next. After [`Action::Done`] the execution is over and says so again with an empty result.
    pub fn poll_action(&mut self) -> Action {
        if self.deferring {
            return Action::Defer;
        }
        if self.yielding {
            return Action::Yield;
        }
        match &mut self.run {
            Run::Calling(calling) => {
                if let Some(asked) = calling.asked() {
                    return Action::Authorize(asked);
                }
                match calling.next_calls(&self.context) {
                    Ok(Some(calls)) => return Action::Call(calls),
                    Ok(None) => return self.begin(),
                    Err(error) => self.run = Run::Done(Response::Error(error)),
                }
            }
            Run::Select(select) => {
                match select.next_calls() {
                    Ok(Some(calls)) => return Action::Call(calls),
                    Ok(None) => {}
                    Err(error) => return self.fail(error),
                }
                if let Some(command) = select.next_read() {
                    return Action::Read(command);
                }
            }
            Run::View(view) => {
                if let Some(command) = view.next_read() {
                    return Action::Read(command);
                }
                match view.select() {
                    Ok(Progress::Finished) => {}
                    Ok(Progress::Calling(calls)) => return Action::Call(calls),
                    Ok(Progress::Yielded) => {
                        self.yielding = true;
                        return Action::Yield;
                    }
                    Err(error) => self.run = Run::Done(Response::Error(error)),
                }
            }
            Run::Write(write) => {
                if let Some(command) = write.next_read() {
                    return Action::Read(command);
                }
            }
            Run::Cas(cas) => return Action::Cas(cas.command()),
            Run::Act { action, .. } => match action.take() {
                Some(Action::Write(mutations)) if mutations.is_empty() => {}
                Some(action) => return action,
                None => {}
            },
            Run::Done(_) => {}
        }
        self.finish()
    }

    /// Begins what has waited for native functions.
    fn begin(&mut self) -> Action {
        let Run::Calling(calling) = &self.run else {
            return self.finish();
        };
        let mut guard = Guard::new(&self.guardrails);
        let keyspace = self.session_keyspace.as_ref();
        let begun = calling.begin(&self.schema, keyspace, self.context, &mut guard);
        self.warnings.extend(guard.into_warnings());
        self.run = begun.unwrap_or_else(|error| Run::Done(Response::Error(error)));
        self.poll_action()
    }

    fn fail(&mut self, error: ErrorResponse) -> Action {
        self.run = Run::Done(Response::Void);
        self.done(Response::Error(error))
    }

    fn finish(&mut self) -> Action {
        let selected = match &mut self.run {
            Run::Select(select) => Some(select.finish()),
            Run::View(view) => Some(view.finish()),
            _ => None,
        };
        if let Some(selected) = selected {
            let selected = selected.and_then(|(response, warning)| {
                self.warnings.extend(warning);
                self.check_selected(&response)?;
                Ok(response)
            });
            self.run = Run::Done(Response::Void);
            return self.done(selected.unwrap_or_else(Response::Error));
        }
        let result = match std::mem::replace(&mut self.run, Run::Done(Response::Void)) {
            Run::Select(_) | Run::View(_) => Ok(Response::Void),
            Run::Write(write) => match write.finish().and_then(|found| self.checked(found)) {
                Ok(mutations) => {
                    self.run = Run::Act {
                        action: None,
                        response: Response::Void,
                    };
                    return Action::Write(write::merge(mutations));
                }
                Err(error) => Err(error),
            },
            Run::Cas(cas) => cas.finish(),
            Run::Act { response, .. } | Run::Done(response) => Ok(response),
            Run::Calling(_) => Ok(Response::Void),
        };
        self.done(result.unwrap_or_else(Response::Error))
    }

    /// Adds what the reads of a `SELECT` give reason to warn of, and holds its result against the limits.
    fn check_selected(&mut self, response: &Response) -> Result<(), ErrorResponse> {
        let select = match &mut self.run {
            Run::Select(select) => select,
            Run::View(view) => view.select_mut(),
            _ => return Ok(()),
        };
        self.warnings.extend(select.take_warnings());
        if !self.guardrails.read_thresholds_enabled {
            return Ok(());
        }
        let mut guard = Guard::new(&self.guardrails);
        let measured = select.measure(response, self.schema.node.address, &mut guard);
        self.warnings.extend(guard.into_warnings());
        measured
    }

    /// Holds what is to be written against the limits of values.
    fn checked(&mut self, mutations: Vec<Mutation>) -> Result<Vec<Mutation>, ErrorResponse> {
        let mut guard = Guard::new(&self.guardrails);
        let checked = check_values(&mutations, &mut guard);
        self.warnings.extend(guard.into_warnings());
        checked.map(|()| mutations)
    }

    fn done(&mut self, response: Response) -> Action {
        Action::Done(Box::new(Completed {
            response,
            warnings: std::mem::take(&mut self.warnings),
        }))
    }

    /// Goes on with what came of the last action.
    pub fn resume(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Failed(error) => {
                self.yielding = false;
                self.deferring = false;
                self.run = Run::Done(Response::Error(error));
            }
            Outcome::Read(progress) => {
                self.yielding = matches!(progress, ReadProgress::Yielded(_));
                let read = match &mut self.run {
                    Run::Select(select) => select.read(progress),
                    Run::View(view) => {
                        view.read(progress);
                        Ok(())
                    }
                    Run::Write(write) => {
                        write.read(progress);
                        Ok(())
                    }
                    _ => Ok(()),
                };
                if let Err(error) = read {
                    if let Run::Select(select) = &mut self.run {
                        self.warnings.extend(select.take_warnings());
                    }
                    self.run = Run::Done(Response::Error(error));
                }
            }
            Outcome::Written => {
                if let Run::Cas(_) = &self.run
                    && let Run::Cas(cas) =
                        std::mem::replace(&mut self.run, Run::Done(Response::Void))
                {
                    self.run = Run::Done(cas.finish().unwrap_or_else(Response::Error));
                }
            }
            Outcome::Altered { change, warnings } => {
                self.warnings.extend(warnings);
                self.run = Run::Done(change.map_or(Response::Void, Response::SchemaChange));
            }
            Outcome::Answered(completed) => {
                self.warnings.extend(completed.warnings);
                self.run = Run::Done(completed.response);
            }
            Outcome::Truncated => {}
            Outcome::Authorized => {
                if let Run::Calling(calling) = &mut self.run {
                    calling.authorized();
                }
            }
            Outcome::Called(calls) => {
                let called = match &mut self.run {
                    Run::Calling(calling) => {
                        calling.called(calls);
                        Ok(())
                    }
                    Run::Select(select) => select.called(calls),
                    Run::View(view) => view.select_mut().called(calls),
                    _ => Ok(()),
                };
                if let Err(error) = called {
                    self.run = Run::Done(Response::Error(error));
                }
            }
            Outcome::Resumed => {
                self.yielding = false;
                self.deferring = false;
            }
        }
    }

    /// Has a conditional write forget what it read and decided: another one came first, and it reads anew.
    pub fn reconsider(&mut self) {
        if let Run::Cas(cas) = &mut self.run {
            cas.reconsider();
        }
    }

    /// What a conditional write writes, from what was read under the lock that is still held: nothing if its conditions
    /// don't hold. Only after [`Action::Cas`]; otherwise nothing.
    pub fn decide(&mut self) -> Vec<Mutation> {
        let mutations = match &mut self.run {
            Run::Cas(cas) => cas.decide(),
            _ => return Vec::new(),
        };
        self.checked(mutations).unwrap_or_else(|error| {
            self.run = Run::Done(Response::Error(error));
            Vec::new()
        })
    }
}

/// What begins instead of an error that has warnings with it: its answer, so that these aren't lost.
#[cold]
fn refused(error: ErrorResponse, warnings: &[String]) -> Result<Run, ErrorResponse> {
    match warnings.is_empty() {
        true => Err(error),
        false => Ok(Run::Done(Response::Error(error))),
    }
}

impl Consumer for Execution {
    fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        match &mut self.run {
            Run::Select(select) => select.consume(fragment),
            Run::View(view) => view.consume(fragment),
            Run::Write(write) => write.consume(fragment),
            Run::Cas(cas) => cas.consume(fragment),
            Run::Calling(_) | Run::Act { .. } | Run::Done(_) => ControlFlow::Break(()),
        }
    }

    fn pass_tombstones(&mut self, key: &DecoratedKey, count: usize) -> ControlFlow<()> {
        match &mut self.run {
            Run::Select(select) => {
                let node = self.schema.node.address;
                select.pass_tombstones(key, count, self.guardrails.tombstones, node)
            }
            _ => ControlFlow::Continue(()),
        }
    }
}
