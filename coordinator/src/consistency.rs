//! How many replicas each consistency level waits for. Answers to Cassandra's `ConsistencyLevel.blockFor`.

use helenus_core::Consistency;

use crate::node::{DataCentre, NodeId};
use crate::ring::{Replication, Ring};

impl Replication {
    /// How many replicas there are to be, in all data centres, whether or not there are nodes for them.
    #[must_use]
    pub fn factor(&self, ring: &Ring) -> u16 {
        match self {
            Replication::Simple { factor } => *factor,
            Replication::NetworkTopology { factors } => {
                let factors = factors.iter().map(|(_, factor)| *factor);
                factors.fold(0, u16::saturating_add)
            }
            Replication::Everywhere => u16::try_from(ring.nodes().len()).unwrap_or(u16::MAX),
        }
    }

    /// How many a quorum takes in this data centre; of all replicas, if the replication knows no data centres.
    #[must_use]
    pub fn local_quorum(&self, ring: &Ring, data_centre: DataCentre) -> u16 {
        match self {
            Replication::NetworkTopology { factors } => {
                let mut factors = factors.iter();
                let here = factors.find(|(known, _)| *known == data_centre);
                quorum(here.map_or(0, |(_, factor)| *factor))
            }
            _ => quorum(self.factor(ring)),
        }
    }

    /// The data centres that EACH_QUORUM takes a quorum of, each with how many that is; empty if the replication knows
    /// no data centres, and EACH_QUORUM is a quorum of all.
    pub fn each_quorum(&self) -> impl Iterator<Item = (DataCentre, u16)> {
        let factors: &[(DataCentre, u16)] = match self {
            Replication::NetworkTopology { factors } => factors,
            _ => &[],
        };
        let factors = factors.iter();
        factors.map(|(data_centre, factor)| (*data_centre, quorum(*factor)))
    }

    /// How many replicas have to answer at this level: Cassandra's `blockFor`.
    ///
    /// SERIAL and LOCAL_SERIAL count as the quorums that their rounds take; ANY counts as ONE, and an unknown level as ALL.
    #[must_use]
    pub fn required(&self, ring: &Ring, local: NodeId, level: Consistency) -> u16 {
        match level {
            Consistency::ANY
            | Consistency::ONE
            | Consistency::LOCAL_ONE
            | Consistency::NODE_LOCAL => 1,
            Consistency::TWO => 2,
            Consistency::THREE => 3,
            Consistency::QUORUM | Consistency::SERIAL => quorum(self.factor(ring)),
            Consistency::LOCAL_QUORUM | Consistency::LOCAL_SERIAL => {
                match ring.data_centre(local) {
                    Some(data_centre) => self.local_quorum(ring, data_centre),
                    None => quorum(self.factor(ring)),
                }
            }
            Consistency::EACH_QUORUM => {
                let quorums = self.each_quorum().map(|(_, quorum)| quorum);
                match quorums.reduce(u16::saturating_add) {
                    Some(all) => all,
                    None => quorum(self.factor(ring)),
                }
            }
            _ => self.factor(ring),
        }
    }
}

const fn quorum(factor: u16) -> u16 {
    factor / 2 + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{ring_of, two_centres};

    #[test]
    fn every_level_waits_for_as_many_as_cassandra_does() {
        let ring = ring_of(3);
        let simple = Replication::Simple { factor: 3 };
        let (wide, topology) = two_centres(3, 3);
        let cases = [
            (Consistency::ANY, 1, 1),
            (Consistency::ONE, 1, 1),
            (Consistency::LOCAL_ONE, 1, 1),
            (Consistency::TWO, 2, 2),
            (Consistency::THREE, 3, 3),
            (Consistency::QUORUM, 2, 4),
            (Consistency::SERIAL, 2, 4),
            (Consistency::LOCAL_QUORUM, 2, 2),
            (Consistency::LOCAL_SERIAL, 2, 2),
            (Consistency::EACH_QUORUM, 2, 4),
            (Consistency::ALL, 3, 6),
        ];
        for (level, of_three, of_six) in cases {
            assert_eq!(
                simple.required(&ring, NodeId(0), level),
                of_three,
                "{level}"
            );
            assert_eq!(
                topology.required(&wide, NodeId(0), level),
                of_six,
                "{level}"
            );
        }
    }

    #[test]
    fn a_quorum_is_of_the_replicas_that_should_be_there() {
        // One node and three replicas: two have to answer, though there never will be two.
        let ring = ring_of(1);
        let replication = Replication::Simple { factor: 3 };
        assert_eq!(
            replication.required(&ring, NodeId(0), Consistency::QUORUM),
            2
        );
        assert_eq!(
            Replication::Everywhere.required(&ring_of(5), NodeId(0), Consistency::QUORUM),
            3
        );
    }

    #[test]
    fn a_data_centre_without_replicas_has_a_quorum_of_one() {
        // As in Cassandra, where LOCAL_QUORUM from there is unavailable, not met by nobody.
        let (ring, topology) = two_centres(3, 0);
        let elsewhere = ring.data_centre_named("dc2");
        assert_eq!(
            elsewhere.map(|dc| topology.local_quorum(&ring, dc)),
            Some(1)
        );
    }
}
