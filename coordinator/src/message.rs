//! What a coordinator asks of replicas, and what they answer: also the vocabulary between nodes.

use std::time::Duration;

use helenus_core::Consistency;

use crate::failure::FailureReason;
use crate::model::Model;
use crate::node::NodeId;

/// What one replica is asked.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Request<M: Model> {
    /// To read; answered by [`Reply::Data`], or by [`Reply::Digest`].
    Read {
        /// What.
        command: M::Command,
        /// Whether the digest of the data is enough.
        digest: bool,
    },
    /// To apply a mutation; answered by [`Reply::Done`].
    Write {
        /// What.
        mutation: M::Mutation,
    },
    /// To apply what a read found missing; answered by [`Reply::Done`]. Nobody keeps a hint of it.
    Repair {
        /// What.
        mutation: M::Mutation,
    },
    /// To lead an update of counters: apply it, and replicate what came of it to the other replicas at this level;
    /// answered by [`Reply::Done`] when they have it.
    CounterWrite {
        /// The update.
        mutation: M::Mutation,
        /// How many replicas must have it before the answer.
        consistency: Consistency,
        /// How long that may take.
        timeout: Duration,
    },
    /// To keep a batch until it is removed, and to replay it otherwise; answered by [`Reply::Done`].
    StoreBatch {
        /// Whose batch it is.
        id: u128,
        /// What is in it.
        mutations: Vec<M::Mutation>,
    },
    /// To forget a batch that was applied; answered by [`Reply::Done`].
    RemoveBatch {
        /// Which.
        id: u128,
    },
    /// To promise to accept no proposal below the ballot; answered by [`Reply::Promise`].
    Prepare {
        /// What the round is about.
        partition: M::Partition,
        /// The round.
        ballot: Ballot,
    },
    /// To accept a proposal, unless a higher ballot was promised; answered by [`Reply::Accepted`].
    Propose {
        /// What the round is about.
        partition: M::Partition,
        /// What is proposed.
        proposal: Proposal<M>,
    },
    /// To apply a proposal that a majority accepted; answered by [`Reply::Done`].
    Commit {
        /// What the round was about.
        partition: M::Partition,
        /// What was agreed on.
        proposal: Proposal<M>,
    },
    /// To drop a table's rows; answered by [`Reply::Done`].
    Truncate {
        /// The table.
        table: u128,
    },
}

/// What a replica answers.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply<M: Model> {
    /// Data in full.
    Data(M::Data),
    /// The digest of the data.
    Digest(M::Digest),
    /// It is done.
    Done,
    /// What a replica says to a ballot.
    Promise(Promise<M>),
    /// Whether a proposal was accepted; if not, which higher ballot was promised.
    Accepted(Result<(), Ballot>),
}

impl<M: Model> Reply<M> {
    /// What is expected of a replica that has nothing to say but that it has done what it was asked.
    pub(crate) fn done(self) -> Result<(), FailureReason> {
        match self {
            Reply::Done => Ok(()),
            _ => Err(FailureReason::UNKNOWN),
        }
    }
}

/// A round of Paxos: later ones are greater, and no two coordinators use the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ballot {
    /// Microseconds since 1970 by the coordinator's clock: the timestamp of what the round writes.
    pub micros: i64,
    /// The coordinator.
    pub node: NodeId,
    /// Tells rounds apart that one coordinator begins in the same microsecond.
    pub random: u16,
}

/// What a round of Paxos proposes.
#[derive(Debug, Clone)]
pub struct Proposal<M: Model> {
    /// The round.
    pub ballot: Ballot,
    /// The change; none if nothing but the order of rounds is agreed on.
    pub mutation: Option<M::Mutation>,
}

/// What a replica says to a ballot.
#[derive(Debug, Clone)]
pub struct Promise<M: Model> {
    /// Whether the promise was made; if not, which higher ballot was promised before.
    pub promised: Result<(), Ballot>,
    /// The last proposal that it accepted and doesn't know to be committed.
    pub accepted: Option<Proposal<M>>,
    /// The last proposal that it knows to be committed.
    pub committed: Option<Proposal<M>>,
}
