//! A whole cluster on one virtual clock: events are taken one after another, and each is all that happens at its time.

mod driving;
mod ending;
mod machines;
mod replay;
mod requests;
mod storm;
mod traffic;

use std::sync::Arc;
use std::time::{Duration, Instant};

use helenus_coordinator::{HintLimits, NodeId, NodeSet, Placement, Ring};
use helenus_core::Consistency;

use crate::bugs::Bug;
use crate::checker::Violation;
use crate::faults::{Faults, Weather};
use crate::history::Record;
use crate::levels::Replicas;
use crate::network::Network;
use crate::node::Node;
use crate::queue::Queue;
use crate::random::Random;
use crate::shape::Shape;
use crate::trace::Trace;
use crate::workload::Workload;
use traffic::Message;

/// More events than any run takes that comes to an end.
const MOST_EVENTS: u64 = 400_000;

/// What happens next.
#[derive(Debug)]
enum Event {
    /// A client asks for something.
    Ask(usize),
    /// A message arrives at a node.
    Arrive(usize, Message),
    /// A node syncs its log.
    Sync(usize),
    /// A machine of a node wanted to be woken.
    Wake(usize, u64),
    /// A node hears whether another is alive.
    Notice(usize, usize),
    /// A node goes through its hints and batches.
    Replay(usize),
    /// A record has to be answered by now.
    Deadline(usize),
    /// The weather does something.
    Stroke,
    /// A node starts again.
    Restart(usize),
    /// The next step of the end.
    Ending,
}

/// Whether faults still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// They do.
    Storm,
    /// All is repaired, and some time passes.
    Calm,
    /// Everything is read once more, from this key on.
    Reading(u8),
    /// What that began comes to its end.
    Settling,
    /// Nothing is left to be done.
    Over,
}

/// One client: it asks, waits for the answer, and asks again.
#[derive(Debug, Clone, Copy)]
struct Client {
    /// What it still has to ask.
    left: u32,
    /// Whether it waits for an answer.
    waits: bool,
}

/// What came of a run.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Everything that was asked.
    pub(crate) history: Vec<Record>,
    /// What was found wrong on the way and in the end, but for the history itself.
    pub(crate) violations: Vec<Violation>,
    /// The nodes as they are in the end.
    pub(crate) nodes: Vec<Node>,
    /// What was injected.
    pub(crate) faults: Faults,
    /// What happened.
    pub(crate) trace: Trace,
    /// Messages sent.
    pub(crate) messages: u64,
}

/// A cluster, its clients and its weather.
pub(crate) struct Cluster {
    queue: Queue<Event>,
    random: Random,
    network: Network,
    weather: Weather,
    faults: Faults,
    trace: Trace,
    ring: Arc<Ring>,
    placement: Placement,
    nodes: Vec<Node>,
    replicas: Replicas,
    workload: Workload,
    clients: Vec<Client>,
    history: Vec<Record>,
    violations: Vec<Violation>,
    phase: Phase,
    kept_hints: Vec<(NodeId, crate::model::Mutation)>,
    bug: Option<Bug>,
    messages: u64,
    numbers: u64,
    is_cut: bool,
    /// At which level this run's conditional writes are committed.
    commit_level: Consistency,
}

impl Cluster {
    /// The cluster that the seed describes.
    #[must_use]
    pub(crate) fn new(seed: u64, bug: Option<Bug>, keep_trace: bool) -> Self {
        let mut random = Random::new(seed);
        let shape = Shape::of(&mut random);
        let weather = Weather::of(&mut random);
        // Only differences of times count; an hour of room lets clocks go back.
        let epoch = Instant::now() + Duration::from_secs(3600);
        let (ring, replication) = shape.ring(&mut random);
        let hints = HintLimits {
            bytes: shape.hint_room * u64::from(driving::HINT_SIZE),
            ..HintLimits::default()
        };
        let everyone = NodeSet::first(shape.nodes as u16);
        let nodes = (0..shape.nodes).map(|index| {
            let centre = index % shape.centres;
            let id = NodeId(index as u16);
            let mut node = Node::new(id, centre, hints, epoch, &mut random);
            node.believes = everyone.clone();
            node
        });
        let nodes = nodes.collect();
        let commit_level = match random.below(4) {
            0 => Consistency::ONE,
            1 => Consistency::ALL,
            _ => Consistency::QUORUM,
        };
        let mut cluster = Self {
            queue: Queue::default(),
            network: Network::new(shape.nodes, weather, random.fork()),
            weather,
            faults: Faults::default(),
            trace: Trace::new(keep_trace),
            placement: ring.place(&replication),
            ring: Arc::new(ring),
            nodes,
            replicas: shape.replicas(),
            workload: Workload::new(random.fork(), shape.centres),
            clients: vec![
                Client {
                    left: shape.requests,
                    waits: false,
                };
                shape.clients
            ],
            history: Vec::new(),
            violations: Vec::new(),
            phase: Phase::Storm,
            kept_hints: Vec::new(),
            bug,
            messages: 0,
            numbers: 0,
            is_cut: false,
            commit_level,
            random,
        };
        cluster.begin(&shape);
        cluster
    }

    fn begin(&mut self, shape: &Shape) {
        self.trace.line(Duration::ZERO, format_args!("{shape:?}"));
        self.trace
            .line(Duration::ZERO, format_args!("{:?}", self.weather));
        for client in 0..self.clients.len() {
            let after = self.think();
            self.queue.push(after, Event::Ask(client));
        }
        for node in 0..self.nodes.len() {
            let after = Duration::from_millis(50 + node as u64);
            self.queue.push(after, Event::Replay(node));
        }
        self.queue.push(storm::STROKE, Event::Stroke);
    }

    /// Runs to the end.
    #[must_use]
    pub(crate) fn run(mut self) -> (Ended, Replicas) {
        let mut events = 0;
        while self.phase != Phase::Over
            && let Some(event) = self.queue.pop()
        {
            events += 1;
            if events > MOST_EVENTS {
                self.violate("a run comes to an end", format!("{events} events"));
                break;
            }
            self.happen(event);
        }
        let ended = Ended {
            history: self.history,
            violations: self.violations,
            nodes: self.nodes,
            faults: self.faults,
            trace: self.trace,
            messages: self.messages,
        };
        (ended, self.replicas)
    }

    fn happen(&mut self, event: Event) {
        if let Event::Arrive(node, _) | Event::Sync(node) | Event::Wake(node, _) = event {
            let paused = self.nodes[node].paused_until;
            if paused > self.queue.now() {
                let after = paused - self.queue.now();
                self.queue.push(after, event);
                return;
            }
            if !self.nodes[node].alive {
                return;
            }
        }
        match event {
            Event::Ask(client) => self.ask(client),
            Event::Arrive(node, message) => self.arrive(node, message),
            Event::Sync(node) => self.sync(node),
            Event::Wake(node, machine) => self.wake(node, machine),
            Event::Notice(node, about) => self.notice(node, about),
            Event::Replay(node) => self.replay(node),
            Event::Deadline(record) => self.deadline(record),
            Event::Stroke => self.stroke(),
            Event::Restart(node) => self.restart(node),
            Event::Ending => self.ending(),
        }
    }

    fn think(&mut self) -> Duration {
        Duration::from_micros(self.random.between(10, 30_000))
    }

    fn number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    fn violate(&mut self, rule: &'static str, seen: String) {
        let now = self.queue.now();
        self.trace
            .line(now, format_args!("VIOLATION {rule}: {seen}"));
        self.violations.push(Violation { rule, seen });
    }

    fn note(&mut self, what: std::fmt::Arguments<'_>) {
        self.trace.line(self.queue.now(), what);
    }
}
