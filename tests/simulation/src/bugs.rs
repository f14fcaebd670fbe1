//! Five bugs made on purpose, to show that the checkers would find them. Each stands between the machines and the cluster,
//! and falsifies what they are told; the machines themselves have none.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use helenus_coordinator::{CallId, Model, NodeId, Reply, Request};

use crate::reconcile::Rows;

/// A bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bug {
    /// A reply that comes twice is counted as two replicas' replies.
    DuplicateReplyCounted,
    /// Whatever digests replicas answer, they are taken to be those of the data.
    DigestMismatchIgnored,
    /// What a replica accepted in an earlier round isn't finished.
    AcceptedProposalForgotten,
    /// An answer that a limit cut is taken for all that the replica has.
    ShortReadUnprotected,
    /// A node that starts again has lost the hints that it kept.
    HintLostAtRestart,
}

impl Bug {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::DuplicateReplyCounted,
        Self::DigestMismatchIgnored,
        Self::AcceptedProposalForgotten,
        Self::ShortReadUnprotected,
        Self::HintLostAtRestart,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::DuplicateReplyCounted => "duplicate-reply-counted",
            Self::DigestMismatchIgnored => "digest-mismatch-ignored",
            Self::AcceptedProposalForgotten => "accepted-proposal-forgotten",
            Self::ShortReadUnprotected => "short-read-unprotected",
            Self::HintLostAtRestart => "hint-lost-at-restart",
        }
    }
}

impl fmt::Display for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Bug {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|bug| bug.name() == text);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("no bug {text}; there are {names}")
        })
    }
}

/// A reply on its way to a machine.
pub(crate) type Told = (NodeId, CallId, Reply<Rows>);

/// What one machine asked and was told, for a bug to falsify.
#[derive(Debug, Default)]
pub(crate) struct Falsifier {
    calls: BTreeMap<CallId, Call>,
    digest: Option<u64>,
    held: Vec<(NodeId, CallId)>,
}

#[derive(Debug)]
struct Call {
    to: NodeId,
    wants: Wants,
    answered: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wants {
    Data,
    Digest,
    Done,
    Vote,
}

impl Falsifier {
    /// The machine asks a node.
    pub(crate) fn asks(&mut self, call: CallId, to: NodeId, request: &Request<Rows>) {
        let wants = match request {
            Request::Read { digest: false, .. } => Wants::Data,
            Request::Read { digest: true, .. } => Wants::Digest,
            Request::Prepare { .. } | Request::Propose { .. } => Wants::Vote,
            _ => Wants::Done,
        };
        let answered = false;
        self.calls.insert(
            call,
            Call {
                to,
                wants,
                answered,
            },
        );
    }

    /// What the machine is told instead of a reply.
    pub(crate) fn falsify(&mut self, bug: Bug, (from, call, reply): Told) -> Vec<Told> {
        match (bug, reply) {
            (Bug::DuplicateReplyCounted, reply) => self.counted_twice((from, call, reply)),
            (Bug::DigestMismatchIgnored, Reply::Data(data)) => {
                let digest = *self.digest.get_or_insert(Rows::digest(&data));
                let held = std::mem::take(&mut self.held).into_iter();
                let held = held.map(|(from, call)| (from, call, Reply::Digest(digest)));
                std::iter::once((from, call, Reply::Data(data)))
                    .chain(held)
                    .collect()
            }
            (Bug::DigestMismatchIgnored, Reply::Digest(_)) => match self.digest {
                Some(digest) => vec![(from, call, Reply::Digest(digest))],
                None => {
                    self.held.push((from, call));
                    Vec::new()
                }
            },
            (Bug::AcceptedProposalForgotten, Reply::Promise(mut promise)) => {
                promise.accepted = None;
                vec![(from, call, Reply::Promise(promise))]
            }
            (Bug::ShortReadUnprotected, Reply::Data(mut data)) => {
                data.next = None;
                vec![(from, call, Reply::Data(data))]
            }
            (_, reply) => vec![(from, call, reply)],
        }
    }

    /// The second time, a reply is told as that of a node that hasn't answered.
    fn counted_twice(&mut self, (from, call, reply): Told) -> Vec<Told> {
        let Some(known) = self.calls.get_mut(&call) else {
            return vec![(from, call, reply)];
        };
        if !std::mem::replace(&mut known.answered, true) {
            return vec![(from, call, reply)];
        }
        let mut open = self.calls.iter_mut().filter(|(_, call)| !call.answered);
        let other = open.find_map(|(id, call)| {
            let told = match (&reply, call.wants) {
                (Reply::Data(data), Wants::Digest) => Reply::Digest(Rows::digest(data)),
                (Reply::Digest(digest), Wants::Digest) => Reply::Digest(*digest),
                (Reply::Data(data), Wants::Data) => Reply::Data(data.clone()),
                (Reply::Done, Wants::Done) => Reply::Done,
                _ => return None,
            };
            call.answered = true;
            Some((call.to, *id, told))
        });
        other.into_iter().collect()
    }
}
