//! Updates of counters: each is led by one replica, which counts it once. Those of one request are one machine.

use std::sync::Arc;
use std::time::Instant;

use helenus_coordinator::{
    Action, CallId, Counter, CounterPlan, Failure, FailureReason, Machine, NodeId, Outcome, Reply,
    Token,
};
use helenus_core::Consistency;
use helenus_engine::storage::Mutation;

use super::Member;
use super::coordination::{Course, Waiting};
use super::model::EngineModel;
use super::replica::Said;
use super::requests::{WRITE, conclude_write, refused};
use crate::embedded::{Node, Task};

/// Where the calls of an update's number begin: its index, and then its own.
const CALLS: u32 = 32;

/// The updates of one request, each of another partition.
pub(super) struct Counters {
    updates: Vec<Counter<EngineModel>>,
    /// The one that asked last to be counted here.
    counting: usize,
    /// How many have yet to end.
    left: usize,
    told: bool,
}

impl Counters {
    fn new(updates: Vec<Counter<EngineModel>>) -> Self {
        Self {
            left: updates.len(),
            updates,
            counting: 0,
            told: false,
        }
    }

    /// What this node made of the update that it was to count.
    pub(super) fn counted(&mut self, now: Instant, mutation: Mutation) {
        if let Some(update) = self.updates.get_mut(self.counting) {
            update.applied(now, Ok(Arc::new(mutation)));
        }
    }

    fn of(&mut self, call: CallId) -> Option<(&mut Counter<EngineModel>, CallId)> {
        let index = usize::try_from(call.0 >> CALLS).ok()?;
        let own = CallId(call.0 & u64::from(u32::MAX));
        Some((self.updates.get_mut(index)?, own))
    }

    /// The end of one of them: the end of all, if it is the last or has failed.
    fn end(&mut self, ended: Result<Outcome<EngineModel>, Failure>) -> Option<Action<EngineModel>> {
        self.left -= 1;
        if self.told || ended.is_ok() && self.left > 0 {
            return None;
        }
        self.told = true;
        Some(Action::Done(ended))
    }
}

impl Machine<EngineModel> for Counters {
    fn poll_action(&mut self, now: Instant) -> Option<Action<EngineModel>> {
        let mut index = 0;
        while let Some(update) = self.updates.get_mut(index) {
            let shared = |call: CallId| CallId(((index as u64) << CALLS) | call.0);
            match update.poll_action(now) {
                None => index += 1,
                Some(Action::Send { to, call, request }) => {
                    let call = shared(call);
                    return Some(Action::Send { to, call, request });
                }
                Some(Action::Hint { to, call, mutation }) => {
                    let call = shared(call);
                    return Some(Action::Hint { to, call, mutation });
                }
                Some(Action::Done(ended)) => {
                    if let Some(end) = self.end(ended) {
                        return Some(end);
                    }
                }
                Some(action) => {
                    self.counting = index;
                    return Some(action);
                }
            }
        }
        None
    }

    fn handle_reply(
        &mut self,
        now: Instant,
        from: NodeId,
        call: CallId,
        reply: Reply<EngineModel>,
    ) {
        if let Some((update, call)) = self.of(call) {
            update.handle_reply(now, from, call, reply);
        }
    }

    fn handle_failure(&mut self, now: Instant, from: NodeId, call: CallId, reason: FailureReason) {
        if let Some((update, call)) = self.of(call) {
            update.handle_failure(now, from, call, reason);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        for update in &mut self.updates {
            update.handle_timeout(now);
        }
    }

    fn poll_timeout(&self) -> Option<Instant> {
        let timeouts = self.updates.iter().filter_map(Machine::poll_timeout);
        timeouts.min()
    }

    fn is_finished(&self) -> bool {
        self.told && self.updates.iter().all(Machine::is_finished)
    }
}

impl Node {
    /// Adds to counters.
    pub(super) fn count(
        self: &Arc<Self>,
        member: &Member,
        task: Task,
        mutations: Vec<Mutation>,
    ) -> Option<Task> {
        let level = task.errand.execution.consistency();
        let now = Instant::now();
        let update = |mutation: Mutation| {
            let plan = self.counter_plan(member, &mutation, level)?;
            Ok(Counter::new(plan, Arc::new(mutation), now, now + WRITE))
        };
        let updates: Result<Vec<_>, _> = mutations.into_iter().map(update).collect();
        match updates {
            Ok(updates) => {
                let course = Course::Counters(Box::new(Counters::new(updates)));
                self.coordinate(member, course, task, conclude_write)
            }
            Err(error) => refused(task, error),
        }
    }

    /// Leads an update that another node got, and says when it is where it has to be.
    pub(super) fn lead(
        self: &Arc<Self>,
        member: &Member,
        mutation: Arc<Mutation>,
        level: Consistency,
        deadline: Instant,
        say: impl FnOnce(&Arc<Self>, &Member, Said) + Send + 'static,
    ) {
        let Ok(plan) = self.counter_plan(member, &mutation, level) else {
            return say(self, member, Err(FailureReason::UNKNOWN));
        };
        let update = Counter::new(plan, mutation, Instant::now(), deadline);
        let course = Course::Counters(Box::new(Counters::new(vec![update])));
        let answer = move |node: &Arc<Self>, member: &Member, came| match came {
            Ok(_) => say(node, member, Ok(Reply::Done)),
            // Who asked has a deadline of its own.
            Err(Failure::WriteTimeout { .. }) => {}
            Err(_) => say(node, member, Err(FailureReason::UNKNOWN)),
        };
        let waiting = Waiting::Asker(Box::new(answer));
        // No task waits for it.
        let _ = self.embark(member, course, waiting);
    }

    /// Counts an update here, and gives what the other replicas are to have of it.
    pub(super) fn count_here(&self, member: &Member, mutation: &Mutation) -> Mutation {
        let identity = member.ring.node(member.id).map_or(0, |node| node.host_id);
        let (table, token) = (&mutation.table, mutation.key.token);
        let now_seconds = self.clock.now_seconds();
        self.shards.with_owner(table, token, |shard| {
            shard.apply_counter(mutation, identity, now_seconds)
        })
    }

    fn counter_plan(
        &self,
        member: &Member,
        mutation: &Mutation,
        level: Consistency,
    ) -> Result<CounterPlan, helenus_core::ErrorResponse> {
        let token = Token(mutation.key.token.0);
        self.placed(member, &mutation.table, |vantage, placement| {
            CounterPlan::new(vantage, placement, token, level, fastrand::u64(..))
        })
    }
}
