//! One run: a workload on a server with so many connections and so much in flight, measured.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use helenus_client::ClientTls;

use super::arguments::Bench;
use super::error::BenchError;
use super::interrupt::Interrupt;
use super::load::Terms;
use super::process::cpu_time;
use super::schedule::Schedule;
use super::statistics::Spread;
use super::tally::Tally;
use super::worker::{Assignment, Span, Worker};
use super::workload::{Requests, Statements, Workload};

/// Rates are taken over intervals of a twentieth of the run, within these bounds.
const INTERVALS: u32 = 20;
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_secs(1);

/// What is run, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cell<'a> {
    /// The server's name in reports.
    pub(super) name: &'a str,
    /// Where it listens.
    pub(super) server: SocketAddr,
    /// Its process, if it is on this machine.
    pub(super) pid: Option<u32>,
    /// What is asked for.
    pub(super) workload: Workload,
    /// Connections.
    pub(super) connections: u32,
    /// Requests in flight on each.
    pub(super) depth: u16,
}

/// What a run took.
#[derive(Debug)]
pub(super) struct Outcome {
    /// Answers, latencies and errors.
    pub(super) tally: Tally,
    /// The rates of the intervals.
    pub(super) throughput: Spread,
    /// How long was measured.
    pub(super) measured: Duration,
    /// The server's CPU time a request, microseconds.
    pub(super) server_cpu: Option<f64>,
    /// This process's own.
    pub(super) client_cpu: Option<f64>,
}

/// Runs a cell. `watch` hears how far it has come and the rate of the last interval.
pub(super) fn run(
    cell: &Cell<'_>,
    flags: &Bench,
    statements: &Statements,
    tls: Option<&ClientTls>,
    interrupt: &Interrupt,
    watch: &mut dyn FnMut(Duration, f64),
) -> Result<Outcome, BenchError> {
    let connections = cell.connections as usize;
    let threads = flags.threads().min(connections);
    let progress: Vec<AtomicU64> = (0..threads).map(|_| AtomicU64::new(0)).collect();
    let mut assignments: Vec<Assignment> = (0..threads)
        .map(|thread| assignment(cell, flags, statements, tls, (thread, threads)))
        .collect();
    thread::scope(|scope| {
        let (said, heard) = mpsc::channel();
        let mut workers = Vec::new();
        for (thread, (assignment, progress)) in assignments.drain(..).zip(&progress).enumerate() {
            let (tell, told) = mpsc::channel::<Span>();
            let said = said.clone();
            let work = move || -> Option<Tally> {
                let outcome = Worker::connect(assignment, progress, interrupt).and_then(|worker| {
                    // Nobody listens any more once another worker has failed.
                    let _ = said.send(Ok(()));
                    told.recv().ok().map(|span| worker.run(span)).transpose()
                });
                outcome.unwrap_or_else(|error| {
                    let _ = said.send(Err(error));
                    None
                })
            };
            let name = format!("load-{thread}");
            let worker = thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, work)
                .map_err(BenchError::System)?;
            workers.push((tell, worker));
        }
        drop(said);
        for _ in &workers {
            // Who is silent has panicked, which joining it tells.
            if let Ok(outcome) = heard.recv() {
                outcome?;
            }
        }

        let start = Instant::now();
        let begin = start + flags.warm_up();
        let end = begin + flags.seconds;
        for (tell, _) in &workers {
            let schedule = flags
                .rate
                .map(|rate| Schedule::new((start, end), rate, threads as u64));
            let span = Span {
                begin,
                end,
                schedule,
            };
            // Who has failed since has said so.
            let _ = tell.send(span);
        }
        let count = || {
            progress
                .iter()
                .map(|count| count.load(Ordering::Relaxed))
                .sum()
        };
        wait(&heard, begin)?;
        let cpu = Cpu::now(cell.pid)?;
        let intervals = sample(&heard, (begin, end), &count, watch)?;
        let used = Cpu::now(cell.pid)?;

        let mut tally = Tally::default();
        for (_, worker) in workers {
            let counted = worker.join();
            if let Some(counted) = counted.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            {
                tally.add(counted);
            }
        }
        // A failure in the last moment.
        heard.try_iter().collect::<Result<(), _>>()?;
        let requests: u64 = intervals.iter().map(|(requests, _)| requests).sum();
        let each =
            |used: Option<Duration>| Some(used?.as_secs_f64() * 1e6 / requests.max(1) as f64);
        Ok(Outcome {
            tally,
            throughput: Spread::of(&intervals),
            measured: end - begin,
            server_cpu: each(used.server_since(&cpu)),
            client_cpu: each(used.client_since(&cpu)),
        })
    })
}

/// What one of `threads` threads does.
fn assignment(
    cell: &Cell<'_>,
    flags: &Bench,
    statements: &Statements,
    tls: Option<&ClientTls>,
    (thread, threads): (usize, usize),
) -> Assignment {
    let connections = cell.connections as usize;
    let extra = usize::from(thread < connections % threads);
    let requests = || {
        Requests::new(
            cell.workload,
            flags.version(),
            statements,
            flags.keys,
            flags.rows,
            thread as u32 + 1,
        )
    };
    Assignment {
        server: cell.server,
        terms: Terms::new(
            flags.version(),
            flags.compression(),
            flags.login(),
            tls.cloned(),
            cell.depth,
        ),
        connections: connections / threads + extra,
        depth: cell.depth,
        requests: (cell.workload != Workload::Connect).then(requests),
    }
}

/// What the workers say: why they failed, or that they are ready.
type Heard = mpsc::Receiver<Result<(), BenchError>>;

/// Sleeps until `at`, or until a worker fails.
fn wait(heard: &Heard, at: Instant) -> Result<(), BenchError> {
    match heard.recv_timeout(at.saturating_duration_since(Instant::now())) {
        Ok(outcome) => outcome,
        Err(RecvTimeoutError::Timeout) => Ok(()),
        // All have ended: so will the time.
        Err(RecvTimeoutError::Disconnected) => {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            Ok(())
        }
    }
}

/// Takes the count at the ends of the intervals between `begin` and `end`: requests and seconds of each.
fn sample(
    heard: &Heard,
    (begin, end): (Instant, Instant),
    count: &dyn Fn() -> u64,
    watch: &mut dyn FnMut(Duration, f64),
) -> Result<Vec<(u64, f64)>, BenchError> {
    let step = ((end - begin) / INTERVALS).clamp(SHORTEST, LONGEST);
    let (mut before, mut since) = (count(), Instant::now());
    let mut intervals = Vec::new();
    let mut next = begin;
    while next < end {
        next = (next + step).min(end);
        wait(heard, next)?;
        let (requests, now) = (count(), Instant::now());
        let seconds = (now - since).as_secs_f64();
        let answered = requests.saturating_sub(before);
        watch(now - begin, answered as f64 / seconds.max(1e-9));
        intervals.push((answered, seconds));
        (before, since) = (requests, now);
    }
    Ok(intervals)
}

/// CPU time of both ends, as far as it is known.
#[derive(Debug)]
struct Cpu {
    server: Option<Duration>,
    client: Option<Duration>,
}

impl Cpu {
    fn now(pid: Option<u32>) -> Result<Self, BenchError> {
        let read = |pid| cpu_time(pid).map_err(|error| BenchError::Process(pid, error));
        Ok(Self {
            server: pid.map(read).transpose()?,
            client: cpu_time(std::process::id()).ok(),
        })
    }

    fn server_since(&self, before: &Self) -> Option<Duration> {
        Some(self.server?.saturating_sub(before.server?))
    }

    fn client_since(&self, before: &Self) -> Option<Duration> {
        Some(self.client?.saturating_sub(before.client?))
    }
}
