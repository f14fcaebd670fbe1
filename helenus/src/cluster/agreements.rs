//! What replicas have to agree on before it happens: conditional writes, reads that see them, and logged batches whose
//! coordinator is gone.

use std::sync::Arc;
use std::time::Instant;

use helenus_coordinator::{BatchReplay, Paxos, PaxosPlan, ReadOptions, Start, Token, WritePlan};
use helenus_core::Consistency;
use helenus_core::message::ErrorResponse;
use helenus_engine::readers::{PartitionRange, ReadCommand};
use helenus_engine::storage::Mutation;

use super::Member;
use super::coordination::{Course, Waiting};
use super::model::Partition;
use super::requests::{CONTENTION, READ, WRITE, conclude_read, conclude_write, refused, repair};
use crate::embedded::{Node, Task};

impl Node {
    /// Agrees with the replicas of a partition on a conditional write, which is committed at a level; without one, on a
    /// read that comes behind all conditional writes before it.
    pub(super) fn agree(
        self: &Arc<Self>,
        member: &Member,
        task: Task,
        command: ReadCommand,
        serial: Consistency,
        commit: Option<Consistency>,
    ) -> Option<Task> {
        let PartitionRange::Key(key) = &command.range else {
            let error = "A conditional write addresses one partition";
            return refused(task, ErrorResponse::server_error(error));
        };
        let partition = Partition {
            table: command.table.id,
            key: key.key.clone(),
        };
        let token = Token(key.token.0);
        let plan = self.placed(member, &command.table, |vantage, placement| {
            let speculation = member.speculations.of(&command.table, READ);
            PaxosPlan::new(vantage, placement, token, serial, commit, speculation)
        });
        let plan = match plan {
            Ok(plan) => plan,
            Err(error) => return refused(task, error),
        };
        let now = Instant::now();
        let options = ReadOptions {
            deadline: now + READ,
            repair: repair(&command.table),
            traced: false,
        };
        let start = Start {
            now,
            micros: task.errand.execution.context().timestamp,
            patience: now + CONTENTION,
            random: fastrand::u64(..),
        };
        let command = Arc::new(command);
        let asked = Arc::clone(&command);
        match commit {
            Some(_) => {
                let paxos = Paxos::write(plan, partition, asked, options, start);
                let course = Course::Conditional(Box::new(paxos), command);
                self.coordinate(member, course, task, conclude_write)
            }
            None => {
                let paxos = Paxos::read(plan, partition, asked, options, start);
                let course = Course::plain(paxos);
                self.coordinate(member, course, task, move |member, task, came| {
                    conclude_read(member, task, came, &command, None);
                })
            }
        }
    }

    /// Keeps a batch for its coordinator, and sees it through if that one doesn't in time.
    pub(super) fn keep_batch(
        self: &Arc<Self>,
        member: &Member,
        id: u128,
        mutations: Vec<Arc<Mutation>>,
    ) {
        let micros = self.clock.now_seconds().saturating_mul(1_000_000);
        member.acceptors.batches.lock().store(id, micros, mutations);
        Member::later(&self.delays, 2 * WRITE, Arc::downgrade(self), move |node| {
            if let Some(member) = &node.member {
                node.replay_batch(member, id);
            }
        });
    }

    /// Applies what is left of a batch. What can't be applied now is kept as hints.
    fn replay_batch(self: &Arc<Self>, member: &Member, id: u128) {
        let mutations = {
            let mut batches = member.acceptors.batches.lock();
            let kept = batches.iter().find(|(kept, ..)| *kept == id);
            let mutations = kept.map(|(.., mutations)| mutations.to_vec());
            batches.remove(id);
            mutations
        };
        let Some(mutations) = mutations else { return };
        let plan = |mutation: Arc<Mutation>| {
            let token = Token(mutation.key.token.0);
            let plan = self.placed(member, &mutation.table, |vantage, placement| {
                WritePlan::new(vantage, placement, token, Consistency::ANY)
            });
            // Of a keyspace that was dropped meanwhile nothing is left to do.
            Some((plan.ok()?, mutation))
        };
        let planned = mutations.into_iter().filter_map(plan).collect();
        let now = Instant::now();
        let machine = BatchReplay::new(planned, now, now + WRITE);
        // Nobody waits for it.
        let _ = self.embark(member, Course::plain(machine), Waiting::Nobody);
    }
}
