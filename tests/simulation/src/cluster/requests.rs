//! Clients: what they ask of whom, and what they are answered.

use std::time::Duration;

use helenus_coordinator::{Failure, FailureReason, Outcome, Reply};

use super::machines::timeout_of;
use super::{Cluster, Event, Phase};
use crate::history::{Answer, Operation, Record, value_of};
use crate::reconcile::Rows;
use crate::running::Purpose;

/// How long a request may take.
pub(super) const TIMEOUT: Duration = Duration::from_millis(60);
/// How much later than that its answer may come: clocks jump, and machines are woken late.
const GRACE: Duration = Duration::from_millis(20);

impl Cluster {
    /// A client asks for something, unless it has nothing left to ask.
    pub(super) fn ask(&mut self, client: usize) {
        if self.clients[client].left == 0 {
            if self
                .clients
                .iter()
                .all(|client| client.left == 0 && !client.waits)
                && self.phase == Phase::Storm
            {
                self.calm();
                self.queue.push(super::ending::REST, Event::Ending);
            }
            return;
        }
        let node = self.random.below(self.nodes.len() as u64) as usize;
        let still = self.nodes[node]
            .paused_until
            .saturating_sub(self.queue.now());
        if still > Duration::ZERO {
            self.queue.push(still, Event::Ask(client));
            return;
        }
        self.clients[client].left -= 1;
        let operation = self.workload.draw();
        self.request(client, node, operation);
    }

    pub(super) fn request(&mut self, client: usize, node: usize, mut operation: Operation) {
        let now = self.queue.now();
        let record = self.history.len();
        operation.stamp(self.nodes[node].micros(now));
        self.note(format_args!("c{client} → n{node} r{record} {operation:?}"));
        self.history.push(Record {
            operation: operation.clone(),
            coordinator: node,
            centre: self.nodes[node].centre,
            asked: now,
            answered: None,
        });
        if let Some(client) = self.clients.get_mut(client) {
            client.waits = true;
        }
        if !self.nodes[node].alive {
            self.answer(record, client, Answer::Refused);
            return;
        }
        self.queue
            .push(timeout_of(&operation) + GRACE, Event::Deadline(record));
        match self.machine(node, operation) {
            Ok(machine) => {
                let purpose = Purpose::Client { record, client };
                self.run_machine(node, machine, purpose);
            }
            Err(failure) => self.finish(node, Purpose::Client { record, client }, Err(failure)),
        }
    }

    /// A machine has an answer for whoever waits for it.
    pub(super) fn finish(
        &mut self,
        node: usize,
        purpose: Purpose,
        result: Result<Outcome<Rows>, Failure>,
    ) {
        match purpose {
            Purpose::Client { record, client } => {
                let answer = match result {
                    Ok(Outcome::Written) if self.is_conditional(record) => Answer::Compared(Ok(())),
                    Ok(outcome) => answer_of(outcome, &self.history[record].operation),
                    Err(failure) => refusal(&failure),
                };
                self.answer(record, client, answer);
            }
            Purpose::Leading(asked) => {
                let reply = match result {
                    Ok(_) => Ok(Reply::Done),
                    // Who asked has the same deadline.
                    Err(Failure::WriteTimeout { .. }) => return,
                    Err(_) => Err(FailureReason::UNKNOWN),
                };
                self.reply(node, asked.from, asked.machine, asked.call, reply);
            }
            Purpose::Hints(_) => {}
            Purpose::Batch(id) => {
                if result.is_ok() {
                    self.nodes[node].replica.forget_batch(id);
                }
            }
            Purpose::Nobody => {
                self.violate("a request is answered once", format!("n{node}: {result:?}"));
            }
        }
    }

    fn is_conditional(&self, record: usize) -> bool {
        matches!(self.history[record].operation, Operation::Compare { .. })
    }

    /// A client has its answer, and goes on.
    pub(super) fn answer(&mut self, record: usize, client: usize, answer: Answer) {
        let now = self.queue.now();
        self.note(format_args!("r{record} is answered {answer:?}"));
        if let Operation::SerialRead(key) | Operation::Compare { key, .. } =
            self.history[record].operation
        {
            match (&answer, &self.history[record].operation) {
                (Answer::Data(data), _) => self.workload.saw(key, value_of(data)),
                (Answer::Compared(Err(value)), _) => self.workload.saw(key, *value),
                (Answer::Compared(Ok(())), Operation::Compare { value, .. }) => {
                    self.workload.saw(key, Some(*value));
                }
                _ => {}
            }
        }
        self.history[record].answered = Some((now, answer));
        match self.clients.get_mut(client) {
            Some(state) => {
                state.waits = false;
                let after = self.think();
                self.queue.push(after, Event::Ask(client));
            }
            None => self.queue.push(Duration::from_micros(1), Event::Ending),
        }
    }

    /// By now there has to be an answer, if the coordinator didn't stand still.
    pub(super) fn deadline(&mut self, record: usize) {
        let Record {
            coordinator,
            answered,
            ..
        } = &self.history[record];
        if answered.is_some() {
            return;
        }
        let due = self.nodes[*coordinator].paused_until + GRACE;
        if due > self.queue.now() {
            self.queue
                .push(due - self.queue.now(), Event::Deadline(record));
            return;
        }
        self.violate(
            "every request is answered by its deadline",
            format!("r{record}"),
        );
    }
}

fn answer_of(outcome: Outcome<Rows>, operation: &Operation) -> Answer {
    match outcome {
        Outcome::Data(mut data) => {
            // Stretches of a range that were read at once give more rows together than were asked for.
            if let Operation::Read(command, _) | Operation::Scan(command, _) = operation {
                data.cut(command.limit);
            }
            Answer::Data(data)
        }
        Outcome::NotApplied(data) => Answer::Compared(Err(value_of(&data))),
        _ => Answer::Written,
    }
}

/// Only where nothing was sent is it sure that nothing happened.
fn refusal(failure: &Failure) -> Answer {
    match failure {
        Failure::Unavailable { .. } => Answer::Refused,
        Failure::ReadTimeout { .. } => Answer::Unknown("read timeout"),
        Failure::ReadFailure { .. } => Answer::Unknown("read failure"),
        Failure::WriteTimeout { .. } => Answer::Unknown("write timeout"),
        Failure::WriteFailure { .. } => Answer::Unknown("write failure"),
        Failure::CasWriteUnknown { .. } => Answer::Unknown("cas write unknown"),
        _ => Answer::Unknown("another failure"),
    }
}
