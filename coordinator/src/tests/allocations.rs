//! Reads that meet no trouble allocate nothing.

use std::time::Instant;

use helenus_core::Consistency;

use crate::full_read::FullRead;
use crate::machine::{Action, Machine};
use crate::message::{Reply, Request};
use crate::model::{Model, Reconciled};
use crate::node::NodeId;
use crate::options::{ReadOptions, ReadRepair};
use crate::plan::ReadPlan;
use crate::read::Read;
use crate::ring::TokenRange;
use crate::speculation::Speculation;
use crate::testing::harness::{options, plan};

/// Data that allocates nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plain;

impl Model for Plain {
    type Command = u64;
    type Mutation = u64;
    type Partition = u64;
    type Data = [u64; 4];
    type Digest = u128;

    fn digest(data: &[u64; 4]) -> u128 {
        data[0].into()
    }

    fn reconcile(_: &u64, answers: &[(NodeId, [u64; 4])]) -> Reconciled<Plain> {
        Reconciled {
            data: answers.first().map_or([0; 4], |(_, data)| *data),
            repairs: Vec::new(),
            short: Vec::new(),
        }
    }

    fn narrow(command: &u64, _: TokenRange, _: u32) -> u64 {
        *command
    }

    fn rows(_: &[u64; 4]) -> u32 {
        1
    }

    fn append(_: &mut [u64; 4], _: [u64; 4]) {}
}

/// Drives a read whose replicas all answer the same; how often memory was asked for.
fn allocations(
    machine: impl FnOnce() -> (Instant, Box<dyn Machine<Plain>>),
    answers: usize,
) -> u64 {
    let (now, mut machine) = machine();
    let before = helenus_allocations::count();
    let mut calls = Vec::with_capacity(8);
    let own = helenus_allocations::count() - before;
    let mut done = 0;
    while let Some(action) = machine.poll_action(now) {
        if let Action::Send { to, call, request } = action {
            calls.push((to, call, request));
        }
    }
    assert_eq!(calls.len(), answers);
    for (to, call, request) in calls.drain(..) {
        let reply = match request {
            Request::Read { digest: true, .. } => Reply::Digest(7),
            _ => Reply::Data([7; 4]),
        };
        machine.handle_reply(now, to, call, reply);
        while let Some(action) = machine.poll_action(now) {
            done += u32::from(matches!(action, Action::Done(Ok(_))));
        }
    }
    assert_eq!(done, 1);
    assert!(machine.is_finished());
    helenus_allocations::count() - before - own
}

/// A plan without a deadline's worth of options: made before anything is counted.
fn setting(nodes: u16, required: u16) -> (Instant, ReadPlan, ReadOptions) {
    let now = Instant::now();
    let mut plan = plan(Consistency::ALL, required, Speculation::Never);
    plan.candidates = (0..nodes).map(NodeId).collect();
    let options = ReadOptions {
        traced: false,
        repair: ReadRepair::Blocking,
        ..options(now)
    };
    (now, plan, options)
}

#[test]
fn a_read_whose_replicas_agree_allocates_nothing() {
    for required in 1..=5 {
        let (now, plan, options) = setting(5, required);
        let made = || {
            (
                now,
                Box::new(Read::<Plain>::new(now, 7, plan, options)) as Box<_>,
            )
        };
        assert_eq!(allocations(made, required.into()), 0, "{required} replicas");
    }
}

#[test]
fn a_full_read_of_a_quorum_of_three_allocates_nothing() {
    let (now, plan, options) = setting(3, 2);
    let made = || {
        (
            now,
            Box::new(FullRead::<Plain>::new(now, 7, plan, options)) as Box<_>,
        )
    };
    assert_eq!(allocations(made, 2), 0);
}

#[test]
fn making_a_read_allocates_nothing() {
    let (now, plan, options) = setting(5, 5);
    let before = helenus_allocations::count();
    let read = Read::<Plain>::new(now, 7, plan, options);
    assert_eq!(helenus_allocations::count() - before, 0);
    drop(read);
}
