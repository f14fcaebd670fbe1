//! Which stretches a range of tokens is read in: neighbours that enough of the same replicas hold are one. Answers to
//! Cassandra's `ReplicaPlanIterator` and `ReplicaPlanMerger`.

use helenus_core::Consistency;

use crate::failure::Failure;
use crate::node::{NodeId, Nodes};
use crate::plan::{ReadPlan, Vantage};
use crate::ring::{Placement, Replication, TokenRange};
use crate::speculation::Speculation;

/// Whom a read of a range goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangePlan {
    /// One at least.
    pub(super) pieces: Vec<Piece>,
}

/// A stretch of tokens that the same replicas are asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) range: TokenRange,
    /// How many of the ring's ranges it spans.
    pub(super) ranges: u32,
    /// A failure counts when the stretch's turn comes: those before it may be enough.
    pub(super) plan: Result<ReadPlan, Failure>,
}

impl RangePlan {
    /// The plan for a range of tokens. No replica is asked on speculation.
    #[must_use]
    pub fn new(
        vantage: &Vantage<'_>,
        placement: &Placement,
        range: TokenRange,
        level: Consistency,
    ) -> RangePlan {
        let replication = placement.replication();
        let plan = |replicas: &[NodeId]| {
            ReadPlan::of(vantage, replication, replicas, level, Speculation::Never)
        };
        let mut pieces: Vec<(Piece, Nodes)> = Vec::new();
        for (range, replicas) in placement.split(range) {
            if let Some((last, shared)) = pieces.last_mut()
                && let Some((merged, both)) =
                    merge(vantage, replication, level, last, shared, replicas)
            {
                last.range.last = range.last;
                last.ranges += 1;
                last.plan = Ok(merged);
                *shared = both;
                continue;
            }
            let piece = Piece {
                range,
                ranges: 1,
                plan: plan(replicas),
            };
            pieces.push((piece, Nodes::from_slice(replicas)));
        }
        let mut pieces: Vec<Piece> = pieces.into_iter().map(|(piece, _)| piece).collect();
        if pieces.is_empty() {
            // Nobody has it.
            pieces.push(Piece {
                range,
                ranges: 1,
                plan: plan(&[]),
            });
        }
        RangePlan { pieces }
    }

    /// How many of the ring's ranges it spans.
    #[must_use]
    pub fn ranges(&self) -> u32 {
        self.pieces.iter().map(|piece| piece.ranges).sum()
    }

    /// How many stretches it is read in: each is a request to its replicas.
    #[must_use]
    pub fn stretches(&self) -> usize {
        self.pieces.len()
    }

    /// Whether one node alone is asked, and which.
    #[must_use]
    pub fn only_node(&self) -> Option<NodeId> {
        let mut only = None;
        for piece in &self.pieces {
            let plan = piece.plan.as_ref().ok()?;
            let [node] = plan.candidates.get(..usize::from(plan.contacts))? else {
                return None;
            };
            if *only.get_or_insert(*node) != *node {
                return None;
            }
        }
        only
    }
}

/// One plan for a stretch and what follows it, if they share enough replicas, and if that doesn't ask another data centre
/// where neither did.
fn merge(
    vantage: &Vantage<'_>,
    replication: &Replication,
    level: Consistency,
    last: &Piece,
    shared: &Nodes,
    replicas: &[NodeId],
) -> Option<(ReadPlan, Nodes)> {
    let left = last.plan.as_ref().ok()?;
    let both = shared.iter().copied();
    let both: Nodes = both.filter(|node| replicas.contains(node)).collect();
    let merged = ReadPlan::of(vantage, replication, &both, level, Speculation::Never).ok()?;
    if asks_elsewhere(vantage, &merged) && !asks_elsewhere(vantage, left) {
        let right = ReadPlan::of(vantage, replication, replicas, level, Speculation::Never).ok()?;
        if !asks_elsewhere(vantage, &right) {
            return None;
        }
    }
    Some((merged, both))
}

fn asks_elsewhere(vantage: &Vantage<'_>, plan: &ReadPlan) -> bool {
    let contacts = plan.candidates.iter().take(usize::from(plan.contacts));
    contacts.into_iter().any(|node| !vantage.is_here(*node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::NodeSet;
    use crate::ring::Ring;
    use crate::testing::{ring_of, two_centres};

    /// First and last token, the ring's ranges in it, and who is asked; none if too few are alive.
    fn pieces(
        ring: &Ring,
        replication: &Replication,
        alive: &[u16],
        level: Consistency,
    ) -> Vec<(i64, i64, u32, Option<Vec<u16>>)> {
        let alive: NodeSet = alive.iter().copied().map(NodeId).collect();
        let vantage = Vantage {
            ring,
            local: NodeId(0),
            alive: &alive,
        };
        let plan = RangePlan::new(&vantage, &ring.place(replication), TokenRange::ALL, level);
        let shown = plan.pieces.into_iter().map(|piece| {
            let contacts = piece.plan.ok().map(|plan| {
                let contacts = plan.candidates.iter().take(plan.contacts.into());
                contacts.map(|node| node.0).collect()
            });
            let range = piece.range;
            (range.first.0, range.last.0, piece.ranges, contacts)
        });
        shown.collect()
    }

    const ALL: (i64, i64) = (i64::MIN, i64::MAX);

    #[test]
    fn a_ring_whose_nodes_hold_everything_is_one_stretch() {
        let ring = ring_of(3);
        let simple = Replication::Simple { factor: 3 };
        assert_eq!(
            pieces(&ring, &simple, &[0, 1, 2], Consistency::QUORUM),
            [(ALL.0, ALL.1, 4, Some(vec![0, 1]))]
        );
    }

    #[test]
    fn neighbours_are_merged_while_enough_of_the_same_replicas_are_alive() {
        let ring = ring_of(4);
        let simple = Replication::Simple { factor: 3 };
        // Replicas in turn: 0 1 2, 1 2 3, 2 3 0, 3 0 1, 0 1 2.
        assert_eq!(
            pieces(&ring, &simple, &[0, 1, 2, 3], Consistency::ONE),
            [
                (ALL.0, 200, 3, Some(vec![2])),
                (201, ALL.1, 2, Some(vec![0]))
            ]
        );
        assert_eq!(
            pieces(&ring, &simple, &[0, 1, 2, 3], Consistency::QUORUM),
            [
                (ALL.0, 100, 2, Some(vec![1, 2])),
                (101, 300, 2, Some(vec![0, 3])),
                (301, ALL.1, 1, Some(vec![0, 1])),
            ]
        );
    }

    #[test]
    fn a_stretch_with_too_few_replicas_fails_in_its_turn() {
        let ring = ring_of(3);
        let simple = Replication::Simple { factor: 1 };
        assert_eq!(
            pieces(&ring, &simple, &[0, 2], Consistency::ONE),
            [
                (ALL.0, 0, 1, Some(vec![0])),
                (1, 100, 1, None),
                (101, 200, 1, Some(vec![2])),
                (201, ALL.1, 1, Some(vec![0])),
            ]
        );
        assert_eq!(
            pieces(&Ring::default(), &simple, &[], Consistency::ONE),
            [(ALL.0, ALL.1, 1, None)]
        );
    }

    #[test]
    fn stretches_of_this_data_centre_are_not_merged_into_one_of_another() {
        let (ring, topology) = two_centres(1, 1);
        let alive = [0, 1, 2, 3, 4, 5];
        let found = pieces(&ring, &topology, &alive, Consistency::ONE);
        let asked: Vec<_> = found.into_iter().filter_map(|piece| piece.3).collect();
        // In turn 0 or 3, 1 or 3, 1 or 4, 2 or 4, 2 or 5, 0 or 5, 0 or 3: always the one here, never two in one.
        let expected: Vec<Vec<u16>> = vec![vec![0], vec![1], vec![2], vec![0]];
        assert_eq!(asked, expected);
    }

    #[test]
    fn one_node_that_is_asked_for_everything_is_known_as_such() {
        let ring = ring_of(3);
        let alive = NodeSet::first(3);
        let vantage = Vantage {
            ring: &ring,
            local: NodeId(0),
            alive: &alive,
        };
        let only = |factor, level| {
            let placement = ring.place(&Replication::Simple { factor });
            RangePlan::new(&vantage, &placement, TokenRange::ALL, level).only_node()
        };
        assert_eq!(only(3, Consistency::ONE), Some(NodeId(0)));
        assert_eq!(only(3, Consistency::QUORUM), None);
        assert_eq!(only(1, Consistency::ONE), None);
    }
}
