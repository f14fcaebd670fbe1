//! The replicas of every token of a ring under one replication.

use smallvec::SmallVec;

use super::{Replication, Ring, Token, TokenRange};
use crate::node::{DataCentre, NodeId, Nodes};

/// Which nodes replicate which tokens: made by [`Ring::place`].
#[derive(Debug, Clone)]
pub struct Placement {
    replication: Replication,
    /// The last token of each stretch with its replicas, in order; what is behind the last one belongs to the first.
    stretches: Vec<(Token, Nodes)>,
}

impl Placement {
    pub(super) fn new(ring: &Ring, replication: &Replication) -> Placement {
        let mut stretches: Vec<(Token, Nodes)> = Vec::new();
        let wanted = wanted(ring, replication);
        for (index, (token, _)) in ring.tokens.iter().enumerate() {
            let walk = ring.tokens[index..].iter().chain(&ring.tokens[..index]);
            let walk = walk.map(|(_, node)| *node);
            let replicas = match replication {
                Replication::Simple { factor } => simple(walk, usize::from(*factor)),
                Replication::NetworkTopology { .. } => by_data_centre(ring, walk, wanted.clone()),
                Replication::Everywhere => ring.ids().collect(),
            };
            stretches.push((*token, replicas));
        }
        Placement {
            replication: replication.clone(),
            stretches,
        }
    }

    /// What it was made for.
    #[must_use]
    pub fn replication(&self) -> &Replication {
        &self.replication
    }

    /// The nodes that replicate a token, in the ring's order from its owner on; empty in an empty ring. There are
    /// fewer than the replication asks for if there are too few nodes.
    #[must_use]
    pub fn replicas(&self, token: Token) -> &[NodeId] {
        let index = self.stretches.partition_point(|(last, _)| *last < token);
        let stretch = self.stretches.get(index).or(self.stretches.first());
        stretch.map_or(&[], |(_, replicas)| replicas)
    }

    /// The stretches of a range that differ in their replicas' order, in token order: what the ring's tokens make of
    /// it.
    pub fn split(&self, range: TokenRange) -> impl Iterator<Item = (TokenRange, &[NodeId])> {
        let begin = self
            .stretches
            .partition_point(|(last, _)| *last < range.first);
        let mut first = Some(range.first);
        let ends = self.stretches[begin..].iter();
        let ends = ends.map(|(last, replicas)| (*last, &**replicas));
        let around = self.stretches.first();
        let around = around.map(|(_, replicas)| (Token::MAX, &**replicas));
        ends.chain(around).map_while(move |(last, replicas)| {
            let found = TokenRange::new(first?, last.min(range.last))?;
            let next = found.last.0.checked_add(1).map(Token);
            first = next.filter(|next| *next <= range.last);
            Some((found, replicas))
        })
    }
}

fn simple(walk: impl Iterator<Item = NodeId>, factor: usize) -> Nodes {
    let mut replicas = Nodes::new();
    for node in walk {
        if replicas.len() >= factor {
            break;
        }
        if !replicas.contains(&node) {
            replicas.push(node);
        }
    }
    replicas
}

/// What one data centre still lacks.
#[derive(Clone)]
struct Wanted {
    data_centre: DataCentre,
    replicas: usize,
    /// How many replicas may share a rack with another one, for there are fewer racks than replicas.
    rack_repeats: usize,
    racks: SmallVec<[u16; 8]>,
}

/// What each data centre lacks while no node is chosen.
fn wanted(ring: &Ring, replication: &Replication) -> Vec<Wanted> {
    let Replication::NetworkTopology { factors } = replication else {
        return Vec::new();
    };
    let wanted = factors.iter().map(|(data_centre, factor)| {
        let here = ring.places.iter();
        let here = here.filter(|place| place.data_centre == *data_centre);
        let mut racks: Vec<u16> = here.map(|place| place.rack).collect();
        let nodes = racks.len();
        racks.sort_unstable();
        racks.dedup();
        Wanted {
            data_centre: *data_centre,
            replicas: usize::from(*factor).min(nodes),
            rack_repeats: usize::from(*factor).saturating_sub(racks.len()),
            racks: SmallVec::new(),
        }
    });
    wanted.collect()
}

fn by_data_centre(
    ring: &Ring,
    walk: impl Iterator<Item = NodeId>,
    mut wanted: Vec<Wanted>,
) -> Nodes {
    let mut replicas = Nodes::new();
    for node in walk {
        let Some(place) = ring.places.get(usize::from(node.0)) else {
            continue;
        };
        let mut centres = wanted.iter_mut();
        let Some(wanted) = centres.find(|wanted| wanted.data_centre == place.data_centre) else {
            continue;
        };
        if wanted.replicas == 0 || replicas.contains(&node) {
            continue;
        }
        if !wanted.racks.contains(&place.rack) {
            wanted.racks.push(place.rack);
        } else if wanted.rack_repeats > 0 {
            wanted.rack_repeats -= 1;
        } else {
            continue;
        }
        wanted.replicas -= 1;
        replicas.push(node);
    }
    replicas
}
