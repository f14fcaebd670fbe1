use std::time::{Duration, Instant};

use helenus_core::Consistency;
use helenus_core::message::WriteType;

use super::*;
use crate::machine::Outcome;
use crate::message::{Promise, Request};
use crate::node::NodeSet;
use crate::options::ReadRepair;
use crate::plan::Vantage;
use crate::ring::{Replication, Token};
use crate::speculation::Speculation;
use crate::testing::register::{Cell, Register, Replica};
use crate::testing::{ring_of, two_centres};

mod schedule;

const SERIAL: Consistency = Consistency::SERIAL;

/// A plan on a ring of three replicas, of which these are alive.
fn plan_on(
    local: u16,
    alive: &[u16],
    level: Consistency,
    commit: Option<Consistency>,
) -> Result<PaxosPlan, Failure> {
    let ring = ring_of(3);
    let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(local),
        alive: &alive,
    };
    let placement = ring.place(&Replication::Simple { factor: 3 });
    PaxosPlan::new(
        &vantage,
        &placement,
        Token(0),
        level,
        commit,
        Speculation::Never,
    )
}

fn options(deadline: Instant) -> ReadOptions {
    ReadOptions {
        deadline,
        repair: ReadRepair::Blocking,
        traced: false,
    }
}

struct Bench {
    now: Instant,
    paxos: Paxos<Register>,
}

type Sent = (NodeId, CallId, Request<Register>);

impl Bench {
    fn new(
        plan: PaxosPlan,
        make: fn(PaxosPlan, (), (), ReadOptions, Start) -> Paxos<Register>,
    ) -> Bench {
        let now = Instant::now();
        let start = Start {
            now,
            micros: 1000,
            patience: now + Duration::from_secs(1),
            random: 7,
        };
        let options = options(now + Duration::from_secs(2));
        let paxos = make(plan, (), (), options, start);
        Bench { now, paxos }
    }

    fn write(commit: Consistency) -> Bench {
        let plan = plan_on(0, &[0, 1, 2], SERIAL, Some(commit)).unwrap();
        Bench::new(plan, Paxos::write)
    }

    fn read() -> Bench {
        let plan = plan_on(0, &[0, 1, 2], SERIAL, None).unwrap();
        Bench::new(plan, Paxos::read)
    }

    /// What it sends now; it wants nothing else.
    fn sent(&mut self) -> Vec<Sent> {
        std::iter::from_fn(|| match self.paxos.poll_action(self.now)? {
            Action::Send { to, call, request } => Some((to, call, request)),
            action => panic!("{action:?}"),
        })
        .collect()
    }

    fn reply(&mut self, sent: &Sent, reply: Reply<Register>) {
        self.paxos.handle_reply(self.now, sent.0, sent.1, reply);
    }

    /// Has these replicas answer what is sent, until something else is wanted.
    fn run(&mut self, replicas: &mut [Replica], answering: &[u16]) -> Option<Action<Register>> {
        loop {
            match self.paxos.poll_action(self.now)? {
                Action::Send { to, call, request } => {
                    if answering.contains(&to.0) {
                        let reply = replicas[usize::from(to.0)].ask(request);
                        self.paxos.handle_reply(self.now, to, call, reply);
                    }
                }
                action => return Some(action),
            }
        }
    }

    fn apply(&mut self, action: Option<Action<Register>>, value: u64) -> Cell {
        let Some(Action::Decide { ballot, data }) = action else {
            panic!("{action:?}");
        };
        let micros = ballot.micros;
        let decision = Decision::Apply(Cell { micros, value });
        self.paxos.decided(self.now, decision);
        data
    }

    fn after(&mut self, time: Duration) {
        self.now += time;
        self.paxos.handle_timeout(self.now);
    }

    fn failure(&mut self) -> Failure {
        match self.paxos.poll_action(self.now) {
            Some(Action::Done(Err(failure))) => failure,
            action => panic!("{action:?}"),
        }
    }
}

fn promised() -> Reply<Register> {
    Reply::Promise(Promise {
        promised: Ok(()),
        accepted: None,
        committed: None,
    })
}

fn refused(by: Ballot) -> Reply<Register> {
    Reply::Promise(Promise {
        promised: Err(by),
        accepted: None,
        committed: None,
    })
}

fn ballot(micros: i64) -> Ballot {
    Ballot {
        micros,
        node: NodeId(2),
        random: 1,
    }
}

fn cas_timeout(received: u16, required: u16, contentions: u16) -> Failure {
    Failure::WriteTimeout {
        level: SERIAL,
        received,
        required,
        write_type: WriteType::CAS,
        contentions: Some(contentions),
    }
}

#[test]
fn a_round_prepares_reads_proposes_and_commits() {
    let mut replicas = vec![Replica::default(); 3];
    let mut bench = Bench::write(Consistency::QUORUM);
    let action = bench.run(&mut replicas, &[0, 1, 2]);
    assert_eq!(bench.apply(action, 5), Cell::default());
    let end = bench.run(&mut replicas, &[0, 1, 2]);
    assert!(matches!(end, Some(Action::Done(Ok(Outcome::Written)))));
    assert!(bench.run(&mut replicas, &[0, 1, 2]).is_none());
    let cell = Cell {
        micros: 1000,
        value: 5,
    };
    assert!(replicas.iter().all(|replica| replica.cell == cell));
    assert!(bench.paxos.is_finished());
    assert_eq!(bench.paxos.poll_timeout(), None);
}

#[test]
fn a_traced_write_tells_its_steps_in_cassandras_words() {
    let mut replicas = vec![Replica::default(); 3];
    let mut bench = Bench::write(Consistency::ONE);
    bench.paxos.options.traced = true;
    bench.paxos.prepare();
    let mut told = Vec::new();
    loop {
        match bench.run(&mut replicas, &[0, 1, 2]) {
            Some(Action::Trace(event)) => told.push(event.display(&ring_of(3)).to_string()),
            Some(Action::Decide { data, .. }) => {
                bench.paxos.decided(bench.now, Decision::Reject(data));
            }
            Some(Action::Done(_)) => break,
            action => panic!("{action:?}"),
        }
    }
    assert_eq!(
        told,
        [
            "Preparing",
            "Reading existing values for CAS precondition",
            "reading data from /127.0.0.1:7000",
            "reading digest from /127.0.0.2:7000",
            "CAS precondition does not match current values",
            "CAS did not apply",
        ]
    );
}

#[test]
fn a_condition_that_is_not_met_proposes_nothing_and_gives_the_data_back() {
    let mut replicas = vec![Replica::default(); 3];
    let mut bench = Bench::write(Consistency::ONE);
    let Some(Action::Decide { data, .. }) = bench.run(&mut replicas, &[0, 1]) else {
        panic!("no decision");
    };
    bench.paxos.decided(bench.now, Decision::Reject(data));
    let end = bench.run(&mut replicas, &[0, 1]);
    let refused = Cell::default();
    assert!(matches!(end, Some(Action::Done(Ok(Outcome::NotApplied(cell)))) if cell == refused));
    let accepted = replicas[0].acceptor.accepted.as_ref().unwrap();
    assert_eq!((accepted.ballot.micros, accepted.mutation), (1000, None));
    assert!(replicas[0].acceptor.committed.is_none());
    assert!(bench.paxos.is_finished());
}

#[test]
fn a_serial_read_puts_itself_in_order_before_it_reads() {
    let mut replicas = vec![Replica::default(); 3];
    replicas[1].cell = Cell {
        micros: 3,
        value: 9,
    };
    let mut bench = Bench::read();
    let end = bench.run(&mut replicas, &[0, 1]);
    assert!(matches!(end, Some(Action::Done(Ok(Outcome::Data(cell)))) if cell.value == 9));
    assert!(replicas[0].acceptor.accepted.is_some());
    assert_eq!(replicas[0].cell.value, 9);
}

#[test]
fn another_coordinator_finishes_what_one_left_that_was_lost_mid_paxos() {
    let mut replicas = vec![Replica::default(); 3];
    let mut lost = Bench::write(Consistency::QUORUM);
    let action = lost.run(&mut replicas, &[0, 1, 2]);
    lost.apply(action, 5);
    // Its proposal reaches one replica, and then it is gone.
    let sent = lost.sent();
    replicas[1].ask(sent[1].2.clone());
    let mut bench = Bench::write(Consistency::QUORUM);
    bench.paxos.start.micros = 2000;
    bench.paxos.prepare();
    let action = bench.run(&mut replicas, &[0, 1]);
    let seen = bench.apply(action, 6);
    assert_eq!(seen.value, 5, "the condition is about what was finished");
    let end = bench.run(&mut replicas, &[0, 1]);
    assert!(matches!(end, Some(Action::Done(Ok(Outcome::Written)))));
    assert_eq!(replicas[0].cell.value, 6);
    assert_eq!(bench.paxos.contentions(), 0);
}

#[test]
fn a_replica_that_missed_the_last_commit_learns_it_first() {
    let mut replicas = vec![Replica::default(); 3];
    let mut bench = Bench::write(Consistency::QUORUM);
    let action = bench.run(&mut replicas, &[0, 1, 2]);
    bench.apply(action, 5);
    bench.run(&mut replicas, &[0, 2]);
    bench.run(&mut replicas, &[0, 2]);
    assert_eq!(replicas[1].cell, Cell::default());
    let mut next = Bench::read();
    next.paxos.start.micros = 2000;
    next.paxos.prepare();
    let end = next.run(&mut replicas, &[0, 1]);
    assert!(matches!(end, Some(Action::Done(Ok(Outcome::Data(cell)))) if cell.value == 5));
    assert_eq!(
        replicas[1]
            .acceptor
            .committed
            .as_ref()
            .unwrap()
            .ballot
            .micros,
        1000
    );
}

#[test]
fn a_replica_that_cannot_learn_the_last_commit_has_the_round_begin_again() {
    let mut bench = Bench::read();
    let commit = Proposal {
        ballot: ballot(10),
        mutation: Some(Cell::default()),
    };
    let sent = bench.sent();
    let behind = Promise {
        promised: Ok(()),
        accepted: None,
        committed: Some(commit),
    };
    bench.reply(&sent[0], Reply::Promise(behind));
    bench.reply(&sent[1], promised());
    let commit = bench.sent();
    assert!(matches!(
        commit[..],
        [(NodeId(1), _, Request::Commit { .. })]
    ));
    let reason = FailureReason::UNKNOWN;
    bench
        .paxos
        .handle_failure(bench.now, commit[0].0, commit[0].1, reason);
    bench.after(BACK_OFF);
    let sent = bench.sent();
    assert!(matches!(sent[0].2, Request::Prepare { .. }));
    assert_eq!(bench.paxos.contentions(), 0);
}

#[test]
fn refused_promises_back_off_and_go_past_the_ballot_that_won() {
    let mut bench = Bench::write(Consistency::QUORUM);
    let sent = bench.sent();
    bench.reply(&sent[0], refused(ballot(5_000_000)));
    bench.reply(&sent[1], promised());
    assert_eq!(bench.paxos.contentions(), 0, "two may still promise");
    bench.reply(&sent[2], refused(ballot(4_000_000)));
    assert_eq!(bench.paxos.contentions(), 1);
    assert!(bench.sent().is_empty());
    let until = bench.paxos.poll_timeout().unwrap();
    assert!(until <= bench.now + BACK_OFF);
    bench.after(BACK_OFF);
    let sent = bench.sent();
    assert_eq!(sent.len(), 3);
    assert!(bench.paxos.ballot().micros == 5_000_001);
}

#[test]
fn contention_for_too_long_is_a_timeout_with_its_count() {
    let mut bench = Bench::write(Consistency::QUORUM);
    for round in 0..100 {
        let sent = bench.sent();
        if sent.is_empty() {
            break;
        }
        let won = ballot(10_000_000 * (round + 1));
        bench.reply(&sent[0], refused(won));
        bench.reply(&sent[1], refused(won));
        bench.after(BACK_OFF);
        if bench.paxos.end.is_some() {
            break;
        }
    }
    let failure = bench.failure();
    assert_eq!(failure, cas_timeout(0, 2, 10));
    assert!(bench.paxos.is_finished());
}

fn proposing(bench: &mut Bench) -> Vec<Sent> {
    let mut replicas = vec![Replica::default(); 3];
    let action = bench.run(&mut replicas, &[0, 1, 2]);
    bench.apply(action, 5);
    bench.sent()
}

#[test]
fn a_proposal_that_all_refuse_is_tried_again() {
    let mut bench = Bench::write(Consistency::QUORUM);
    for sent in &proposing(&mut bench) {
        bench.reply(sent, Reply::Accepted(Err(ballot(9000))));
    }
    assert_eq!(bench.paxos.contentions(), 1);
    bench.after(BACK_OFF);
    assert!(matches!(bench.sent()[0].2, Request::Prepare { ballot, .. } if ballot.micros > 9000));
}

#[test]
fn a_proposal_that_a_minority_accepts_is_unknown() {
    let mut bench = Bench::write(Consistency::QUORUM);
    let sent = proposing(&mut bench);
    bench.reply(&sent[0], Reply::Accepted(Ok(())));
    bench.reply(&sent[1], Reply::Accepted(Err(ballot(9000))));
    assert!(bench.sent().is_empty(), "the third may still accept");
    bench.reply(&sent[2], Reply::Accepted(Err(ballot(9000))));
    assert_eq!(
        bench.failure(),
        Failure::CasWriteUnknown {
            level: SERIAL,
            received: 1,
            required: 2,
        }
    );
}

#[test]
fn a_failure_to_accept_is_unknown_for_it_may_have_been_accepted() {
    let mut bench = Bench::write(Consistency::QUORUM);
    let sent = proposing(&mut bench);
    bench.reply(&sent[0], Reply::Accepted(Err(ballot(9000))));
    bench.reply(&sent[1], Reply::Accepted(Err(ballot(9000))));
    // Garbage: no answer to a proposal.
    bench.reply(&sent[2], Reply::Data(Cell::default()));
    let expected = Failure::CasWriteUnknown {
        level: SERIAL,
        received: 0,
        required: 2,
    };
    assert_eq!(bench.failure(), expected);
}

#[test]
fn timeouts_count_as_cassandra_counts_them_in_each_stage() {
    let mut bench = Bench::write(Consistency::QUORUM);
    let sent = bench.sent();
    bench.reply(&sent[0], promised());
    bench.after(Duration::from_secs(2));
    assert_eq!(bench.failure(), cas_timeout(1, 2, 0));
    // Of a proposal: answers, of all that were asked.
    let mut bench = Bench::write(Consistency::QUORUM);
    let sent = proposing(&mut bench);
    bench.reply(&sent[2], Reply::Accepted(Err(ballot(9000))));
    bench.after(Duration::from_secs(2));
    assert_eq!(bench.failure(), cas_timeout(1, 3, 0));
    // Of the commit: a simple write at its own level, for it is decided.
    let mut replicas = vec![Replica::default(); 3];
    let mut bench = Bench::write(Consistency::ALL);
    let action = bench.run(&mut replicas, &[0, 1, 2]);
    bench.apply(action, 5);
    assert!(bench.run(&mut replicas, &[0, 1]).is_none());
    bench.after(Duration::from_secs(2));
    assert_eq!(
        bench.failure(),
        Failure::WriteTimeout {
            level: Consistency::ALL,
            received: 2,
            required: 3,
            write_type: WriteType::SIMPLE,
            contentions: None,
        }
    );
    let hint = bench.paxos.poll_action(bench.now);
    assert!(matches!(hint, Some(Action::Hint { to: NodeId(2), .. })));
    assert!(bench.paxos.poll_action(bench.now).is_none());
    assert!(bench.paxos.is_finished());
}

#[test]
fn a_serial_read_that_times_out_at_its_rounds_is_a_read_timeout() {
    let mut bench = Bench::read();
    assert_eq!(bench.sent().len(), 3);
    bench.after(Duration::from_secs(2));
    assert_eq!(
        bench.failure(),
        Failure::ReadTimeout {
            level: SERIAL,
            received: 0,
            required: 2,
            data_present: false,
        }
    );
    assert!(bench.paxos.is_finished());
}

#[test]
fn failures_to_promise_end_a_round_at_once() {
    let mut bench = Bench::write(Consistency::QUORUM);
    let sent = bench.sent();
    let reason = FailureReason::INCOMPATIBLE_SCHEMA;
    for sent in &sent[..2] {
        bench
            .paxos
            .handle_failure(bench.now, sent.0, sent.1, reason);
    }
    assert_eq!(
        bench.failure(),
        Failure::WriteFailure {
            level: SERIAL,
            received: 0,
            required: 2,
            write_type: WriteType::CAS,
            reasons: [(NodeId(0), reason), (NodeId(1), reason)]
                .into_iter()
                .collect(),
        }
    );
}

#[test]
fn replies_that_come_twice_late_or_from_others_count_for_nothing() {
    let mut bench = Bench::write(Consistency::QUORUM);
    let sent = bench.sent();
    bench.reply(&sent[0], promised());
    bench.reply(&sent[0], promised());
    let stranger = (NodeId(0), sent[1].1, sent[1].2.clone());
    bench.reply(&stranger, promised());
    assert!(bench.sent().is_empty(), "one promise is no majority");
    bench.reply(&sent[1], promised());
    let reads = bench.sent();
    assert!(matches!(reads[0].2, Request::Read { .. }));
    bench.reply(&sent[2], refused(ballot(9_000_000)));
    assert_eq!(bench.paxos.contentions(), 0);
    bench
        .paxos
        .decided(bench.now, Decision::Reject(Cell::default()));
    assert!(bench.sent().is_empty(), "nobody asked for a decision");
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let mut bench = Bench::write(Consistency::QUORUM);
    let sent = bench.sent();
    let late = bench.now + Duration::from_millis(500);
    bench.paxos.handle_timeout(late);
    bench.reply(&sent[0], refused(ballot(1001)));
    bench.reply(&sent[1], refused(ballot(1001)));
    assert!(bench.paxos.poll_timeout().unwrap() >= late);
    assert!(bench.sent().is_empty());
    bench.now = late + BACK_OFF;
    bench.after(Duration::ZERO);
    assert!(bench.paxos.ballot().micros >= 501_000);
}

#[test]
fn too_few_replicas_are_unavailable_before_anything_is_proposed() {
    let failure = plan_on(0, &[0], SERIAL, Some(Consistency::ONE)).unwrap_err();
    let unavailable = |level, required, alive| Failure::Unavailable {
        level,
        required,
        alive,
        data_centre: None,
    };
    assert_eq!(failure, unavailable(SERIAL, 2, 1));
    let failure = plan_on(0, &[0, 1], SERIAL, Some(Consistency::ALL)).unwrap_err();
    assert_eq!(failure, unavailable(Consistency::ALL, 3, 2));
}

#[test]
fn local_serial_takes_a_majority_of_this_data_centre() {
    let (ring, replication) = two_centres(3, 3);
    let vantage = Vantage {
        ring: &ring,
        local: NodeId(4),
        alive: &NodeSet::first(6),
    };
    let placement = ring.place(&replication);
    let plan = |level| {
        let commit = Some(Consistency::EACH_QUORUM);
        PaxosPlan::new(
            &vantage,
            &placement,
            Token(0),
            level,
            commit,
            Speculation::Never,
        )
        .unwrap()
    };
    let local = plan(Consistency::LOCAL_SERIAL);
    assert_eq!(local.contacts.as_slice(), [NodeId(4), NodeId(3), NodeId(5)]);
    assert_eq!(local.required, 2);
    assert_eq!(local.read.level, Consistency::LOCAL_QUORUM);
    assert_eq!(local.finish.level, Consistency::LOCAL_QUORUM);
    assert_eq!((plan(SERIAL).contacts.len(), plan(SERIAL).required), (6, 4));
}

#[test]
fn a_conditional_write_is_small() {
    assert!(
        size_of::<Paxos<Register>>() <= 800,
        "{}",
        size_of::<Paxos<Register>>()
    );
}
