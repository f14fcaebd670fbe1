//! What is answered later: an execution on its way between the pools, none of whose steps holds an event loop up.

use std::fmt;
use std::sync::Arc;

use helenus_core::message::ErrorResponse;
use helenus_core::{Reply, Response};
use helenus_engine::access::{Permission, Resource};
use helenus_engine::execution::{Action, Calls, Completed, Execution, Outcome};

use super::Node;
use super::quarantine::Caller;
use super::run::{INLINE, Run};
use super::tracing::Trace;

/// An execution whose answer is sent later.
pub(crate) struct Errand {
    pub(super) node: Arc<Node>,
    pub(crate) execution: Execution,
    /// Who sent the request.
    pub(crate) user: Option<Arc<str>>,
    pub(super) trace: Option<Trace>,
    /// What it is answered in place of what comes of it.
    pub(super) error: Option<ErrorResponse>,
}

impl Errand {
    /// Goes on from where a run ended, and has `reply` answered in the end.
    pub(super) fn follow(self, run: Run, reply: Reply) {
        match run {
            Run::Completed(completed) => self.answer(*completed, reply),
            Run::Yielded => self.put_off(reply),
            Run::Calling(calls) => self.call(calls, reply),
            Run::Asking(asked) => self.ask(asked, reply),
            Run::Shared(action) => Task {
                errand: self,
                reply,
            }
            .share(action),
        }
    }

    /// Goes on by as much as may be done anywhere.
    fn step(&mut self) -> Run {
        self.node
            .run(&mut self.execution, INLINE, self.user.as_ref())
    }

    fn answer(self, completed: Completed, reply: Reply) {
        let extras = self.node.extras(completed.warnings, self.trace);
        let response = self.error.map_or(completed.response, Response::Error);
        reply.send_with(response, extras);
    }

    /// Goes on in the pool for long work.
    pub(super) fn put_off(mut self, reply: Reply) {
        let Some(server) = self.node.server() else {
            return reply.error(not_started());
        };
        let pool = match self.execution.hashes_password() {
            true => server.logins(),
            false => server.offload(),
        };
        let pool = pool.clone();
        pool.submit_then(reply, move || {
            let run = self.node.run_out(&mut self.execution, self.user.as_ref());
            move |reply| self.follow(run, reply)
        });
    }

    /// Makes calls in the pool for functions. One that takes too long fails the request, and its function from then on.
    fn call(mut self, mut calls: Calls, reply: Reply) {
        let Some(server) = self.node.server() else {
            return reply.error(not_started());
        };
        let pool = server.hooks().clone();
        let caller = Arc::new(Caller::default());
        let (timeout, node) = (server.options().hooks.timeout, Arc::clone(&self.node));
        let called = Arc::clone(&caller);
        pool.submit_leased(
            reply,
            move |lease| {
                let failed = self.node.quarantine.make(&mut calls, &caller, lease);
                self.execution
                    .resume(failed.map_or(Outcome::Called(calls), Outcome::Failed));
                move |reply| {
                    // A little of what follows is done here; others wait for this thread.
                    let run = self.step();
                    self.follow(run, reply);
                }
            },
            move || node.quarantine.timed_out(&called, timeout),
        );
    }

    /// Asks, in the pool for the program's own code, whether the request may go on.
    fn ask(mut self, asked: Vec<(Permission, Resource)>, reply: Reply) {
        let Some(server) = self.node.server() else {
            return reply.error(not_started());
        };
        let pool = server.hooks().clone();
        let timeout = server.options().hooks.timeout;
        pool.submit_leased(
            reply,
            move |lease| {
                let refusal = match &self.node.authorization {
                    Some(authorization) => authorization.ask(self.user.as_ref(), asked, lease),
                    None => None,
                };
                self.execution
                    .resume(refusal.map_or(Outcome::Authorized, Outcome::Failed));
                move |reply| {
                    let run = self.step();
                    self.follow(run, reply);
                }
            },
            move || {
                ErrorResponse::server_error(format!(
                    "The authorizer did not decide within {timeout:?}"
                ))
            },
        );
    }
}

/// An errand with the reply that it is to have answered: what waits for other nodes.
pub(crate) struct Task {
    pub(crate) errand: Errand,
    reply: Reply,
}

impl Task {
    /// Goes on here, if what is left is short, until it is answered or waits for something.
    pub(crate) fn proceed(mut self) {
        match self.errand.step() {
            Run::Shared(action) => self.share(action),
            run => self.errand.follow(run, self.reply),
        }
    }

    /// Ends with an error.
    pub(crate) fn fail(mut self, error: ErrorResponse) {
        self.errand.execution.resume(Outcome::Failed(error));
        self.proceed();
    }

    /// Goes on with what other nodes have a part in.
    fn share(self, action: Action) {
        let node = Arc::clone(&self.errand.node);
        let mut begun = node.concert(self, action);
        while let Some(mut task) = begun {
            match task.errand.step() {
                Run::Shared(action) => begun = node.concert(task, action),
                run => return task.errand.follow(run, task.reply),
            }
        }
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

/// What requests are answered before their server has started.
fn not_started() -> ErrorResponse {
    ErrorResponse::server_error("The service was not started")
}
