//! The coordinator's own share of a read or a write over three replicas: no engine, no network, and data that costs nothing.

use std::time::{Duration, Instant};

use helenus_coordinator::{
    Action, Failure, Machine, Model, Node, NodeId, NodeSet, Placement, Read, ReadOptions, ReadPlan,
    ReadRepair, Reconciled, Replication, Reply, Request, Ring, Speculation, Token, TokenRange,
    Vantage, Write, WritePlan,
};
use helenus_core::Consistency;
use helenus_core::message::WriteType;

use crate::Scenario;

/// Numbers under numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbers;

impl Model for Numbers {
    type Command = u64;
    type Mutation = u64;
    type Partition = u64;
    type Data = [u64; 4];
    type Digest = u128;

    fn digest(data: &[u64; 4]) -> u128 {
        data[0].into()
    }

    fn reconcile(_: &u64, answers: &[(NodeId, [u64; 4])]) -> Reconciled<Numbers> {
        Reconciled {
            data: answers
                .iter()
                .map(|(_, data)| *data)
                .max()
                .unwrap_or_default(),
            repairs: Vec::new(),
            short: Vec::new(),
        }
    }

    fn narrow(key: &u64, _: TokenRange, _: u32) -> u64 {
        *key
    }

    fn rows(_: &[u64; 4]) -> u32 {
        1
    }

    fn append(_: &mut [u64; 4], _: [u64; 4]) {}
}

/// A ring of three nodes with sixteen tokens each.
fn three_nodes() -> Ring {
    let node = |number: u8| Node {
        host_id: number.into(),
        address: ([127, 0, 0, number], 7000).into(),
        data_centre: "datacenter1".into(),
        rack: "rack1".into(),
        tokens: (0..16)
            .map(|n| Token(i64::from(number) * 1000 + n * 3000))
            .collect(),
    };
    Ring::new(vec![node(1), node(2), node(3)])
}

/// Reads at one level, whose replicas agree: each is planned, made, driven and answered.
pub struct Reads {
    ring: Ring,
    placement: Placement,
    alive: NodeSet,
    level: Consistency,
    now: Instant,
    calls: Vec<(NodeId, helenus_coordinator::CallId, Request<Numbers>)>,
    token: i64,
}

impl Reads {
    /// Reads at this level.
    #[must_use]
    pub fn new(level: Consistency) -> Reads {
        let ring = three_nodes();
        Reads {
            placement: ring.place(&Replication::Simple { factor: 3 }),
            ring,
            alive: NodeSet::first(3),
            level,
            now: Instant::now(),
            calls: Vec::with_capacity(4),
            token: 0,
        }
    }

    fn read(&mut self) -> Result<[u64; 4], Failure> {
        self.token = (self.token + 777) % 50_000;
        let vantage = Vantage {
            ring: &self.ring,
            local: NodeId(0),
            alive: &self.alive,
        };
        let speculation = Speculation::After(Duration::from_millis(5));
        let token = Token(self.token);
        let plan = ReadPlan::new(&vantage, &self.placement, token, self.level, speculation)?;
        let options = ReadOptions {
            deadline: self.now + Duration::from_secs(5),
            repair: ReadRepair::Blocking,
            traced: false,
        };
        let mut read = Read::<Numbers>::new(self.now, 7, plan, options);
        loop {
            while let Some(action) = read.poll_action(self.now) {
                match action {
                    Action::Send { to, call, request } => self.calls.push((to, call, request)),
                    Action::Done(outcome) => {
                        assert!(read.is_finished());
                        return outcome.map(|outcome| match outcome {
                            helenus_coordinator::Outcome::Data(data) => data,
                            other => unreachable!("a read gives data, not {other:?}"),
                        });
                    }
                    _ => {}
                }
            }
            let (to, call, request) = self.calls.pop().expect("somebody is still to answer");
            let reply = match request {
                Request::Read { digest: true, .. } => Reply::Digest(7),
                _ => Reply::Data([7; 4]),
            };
            read.handle_reply(self.now, to, call, reply);
        }
    }
}

impl Scenario for Reads {
    fn turn(&mut self) -> u64 {
        let data = self.read().expect("all replicas are alive and answer");
        assert_eq!(data, [7; 4]);
        1
    }
}

/// Writes at one level, which all replicas confirm: each is planned, made, driven and answered.
pub struct Writes {
    ring: Ring,
    placement: Placement,
    alive: NodeSet,
    level: Consistency,
    now: Instant,
    calls: Vec<(NodeId, helenus_coordinator::CallId)>,
    token: i64,
}

impl Writes {
    /// Writes at this level.
    #[must_use]
    pub fn new(level: Consistency) -> Writes {
        let ring = three_nodes();
        Writes {
            placement: ring.place(&Replication::Simple { factor: 3 }),
            ring,
            alive: NodeSet::first(3),
            level,
            now: Instant::now(),
            calls: Vec::with_capacity(4),
            token: 0,
        }
    }

    fn write(&mut self) -> Result<(), Failure> {
        self.token = (self.token + 777) % 50_000;
        let vantage = Vantage {
            ring: &self.ring,
            local: NodeId(0),
            alive: &self.alive,
        };
        let plan = WritePlan::new(&vantage, &self.placement, Token(self.token), self.level)?;
        let deadline = self.now + Duration::from_secs(2);
        let mut write = Write::<Numbers>::new(&plan, 7, WriteType::SIMPLE, self.now, deadline);
        let mut outcome = None;
        loop {
            while let Some(action) = write.poll_action(self.now) {
                match action {
                    Action::Send { to, call, .. } => self.calls.push((to, call)),
                    Action::Done(done) => outcome = Some(done.map(|_| ())),
                    _ => {}
                }
            }
            let Some((to, call)) = self.calls.pop() else {
                assert!(write.is_finished());
                return outcome.expect("all replicas have confirmed");
            };
            write.handle_reply(self.now, to, call, Reply::Done);
        }
    }
}

impl Scenario for Writes {
    fn turn(&mut self) -> u64 {
        self.write().expect("all replicas are alive and confirm");
        1
    }
}
