//! What every machine is: asked what to do next, told what came of it.

use std::time::Instant;

use crate::event::Event;
use crate::failure::{Failure, FailureReason};
use crate::message::{Ballot, Reply, Request};
use crate::model::Model;
use crate::node::NodeId;

/// One request to one replica; never given twice by one machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

impl CallId {
    /// The number of a machine that gives few; of any other call, one that it doesn't give.
    pub(crate) fn number(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

/// What is to be done.
#[derive(Debug)]
#[non_exhaustive]
pub enum Action<M: Model> {
    /// Send a request to a node, which may be this one. Its answer goes to [`Machine::handle_reply`]; that there will be
    /// none, to [`Machine::handle_failure`].
    Send {
        /// The node.
        to: NodeId,
        /// What the answer is told by.
        call: CallId,
        /// What it is asked.
        request: Request<M>,
    },
    /// Keep a mutation for a node until it is back. That it is kept is told by [`Machine::handle_reply`], as if the node
    /// had answered [`Reply::Done`]; that it isn't, by [`Machine::handle_failure`]: before the machine is polled again, if
    /// that can be.
    Hint {
        /// The node.
        to: NodeId,
        /// What it is told by.
        call: CallId,
        /// What it misses.
        mutation: M::Mutation,
    },
    /// Say what a conditional write does, given what was read; answered by [`Paxos::decided`](crate::Paxos::decided).
    Decide {
        /// The round: its time is the timestamp of what is written.
        ballot: Ballot,
        /// What was read.
        data: M::Data,
    },
    /// Apply an update of counters here, and say what is to be replicated; answered by
    /// [`Counter::applied`](crate::Counter::applied).
    ApplyCounter {
        /// The update.
        mutation: M::Mutation,
    },
    /// Note a step of the request, which is being traced.
    Trace(Event),
    /// Answer the client. Given once; there may be more to do after it.
    Done(Result<Outcome<M>, Failure>),
}

/// What came of a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome<M: Model> {
    /// What was read.
    Data(M::Data),
    /// It is written.
    Written,
    /// A condition wasn't met by this data.
    NotApplied(M::Data),
    /// The table is empty on every node.
    Truncated,
}

/// A request in the coordinator's hands.
///
/// Drive it: [`poll_action`](Machine::poll_action) until it gives nothing, after it was made and after each call of a
/// `handle_…`; wait for an answer, or until [`poll_timeout`](Machine::poll_timeout). It may be dropped when
/// [`is_finished`](Machine::is_finished).
///
/// Any order of calls is safe. Answers to calls that it doesn't know, from nodes that weren't asked or that come a
/// second time are ignored; time that goes back stands still. [`Action::Done`] comes exactly once, at the latest from
/// the [`handle_timeout`](Machine::handle_timeout) at the deadline.
pub trait Machine<M: Model> {
    /// What to do next, if anything.
    fn poll_action(&mut self, now: Instant) -> Option<Action<M>>;

    /// A node answered.
    fn handle_reply(&mut self, now: Instant, from: NodeId, call: CallId, reply: Reply<M>);

    /// A node refused, couldn't be reached or answered what can't be read.
    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason);

    /// Time has passed.
    fn handle_timeout(&mut self, now: Instant);

    /// When to call [`handle_timeout`](Machine::handle_timeout), at the latest.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Whether there is nothing left to do or to wait for. After [`Action::Done`] it may still wait, for answers that
    /// come late and show a replica to be behind.
    fn is_finished(&self) -> bool;
}
