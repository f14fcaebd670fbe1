//! The machines that a node runs, and for whom.

use std::time::Instant;

use helenus_coordinator::{
    Batch, BatchReplay, Counter, FullRead, HintReplay, Machine, NodeId, Paxos, RangeRead, Read,
    Write,
};

use crate::bugs::Falsifier;
use crate::reconcile::Rows;
use crate::replica::Asked;

/// One machine at work.
#[derive(Debug)]
pub(crate) struct Running {
    /// The machine.
    pub(crate) machine: Kind,
    /// For whom.
    pub(crate) purpose: Purpose,
    /// When it is woken, by its node's clock.
    pub(crate) armed: Option<Instant>,
    /// What a bug does to it, if it works for a client.
    pub(crate) falsifier: Option<Falsifier>,
}

/// Who waits for a machine.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// A client.
    Client {
        /// What is asked, as the index of its record.
        record: usize,
        /// Who asks.
        client: usize,
    },
    /// Another node, or this one, for which it leads an update of counters.
    Leading(Asked),
    /// The node itself, which replays a batch.
    Batch(u128),
    /// The node itself, which replays the hints of another.
    Hints(NodeId),
    /// Nobody any more.
    Nobody,
}

/// A machine of the coordinator crate.
#[derive(Debug)]
pub(crate) enum Kind {
    /// A read of a partition.
    Read(Read<Rows>),
    /// The same with full answers only.
    FullRead(FullRead<Rows>),
    /// A read of a range of tokens.
    Range(Box<RangeRead<Rows>>),
    /// A write.
    Write(Write<Rows>),
    /// Several writes.
    Batch(Batch<Rows>),
    /// An update of counters, forwarded or led.
    Counter(Counter<Rows>),
    /// A conditional write or a serial read.
    Paxos(Box<Paxos<Rows>>),
    /// Hints on their way.
    HintReplay(HintReplay<Rows>),
    /// A batch once more.
    BatchReplay(BatchReplay<Rows>),
}

impl Kind {
    /// What all of them are.
    pub(crate) fn as_machine(&mut self) -> &mut dyn Machine<Rows> {
        match self {
            Self::Read(machine) => machine,
            Self::FullRead(machine) => machine,
            Self::Range(machine) => machine.as_mut(),
            Self::Write(machine) => machine,
            Self::Batch(machine) => machine,
            Self::Counter(machine) => machine,
            Self::Paxos(machine) => machine.as_mut(),
            Self::HintReplay(machine) => machine,
            Self::BatchReplay(machine) => machine,
        }
    }
}
