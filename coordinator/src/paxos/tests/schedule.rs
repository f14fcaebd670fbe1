//! Several coordinators contend for one register, in random order, over a network that loses, repeats and reorders, with
//! replicas that crash and coordinators that vanish. What was acknowledged has to be a history of one register.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use helenus_core::Consistency;

use super::{options, plan_on};
use crate::machine::{Action, CallId, Machine, Outcome};
use crate::message::{Ballot, Reply, Request};
use crate::node::NodeId;
use crate::random::Random;
use crate::testing::register::{Cell, Register, Replica};
use crate::{Decision, FailureReason, Keep, Paxos, Start};

const NODES: u16 = 3;

/// What became of a request, and what it saw or wrote.
#[derive(Debug, Default)]
struct Trial {
    begun: u32,
    ended: Option<u32>,
    /// Values that it proposed, the last one last.
    proposed: Vec<u64>,
    wrote: Option<u64>,
    saw: Option<u64>,
}

struct Coordinator {
    machine: Paxos<Register>,
    request: usize,
}

#[derive(Clone)]
enum Message {
    Ask(usize, NodeId, CallId, Request<Register>),
    Answer(usize, NodeId, CallId, Said),
}

/// A reply, as a replica's state when it was given: replies aren't cloned, and may come twice.
#[derive(Clone)]
enum Said {
    Data(Cell),
    Done,
    Promise(crate::Promise<Register>),
    Accepted(Result<(), Ballot>),
    Failed,
}

struct World {
    random: Random,
    step: u32,
    now: Instant,
    replicas: Vec<Replica>,
    durable: Vec<Replica>,
    coordinators: Vec<Option<Coordinator>>,
    requests: Vec<Trial>,
    network: Vec<Message>,
    /// Which value was there when a value was proposed.
    before: HashMap<u64, u64>,
    accepted: HashMap<Ballot, Option<u64>>,
}

impl World {
    fn new(seed: u64) -> World {
        World {
            random: Random::new(seed),
            step: 0,
            now: Instant::now(),
            replicas: vec![Replica::default(); usize::from(NODES)],
            durable: vec![Replica::default(); usize::from(NODES)],
            coordinators: Vec::new(),
            requests: Vec::new(),
            network: Vec::new(),
            before: HashMap::new(),
            accepted: HashMap::new(),
        }
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }

    fn begin(&mut self, is_write: bool, patience: Duration) -> usize {
        let local = self.random.below(NODES.into()) as u16;
        // Clocks differ, and are so coarse that ballots are often the same.
        let skew = self.random.below(6) as i64 * 500;
        let commit = [Consistency::ONE, Consistency::QUORUM, Consistency::ANY];
        let commit = commit[self.random.below(3) as usize];
        let plan = plan_on(
            local,
            &[0, 1, 2],
            Consistency::SERIAL,
            is_write.then_some(commit),
        );
        let start = Start {
            now: self.now,
            micros: 1_000_000 + i64::from(self.step / 50) * 500 + skew,
            patience: self.now + patience,
            random: self.random.below(3),
        };
        let options = options(self.now + patience);
        let machine = if is_write {
            Paxos::write(plan.unwrap(), (), (), options, start)
        } else {
            Paxos::read(plan.unwrap(), (), (), options, start)
        };
        let request = self.requests.len();
        self.requests.push(Trial {
            begun: self.step,
            ..Trial::default()
        });
        self.coordinators
            .push(Some(Coordinator { machine, request }));
        self.coordinators.len() - 1
    }

    /// Does what a coordinator wants.
    fn poll(&mut self, index: usize) {
        while let Some(Some(coordinator)) = self.coordinators.get_mut(index) {
            let request = coordinator.request;
            let Some(action) = coordinator.machine.poll_action(self.now) else {
                break;
            };
            match action {
                Action::Send { to, call, request } => {
                    self.network.push(Message::Ask(index, to, call, request));
                }
                Action::Decide { ballot, data } => {
                    self.requests[request].saw = Some(data.value);
                    let decision = if self.random.below(100) < 15 {
                        Decision::Reject(data)
                    } else {
                        let value = self.before.len() as u64 + 1;
                        self.before.insert(value, data.value);
                        self.requests[request].proposed.push(value);
                        let micros = ballot.micros;
                        Decision::Apply(Cell { micros, value })
                    };
                    let coordinator = self.coordinators[index].as_mut().unwrap();
                    coordinator.machine.decided(self.now, decision);
                }
                Action::Hint { to, mutation, .. } => {
                    self.replicas[usize::from(to.0)].apply(mutation);
                    self.durable[usize::from(to.0)].apply(mutation);
                }
                Action::Done(result) => {
                    let request = &mut self.requests[request];
                    assert_eq!(request.ended, None, "done twice");
                    match result {
                        Ok(Outcome::Written) => {
                            request.wrote = request.proposed.last().copied();
                            request.saw = None;
                        }
                        Ok(Outcome::NotApplied(cell) | Outcome::Data(cell)) => {
                            request.saw = Some(cell.value);
                        }
                        Ok(outcome) => panic!("{outcome:?}"),
                        // It may or may not have happened, and saw nothing that anybody was told.
                        Err(_) => request.saw = None,
                    }
                    request.ended = Some(self.step);
                }
                Action::Trace(_) | Action::ApplyCounter { .. } => {}
            }
        }
    }

    fn deliver(&mut self, message: Message) {
        match message {
            Message::Ask(index, to, call, request) => {
                let said = self.replicate(to, request);
                self.network.push(Message::Answer(index, to, call, said));
            }
            Message::Answer(index, from, call, said) => {
                let now = self.now;
                if let Some(Some(coordinator)) = self.coordinators.get_mut(index) {
                    let reply = match said {
                        Said::Data(cell) => Reply::Data(cell),
                        Said::Done => Reply::Done,
                        Said::Promise(promise) => Reply::Promise(promise),
                        Said::Accepted(accepted) => Reply::Accepted(accepted),
                        Said::Failed => {
                            let reason = FailureReason::UNKNOWN;
                            coordinator.machine.handle_failure(now, from, call, reason);
                            return self.poll(index);
                        }
                    };
                    coordinator.machine.handle_reply(now, from, call, reply);
                    self.poll(index);
                }
            }
        }
    }

    /// A replica does what it is asked, and makes durable what it has to before it answers.
    fn replicate(&mut self, node: NodeId, request: Request<Register>) -> Said {
        let lazily = self.chance(50);
        let replica = &mut self.replicas[usize::from(node.0)];
        let durable = &mut self.durable[usize::from(node.0)];
        let (said, keep) = match request {
            Request::Prepare { ballot, .. } => {
                let answer = replica.acceptor.prepare(ballot);
                (Said::Promise(answer.reply), answer.keep)
            }
            Request::Propose { proposal, .. } => {
                let (ballot, value) = (proposal.ballot, proposal.mutation.map(|cell| cell.value));
                let answer = replica.acceptor.propose(proposal);
                if answer.reply == Some(Ok(())) {
                    let first = *self.accepted.entry(ballot).or_insert(value);
                    assert_eq!(first, value, "two values in one round");
                }
                (
                    answer.reply.map_or(Said::Failed, Said::Accepted),
                    answer.keep,
                )
            }
            Request::Commit { proposal, .. } => {
                let answer = replica.acceptor.commit(proposal);
                if let Some(cell) = answer.reply {
                    replica.apply(cell);
                }
                (Said::Done, answer.keep)
            }
            request => match replica.ask(request) {
                Reply::Data(cell) | Reply::Digest(cell) => (Said::Data(cell), Keep::Nothing),
                _ => (Said::Done, Keep::Nothing),
            },
        };
        durable.cell = replica.cell;
        match keep {
            Keep::Nothing => {}
            Keep::Promise => durable.acceptor.promised = replica.acceptor.promised,
            Keep::Accepted => {
                durable.acceptor.accepted = replica.acceptor.accepted.clone();
                durable.acceptor.recent = replica.acceptor.recent.clone();
            }
            Keep::Committed if lazily => {}
            Keep::Committed => durable.acceptor = replica.acceptor.clone(),
        }
        said
    }

    fn step(&mut self) {
        self.step += 1;
        match self.random.below(100) {
            0..=5 if self.coordinators.len() < 24 => {
                let is_write = self.chance(75);
                let index = self.begin(is_write, Duration::from_millis(900));
                self.poll(index);
            }
            6..=14 => {
                self.now += Duration::from_millis(self.random.below(30));
                for index in 0..self.coordinators.len() {
                    if let Some(coordinator) = &mut self.coordinators[index] {
                        coordinator.machine.handle_timeout(self.now);
                        self.poll(index);
                    }
                }
            }
            15 if !self.coordinators.is_empty() => {
                let index = self.random.below(self.coordinators.len() as u64) as usize;
                self.coordinators[index] = None;
            }
            16..=17 => {
                let node = self.random.below(NODES.into()) as usize;
                self.replicas[node] = self.durable[node].clone();
            }
            _ if !self.network.is_empty() => {
                let index = self.random.below(self.network.len() as u64) as usize;
                let message = self.network.swap_remove(index);
                match self.random.below(100) {
                    0..=4 => {}
                    5..=9 => {
                        self.network.push(message.clone());
                        self.deliver(message);
                    }
                    10..=11 => {
                        if let Message::Ask(index, to, call, _) = message {
                            self.network
                                .push(Message::Answer(index, to, call, Said::Failed));
                        }
                    }
                    _ => self.deliver(message),
                }
            }
            _ => {}
        }
    }

    /// Ends all requests and reads the register once more, undisturbed.
    fn last_value(&mut self) -> u64 {
        self.now += Duration::from_secs(10);
        for index in 0..self.coordinators.len() {
            if let Some(coordinator) = &mut self.coordinators[index] {
                coordinator.machine.handle_timeout(self.now);
                self.poll(index);
                let coordinator = self.coordinators[index].as_ref().unwrap();
                let request = &self.requests[coordinator.request];
                assert!(request.ended.is_some(), "no answer by the deadline");
                self.coordinators[index] = None;
            }
        }
        let index = self.begin(false, Duration::from_secs(100));
        let request = self.requests.len() - 1;
        while self.requests[request].ended.is_none() {
            self.step += 1;
            self.poll(index);
            while let Some(message) = self.network.pop() {
                self.deliver(message);
            }
            self.now += Duration::from_millis(100);
            if let Some(coordinator) = &mut self.coordinators[index] {
                coordinator.machine.handle_timeout(self.now);
            }
        }
        self.requests[request].saw.expect("an undisturbed read")
    }

    /// Every value's place in the order in which they were written; 0 was there at the beginning.
    fn places(&self, last: u64) -> HashMap<u64, usize> {
        let mut order = vec![last];
        while let Some(before) = order.last().and_then(|value| self.before.get(value)) {
            order.push(*before);
        }
        let order = order.into_iter().rev().enumerate();
        order.map(|(place, value)| (value, place)).collect()
    }
}

fn check(seed: u64) -> (usize, usize) {
    let mut world = World::new(seed);
    for _ in 0..900 {
        world.step();
    }
    let last = world.last_value();
    let places = world.places(last);
    let mut seen: Vec<(u32, u32, usize, bool)> = Vec::new();
    for request in &world.requests {
        let there = request
            .proposed
            .iter()
            .filter(|value| places.contains_key(value));
        let there = there.count();
        assert!(
            there <= 1,
            "seed {seed}: {request:?} was applied {there} times"
        );
        let Some(ended) = request.ended else { continue };
        let Some(value) = request.wrote.or(request.saw) else {
            continue;
        };
        let place = *places
            .get(&value)
            .unwrap_or_else(|| panic!("seed {seed}: {request:?} is lost"));
        if request.wrote.is_none() {
            assert_eq!(there, 0, "seed {seed}: {request:?} was applied, and denied");
        }
        seen.push((request.begun, ended, place, request.wrote.is_some()));
    }
    for (_, ended, earlier, _) in &seen {
        for (begun, _, later, wrote) in &seen {
            if ended < begun {
                let in_order = if *wrote {
                    earlier < later
                } else {
                    earlier <= later
                };
                assert!(in_order, "seed {seed}: {earlier} before {later}");
            }
        }
    }
    let wrote = seen.iter().filter(|(.., wrote)| *wrote).count();
    (wrote, seen.len() - wrote)
}

#[test]
fn contending_coordinators_leave_a_history_of_one_register() {
    let (mut wrote, mut saw) = (0, 0);
    for seed in 0..300 {
        let (w, s) = check(seed);
        wrote += w;
        saw += s;
    }
    // Otherwise nothing was tried.
    assert!(wrote > 500 && saw > 650, "{wrote} writes, {saw} reads");
}
