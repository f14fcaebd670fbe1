//! A running cluster for tests.

use std::io;
use std::ops::Deref;

use crate::cluster::{Cluster, ClusterOptions};

/// Several nodes in this process, which end when this is dropped: for tests of what an application does when nodes fail.
///
/// They listen on 127.0.0.1 and the addresses that follow, on one port that is free on all of them. (Where these addresses
/// are missing, as on macOS, the error says how to add them.) Nodes are numbered from 1; what can be done to them is what
/// [`Cluster`] has.
///
/// ```
/// let cluster = helenus::TestCluster::start(3)?;
/// let contact_points = cluster.addresses();
/// // … connect the application, write at QUORUM …
/// cluster.stop(2)?;
/// // … it still reads at QUORUM, and is told UNAVAILABLE at ALL …
/// cluster.restart(2)?;
/// # assert_eq!(contact_points.len(), 3);
/// # Ok::<(), helenus::ClusterError>(())
/// ```
#[derive(Debug)]
pub struct TestCluster {
    cluster: Cluster,
}

impl TestCluster {
    /// Starts so many nodes in one data centre.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub fn start(nodes: usize) -> io::Result<Self> {
        Self::start_with(ClusterOptions::new(nodes))
    }

    /// Starts what these options say.
    ///
    /// # Errors
    /// As [`Cluster::start`].
    pub fn start_with(options: ClusterOptions) -> io::Result<Self> {
        let cluster = Cluster::start(options)?;
        Ok(Self { cluster })
    }
}

impl Deref for TestCluster {
    type Target = Cluster;

    fn deref(&self) -> &Cluster {
        &self.cluster
    }
}
