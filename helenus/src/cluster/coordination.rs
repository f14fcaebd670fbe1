//! Requests that a node coordinates: each a machine that says what to ask of whom, and the client's request that waits
//! for what comes of it.
//!
//! Whoever brings an answer goes on with its coordination, on the thread that it came by; if another thread is at it,
//! the answer is left for that one. So no lock is held while anything is sent, and none is waited for.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use bytes::Bytes;
use helenus_coordinator::{
    Action, Ballot, CallId, Decision, Failure, FailureReason, Machine, NodeId, Outcome, Paxos,
    Reply, Request,
};
use helenus_engine::readers::ReadCommand;
use helenus_engine::replica::ReadData;
use parking_lot::Mutex;

use super::Member;
use super::counters::Counters;
use super::message::{self, Call};
use super::model::EngineModel;
use crate::embedded::{Node, Task};

/// What came of a request, for the client's request that waits for it.
pub(super) type Came = Result<Outcome<EngineModel>, Failure>;

/// What takes in what came of a request.
pub(super) type Conclusion = Box<dyn FnOnce(&Member, &mut Task, Came) + Send>;

/// What tells another node what came of a request of its.
pub(super) type Answer = Box<dyn FnOnce(&Arc<Node>, &Member, Came) + Send>;

/// A machine, and what it takes to decide for it, if it is a conditional write.
pub(super) enum Course {
    Plain(Box<dyn Machine<EngineModel> + Send>),
    /// Updates of counters.
    Counters(Box<Counters>),
    /// With the read that its condition is about.
    Conditional(Box<Paxos<EngineModel>>, Arc<ReadCommand>),
}

impl Course {
    pub(super) fn plain(machine: impl Machine<EngineModel> + Send + 'static) -> Self {
        Self::Plain(Box::new(machine))
    }

    fn machine(&mut self) -> &mut dyn Machine<EngineModel> {
        match self {
            Self::Plain(machine) => &mut **machine,
            Self::Counters(machine) => &mut **machine,
            Self::Conditional(machine, _) => &mut **machine,
        }
    }
}

/// All that a node has in its hands.
#[derive(Debug, Default)]
pub(crate) struct Coordinations {
    last: AtomicU64,
    known: Mutex<HashMap<u64, Arc<Coordination>>>,
}

#[derive(Debug)]
struct Coordination {
    id: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// What nobody has told the machine yet.
    news: VecDeque<News>,
    /// The work, unless somebody is at it, or it is over.
    work: Option<Box<Work>>,
}

/// Who waits for the outcome of a coordination; nobody once it is there.
#[expect(clippy::large_enum_variant, reason = "lives in work, which is boxed")]
pub(super) enum Waiting {
    Nobody,
    Task(Task, Conclusion),
    /// A node that has this one lead.
    Asker(Answer),
}

struct Work {
    course: Course,
    /// What other nodes were asked to read, which it takes to understand what they answer.
    asked: Vec<(CallId, Arc<ReadCommand>)>,
    waiting: Waiting,
    /// When somebody comes to say that time has passed.
    alarm: Option<Instant>,
}

/// What a machine is to be told.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "handed over once; a box would cost every local read an allocation"
)]
pub(super) enum News {
    Answer(NodeId, CallId, Reply<EngineModel>),
    /// Data as bytes.
    Data(NodeId, CallId, Bytes),
    Failed(NodeId, CallId, FailureReason),
    Time,
}

impl Coordinations {
    /// Gives all of them up: their node has ended, and so have its clients.
    pub(super) fn clear(&self) {
        let known = std::mem::take(&mut *self.known.lock());
        drop(known);
    }
}

impl Node {
    /// Begins to coordinate a request for a task. The task comes back if what it waits for is there at once; otherwise
    /// it goes on by itself.
    pub(super) fn coordinate(
        self: &Arc<Self>,
        member: &Member,
        course: Course,
        task: Task,
        conclusion: impl FnOnce(&Member, &mut Task, Came) + Send + 'static,
    ) -> Option<Task> {
        self.embark(member, course, Waiting::Task(task, Box::new(conclusion)))
    }

    /// The same for what nobody waits for.
    pub(super) fn embark(
        self: &Arc<Self>,
        member: &Member,
        course: Course,
        waiting: Waiting,
    ) -> Option<Task> {
        let coordinations = &member.coordinations;
        let coordination = Arc::new(Coordination {
            id: coordinations.last.fetch_add(1, Ordering::Relaxed) + 1,
            state: Mutex::new(State {
                news: VecDeque::new(),
                work: None,
            }),
        });
        let known = Arc::clone(&coordination);
        coordinations.known.lock().insert(coordination.id, known);
        let work = Box::new(Work {
            course,
            asked: Vec::new(),
            waiting,
            alarm: None,
        });
        self.work_on(member, &coordination, work)
    }

    /// Tells a coordination what has happened, if it isn't over.
    pub(super) fn tell(self: &Arc<Self>, member: &Member, id: u64, news: News) {
        let known = member.coordinations.known.lock().get(&id).cloned();
        let Some(coordination) = known else { return };
        let work = {
            let mut state = coordination.state.lock();
            state.news.push_back(news);
            state.work.take()
        };
        let task = work.and_then(|work| self.work_on(member, &coordination, work));
        if let Some(task) = task {
            task.proceed();
        }
    }

    /// Does what the machine says and tells it what has happened until it waits; returns the task whose outcome came.
    fn work_on(
        self: &Arc<Self>,
        member: &Member,
        coordination: &Arc<Coordination>,
        mut work: Box<Work>,
    ) -> Option<Task> {
        let mut concluded = None;
        loop {
            while let Some(action) = work.course.machine().poll_action(Instant::now()) {
                concluded = self
                    .act(member, coordination.id, &mut work, action)
                    .or(concluded);
            }
            let mut state = coordination.state.lock();
            if let Some(news) = state.news.pop_front() {
                drop(state);
                work.hear(news);
                continue;
            }
            if work.course.machine().is_finished() {
                drop(state);
                member.coordinations.known.lock().remove(&coordination.id);
                return concluded;
            }
            if let Some(due) = work.alarm_due() {
                let id = coordination.id;
                let delay = due.saturating_duration_since(Instant::now());
                Member::later(&self.delays, delay, Arc::downgrade(self), move |node| {
                    if let Some(member) = &node.member {
                        node.tell(member, id, News::Time);
                    }
                });
            }
            state.work = Some(work);
            return concluded;
        }
    }

    /// Does what a machine says; returns its task if that is the outcome.
    fn act(
        self: &Arc<Self>,
        member: &Member,
        id: u64,
        work: &mut Work,
        action: Action<EngineModel>,
    ) -> Option<Task> {
        match action {
            Action::Send { to, call, request } if to == member.id => {
                self.serve(member, request, move |node, member, reply| {
                    node.tell(member, id, News::of(to, call, reply));
                });
            }
            Action::Send { to, call, request } => {
                let asked = Call {
                    coordination: id,
                    call,
                };
                if let Request::Read {
                    command,
                    digest: false,
                } = &request
                {
                    work.asked.push((call, Arc::clone(command)));
                }
                match message::ask(asked, &request) {
                    Some(bytes) => member.send(to, bytes),
                    None => work.hear(News::Failed(to, call, FailureReason::UNKNOWN)),
                }
            }
            Action::Hint { to, call, mutation } => {
                member.hints.keep(to, message::mutation(&mutation));
                work.hear(News::Answer(to, call, Reply::Done));
            }
            Action::Decide { ballot, data } => work.decide(ballot, data),
            Action::Done(came) => match std::mem::replace(&mut work.waiting, Waiting::Nobody) {
                Waiting::Nobody => {}
                Waiting::Task(mut task, conclusion) => {
                    conclusion(member, &mut task, came);
                    return Some(task);
                }
                Waiting::Asker(answer) => answer(self, member, came),
            },
            Action::ApplyCounter { mutation } => {
                let counted = self.count_here(member, &mutation);
                if let Course::Counters(counters) = &mut work.course {
                    counters.counted(Instant::now(), counted);
                }
            }
            _ => {}
        }
        None
    }
}

impl News {
    pub(super) fn of(
        from: NodeId,
        call: CallId,
        reply: Result<Reply<EngineModel>, FailureReason>,
    ) -> Self {
        match reply {
            Ok(reply) => Self::Answer(from, call, reply),
            Err(reason) => Self::Failed(from, call, reason),
        }
    }
}

impl Work {
    /// Says what a conditional write does.
    fn decide(&mut self, ballot: Ballot, data: ReadData) {
        let Course::Conditional(paxos, command) = &mut self.course else {
            return;
        };
        let Waiting::Task(task, _) = &mut self.waiting else {
            return;
        };
        let execution = &mut task.errand.execution;
        execution.reconsider();
        data.consume(command, usize::MAX, execution);
        // All that it writes is in one partition of one table.
        let decision = match execution.decide().pop() {
            Some(mut mutation) => {
                mutation.postpone(ballot.micros.saturating_sub(execution.context().timestamp));
                Decision::Apply(Arc::new(mutation))
            }
            None => Decision::Reject(data),
        };
        paxos.decided(Instant::now(), decision);
    }

    fn hear(&mut self, news: News) {
        let now = Instant::now();
        match news {
            News::Answer(from, call, reply) => {
                self.course.machine().handle_reply(now, from, call, reply)
            }
            News::Data(from, call, bytes) => {
                let asked = self.asked.iter().find(|(asked, _)| *asked == call);
                let Some((_, command)) = asked else { return };
                match ReadData::decode(command, &bytes) {
                    Ok(data) => {
                        let reply = Reply::Data(data);
                        self.course.machine().handle_reply(now, from, call, reply);
                    }
                    Err(_) => {
                        let reason = FailureReason::UNKNOWN;
                        self.course
                            .machine()
                            .handle_failure(now, from, call, reason);
                    }
                }
            }
            News::Failed(from, call, reason) => {
                self.course
                    .machine()
                    .handle_failure(now, from, call, reason);
            }
            News::Time => {
                self.alarm = None;
                self.course.machine().handle_timeout(now);
            }
        }
    }

    /// When somebody has to come, if nobody comes early enough.
    fn alarm_due(&mut self) -> Option<Instant> {
        let due = self.course.machine().poll_timeout()?;
        if self.alarm.is_some_and(|alarm| alarm <= due) {
            return None;
        }
        self.alarm = Some(due);
        Some(due)
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Work").finish_non_exhaustive()
    }
}
