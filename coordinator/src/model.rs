//! What the machines coordinate: the caller's commands, mutations and data, of which they know no more than this.

use std::fmt::Debug;

use crate::node::NodeId;
use crate::ring::TokenRange;

/// A store whose reads and writes are coordinated. The type itself is a marker and never made.
pub trait Model: Copy + Eq + Debug + 'static {
    /// A read: of one partition, or of the partitions in a range of tokens. Cloned for each replica that is asked.
    type Command: Clone + Debug;
    /// A change of one partition, applied whole. Cloned for each replica that it goes to.
    type Mutation: Clone + Debug;
    /// A table and a key: what a round of Paxos is about.
    type Partition: Clone + Debug;
    /// A replica's full answer to a command, with whatever it takes to reconcile it: tombstones and timestamps.
    type Data: Debug;
    /// What stands for data in a comparison.
    type Digest: Copy + Eq + Debug;

    /// The digest of a full answer: what the replica would have said had it been asked for the digest alone.
    fn digest(data: &Self::Data) -> Self::Digest;

    /// Makes one answer of several full ones to the same command, each from another node.
    ///
    /// Any order of the answers gives the same data.
    fn reconcile(command: &Self::Command, answers: &[(NodeId, Self::Data)]) -> Reconciled<Self>;

    /// The command for the tokens of this range alone, and for no more than this number of live rows.
    fn narrow(command: &Self::Command, range: TokenRange, rows: u32) -> Self::Command;

    /// How many live rows there are.
    fn rows(data: &Self::Data) -> u32;

    /// Whether the data end before what the command asks for does, for replicas give no more at once. Who wants what
    /// follows reads on with another command. None do, unless the model says otherwise.
    fn is_cut(_data: &Self::Data) -> bool {
        false
    }

    /// Adds what the same command gives beyond where `data` ends: the data of the next tokens, or what a replica
    /// answered when it was asked [further](Reconciled::short). The last partition may go on.
    fn append(data: &mut Self::Data, next: Self::Data);
}

/// What several full answers to one command come to.
#[derive(Debug)]
pub struct Reconciled<M: Model> {
    /// The newest of all of them.
    pub data: M::Data,
    /// What nodes that answered lack of it; a node may be there several times, once a partition.
    pub repairs: Vec<(NodeId, M::Mutation)>,
    /// Nodes whose answers were cut by the command's limit before as many rows as it asks for were seen to be live by
    /// all, each with what it is to be asked further. While there are any, `data` and `repairs` mean nothing.
    pub short: Vec<(NodeId, M::Command)>,
}
