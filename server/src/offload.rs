//! One bounded pool of ordinary threads for work that may block: password hashing, authorisation,
//! user functions. The same on every runtime; no event loop ever runs such work.

mod queue;

use crate::sync::{contain, lock};
use helenus_core::message::Extras;
use helenus_core::{ErrorCode, ErrorResponse, Reply, Response};
use queue::Queue;
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

pub(crate) use queue::Origin;

/// The bounds of an [`Offload`] pool.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OffloadOptions {
    /// Threads that work at the same time; started when first needed. At least one.
    pub threads: usize,
    /// Jobs that may wait for a thread; one more is answered OVERLOADED. Of logins, the last of the address that has most of
    /// them waiting is, and addresses take turns.
    pub queue: usize,
    /// How long a job may run before its request is answered for it and its thread given up.
    pub timeout: Duration,
    /// How many given-up threads may be replaced while they are still stuck.
    pub replacements: usize,
    /// How long a job may wait for a thread; one that waited longer is answered OVERLOADED: its client
    /// has given up by then, and the others' work is worth more. `None`: as long as it takes.
    pub wait: Option<Duration>,
}

/// How long jobs wait by default: what drivers wait for an answer.
const WAIT: Duration = Duration::from_secs(10);

/// What a call of a function may take: what Cassandra gives user functions before it fails them
/// (`user_defined_functions_fail_timeout`).
const CALL: Duration = Duration::from_millis(1500);

impl OffloadOptions {
    /// Four threads, 1,024 waiting jobs, for 10 seconds at most, 1.5 seconds a call, 16 replacements.
    pub(crate) fn for_hooks() -> Self {
        OffloadOptions {
            timeout: CALL,
            ..Self::default()
        }
    }

    /// One thread, 64 waiting logins, 30 seconds a login, one replacement: with bcrypt of cost 10 some
    /// twenty logins a second, however many are tried.
    pub(crate) fn for_logins() -> Self {
        OffloadOptions {
            threads: 1,
            queue: 64,
            timeout: Duration::from_secs(30),
            replacements: 1,
            wait: Some(WAIT),
        }
    }
}

impl Default for OffloadOptions {
    /// Four threads, 1,024 waiting jobs, for 10 seconds at most, 30 seconds a job, 16 replacements.
    fn default() -> Self {
        OffloadOptions {
            threads: 4,
            queue: 1024,
            timeout: Duration::from_secs(30),
            replacements: 16,
            wait: Some(WAIT),
        }
    }
}

/// What an [`Offload`] pool is doing, and has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OffloadLoad {
    /// Jobs that wait for a thread.
    pub queued: usize,
    /// Jobs that are being worked on.
    pub running: usize,
    /// Threads, without the given-up ones.
    pub threads: usize,
    /// Given-up threads that are still stuck in their job.
    pub stuck: usize,
    /// Jobs that were begun.
    pub jobs: u64,
    /// Jobs that found the queue full.
    pub refused: u64,
    /// Jobs that were given up for taking too long.
    pub timed_out: u64,
    /// Jobs that weren't begun, for they had waited too long.
    pub expired: u64,
}

/// A handle on the pool; its threads end once the last handle is gone and the queue is empty.
#[derive(Debug, Clone)]
pub struct Offload {
    owner: Arc<Owner>,
}

impl Offload {
    /// A pool with these bounds. Starts no thread yet.
    pub fn new(options: OffloadOptions) -> Self {
        Self::named("helenus-offload", options)
    }

    /// The same with threads of this name.
    pub(crate) fn named(name: &'static str, options: OffloadOptions) -> Self {
        let pool = Arc::new(Pool {
            name,
            state: Mutex::new(State::new(options)),
            work: Condvar::new(),
            watch: Condvar::new(),
        });
        Offload {
            owner: Arc::new(Owner { pool }),
        }
    }

    /// Has other bounds from now on. Threads beyond a smaller number end when their job does.
    pub fn reconfigure(&self, options: OffloadOptions) {
        let pool = &self.owner.pool;
        let mut state = lock(&pool.state);
        state.options = options;
        for _ in 0..state.queue.len() {
            if state.live >= state.options.threads.max(1) {
                break;
            }
            pool.start_worker(&mut state);
        }
        drop(state);
        pool.work.notify_all();
        pool.watch.notify_all();
    }

    /// What the pool has to do now, and has had.
    pub fn load(&self) -> OffloadLoad {
        let state = lock(&self.owner.pool.state);
        OffloadLoad {
            queued: state.queue.len(),
            running: state.running.len(),
            threads: state.live,
            stuck: state.stuck,
            jobs: state.next_job,
            refused: state.refused,
            timed_out: state.timed_out,
            expired: state.expired,
        }
    }

    /// Answers `reply` with what `job` returns, computed on a thread of the pool.
    ///
    /// A full queue answers OVERLOADED at once, and a job that waited in it for longer than
    /// [`OffloadOptions::wait`] is answered so without being begun. A job that panics answers SERVER_ERROR; so does one
    /// that outlives [`OffloadOptions::timeout`], whose late result is dropped.
    pub fn submit(&self, reply: Reply, job: impl FnOnce() -> Response + Send + 'static) {
        self.submit_with(reply, move || (job(), Extras::default()));
    }

    /// The same for a job that also has warnings, a tracing id or a payload to return.
    pub fn submit_with(
        &self,
        reply: Reply,
        job: impl FnOnce() -> (Response, Extras) + Send + 'static,
    ) {
        self.submit_answer(Origin::Common, reply, move || {
            let (response, extras) = job();
            move |reply: Reply| reply.send_with(response, extras)
        });
    }

    /// The same for a job that answers in its own way, with what it returns: which isn't called if
    /// the request was answered in the job's place.
    pub fn submit_then<A: FnOnce(Reply)>(
        &self,
        reply: Reply,
        job: impl FnOnce() -> A + Send + 'static,
    ) {
        self.submit_answer(Origin::Common, reply, job);
    }

    /// The same for a job of several pieces, each of which may take [`OffloadOptions::timeout`]: it
    /// [renews](JobLease::renew) its lease before each. `timed_out` says what the request is answered if
    /// one takes longer.
    pub fn submit_leased<A: FnOnce(Reply)>(
        &self,
        reply: Reply,
        job: impl FnOnce(&JobLease) -> A + Send + 'static,
        timed_out: impl FnOnce() -> ErrorResponse + Send + 'static,
    ) {
        self.take_in(Origin::Common, reply, job, timed_out);
    }

    /// The same as [`submit_then`](Self::submit_then) for a job of some origin: those of different ones take turns. False if
    /// the queue was full: then a job was refused, this one or the last of an origin of which more wait.
    pub(crate) fn submit_answer<A: FnOnce(Reply)>(
        &self,
        origin: Origin,
        reply: Reply,
        job: impl FnOnce() -> A + Send + 'static,
    ) -> bool {
        let timed_out = || ErrorResponse::server_error("The request's work did not end");
        self.take_in(origin, reply, |_| job(), timed_out)
    }

    fn take_in<A: FnOnce(Reply)>(
        &self,
        origin: Origin,
        reply: Reply,
        job: impl FnOnce(&JobLease) -> A + Send + 'static,
        timed_out: impl FnOnce() -> ErrorResponse + Send + 'static,
    ) -> bool {
        let slot = Arc::new(Mutex::new(Some(reply)));
        let abandoned = Arc::clone(&slot);
        let task = Task {
            run: Box::new(move |lease| {
                let answer = job(lease);
                if let Some(reply) = take(&slot) {
                    answer(reply);
                }
            }),
            abandon: Abandon(Box::new(move |why| {
                if let Some(reply) = take(&abandoned) {
                    reply.error(match why {
                        Why::TimedOut => timed_out(),
                        Why::Overloaded(message) => {
                            ErrorResponse::new(ErrorCode::OVERLOADED, message)
                        }
                    });
                }
            })),
        };
        match self.owner.pool.enqueue(origin, task) {
            None => true,
            Some(refused) => {
                (refused.abandon.0)(Why::Overloaded("The pool for blocking work is full"));
                false
            }
        }
    }
}

/// A job's hold on its thread of the pool.
#[derive(Debug)]
pub struct JobLease {
    pool: Arc<Pool>,
    job: u64,
}

impl JobLease {
    /// Gives the job as long as it had at first, from now on; false if it was given up, so that nobody
    /// waits for it any more.
    pub fn renew(&self) -> bool {
        let mut state = lock(&self.pool.state);
        let deadline = Instant::now() + state.options.timeout;
        match state.running.get_mut(&self.job) {
            // Whoever watches wakes at the old deadline, finds this one, and waits for it.
            Some(running) if running.abandon.is_some() => {
                running.deadline = deadline;
                true
            }
            _ => false,
        }
    }
}

/// The reply of a job, unless somebody answered in its place.
fn take(slot: &Mutex<Option<Reply>>) -> Option<Reply> {
    lock(slot).take()
}

/// Ends the pool's threads when the last handle goes.
#[derive(Debug)]
struct Owner {
    pool: Arc<Pool>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        lock(&self.pool.state).stopped = true;
        self.pool.work.notify_all();
        self.pool.watch.notify_all();
    }
}

struct Task {
    run: Box<dyn FnOnce(&JobLease) + Send>,
    abandon: Abandon,
}

/// Answers the request in place of its job.
struct Abandon(Box<dyn FnOnce(Why) + Send>);

/// Why a job doesn't answer its request.
enum Why {
    /// It took too long.
    TimedOut,
    /// There was no thread for it in time.
    Overloaded(&'static str),
}

impl std::fmt::Debug for Abandon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Abandon")
    }
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Task")
    }
}

#[derive(Debug)]
struct Pool {
    /// Of its threads.
    name: &'static str,
    state: Mutex<State>,
    work: Condvar,
    watch: Condvar,
}

#[derive(Debug)]
struct State {
    options: OffloadOptions,
    queue: Queue<Task>,
    /// Threads waiting for work.
    idle: usize,
    /// Threads that count against the bound: all but the given-up ones.
    live: usize,
    /// Given-up threads still stuck in their job.
    stuck: usize,
    /// What is being worked on, by job number.
    running: BTreeMap<u64, Running>,
    next_job: u64,
    refused: u64,
    timed_out: u64,
    expired: u64,
    watched: bool,
    stopped: bool,
}

impl State {
    fn new(options: OffloadOptions) -> Self {
        State {
            options,
            queue: Queue::default(),
            idle: 0,
            live: 0,
            stuck: 0,
            running: BTreeMap::new(),
            next_job: 0,
            refused: 0,
            timed_out: 0,
            expired: 0,
            watched: false,
            stopped: false,
        }
    }

    /// When the job that waits longest has waited for too long.
    fn expiry(&self) -> Option<Instant> {
        self.queue.oldest()?.checked_add(self.options.wait?)
    }
}

#[derive(Debug)]
struct Running {
    deadline: Instant,
    /// Taken once the request was answered in the job's place.
    abandon: Option<Abandon>,
}

impl Pool {
    /// Takes a job in; gives back what is refused for it, if anything is.
    fn enqueue(self: &Arc<Self>, origin: Origin, task: Task) -> Option<Task> {
        let mut state = lock(&self.state);
        if state.idle <= state.queue.len() && state.live < state.options.threads.max(1) {
            self.start_worker(&mut state);
        }
        if state.live == 0 {
            state.refused += 1;
            return Some(task);
        }
        if !state.watched {
            state.watched = self.start("helenus-watch", |pool| pool.watch());
        }
        let most = state.options.queue.max(1);
        let refused = state.queue.push(origin, task, Instant::now(), most);
        state.refused += u64::from(refused.is_some());
        // Who expires first has just come, unless there is a thread for it.
        let is_first = state.queue.len() == 1 && state.idle == 0;
        drop(state);
        self.work.notify_one();
        if is_first {
            self.watch.notify_one();
        }
        refused
    }

    fn start_worker(self: &Arc<Self>, state: &mut State) {
        if self.start(self.name, |pool| pool.work()) {
            state.live += 1;
        }
    }

    fn start(self: &Arc<Self>, name: &str, run: fn(&Arc<Self>)) -> bool {
        let pool = Arc::clone(self);
        let started = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(&pool));
        if let Err(error) = &started {
            tracing::warn!(%error, name, "cannot start a thread of the offload pool");
        }
        started.is_ok()
    }

    fn work(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        loop {
            if state.live > state.options.threads.max(1) {
                state.live -= 1;
                return;
            }
            let Some(task) = state.queue.pop() else {
                if state.stopped {
                    state.live -= 1;
                    return;
                }
                state.idle += 1;
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                state.idle -= 1;
                continue;
            };
            let job = state.next_job;
            state.next_job += 1;
            let deadline = Instant::now() + state.options.timeout;
            state.running.insert(
                job,
                Running {
                    deadline,
                    abandon: Some(task.abandon),
                },
            );
            drop(state);
            self.watch.notify_one();
            let lease = JobLease {
                pool: Arc::clone(self),
                job,
            };
            contain("a job of the offload pool", || (task.run)(&lease));
            state = lock(&self.state);
            if state.running.remove(&job).is_none() {
                state.stuck -= 1;
                return;
            }
        }
    }

    /// Waits for the earliest deadline of a running or a waiting job, and for nothing while there is none.
    fn watch(self: &Arc<Self>) {
        let mut state = lock(&self.state);
        loop {
            let expired = self.expire(&mut state, Instant::now());
            if !expired.is_empty() {
                drop(state);
                for (abandon, why) in expired {
                    (abandon.0)(why);
                }
                state = lock(&self.state);
                continue;
            }
            let waiting = |running: &&Running| running.abandon.is_some();
            let next = state
                .running
                .values()
                .filter(waiting)
                .map(|running| running.deadline)
                .chain(state.expiry())
                .min();
            state = match next {
                None if state.stopped => return,
                None => self
                    .watch
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let pause = deadline.saturating_duration_since(Instant::now());
                    self.watch
                        .wait_timeout(state, pause)
                        .unwrap_or_else(PoisonError::into_inner)
                        .0
                }
            };
        }
    }

    /// Gives up the jobs whose time is over, with what is said of each; a thread is replaced as long as
    /// the cap allows.
    fn expire(self: &Arc<Self>, state: &mut State, now: Instant) -> Vec<(Abandon, Why)> {
        let late: Vec<u64> = state
            .running
            .iter()
            .filter(|(_, running)| running.abandon.is_some() && running.deadline <= now)
            .map(|(job, _)| *job)
            .collect();
        let mut expired = Vec::with_capacity(late.len());
        for job in late {
            let Some(running) = state.running.get_mut(&job) else {
                continue;
            };
            expired.extend(
                running
                    .abandon
                    .take()
                    .map(|abandon| (abandon, Why::TimedOut)),
            );
            state.timed_out += 1;
            if state.stuck < state.options.replacements {
                state.running.remove(&job);
                state.stuck += 1;
                state.live -= 1;
                if !state.queue.is_empty() {
                    self.start_worker(state);
                }
            }
        }
        while state.expiry().is_some_and(|expiry| expiry <= now) {
            let Some(task) = state.queue.pop_oldest() else {
                break;
            };
            state.expired += 1;
            let why = "The request waited too long for the pool for blocking work";
            expired.push((task.abandon, Why::Overloaded(why)));
        }
        expired
    }
}

#[cfg(test)]
mod tests;
