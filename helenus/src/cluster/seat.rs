//! The place of a node in its cluster: what it is, and the server that it has while it runs.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use helenus_coordinator::{NodeId, Ring};
use helenus_engine::system::NodeInfo;
use helenus_server::Hub;
use parking_lot::Mutex;

use super::interconnect::Memory;
use super::{ClusterOptions, Member, NodeState, topology};
use crate::Server;
use crate::embedded::{EmbeddedService, Node};

/// A node's place.
pub(super) struct Seat {
    pub(super) id: NodeId,
    pub(super) info: NodeInfo,
    pub(super) address: SocketAddr,
    pub(super) service: Arc<EmbeddedService>,
    pub(super) state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) running: Option<Running>,
    /// The limit of requests that counts when the node isn't paused, if it is.
    pub(super) paused: Option<Option<u64>>,
}

pub(super) struct Running {
    pub(super) hub: Arc<Hub<EmbeddedService>>,
    thread: JoinHandle<io::Result<()>>,
}

impl Seat {
    pub(super) fn new(
        id: NodeId,
        info: &NodeInfo,
        nodes: &[NodeInfo],
        ring: &Arc<Ring>,
        interconnect: &Arc<Memory>,
        options: &ClusterOptions,
    ) -> Self {
        let peers: Vec<_> = nodes.iter().filter(|peer| *peer != info).cloned().collect();
        let member = |schema: &Arc<_>| Member::new(id, ring, interconnect, schema);
        let authentication = options.authentication.clone();
        Self {
            id,
            info: info.clone(),
            address: SocketAddr::new(info.address, info.port),
            service: Arc::new(EmbeddedService::among(info, &peers, authentication, member)),
            state: Mutex::default(),
        }
    }

    pub(super) fn node(&self) -> &Arc<Node> {
        self.service.node()
    }

    /// Listens and serves, on threads of its own.
    pub(super) fn serve(&self, options: &ClusterOptions) -> io::Result<Running> {
        let service = Arc::clone(&self.service);
        let server = Server::bind(
            options.runtime,
            self.address,
            service,
            options.server.clone(),
        )
        .map_err(|error| topology::explain(error, self.address.ip()))?;
        let hub = Arc::clone(server.hub());
        let workers = options.workers;
        let thread = thread::Builder::new()
            .name(format!("node-{}", self.id.0 + 1))
            .spawn(move || server.run(workers))?;
        Ok(Running { hub, thread })
    }
}

impl State {
    pub(super) fn name(&self) -> NodeState {
        match (&self.running, self.paused) {
            (None, _) => NodeState::Stopped,
            (Some(_), Some(_)) => NodeState::Paused,
            (Some(_), None) => NodeState::Running,
        }
    }
}

impl Running {
    /// Ends it with its connections cut.
    pub(super) fn end(self) {
        self.hub.shutdown_handle().shutdown();
        self.hub.abort();
        if let Err(error) = self.join() {
            tracing::warn!(%error, "a node ended with an error");
        }
    }

    pub(super) fn join(self) -> io::Result<()> {
        let panicked = |_| Err(io::Error::other("a node's server panicked"));
        self.thread.join().unwrap_or_else(panicked)
    }
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat")
            .field("id", &self.id)
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
