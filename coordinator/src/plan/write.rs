//! Whom a write goes to: every replica, however many must confirm it. Answers to Cassandra's `ReplicaPlans.forWrite`.

use helenus_core::Consistency;
use smallvec::SmallVec;

use super::Vantage;
use crate::failure::Failure;
use crate::node::{DataCentre, NodeId};
use crate::ring::{Placement, Replication, Token};

/// A replica that a write goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The replica.
    pub node: NodeId,
    /// Whether it is alive: it is sent the write, and otherwise a hint is kept for it.
    pub alive: bool,
    /// Which of [`WritePlan::quotas`] its confirmation counts for; none in other data centres at LOCAL_ONE and LOCAL_QUORUM.
    pub quota: Option<u8>,
}

/// Whom a write goes to, and how many must confirm it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritePlan {
    /// The level that was asked for.
    pub level: Consistency,
    /// The node that coordinates.
    pub local: NodeId,
    /// How many must confirm, in all: the sum of the quotas.
    pub required: u16,
    /// Every replica: those that are alive first, by distance, then those that aren't.
    pub targets: SmallVec<[Target; 5]>,
    /// How many must confirm: one number, or one a data centre at EACH_QUORUM.
    pub quotas: SmallVec<[u16; 2]>,
}

impl WritePlan {
    /// The plan for a partition.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] if too few of its replicas are alive; never at ANY, which a hint is enough for.
    pub fn new(
        vantage: &Vantage<'_>,
        placement: &Placement,
        token: Token,
        level: Consistency,
    ) -> Result<WritePlan, Failure> {
        let replicas = placement.replicas(token);
        Self::of(vantage, placement.replication(), replicas, level)
    }

    /// The plan for what these nodes replicate.
    pub(crate) fn of(
        vantage: &Vantage<'_>,
        replication: &Replication,
        replicas: &[NodeId],
        level: Consistency,
    ) -> Result<WritePlan, Failure> {
        let required = replication.required(vantage.ring, vantage.local, level);
        let quotas = Quotas::new(vantage, replication, level, required);
        let mut plan = WritePlan {
            level,
            local: vantage.local,
            required,
            targets: SmallVec::new(),
            quotas: quotas.0.iter().map(|(_, quota)| *quota).collect(),
        };
        let alive = vantage.by_distance(replicas);
        let down = replicas
            .iter()
            .filter(|node| !vantage.alive.contains(**node));
        for node in alive.iter().chain(down) {
            plan.targets.push(Target {
                node: *node,
                alive: vantage.alive.contains(*node),
                quota: quotas.of(vantage.ring.data_centre(*node)),
            });
        }
        for (index, (data_centre, quota)) in quotas.0.iter().enumerate() {
            let of_quota = |target: &&Target| target.quota.map(usize::from) == Some(index);
            let targets = plan.targets.iter().filter(|target| target.alive);
            let alive = targets.filter(of_quota).count() as u16;
            if alive < *quota && level != Consistency::ANY {
                let each = level == Consistency::EACH_QUORUM;
                return Err(Failure::Unavailable {
                    level,
                    required: *quota,
                    alive,
                    data_centre: data_centre.filter(|_| each),
                });
            }
        }
        Ok(plan)
    }
}

/// How many must confirm in which data centre; `None` is all of them.
struct Quotas(SmallVec<[(Option<DataCentre>, u16); 2]>);

impl Quotas {
    fn new(
        vantage: &Vantage<'_>,
        replication: &Replication,
        level: Consistency,
        required: u16,
    ) -> Quotas {
        let mut quotas = SmallVec::new();
        if level == Consistency::EACH_QUORUM {
            let each = replication.each_quorum();
            quotas.extend(each.map(|(data_centre, quota)| (Some(data_centre), quota)));
        } else if level.is_datacenter_local() {
            quotas.push((vantage.ring.data_centre(vantage.local), required));
        }
        if quotas.is_empty() {
            quotas.push((None, required));
        }
        Quotas(quotas)
    }

    fn of(&self, data_centre: Option<DataCentre>) -> Option<u8> {
        let counts = |(of, _): &(Option<DataCentre>, u16)| of.is_none() || *of == data_centre;
        u8::try_from(self.0.iter().position(counts)?).ok()
    }
}

#[cfg(test)]
mod tests;
