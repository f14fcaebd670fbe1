//! Whom a conditional write or a serial read goes to. Answers to Cassandra's `ReplicaPlans.forPaxos`.

use helenus_core::Consistency;

use crate::failure::Failure;
use crate::node::{NodeId, Nodes};
use crate::plan::{ReadPlan, Vantage, WritePlan};
use crate::ring::{Placement, Token};
use crate::speculation::Speculation;

/// Whom the rounds about one partition go to, and at which levels it is read and written between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaxosPlan {
    /// SERIAL, or LOCAL_SERIAL.
    pub level: Consistency,
    /// The node that coordinates.
    pub local: NodeId,
    /// Replicas that are alive, of this data centre alone at LOCAL_SERIAL: all of them are asked.
    pub contacts: Nodes,
    /// How many make a majority of all of them, dead ones included.
    pub required: u16,
    /// How the partition is read: at QUORUM, or LOCAL_QUORUM.
    pub read: ReadPlan,
    /// How what others left unfinished is committed: at QUORUM, or LOCAL_QUORUM.
    pub finish: WritePlan,
    /// How this write is committed: at its own level.
    pub commit: WritePlan,
}

impl PaxosPlan {
    /// The plan for a partition. `commit` is the write's own level; `None` is for a serial read, which commits nothing of
    /// its own. Any level but LOCAL_SERIAL counts as SERIAL. `speculation` is for the read between the rounds.
    ///
    /// # Errors
    /// [`Failure::Unavailable`] if too few replicas are alive for the rounds or for the commit, before anything is proposed.
    pub fn new(
        vantage: &Vantage<'_>,
        placement: &Placement,
        token: Token,
        level: Consistency,
        commit: Option<Consistency>,
        speculation: Speculation,
    ) -> Result<PaxosPlan, Failure> {
        let (level, quorum) = match level {
            Consistency::LOCAL_SERIAL => (level, Consistency::LOCAL_QUORUM),
            _ => (Consistency::SERIAL, Consistency::QUORUM),
        };
        let mut replicas: Nodes = placement.replicas(token).iter().copied().collect();
        if level == Consistency::LOCAL_SERIAL {
            replicas.retain(|node| vantage.is_here(*node));
        }
        let contacts = vantage.by_distance(&replicas);
        let required = replicas.len() as u16 / 2 + 1;
        let alive = contacts.len() as u16;
        if alive < required {
            return Err(Failure::Unavailable {
                level,
                required,
                alive,
                data_centre: None,
            });
        }
        let read = ReadPlan::new(vantage, placement, token, quorum, speculation)?;
        let finish = WritePlan::new(vantage, placement, token, quorum)?;
        let commit = match commit {
            Some(commit) => WritePlan::new(vantage, placement, token, commit)?,
            None => finish.clone(),
        };
        Ok(PaxosPlan {
            level,
            local: vantage.local,
            contacts,
            required,
            read,
            finish,
            commit,
        })
    }
}
