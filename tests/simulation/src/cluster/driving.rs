//! Driving machines: what they want done, and what they are told.

use std::time::Duration;

use helenus_coordinator::{Action, CallId, FailureReason, NodeId, Reply, Request};

use super::traffic::Message;
use super::{Cluster, Event};
use crate::bugs::{Falsifier, Told};
use crate::model::Mutation;
use crate::node::Node;
use crate::reconcile::Rows;
use crate::replica::Asked;
use crate::running::{Kind, Purpose, Running};

/// What a hint takes of a node's room.
pub(super) const HINT_SIZE: u32 = 100;
/// Longer than any run.
const GRACE_OF_TABLES: Duration = Duration::from_secs(3600);

impl Cluster {
    /// Begins with a machine.
    pub(super) fn run_machine(&mut self, node: usize, machine: Kind, purpose: Purpose) {
        let number = self.number();
        let has_client = matches!(purpose, Purpose::Client { .. });
        let running = Running {
            machine,
            purpose,
            armed: None,
            falsifier: (self.bug.is_some() && has_client).then(Falsifier::default),
        };
        self.nodes[node].running.insert(number, running);
        self.drive(node, number);
    }

    /// Has a machine do what it has to do, until it waits.
    pub(super) fn drive(&mut self, node: usize, number: u64) {
        let now = self.queue.now();
        loop {
            let instant = self.nodes[node].instant(now);
            let Some(running) = self.nodes[node].running.get_mut(&number) else {
                return;
            };
            let Some(action) = running.machine.as_machine().poll_action(instant) else {
                break;
            };
            self.act(node, number, action);
        }
        let at = &mut self.nodes[node];
        let Some(running) = at.running.get_mut(&number) else {
            return;
        };
        if running.machine.as_machine().is_finished() {
            at.running.remove(&number);
            return;
        }
        let wanted = running.machine.as_machine().poll_timeout();
        if let Some(wanted) = wanted
            && running.armed != Some(wanted)
        {
            running.armed = Some(wanted);
            let after = at.until(wanted, now);
            self.queue.push(after, Event::Wake(node, number));
        }
    }

    fn act(&mut self, node: usize, number: u64, action: Action<Rows>) {
        match action {
            Action::Send { to, call, request } => self.send(node, number, to, call, request),
            Action::Hint { to, call, mutation } => self.hint(node, number, to, call, mutation),
            Action::Decide { ballot, data } => self.decide(node, number, ballot, data),
            Action::ApplyCounter { mutation } => {
                if self.nodes[node].replica.count(number, mutation) {
                    self.sync_soon(node);
                }
            }
            Action::Trace(event) => {
                let line = format!("m{number} {}", event.display(&self.ring));
                self.note(format_args!("{line}"));
            }
            Action::Done(result) => {
                let Some(running) = self.nodes[node].running.get_mut(&number) else {
                    return;
                };
                let purpose = std::mem::replace(&mut running.purpose, Purpose::Nobody);
                if let (Kind::HintReplay(replay), Purpose::Hints(to)) = (&running.machine, &purpose)
                {
                    let (host, confirmed) = (Node::host(*to), replay.confirmed().to_vec());
                    self.nodes[node].hints.remove(host, &confirmed);
                }
                self.finish(node, purpose, result);
            }
            _ => self.violate("machines do what the driver knows", format!("{action:?}")),
        }
    }

    fn send(&mut self, node: usize, number: u64, to: NodeId, call: CallId, request: Request<Rows>) {
        if let Some(running) = self.nodes[node].running.get_mut(&number)
            && let Some(falsifier) = &mut running.falsifier
        {
            falsifier.asks(call, to, &request);
        }
        let message = Message::Ask(Asked {
            from: NodeId(node as u16),
            machine: number,
            call,
            request,
        });
        self.transmit(node, usize::from(to.0), message);
    }

    fn hint(&mut self, node: usize, number: u64, to: NodeId, call: CallId, mutation: Mutation) {
        let now = self.queue.now();
        let at = &mut self.nodes[node];
        let (host, micros) = (Node::host(to), at.micros(now));
        let kept = at
            .hints
            .push(host, micros, GRACE_OF_TABLES, HINT_SIZE, mutation.clone());
        let reply = match kept {
            Ok(_) => {
                self.note(format_args!(
                    "n{node} keeps a hint for n{}: {mutation:?}",
                    to.0
                ));
                self.kept_hints.push((to, mutation));
                Ok(Reply::Done)
            }
            Err(_) => {
                self.faults.refused_hints += 1;
                Err(FailureReason::UNKNOWN)
            }
        };
        self.tell_machine(node, number, to, call, reply);
    }

    /// An answer of a replica arrives at its coordinator.
    pub(super) fn answered(
        &mut self,
        node: usize,
        number: u64,
        from: NodeId,
        call: CallId,
        reply: Result<Reply<Rows>, FailureReason>,
    ) {
        let at = &mut self.nodes[node];
        let Some(running) = at.running.get_mut(&number) else {
            return;
        };
        let told: Vec<Told> = match (self.bug, &mut running.falsifier, reply) {
            (Some(bug), Some(falsifier), Ok(reply)) => falsifier.falsify(bug, (from, call, reply)),
            (_, _, Ok(reply)) => vec![(from, call, reply)],
            (_, _, Err(reason)) => {
                self.tell_machine(node, number, from, call, Err(reason));
                Vec::new()
            }
        };
        for (from, call, reply) in told {
            self.tell_machine(node, number, from, call, Ok(reply));
        }
        self.drive(node, number);
    }

    fn tell_machine(
        &mut self,
        node: usize,
        number: u64,
        from: NodeId,
        call: CallId,
        reply: Result<Reply<Rows>, FailureReason>,
    ) {
        let at = &mut self.nodes[node];
        let instant = at.instant(self.queue.now());
        let Some(running) = at.running.get_mut(&number) else {
            return;
        };
        let machine = running.machine.as_machine();
        match reply {
            Ok(reply) => machine.handle_reply(instant, from, call, reply),
            Err(reason) => machine.handle_failure(instant, from, call, reason),
        }
    }

    pub(super) fn wake(&mut self, node: usize, number: u64) {
        let at = &mut self.nodes[node];
        let instant = at.instant(self.queue.now());
        if let Some(running) = at.running.get_mut(&number) {
            running.armed = None;
            running.machine.as_machine().handle_timeout(instant);
            self.drive(node, number);
        }
    }
}
