//! What can be done to the links between nodes, and what the nodes come to know of it.

use std::time::Duration;

use helenus_coordinator::NodeId;
use helenus_core::message::{ServerEvent, StatusChange};

use super::interconnect::{Link, MILLION};
use super::{Cluster, ClusterError};

impl Cluster {
    /// Cuts these nodes off from all others: neither side reaches the other, and each believes the other down. Clients
    /// reach both.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn partition(&self, nodes: &[usize]) -> Result<(), ClusterError> {
        let side = self.ids(nodes)?;
        self.each_link(|from, to, link| {
            if side.contains(&from) != side.contains(&to) {
                link.is_cut = true;
            }
        });
        self.believe_links();
        Ok(())
    }

    /// Mends all links: partitions end, and no message is late, lost or doubled any more. Nodes that were stopped or
    /// paused stay so.
    pub fn heal(&self) {
        self.each_link(|_, _, link| {
            *link = Link {
                is_down: link.is_down,
                ..Link::default()
            };
        });
        self.believe_links();
    }

    /// Has every message to and from these nodes take so long, and up to `jitter` longer.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn delay(
        &self,
        nodes: &[usize],
        latency: Duration,
        jitter: Duration,
    ) -> Result<(), ClusterError> {
        self.each_link_of(nodes, |link| {
            link.latency = latency;
            link.jitter = jitter;
        })
    }

    /// Loses this share of the messages to and from these nodes, from 0.0 to 1.0, without anybody knowing.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn lose(&self, nodes: &[usize], share: f64) -> Result<(), ClusterError> {
        self.each_link_of(nodes, |link| link.loss = of_a_million(share))
    }

    /// Has this share of the messages to and from these nodes, from 0.0 to 1.0, arrive twice.
    ///
    /// # Errors
    /// If there is no such node.
    pub fn duplicate(&self, nodes: &[usize], share: f64) -> Result<(), ClusterError> {
        self.each_link_of(nodes, |link| link.duplication = of_a_million(share))
    }

    fn ids(&self, nodes: &[usize]) -> Result<Vec<NodeId>, ClusterError> {
        let id = |node: &usize| Ok(self.seat(*node)?.id);
        nodes.iter().map(id).collect()
    }

    fn each_link(&self, mut change: impl FnMut(NodeId, NodeId, &mut Link)) {
        for from in &self.seats {
            for to in self.seats.iter().filter(|to| to.id != from.id) {
                let change = |link: &mut Link| change(from.id, to.id, link);
                self.interconnect.set(from.id, to.id, change);
            }
        }
    }

    fn each_link_of(
        &self,
        nodes: &[usize],
        change: impl Fn(&mut Link),
    ) -> Result<(), ClusterError> {
        let ids = self.ids(nodes)?;
        self.each_link(|from, to, link| {
            if ids.contains(&from) || ids.contains(&to) {
                change(link);
            }
        });
        Ok(())
    }

    /// Has every node know whom it reaches, and tell its clients what is new in that. A node that is reached again is
    /// told what it missed.
    pub(super) fn believe_links(&self) {
        let mut back = Vec::new();
        for seat in &self.seats {
            let Some(member) = &seat.node().member else {
                continue;
            };
            for other in self.seats.iter().filter(|other| other.id != seat.id) {
                let link = self.interconnect.link(seat.id, other.id);
                let is_alive = !link.is_cut && !link.is_down;
                if !member.believe(other.id, is_alive) {
                    continue;
                }
                if is_alive {
                    back.push((seat, other));
                }
                if let Some(server) = seat.node().server() {
                    server.publish(ServerEvent::StatusChange {
                        change: match is_alive {
                            true => StatusChange::Up,
                            false => StatusChange::Down,
                        },
                        address: other.address,
                    });
                }
            }
        }
        for (seat, other) in back {
            if let Some(member) = &seat.node().member {
                seat.node().catch_up(member, other.id);
            }
        }
    }
}

/// A share as so many of a million.
fn of_a_million(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * f64::from(MILLION)) as u32
}
