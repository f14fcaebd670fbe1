//! A machine on the desk: what it wants is noted, what it is told is chosen.

use std::time::{Duration, Instant};

use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::node::NodeId;
use crate::testing::register::Register;

pub(crate) struct Desk<T> {
    pub(crate) machine: T,
    pub(crate) now: Instant,
    /// What it sent, in order.
    pub(crate) sent: Vec<(NodeId, CallId)>,
    /// Which hints it gave away, in order.
    pub(crate) hints: Vec<(NodeId, CallId)>,
    pub(crate) requests: Vec<Request<Register>>,
    /// What it came to, if it failed.
    pub(crate) failure: Option<Failure>,
}

impl<T: Machine<Register>> Desk<T> {
    pub(crate) fn new(now: Instant, machine: T) -> Desk<T> {
        Desk {
            machine,
            now,
            sent: Vec::new(),
            hints: Vec::new(),
            requests: Vec::new(),
            failure: None,
        }
    }

    /// All that it wants now, in short.
    pub(crate) fn poll(&mut self) -> String {
        let mut wants = Vec::new();
        while let Some(action) = self.machine.poll_action(self.now) {
            wants.push(match action {
                Action::Send { to, call, request } => {
                    let text = format!("{} {}", name_of(&request), to.0);
                    self.sent.push((to, call));
                    self.requests.push(request);
                    text
                }
                Action::Hint { to, call, .. } => {
                    self.hints.push((to, call));
                    format!("hint {}", to.0)
                }
                Action::Done(Ok(Outcome::Written)) => "written".to_owned(),
                Action::Done(Ok(Outcome::Truncated)) => "truncated".to_owned(),
                Action::Done(Err(failure)) => {
                    assert_eq!(self.failure, None, "it failed twice");
                    self.failure = Some(failure);
                    "failed".to_owned()
                }
                Action::ApplyCounter { mutation } => format!("apply {}", mutation.value),
                action => format!("{action:?}"),
            });
        }
        wants.join(", ")
    }

    /// The replica of this call answers that it has done what it was asked.
    pub(crate) fn confirm(&mut self, index: usize) {
        self.reply(index, Reply::Done);
    }

    pub(crate) fn reply(&mut self, index: usize, reply: Reply<Register>) {
        let (from, call) = self.sent[index];
        self.machine.handle_reply(self.now, from, call, reply);
    }

    pub(crate) fn fail(&mut self, index: usize, reason: FailureReason) {
        let (from, call) = self.sent[index];
        self.machine.handle_failure(self.now, from, call, reason);
    }

    pub(crate) fn keep_hint(&mut self, index: usize) {
        let (to, call) = self.hints[index];
        self.machine.handle_reply(self.now, to, call, Reply::Done);
    }

    pub(crate) fn refuse_hint(&mut self, index: usize) {
        let (to, call) = self.hints[index];
        let reason = FailureReason::UNKNOWN;
        self.machine.handle_failure(self.now, to, call, reason);
    }

    pub(crate) fn after(&mut self, time: Duration) {
        self.now += time;
        self.machine.handle_timeout(self.now);
    }
}

fn name_of(request: &Request<Register>) -> &'static str {
    match request {
        Request::Write { .. } => "write",
        Request::CounterWrite { .. } => "lead",
        Request::StoreBatch { .. } => "store",
        Request::RemoveBatch { .. } => "remove",
        Request::Truncate { .. } => "truncate",
        _ => "something else",
    }
}
