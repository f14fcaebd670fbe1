//! The request path of a replicated store in Cassandra's manner, as state machines without I/O.
//!
//! A request in a coordinator's hands is a [`Machine`]: it says whom to send what ([`Action::Send`]) and, once, what to
//! answer ([`Action::Done`]); it is told what replicas answered, that they failed, and that time has passed. There is no
//! socket, timer, future, callback, thread or lock in here, and no randomness: who owns those drives the machines. This
//! node's own replica is asked like any other.
//!
//! What is read and written is the caller's [`Model`]. Where it lives is a [`Ring`] of nodes with their tokens, of which
//! a keyspace's [`Replication`] makes a [`Placement`]; a plan ([`ReadPlan`], [`WritePlan`]) says who is asked and how
//! many must answer, or that too few are alive.
//!
//! # The loop
//!
//! Numbers on three replicas, read at QUORUM:
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use helenus_coordinator::{
//!     Action, Failure, Machine, Model, Node, NodeId, NodeSet, Outcome, Read, ReadOptions, ReadPlan, ReadRepair,
//!     Reconciled, Replication, Reply, Request, Ring, Speculation, Token, TokenRange, Vantage,
//! };
//! use helenus_core::Consistency;
//!
//! /// A number under a key, and when it was written: the later one wins.
//! #[derive(Debug, Clone, Copy, PartialEq, Eq)]
//! struct Numbers;
//!
//! impl Model for Numbers {
//!     type Command = u64;
//!     type Mutation = (u64, (i64, u32));
//!     type Partition = u64;
//!     type Data = (i64, u32);
//!     type Digest = (i64, u32);
//!
//!     fn digest(data: &Self::Data) -> Self::Digest {
//!         *data
//!     }
//!     fn reconcile(key: &u64, answers: &[(NodeId, Self::Data)]) -> Reconciled<Self> {
//!         let data = answers.iter().map(|(_, data)| *data).max().unwrap_or_default();
//!         let behind = answers.iter().filter(|(_, known)| *known != data);
//!         Reconciled {
//!             data,
//!             repairs: behind.map(|(node, _)| (*node, (*key, data))).collect(),
//!             short: Vec::new(),
//!         }
//!     }
//!     fn narrow(key: &u64, _: TokenRange, _: u32) -> u64 {
//!         *key
//!     }
//!     fn rows(_: &Self::Data) -> u32 {
//!         1
//!     }
//!     fn append(_: &mut Self::Data, _: Self::Data) {}
//! }
//!
//! /// What a node answers. A network would carry it there and back; here everybody is in one place.
//! fn ask(store: &mut (i64, u32), request: Request<Numbers>) -> Reply<Numbers> {
//!     match request {
//!         Request::Read { digest: false, .. } => Reply::Data(*store),
//!         Request::Read { digest: true, .. } => Reply::Digest(*store),
//!         Request::Repair { mutation: (_, newer) } => {
//!             *store = newer.max(*store);
//!             Reply::Done
//!         }
//!         other => unreachable!("a read sends no {other:?}"),
//!     }
//! }
//!
//! /// Drives a machine to its outcome.
//! fn drive(
//!     mut machine: impl Machine<Numbers>,
//!     stores: &mut [(i64, u32)],
//! ) -> Result<Outcome<Numbers>, Failure> {
//!     loop {
//!         let now = Instant::now();
//!         match machine.poll_action(now) {
//!             Some(Action::Send { to, call, request }) => {
//!                 let reply = ask(&mut stores[usize::from(to.0)], request);
//!                 machine.handle_reply(now, to, call, reply);
//!             }
//!             Some(Action::Done(outcome)) => return outcome,
//!             Some(_) => {}
//!             // Answers are on their way: here is where to wait, no longer than until `poll_timeout`.
//!             None => machine.handle_timeout(now),
//!         }
//!     }
//! }
//!
//! let node = |number: u8| Node {
//!     host_id: number.into(),
//!     address: ([127, 0, 0, number], 7000).into(),
//!     data_centre: "datacenter1".into(),
//!     rack: "rack1".into(),
//!     tokens: vec![Token(1000 * i64::from(number))],
//! };
//! let ring = Ring::new(vec![node(1), node(2), node(3)]);
//! let placement = ring.place(&Replication::Simple { factor: 3 });
//! let vantage = Vantage { ring: &ring, local: NodeId(0), alive: &NodeSet::first(3) };
//! let plan = ReadPlan::new(&vantage, &placement, Token(7), Consistency::QUORUM, Speculation::Never)?;
//! let now = Instant::now();
//! let options = ReadOptions {
//!     deadline: now + Duration::from_secs(5),
//!     repair: ReadRepair::Blocking,
//!     traced: false,
//! };
//!
//! // The second node missed the latest write.
//! let mut stores = [(20, 2), (10, 1), (20, 2)];
//! let outcome = drive(Read::new(now, 7, plan, options), &mut stores)?;
//! assert!(matches!(outcome, Outcome::Data((20, 2))));
//! assert_eq!(stores[1], (20, 2)); // It has been repaired.
//! # Ok::<(), Failure>(())
//! ```
//!
//! # What holds
//!
//! * Whatever replicas answer, in whatever order, twice, late or never, and whatever the clock does: nothing panics, and
//!   the client gets one answer, at the latest at the request's deadline.
//! * A read's answer is one that as many replicas have as its level needs, when it is given.
//! * A write that is answered as written was confirmed by as many replicas as its level needs; who misses it gets a hint.
//! * Conditional writes and serial reads of a partition happen one after the other, whatever the network repeats, loses or
//!   reorders, and whichever coordinator is lost in between; provided that replicas keep what [`Acceptor`] says.
//! * Up to five replicas are remembered without allocation; reading where they agree allocates nothing.

#![cfg_attr(
    test,
    allow(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "tests may read clocks"
    )
)]

mod acceptor;
mod acks;
mod batch;
mod calls;
mod clock;
pub mod consistency;
mod counter;
mod event;
pub mod failure;
mod full_read;
mod hints;
pub mod machine;
pub mod message;
pub mod model;
pub mod node;
mod options;
mod paxos;
pub mod plan;
mod random;
mod range;
mod read;
mod read_repair;
pub mod ring;
pub mod speculation;
mod steps;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod truncate;
mod view;
mod votes;
mod write;

pub use acceptor::{Acceptor, Answer, Keep};
pub use batch::{Batch, BatchKind, BatchLog, BatchReplay, batch_log_nodes};
pub use counter::{Counter, CounterPlan};
pub use event::Event;
pub use failure::{Failure, FailureReason, FailureReasonMap, TruncateFailure};
pub use full_read::FullRead;
pub use hints::{HintId, HintLimits, HintRefused, HintReplay, Hints, HintsCorrupt};
pub use machine::{Action, CallId, Machine, Outcome};
pub use message::{Ballot, Promise, Proposal, Reply, Request};
pub use model::{Model, Reconciled};
pub use node::{DataCentre, NodeId, NodeSet, Nodes};
pub use options::{ReadOptions, ReadRepair};
pub use paxos::{Decision, Paxos, PaxosPlan, PaxosStep, Start};
pub use plan::{ReadPlan, Target, Vantage, WritePlan};
pub use range::{RangeOptions, RangePlan, RangeRead};
pub use read::Read;
pub use ring::{Node, Placement, Replication, Ring, Token, TokenRange};
pub use speculation::{Latencies, Speculation, SpeculativeRetry, Wait};
pub use truncate::Truncate;
pub use view::{view_batch, view_pair};
pub use write::Write;
