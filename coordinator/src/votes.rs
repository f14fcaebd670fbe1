//! Nodes that are all asked the same, and what each has said: once, whatever it says later.

use smallvec::SmallVec;

use crate::failure::{FailureReason, FailureReasonMap};
use crate::node::NodeId;

/// What a node has said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vote {
    /// Nothing: it wasn't asked.
    Unasked,
    /// Nothing yet.
    Awaited,
    /// Yes.
    Yes,
    /// No.
    No,
    /// Something else, or that it can't.
    Failed(FailureReason),
}

/// The nodes and their votes, by the order in which they are asked.
#[derive(Debug)]
pub(crate) struct Votes {
    votes: SmallVec<[(NodeId, Vote); 5]>,
    asked: u16,
}

impl Votes {
    pub(crate) fn new(nodes: impl IntoIterator<Item = NodeId>) -> Votes {
        let nodes = nodes.into_iter();
        Votes {
            votes: nodes.map(|node| (node, Vote::Unasked)).collect(),
            asked: 0,
        }
    }

    /// Whom to ask next, and the number by which the answer is told.
    pub(crate) fn ask(&mut self) -> Option<(u32, NodeId)> {
        let (node, vote) = self.votes.get_mut(usize::from(self.asked))?;
        *vote = Vote::Awaited;
        let number = u32::from(self.asked);
        self.asked += 1;
        Some((number, *node))
    }

    /// Takes a vote. False if it doesn't count: nobody was asked by this number, another one was, or it has said before.
    pub(crate) fn take(&mut self, number: u32, from: NodeId, said: Vote) -> bool {
        match self.votes.get_mut(number as usize) {
            Some((node, vote)) if *node == from && *vote == Vote::Awaited => {
                *vote = said;
                true
            }
            _ => false,
        }
    }

    /// Whether all have been asked.
    pub(crate) fn is_asked(&self) -> bool {
        self.asked == self.len()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> u16 {
        self.votes.len() as u16
    }

    /// How many said yes.
    pub(crate) fn yes(&self) -> u16 {
        self.count(|vote| vote == Vote::Yes)
    }

    /// How many said yes or no.
    pub(crate) fn answered(&self) -> u16 {
        self.count(|vote| matches!(vote, Vote::Yes | Vote::No))
    }

    /// How many may yet say something.
    pub(crate) fn open(&self) -> u16 {
        self.count(|vote| matches!(vote, Vote::Unasked | Vote::Awaited))
    }

    /// Who failed, and why.
    pub(crate) fn failures(&self) -> FailureReasonMap {
        let failed = |(node, vote): &(NodeId, Vote)| match vote {
            Vote::Failed(reason) => Some((*node, *reason)),
            _ => None,
        };
        self.votes.iter().filter_map(failed).collect()
    }

    fn count(&self, what: impl Fn(Vote) -> bool) -> u16 {
        self.votes.iter().filter(|(_, vote)| what(*vote)).count() as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_has_one_vote_and_only_when_it_was_asked() {
        let mut votes = Votes::new([NodeId(4), NodeId(2)]);
        assert!(!votes.take(0, NodeId(4), Vote::Yes));
        assert_eq!(votes.ask(), Some((0, NodeId(4))));
        assert!(!votes.take(0, NodeId(2), Vote::Yes));
        assert!(votes.take(0, NodeId(4), Vote::No));
        assert!(!votes.take(0, NodeId(4), Vote::Yes));
        assert_eq!(votes.ask(), Some((1, NodeId(2))));
        assert!(votes.take(1, NodeId(2), Vote::Failed(FailureReason::TIMEOUT)));
        assert!(!votes.take(9, NodeId(2), Vote::Yes));
        assert_eq!(votes.ask(), None);
        assert_eq!((votes.yes(), votes.answered(), votes.open()), (0, 1, 0));
        assert_eq!(
            votes.failures().as_slice(),
            [(NodeId(2), FailureReason::TIMEOUT)]
        );
    }
}
