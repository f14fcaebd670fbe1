//! Materialized views that are kept as tables: whom a base table's replica sends the view's changes to, and how. Answers to
//! Cassandra's `ViewUtils.getViewNaturalEndpoint` and `StorageProxy.mutateMV`.
//!
//! Each replica of the base table finds out by itself what a mutation changes in the view, and sends that to one replica of
//! the view: its pair. So every view replica has one base replica that answers for it. What it sends it first keeps in its
//! own batch log, and removes when the pair has confirmed: a [`Batch`] of kind [`BatchKind::View`], which nobody waits for.
//! If it dies before, or the pair misses the deadline, the log is replayed, or a hint is kept.

use std::time::Instant;

use helenus_core::Consistency;
use smallvec::smallvec;

use crate::batch::{Batch, BatchKind};
use crate::model::Model;
use crate::node::{NodeId, Nodes};
use crate::plan::{Target, Vantage, WritePlan};
use crate::ring::{Placement, Token};

/// The replica of a view's row that this node sends its changes to; none if this node doesn't replicate the base row, or
/// its data centre has fewer replicas of the view than of the table.
///
/// Nodes that replicate both serve themselves. The others of this data centre are paired in the ring's order, so that two
/// base replicas never have the same pair.
#[must_use]
pub fn view_pair(
    vantage: &Vantage<'_>,
    base: (&Placement, Token),
    view: (&Placement, Token),
) -> Option<NodeId> {
    let here = |(placement, token): (&Placement, Token)| -> Nodes {
        let replicas = placement.replicas(token).iter().copied();
        replicas.filter(|node| vantage.is_here(*node)).collect()
    };
    let (base, view) = (here(base), here(view));
    let local = vantage.local;
    if !base.contains(&local) {
        return None;
    }
    if view.contains(&local) {
        return Some(local);
    }
    let mut unpaired = base.iter().filter(|node| !view.contains(*node));
    let index = unpaired.position(|node| *node == local)?;
    let mut unpaired = view.iter().filter(|node| !base.contains(*node));
    unpaired.nth(index).copied()
}

/// The changes of views that a mutation makes on this node, each with its [pair](view_pair), on their way; `id` is that of
/// the entry in this node's own log.
#[must_use]
pub fn view_batch<M: Model>(
    vantage: &Vantage<'_>,
    id: u128,
    changes: Vec<(NodeId, M::Mutation)>,
    now: Instant,
    deadline: Instant,
) -> Batch<M> {
    let local = vantage.local;
    let to_pair = |(node, mutation)| {
        let plan = WritePlan {
            level: Consistency::ONE,
            local,
            required: 1,
            targets: smallvec![Target {
                node,
                alive: vantage.alive.contains(node),
                quota: Some(0),
            }],
            quotas: smallvec![1],
        };
        (plan, mutation)
    };
    let changes = changes.into_iter().map(to_pair).collect();
    Batch::new(BatchKind::View { id, local }, changes, now, deadline)
}

#[cfg(test)]
mod tests;
