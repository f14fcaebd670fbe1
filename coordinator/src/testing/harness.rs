//! A machine with replicas around it that answer when a test says so.

use std::time::{Duration, Instant};

use helenus_core::Consistency;

use super::kv::{Kv, Scan, Store};
use crate::event::Event;
use crate::failure::{Failure, FailureReason};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Reply, Request};
use crate::model::Model;
use crate::node::NodeId;
use crate::options::{ReadOptions, ReadRepair};
use crate::plan::ReadPlan;
use crate::ring::{Token, TokenRange};
use crate::speculation::Speculation;

/// How long a request has.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);
/// When another replica is asked, where the plan says so.
pub(crate) const WAIT: Duration = Duration::from_millis(50);
pub(crate) const WAITS: Speculation = Speculation::After(WAIT);

/// A request on its way.
pub(crate) type Sent = (NodeId, CallId, Request<Kv>);

pub(crate) struct Harness<T> {
    pub(crate) machine: T,
    pub(crate) now: Instant,
    /// Replicas by their ids.
    pub(crate) stores: Vec<Store>,
    /// Requests that wait for their answers.
    pub(crate) sent: Vec<Sent>,
    pub(crate) events: Vec<Event>,
    pub(crate) outcomes: Vec<Result<Outcome<Kv>, Failure>>,
}

impl<T: Machine<Kv>> Harness<T> {
    pub(crate) fn new(now: Instant, machine: T, stores: Vec<Store>) -> Harness<T> {
        let mut harness = Harness {
            machine,
            now,
            stores,
            sent: Vec::new(),
            events: Vec::new(),
            outcomes: Vec::new(),
        };
        harness.poll();
        harness
    }

    /// Takes all that there is to do.
    pub(crate) fn poll(&mut self) {
        while let Some(action) = self.machine.poll_action(self.now) {
            match action {
                Action::Send { to, call, request } => self.sent.push((to, call, request)),
                Action::Trace(event) => self.events.push(event),
                Action::Done(outcome) => self.outcomes.push(outcome),
                other => panic!("a read doesn't {other:?}"),
            }
        }
    }

    /// Who was asked what and hasn't answered.
    pub(crate) fn asked(&self) -> Vec<(u16, &'static str)> {
        let shown = self.sent.iter().map(|(node, _, request)| {
            let what = match request {
                Request::Read { digest: true, .. } => "digest",
                Request::Read { command, .. } if command.after.is_some() => "further",
                Request::Read { .. } => "data",
                Request::Repair { .. } => "repair",
                _ => "something else",
            };
            (node.0, what)
        });
        shown.collect()
    }

    /// Takes the first request to this node off the network.
    pub(crate) fn take(&mut self, node: u16) -> Sent {
        let index = self.sent.iter().position(|(to, ..)| to.0 == node);
        self.sent.remove(index.expect("a request to the node"))
    }

    /// What the node's replica says to a request, which it carries out.
    pub(crate) fn carry_out(&mut self, node: NodeId, request: Request<Kv>) -> Reply<Kv> {
        let store = &mut self.stores[usize::from(node.0)];
        match request {
            Request::Read { command, digest } => {
                let found = store.read(&command);
                if digest {
                    Reply::Digest(Kv::digest(&found))
                } else {
                    Reply::Data(found)
                }
            }
            Request::Repair { mutation } => {
                mutation
                    .iter()
                    .for_each(|(place, cell)| store.write(*place, *cell));
                Reply::Done
            }
            other => panic!("a read doesn't ask {other:?}"),
        }
    }

    pub(crate) fn reply(&mut self, from: u16, call: CallId, reply: Reply<Kv>) {
        self.machine
            .handle_reply(self.now, NodeId(from), call, reply);
        self.poll();
    }

    /// The node answers the first request that it was sent.
    pub(crate) fn answer(&mut self, node: u16) {
        let (to, call, request) = self.take(node);
        let reply = self.carry_out(to, request);
        self.reply(node, call, reply);
    }

    /// Everybody answers everything, in the order in which it was sent.
    pub(crate) fn answer_all(&mut self) {
        while let Some((node, ..)) = self.sent.first() {
            self.answer(node.0);
        }
    }

    /// The node refuses the first request that it was sent.
    pub(crate) fn refuse(&mut self, node: u16, reason: FailureReason) {
        let (to, call, _) = self.take(node);
        self.machine.handle_failure(self.now, to, call, reason);
        self.poll();
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now += time;
        self.machine.handle_timeout(self.now);
        self.poll();
    }

    /// The values of the only outcome.
    pub(crate) fn values(&self) -> Vec<u32> {
        match self.outcomes.as_slice() {
            [Ok(Outcome::Data(found))] => found
                .rows
                .iter()
                .filter_map(|(_, (_, value))| *value)
                .collect(),
            other => panic!("not one outcome with data: {other:?}"),
        }
    }

    /// The only outcome's failure.
    pub(crate) fn failure(&self) -> &Failure {
        match self.outcomes.as_slice() {
            [Err(failure)] => failure,
            other => panic!("not one failure: {other:?}"),
        }
    }
}

/// Replicas that hold one row each, written at this time.
pub(crate) fn stores_of(times: &[i64]) -> Vec<Store> {
    let stores = times.iter().map(|time| {
        let mut store = Store::default();
        store.write((0, 0), (*time, Some(*time as u32)));
        store
    });
    stores.collect()
}

/// A read of the partition with the token 0.
pub(crate) fn scan(rows: u32) -> Scan {
    Scan {
        range: TokenRange {
            first: Token(0),
            last: Token(0),
        },
        after: None,
        rows,
    }
}

/// The first three nodes in order, of which `required` must answer.
pub(crate) fn plan(level: Consistency, required: u16, speculation: Speculation) -> ReadPlan {
    ReadPlan {
        level,
        candidates: (0..3).map(NodeId).collect(),
        contacts: required + u16::from(speculation == Speculation::Always),
        required,
        speculation,
    }
}

pub(crate) fn options(now: Instant) -> ReadOptions {
    ReadOptions {
        deadline: now + TIMEOUT,
        repair: ReadRepair::Blocking,
        traced: true,
    }
}
