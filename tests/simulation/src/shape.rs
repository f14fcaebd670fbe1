//! What a run's cluster is: nodes, data centres, replication, clients.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use helenus_coordinator::{DataCentre, Node, Replication, Ring, Token};

use crate::levels::Replicas;
use crate::model::Key;
use crate::random::Random;
use crate::workload::CONDITIONAL;

/// A cluster as its seed draws it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Nodes, dealt out to the data centres in turn.
    pub(crate) nodes: usize,
    /// Data centres.
    pub(crate) centres: usize,
    /// Replicas in each.
    pub(crate) factor: usize,
    /// Clients.
    pub(crate) clients: usize,
    /// Requests of each client.
    pub(crate) requests: u32,
    /// How many hints a node keeps for each other one.
    pub(crate) hint_room: u64,
}

impl Shape {
    /// Draws one: three to five nodes, or six to eight in two data centres.
    pub(crate) fn of(random: &mut Random) -> Self {
        let centres = 1 + usize::from(random.chance(3_000));
        let nodes = match centres {
            1 => random.between(3, 5) as usize,
            _ => random.between(3, 4) as usize * 2,
        };
        let factor = match nodes {
            5 if random.chance(5_000) => 5,
            _ => 3,
        };
        Self {
            nodes,
            centres,
            factor,
            clients: random.between(2, 5) as usize,
            requests: random.between(8, 30) as u32,
            // Without hints replicas stay apart until a read finds out.
            hint_room: *random.pick(&[0, 0, 3, 10_000, 10_000]).unwrap_or(&0),
        }
    }

    /// How levels count in it.
    #[must_use]
    pub(crate) fn replicas(&self) -> Replicas {
        Replicas {
            centres: self.centres,
            each: self.factor,
        }
    }

    /// Its ring, four tokens a node among those of the keys.
    pub(crate) fn ring(&self, random: &mut Random) -> (Ring, Replication) {
        let nodes = (0..self.nodes).map(|index| {
            let centre = index % self.centres;
            let address = IpAddr::V4(Ipv4Addr::new(127, 0, 0, index as u8 + 1));
            let mut tokens = Vec::new();
            for _ in 0..4 {
                let key = Key(random.below(u64::from(CONDITIONAL.end) + 1) as u8);
                tokens.push(Token(key.token().0 - 1 - random.below(1 << 40) as i64));
            }
            Node {
                host_id: index as u128 + 1,
                address: SocketAddr::new(address, 7000),
                data_centre: ["dc1", "dc2"][centre].into(),
                rack: "rack1".into(),
                tokens,
            }
        });
        let ring = Ring::new(nodes.collect());
        let factor = self.factor as u16;
        let replication = if self.centres == 1 {
            Replication::Simple { factor }
        } else {
            let factors = (0..self.centres).map(|centre| (DataCentre(centre as u16), factor));
            Replication::NetworkTopology {
                factors: factors.collect(),
            }
        };
        (ring, replication)
    }
}
