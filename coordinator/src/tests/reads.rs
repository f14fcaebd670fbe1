//! Reads at QUORUM under random faults: requests are lost, answered twice, out of order, late, by garbage or by others;
//! replicas fail and are written to meanwhile; the clock jumps.

use std::time::{Duration, Instant};

use helenus_core::Consistency;
use proptest::prelude::*;

use crate::failure::FailureReason;
use crate::full_read::FullRead;
use crate::machine::{CallId, Machine, Outcome};
use crate::message::Reply;
use crate::node::{NodeId, NodeSet};
use crate::plan::{ReadPlan, Vantage};
use crate::range::{RangeOptions, RangePlan, RangeRead};
use crate::read::Read;
use crate::ring::{Placement, Replication, Token, TokenRange};
use crate::speculation::Speculation;
use crate::testing::harness::{Harness, TIMEOUT, WAITS, options, scan};
use crate::testing::kv::{Cell, Kv, Place, Scan, Store};
use crate::testing::ring_of;

/// How many must have what a read gives.
const QUORUM: usize = 2;

/// What happens to which of the requests on their way.
#[derive(Debug, Clone, Copy)]
enum Step {
    Answer(usize),
    AnswerTwice(usize),
    Lose(usize),
    Refuse(usize),
    AnswerGarbage(usize),
    AnswerByAnother(usize),
    AnswerAStranger,
    Pass(u16),
    JumpBack(u16),
    /// A write to one replica alone, later than all before.
    Write(u16, u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => any::<usize>().prop_map(Step::Answer),
        2 => any::<usize>().prop_map(Step::AnswerTwice),
        2 => any::<usize>().prop_map(Step::Lose),
        1 => any::<usize>().prop_map(Step::Refuse),
        1 => any::<usize>().prop_map(Step::AnswerGarbage),
        1 => any::<usize>().prop_map(Step::AnswerByAnother),
        1 => Just(Step::AnswerAStranger),
        2 => (0..200_u16).prop_map(Step::Pass),
        1 => any::<u16>().prop_map(Step::JumpBack),
        2 => (0..4_u16, 0..10_u32).prop_map(|(node, row)| Step::Write(node, row)),
    ]
}

/// Which row was written, whether it was deleted, and which of its replicas have it.
type Written = (u32, bool, u8);

fn written() -> impl Strategy<Value = Vec<Written>> {
    prop::collection::vec((0..10_u32, prop::bool::weighted(0.4), 0..8_u8), 0..30)
}

/// Where a row is: ten of them in one partition, or each in a partition of its own.
fn place(row: u32, spread: bool) -> Place {
    if spread {
        (i64::from(row) * 40, 0)
    } else {
        (0, row)
    }
}

/// Replicas, and what of theirs a majority has.
fn stores(
    nodes: usize,
    placement: &Placement,
    writes: &[Written],
    spread: bool,
) -> (Vec<Store>, Store) {
    let mut stores = vec![Store::default(); nodes];
    let mut acknowledged = Store::default();
    for (time, (row, deleted, replicas)) in writes.iter().enumerate() {
        let place = place(*row, spread);
        let cell: Cell = (time as i64, (!deleted).then_some(time as u32));
        let on = placement.replicas(Token(place.0)).iter().enumerate();
        let on: Vec<&NodeId> = on
            .filter(|(index, _)| replicas >> index & 1 == 1)
            .map(|(_, node)| node)
            .collect();
        on.iter()
            .for_each(|node| stores[usize::from(node.0)].write(place, cell));
        if on.len() >= QUORUM {
            acknowledged.write(place, cell);
        }
    }
    (stores, acknowledged)
}

/// Takes a step; tells when the read has an outcome that it hadn't before.
fn take(read: &mut Harness<impl Machine<Kv>>, step: Step, spread: bool, time: i64) {
    let pick = |read: &mut Harness<_>, index: usize| {
        let sent = read.sent.len();
        (sent > 0).then(|| read.sent.remove(index % sent))
    };
    match step {
        Step::Answer(index) => {
            if let Some((node, call, request)) = pick(read, index) {
                let reply = read.carry_out(node, request);
                read.reply(node.0, call, reply);
            }
        }
        Step::AnswerTwice(index) => {
            if let Some((node, call, request)) = pick(read, index) {
                let reply = read.carry_out(node, request.clone());
                read.reply(node.0, call, reply);
                let again = read.carry_out(node, request);
                read.reply(node.0, call, again);
            }
        }
        Step::Lose(index) => {
            pick(read, index);
        }
        Step::Refuse(index) => {
            if let Some((node, call, _)) = pick(read, index) {
                read.machine
                    .handle_failure(read.now, node, call, FailureReason::UNKNOWN);
                read.poll();
            }
        }
        Step::AnswerGarbage(index) => {
            if let Some((node, call, _)) = pick(read, index) {
                read.reply(node.0, call, Reply::Digest(index as u64));
            }
        }
        Step::AnswerByAnother(index) => {
            if let Some((node, call, request)) = pick(read, index) {
                let reply = read.carry_out(node, request);
                read.reply((node.0 + 1) % 3, call, reply);
            }
        }
        Step::AnswerAStranger => read.reply(0, CallId(3 << 33 | 17), Reply::Done),
        Step::Pass(millis) => read.pass(Duration::from_millis(millis.into())),
        Step::JumpBack(millis) => {
            let earlier = read.now.checked_sub(Duration::from_millis(millis.into()));
            let now = read.now;
            read.now = earlier.unwrap_or(now);
            read.machine.handle_timeout(read.now);
            read.poll();
            read.now = now;
        }
        Step::Write(node, row) => {
            if let Some(store) = read.stores.get_mut(usize::from(node)) {
                store.write(place(row, spread), (1000 + time, Some(9)));
            }
        }
    }
}

/// What must be true of an answer in the moment in which it is given.
fn check(
    read: &Harness<impl Machine<Kv>>,
    scan: &Scan,
    acknowledged: &Store,
) -> Result<(), TestCaseError> {
    let [Ok(Outcome::Data(found))] = read.outcomes.as_slice() else {
        return Ok(());
    };
    let live = |cell: &Cell| cell.1.is_some();
    for (place, cell) in &found.rows {
        let has = |store: &&Store| store.0.get(place).is_some_and(|known| known >= cell);
        let backed = read.stores.iter().filter(has).count();
        prop_assert!(backed >= QUORUM, "{place:?} {cell:?} is on {backed}");
    }
    let enough = found.rows.iter().filter(|(_, cell)| live(cell)).count() >= scan.rows as usize;
    let end = found
        .rows
        .last()
        .map(|(place, _)| *place)
        .filter(|_| enough);
    for (place, cell) in &acknowledged.0 {
        if end.is_some_and(|end| *place > end) {
            continue;
        }
        let given = found.rows.iter().find(|(known, _)| known == place);
        prop_assert!(
            given.is_some_and(|(_, given)| given >= cell),
            "{place:?} is {given:?}, not {cell:?}"
        );
    }
    Ok(())
}

/// Takes all steps, and whatever time is left.
fn run(
    read: &mut Harness<impl Machine<Kv>>,
    scan: &Scan,
    steps: &[Step],
    acknowledged: &Store,
) -> Result<(), TestCaseError> {
    let spread = scan.range == TokenRange::ALL;
    check(read, scan, acknowledged)?;
    let deadline = read.now + TIMEOUT;
    for (time, step) in steps.iter().enumerate() {
        let before = read.outcomes.len();
        take(read, *step, spread, time as i64);
        prop_assert!(read.outcomes.len() <= 1, "{:?}", read.outcomes);
        if read.outcomes.len() > before {
            check(read, scan, acknowledged)?;
        }
    }
    let left = deadline.saturating_duration_since(read.now);
    read.pass(left);
    prop_assert_eq!(read.outcomes.len(), 1);
    prop_assert!(read.machine.is_finished());
    prop_assert_eq!(read.machine.poll_timeout(), None);
    // Nothing that comes now says anything.
    let sent = read.sent.len();
    while !read.sent.is_empty() {
        take(read, Step::Answer(0), spread, 0);
    }
    prop_assert!(sent >= read.sent.len() && read.outcomes.len() == 1);
    Ok(())
}

fn speculation() -> impl Strategy<Value = Speculation> {
    prop_oneof![
        Just(Speculation::Never),
        Just(WAITS),
        Just(Speculation::Always)
    ]
}

fn with_plan<T>(nodes: u8, made: impl FnOnce(&Vantage<'_>, &Placement) -> T) -> (T, Placement) {
    let ring = ring_of(nodes);
    let placement = ring.place(&Replication::Simple { factor: 3 });
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(0),
        alive: &NodeSet::first(nodes.into()),
    };
    (made(&vantage, &placement), placement)
}

fn plan_at(speculation: Speculation) -> (ReadPlan, Placement) {
    let (plan, placement) = with_plan(3, |vantage, placement| {
        ReadPlan::new(
            vantage,
            placement,
            Token(0),
            Consistency::QUORUM,
            speculation,
        )
    });
    (plan.expect("all are alive"), placement)
}

proptest! {
    #[test]
    fn a_read_has_one_outcome_in_time_that_a_majority_has(
        writes in written(),
        steps in prop::collection::vec(step(), 0..40),
        speculation in speculation(),
        rows in 1..6_u32,
    ) {
        let now = Instant::now();
        let (plan, placement) = plan_at(speculation);
        let (stores, acknowledged) = stores(3, &placement, &writes, false);
        let read = Read::new(now, scan(rows), plan, options(now));
        let mut read = Harness::new(now, read, stores);
        run(&mut read, &scan(rows), &steps, &acknowledged)?;
    }

    #[test]
    fn a_full_read_has_one_outcome_in_time_that_a_majority_has(
        writes in written(),
        steps in prop::collection::vec(step(), 0..40),
        speculation in speculation(),
        rows in 1..6_u32,
    ) {
        let now = Instant::now();
        let (plan, placement) = plan_at(speculation);
        let (stores, acknowledged) = stores(3, &placement, &writes, false);
        let read = FullRead::new(now, scan(rows), plan, options(now));
        let mut read = Harness::new(now, read, stores);
        run(&mut read, &scan(rows), &steps, &acknowledged)?;
    }

    #[test]
    fn a_read_of_ranges_has_one_outcome_in_time_that_a_majority_has(
        writes in written(),
        steps in prop::collection::vec(step(), 0..80),
        rows in 1..12_u32,
        concurrency in 1..6_u32,
    ) {
        let now = Instant::now();
        let (plan, placement) = with_plan(4, |vantage, placement| {
            RangePlan::new(vantage, placement, TokenRange::ALL, Consistency::QUORUM)
        });
        let (stores, acknowledged) = stores(4, &placement, &writes, true);
        let scan = Scan { range: TokenRange::ALL, after: None, rows };
        let range = RangeOptions { rows, concurrency, max_concurrency: 32 };
        let read = RangeRead::new(now, scan.clone(), plan, options(now), range);
        let mut read = Harness::new(now, read, stores);
        run(&mut read, &scan, &steps, &acknowledged)?;
    }
}
