//! Which machine does what.

use std::time::Duration;

use helenus_coordinator::{
    Ballot, Batch, BatchKind, Counter, CounterPlan, Decision, Failure, FullRead, Paxos, PaxosPlan,
    Placement, RangeOptions, RangePlan, RangeRead, Read, ReadOptions, ReadPlan, ReadRepair,
    Request, Speculation, Start, Token, TokenRange, Vantage, Write, WritePlan, batch_log_nodes,
};
use helenus_core::Consistency;
use helenus_core::message::WriteType;

use super::Cluster;
use super::requests::TIMEOUT;
use crate::history::{Operation, value_of};
use crate::model::{Cell, Change, Command, Content, Data, Key, Mutation, Row};
use crate::replica::Asked;
use crate::running::{Kind, Purpose, Running};

/// From when on a request begins no other round.
const PATIENCE: Duration = Duration::from_millis(200);

impl Cluster {
    /// The machine for a request; the reason if its level can't be met.
    pub(super) fn machine(&mut self, node: usize, operation: Operation) -> Result<Kind, Failure> {
        let now = self.nodes[node].instant(self.queue.now());
        let options = ReadOptions {
            deadline: now + timeout_of(&operation),
            repair: ReadRepair::Blocking,
            traced: true,
        };
        match operation {
            Operation::Read(command, level) => {
                let plan = self.read_plan(node, command.to.token(), level)?;
                Ok(if self.random.chance(8_000) {
                    Kind::Read(Read::new(now, command, plan, options))
                } else {
                    Kind::FullRead(FullRead::new(now, command, plan, options))
                })
            }
            Operation::Write(mutation, level) => {
                let plan = self.write_plan(node, mutation.key.token(), level)?;
                let write = Write::new(&plan, mutation, WriteType::SIMPLE, now, options.deadline);
                Ok(Kind::Write(write))
            }
            Operation::Batch(mutations, level) => {
                let random = self.random.next();
                let (vantage, _) = self.vantage(node);
                let log = batch_log_nodes(&vantage, level, random)?;
                let parts = self.parts(node, mutations, level)?;
                let id = u128::from(self.number());
                let kind = BatchKind::Logged { id, log };
                Ok(Kind::Batch(Batch::new(kind, parts, now, options.deadline)))
            }
            Operation::Add(mutation, level) => {
                let random = self.random.next();
                let (vantage, placement) = self.vantage(node);
                let token = mutation.key.token();
                let plan = CounterPlan::new(&vantage, placement, token, level, random)?;
                Ok(Kind::Counter(Counter::new(
                    plan,
                    mutation,
                    now,
                    options.deadline,
                )))
            }
            Operation::Compare { key, .. } => {
                let plan = self.paxos_plan(node, key, Some(self.commit_level))?;
                let (command, start) = (row_of(key), self.start(node));
                let paxos = Paxos::write(plan, key, command, options, start);
                Ok(Kind::Paxos(Box::new(paxos)))
            }
            Operation::SerialRead(key) => {
                let plan = self.paxos_plan(node, key, None)?;
                let (command, start) = (row_of(key), self.start(node));
                let paxos = Paxos::read(plan, key, command, options, start);
                Ok(Kind::Paxos(Box::new(paxos)))
            }
            Operation::Scan(command, level) => {
                let range = TokenRange {
                    first: command.from.0.token(),
                    last: command.to.token(),
                };
                let ranges = RangeOptions {
                    rows: command.limit,
                    concurrency: self.random.between(1, 4) as u32,
                    max_concurrency: 8,
                };
                let (vantage, placement) = self.vantage(node);
                let plan = RangePlan::new(&vantage, placement, range, level);
                let read = RangeRead::new(now, command, plan, options, ranges);
                Ok(Kind::Range(Box::new(read)))
            }
        }
    }

    /// A node is to lead an update of counters; a request that comes twice is obeyed once.
    pub(super) fn lead(&mut self, node: usize, asked: Asked) {
        let Request::CounterWrite {
            mutation,
            consistency,
            timeout,
        } = asked.request.clone()
        else {
            return;
        };
        if !self.nodes[node].led.insert((asked.machine, asked.call)) {
            return;
        }
        let now = self.nodes[node].instant(self.queue.now());
        let (vantage, placement) = self.vantage(node);
        let token = mutation.key.token();
        match CounterPlan::new(&vantage, placement, token, consistency, 0) {
            Ok(plan) => {
                let counter = Counter::new(plan, mutation, now, now + timeout);
                self.run_machine(node, Kind::Counter(counter), Purpose::Leading(asked));
            }
            Err(failure) => self.finish(node, Purpose::Leading(asked), Err(failure)),
        }
    }

    /// The condition of a conditional write is judged.
    pub(super) fn decide(&mut self, node: usize, number: u64, ballot: Ballot, data: Data) {
        let now = self.nodes[node].instant(self.queue.now());
        let Some(Running {
            machine: Kind::Paxos(paxos),
            purpose: Purpose::Client { record, .. },
            ..
        }) = self.nodes[node].running.get_mut(&number)
        else {
            return;
        };
        let decision = match self.history[*record].operation {
            Operation::Compare {
                key,
                expected,
                value,
            } if value_of(&data) == expected => {
                let cell = Cell {
                    at: ballot.micros,
                    content: Content::Value(value),
                };
                let changes = vec![(0, Change::Merge(Row::Cell(cell)))];
                Decision::Apply(Mutation { key, changes })
            }
            _ => Decision::Reject(data),
        };
        paxos.decided(now, decision);
    }

    /// The leader's own share of an update is synced.
    pub(super) fn counted(&mut self, node: usize, number: u64, mutation: Mutation) {
        let now = self.nodes[node].instant(self.queue.now());
        if let Some(Running {
            machine: Kind::Counter(counter),
            ..
        }) = self.nodes[node].running.get_mut(&number)
        {
            counter.applied(now, Ok(mutation));
            self.drive(node, number);
        }
    }

    /// Each mutation with its plan.
    pub(super) fn parts(
        &self,
        node: usize,
        mutations: Vec<Mutation>,
        level: Consistency,
    ) -> Result<Vec<(WritePlan, Mutation)>, Failure> {
        let plans = mutations.into_iter().map(|mutation| {
            let plan = self.write_plan(node, mutation.key.token(), level)?;
            Ok((plan, mutation))
        });
        plans.collect()
    }

    fn vantage(&self, node: usize) -> (Vantage<'_>, &Placement) {
        let at = &self.nodes[node];
        let vantage = Vantage {
            ring: &self.ring,
            local: at.id,
            alive: &at.believes,
        };
        (vantage, &self.placement)
    }

    fn read_plan(
        &mut self,
        node: usize,
        token: Token,
        level: Consistency,
    ) -> Result<ReadPlan, Failure> {
        let speculation = self.speculation();
        let (vantage, placement) = self.vantage(node);
        ReadPlan::new(&vantage, placement, token, level, speculation)
    }

    fn write_plan(
        &self,
        node: usize,
        token: Token,
        level: Consistency,
    ) -> Result<WritePlan, Failure> {
        let (vantage, placement) = self.vantage(node);
        WritePlan::new(&vantage, placement, token, level)
    }

    fn paxos_plan(
        &mut self,
        node: usize,
        key: Key,
        commit: Option<Consistency>,
    ) -> Result<PaxosPlan, Failure> {
        let speculation = self.speculation();
        let (vantage, placement) = self.vantage(node);
        let level = Consistency::SERIAL;
        PaxosPlan::new(&vantage, placement, key.token(), level, commit, speculation)
    }

    fn start(&mut self, node: usize) -> Start {
        let now = self.nodes[node].instant(self.queue.now());
        Start {
            now,
            micros: self.nodes[node].micros(self.queue.now()),
            patience: now + PATIENCE,
            random: self.random.next(),
        }
    }

    fn speculation(&mut self) -> Speculation {
        match self.random.below(4) {
            0 => Speculation::Never,
            1 => Speculation::Always,
            _ => Speculation::After(Duration::from_millis(self.random.between(1, 20))),
        }
    }
}

/// How long a request may take. Rounds of Paxos wait for each other.
pub(super) fn timeout_of(operation: &Operation) -> Duration {
    match operation {
        Operation::Compare { .. } | Operation::SerialRead(_) => 4 * TIMEOUT,
        _ => TIMEOUT,
    }
}

/// The one row of a conditional partition.
fn row_of(key: Key) -> Command {
    Command {
        from: (key, 0),
        to: key,
        limit: 1,
    }
}
