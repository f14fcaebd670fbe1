//! `[cluster]`: several nodes in one process.

use std::net::SocketAddr;
use std::num::NonZeroUsize;

use super::error::{ConfigError, Origin, Problem};
use super::section::section;
use crate::command::arguments::Serve;

section! {
    /// A cluster of several nodes in this process, to test how applications bear it when nodes fail.
    Cluster in "cluster" {
        /// Nodes in each data centre: the first on the address of listen, the others on those that follow.
        nodes: NonZeroUsize = NonZeroUsize::MIN, restart;
        /// Data centres.
        data_centres: NonZeroUsize = NonZeroUsize::MIN, restart;
        /// Address and port at which `helenus cluster` stops, parts and delays the nodes, by HTTP; port 0 takes a free one.
        admin: Option<SocketAddr> = None, restart;
    }
}

impl Cluster {
    /// What flags and variables say wins.
    pub(super) fn override_with(&mut self, flags: &Serve) {
        self.nodes = flags.nodes.unwrap_or(self.nodes);
        self.data_centres = flags.data_centres.unwrap_or(self.data_centres);
        self.admin = flags.admin.or(self.admin);
    }

    /// Whether there is more than one node.
    pub(in crate::command) fn is_wanted(&self) -> bool {
        self.nodes.get() > 1 || self.data_centres.get() > 1
    }

    /// Refuses what goes with one node alone, and what goes with several alone.
    pub(super) fn check(&self, metrics: Option<SocketAddr>) -> Result<(), ConfigError> {
        let refused = |key: &str, reason: &str| {
            let (key, reason) = (key.to_owned(), reason.to_owned());
            Err(ConfigError::new(
                Origin::Everywhere,
                Problem::Value { key, reason },
            ))
        };
        match (self.is_wanted(), metrics, self.admin) {
            (true, Some(_), _) => refused(
                "metrics.listen",
                "one node is measured, not a cluster of several",
            ),
            (false, _, Some(_)) => refused(
                "cluster.admin",
                "there is nothing to control with one node alone",
            ),
            _ => Ok(()),
        }
    }
}
