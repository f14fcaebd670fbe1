//! Whom a request goes to and how many must answer: decided once, before anything is sent. Answers to Cassandra's
//! `ReplicaPlans`.

use std::time::Instant;

use helenus_core::Consistency;
use smallvec::SmallVec;

use crate::failure::Failure;
use crate::node::{DataCentre, NodeId, NodeSet, Nodes};
use crate::ring::{Placement, Replication, Ring, Token};
use crate::speculation::Speculation;

mod write;

pub use write::{Target, WritePlan};

/// The ring as one node sees it: where plans are made.
#[derive(Debug, Clone, Copy)]
pub struct Vantage<'a> {
    /// The ring.
    pub ring: &'a Ring,
    /// The node that coordinates.
    pub local: NodeId,
    /// Who is alive, as far as that node knows.
    pub alive: &'a NodeSet,
}

impl Vantage<'_> {
    pub(crate) fn is_here(&self, node: NodeId) -> bool {
        self.ring.data_centre(node) == self.ring.data_centre(self.local)
    }

    /// Those that are alive, nearest first: this node, its data centre, the rest; otherwise in the given order.
    pub(crate) fn by_distance(&self, replicas: &[NodeId]) -> Nodes {
        let alive = replicas.iter().copied();
        let mut alive: Nodes = alive.filter(|node| self.alive.contains(*node)).collect();
        // Stable, and without allocation for as few as there are.
        alive.sort_by_key(|node| (*node != self.local, !self.is_here(*node)));
        alive
    }

    fn alive_in(&self, nodes: &[NodeId], data_centre: DataCentre) -> u16 {
        let here = nodes.iter();
        let here = here.filter(|node| self.ring.data_centre(**node) == Some(data_centre));
        here.count() as u16
    }
}

/// Whom a read goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadPlan {
    /// The level that was asked for.
    pub level: Consistency,
    /// Replicas that may be asked, in the order in which to ask them: alive, and of this data centre if the level says so.
    pub candidates: Nodes,
    /// How many of the candidates are asked at once.
    pub contacts: u16,
    /// How many must answer.
    pub required: u16,
    /// When to ask one more.
    pub speculation: Speculation,
}

impl ReadPlan {
    /// The plan for a partition.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] if too few of its replicas are alive.
    pub fn new(
        vantage: &Vantage<'_>,
        placement: &Placement,
        token: Token,
        level: Consistency,
        speculation: Speculation,
    ) -> Result<ReadPlan, Failure> {
        let replicas = placement.replicas(token);
        Self::of(
            vantage,
            placement.replication(),
            replicas,
            level,
            speculation,
        )
    }

    /// The plan for what these nodes replicate.
    pub(crate) fn of(
        vantage: &Vantage<'_>,
        replication: &Replication,
        replicas: &[NodeId],
        level: Consistency,
        speculation: Speculation,
    ) -> Result<ReadPlan, Failure> {
        let mut candidates = vantage.by_distance(replicas);
        if level.is_datacenter_local() {
            candidates.retain(|node| vantage.is_here(*node));
        }
        if level == Consistency::NODE_LOCAL {
            candidates.retain(|node| *node == vantage.local);
        }
        let required = replication.required(vantage.ring, vantage.local, level);
        let mut speculation = speculation;
        if level == Consistency::EACH_QUORUM {
            quorum_of_each(vantage, replication, level, &mut candidates)?;
            // An answer from one data centre is no answer from another: all that are asked must answer.
            speculation = Speculation::Never;
        }
        let available = candidates.len() as u16;
        if available < required {
            return Err(Failure::Unavailable {
                level,
                required,
                alive: available,
                data_centre: None,
            });
        }
        if available == required {
            speculation = Speculation::Never;
        }
        Ok(ReadPlan {
            level,
            candidates,
            contacts: required + u16::from(speculation == Speculation::Always),
            required,
            speculation,
        })
    }

    /// When to do something about who hasn't answered what was sent now.
    pub(crate) fn speculates_at(&self, now: Instant) -> Option<Instant> {
        match self.speculation {
            Speculation::After(wait) => now.checked_add(wait),
            Speculation::Never | Speculation::Always => None,
        }
    }
}

/// Keeps a quorum of each data centre's replicas, if the replication knows data centres.
fn quorum_of_each(
    vantage: &Vantage<'_>,
    replication: &Replication,
    level: Consistency,
    candidates: &mut Nodes,
) -> Result<(), Failure> {
    let mut lacking: SmallVec<[(DataCentre, u16); 2]> = replication.each_quorum().collect();
    for (data_centre, required) in &lacking {
        let alive = vantage.alive_in(candidates, *data_centre);
        if alive < *required {
            return Err(Failure::Unavailable {
                level,
                required: *required,
                alive,
                data_centre: Some(*data_centre),
            });
        }
    }
    if lacking.is_empty() {
        return Ok(());
    }
    candidates.retain(|node| {
        let here = vantage.ring.data_centre(*node);
        let mut lacking = lacking.iter_mut();
        match lacking.find(|(data_centre, _)| Some(*data_centre) == here) {
            Some((_, lacks)) if *lacks > 0 => {
                *lacks -= 1;
                true
            }
            _ => false,
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests;
