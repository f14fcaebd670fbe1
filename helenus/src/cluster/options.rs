//! What a cluster is started with, what its nodes do, and why they can't be told something.

use std::io;
use std::net::SocketAddr;

use helenus_server::Options;
use thiserror::Error;

use crate::Runtime;
use crate::embedded::Authentication;

/// What a cluster is started with.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClusterOptions {
    /// Where the first node listens; the others on the same port of the addresses that follow. Port 0 takes one that is
    /// free on all of them.
    pub listen: SocketAddr,
    /// Nodes in each data centre.
    pub nodes: usize,
    /// Data centres: `datacenter1`, `datacenter2` and so on.
    pub data_centres: usize,
    /// What drives the connections of each node.
    pub runtime: Runtime,
    /// Event loops of each node.
    pub workers: usize,
    /// Limits, deadlines and TLS, the same for each node.
    pub server: Options,
    /// How clients log in, if they do.
    pub authentication: Option<Authentication>,
    /// What befalls messages between nodes, where some are lost or late, follows from this number.
    pub seed: u64,
}

impl ClusterOptions {
    /// So many nodes in one data centre, on 127.0.0.1 and the addresses that follow, at any port that is free.
    pub fn new(nodes: usize) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            nodes,
            data_centres: 1,
            runtime: Runtime::Threads,
            workers: 1,
            server: Options::default(),
            authentication: None,
            seed: 1,
        }
    }
}

/// What a node of a cluster is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NodeState {
    /// It serves.
    Running,
    /// It keeps its connections and answers nothing, as a process that is stopped.
    Paused,
    /// It has ended: nobody can connect, and the others know.
    Stopped,
}

impl NodeState {
    /// The state in a word: `running`, `paused` or `stopped`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }
}

/// Why a node can't be told something.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// There is no node of this number.
    #[error("there is no node {0}; there are 1 to {1}")]
    NoSuchNode(usize, usize),
    /// It isn't in the state that this is for.
    #[error("node {node} is {}", state.name())]
    WrongState {
        /// The node.
        node: usize,
        /// The state that it is in.
        state: NodeState,
    },
    /// It can't listen.
    #[error(transparent)]
    Io(#[from] io::Error),
}
