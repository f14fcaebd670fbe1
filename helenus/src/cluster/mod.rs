//! A cluster in one process: nodes with addresses, data, schemas and clocks of their own, which share nothing and send
//! each other encoded messages. A test double for applications: production clusters are Cassandra's.

mod acceptors;
mod agreements;
mod coordination;
mod counters;
mod definitions;
mod hints;
mod interconnect;
mod member;
mod message;
mod model;
mod options;
mod parting;
mod placements;
mod replica;
mod requests;
mod rounds;
mod schema;
mod seat;
mod speculations;
mod topology;

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use helenus_coordinator::Ring;
use helenus_engine::system::NodeInfo;
use helenus_server::Options;
use parking_lot::{Condvar, Mutex};

use crate::embedded::EmbeddedService;
use interconnect::{Door, Memory};
use seat::Seat;

pub(crate) use member::Member;
pub use options::{ClusterError, ClusterOptions, NodeState};

/// Nodes of one cluster in this process. Nodes are numbered from 1 in the order of their addresses.
///
/// Whatever it is told to do to a node is done when the call returns, and the clients of the other nodes have been told.
#[derive(Debug)]
pub struct Cluster {
    seats: Vec<Seat>,
    interconnect: Arc<Memory>,
    options: Mutex<ClusterOptions>,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Cluster {
    /// Starts all nodes. Clients can connect when this returns.
    ///
    /// # Errors
    /// When there aren't so many addresses, one of them can't be listened on (for one that the machine doesn't have, the
    /// error says how to add it), or there are no threads.
    pub fn start(options: ClusterOptions) -> io::Result<Self> {
        let mut options = options;
        let shape = |listen| topology::nodes(listen, options.nodes, options.data_centres);
        let port = topology::free_port(&shape(options.listen)?)?;
        let servers = shape(SocketAddr::new(options.listen.ip(), port))?;
        options.listen.set_port(port);
        let ring = Arc::new(Ring::new(servers.iter().map(ring_node).collect()));
        let interconnect = Memory::new(servers.len(), options.seed);
        let seats: Vec<Seat> = ring
            .ids()
            .zip(&servers)
            .map(|(id, info)| Seat::new(id, info, &servers, &ring, &interconnect, &options))
            .collect();
        let doors = seats.iter().map(|seat| {
            let door: Arc<dyn Door> = Arc::clone(seat.node()) as Arc<dyn Door>;
            Arc::downgrade(&door)
        });
        interconnect.connect(doors.collect::<Vec<Weak<dyn Door>>>());
        let cluster = Self {
            seats,
            interconnect,
            options: Mutex::new(options),
            ended: Mutex::new(false),
            end: Condvar::new(),
        };
        for seat in &cluster.seats {
            let mut state = seat.state.lock();
            state.running = Some(seat.serve(&cluster.options.lock())?);
        }
        Ok(cluster)
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.seats.len()
    }

    /// Whether there are none, which can't be.
    pub fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }

    /// Where clients reach the nodes, in their order.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.seats.iter().map(|seat| seat.address).collect()
    }

    /// The data centre of a node; `None` if there is no such node.
    pub fn data_centre(&self, node: usize) -> Option<&str> {
        Some(&self.seat(node).ok()?.info.data_center)
    }

    /// The engine of a node, for its faults and guardrails; `None` if there is no such node.
    pub fn service(&self, node: usize) -> Option<&Arc<EmbeddedService>> {
        Some(&self.seat(node).ok()?.service)
    }

    /// What serves each node that runs, for its counters and options.
    pub fn servers(&self) -> Vec<helenus_server::ServerHandle> {
        let running = |seat: &Seat| {
            let state = seat.state.lock();
            let running = state.running.as_ref();
            running.map(|running| running.hub.handle().clone())
        };
        self.seats.iter().filter_map(running).collect()
    }

    /// What a node is doing; `None` if there is no such node.
    pub fn state(&self, node: usize) -> Option<NodeState> {
        Some(self.seat(node).ok()?.state.lock().name())
    }

    /// Ends a node: its connections are closed, its port is free, and the clients of the others are told that it is down.
    /// What it stores it still has when it is started again.
    ///
    /// # Errors
    /// If there is no such node, or it is stopped.
    pub fn stop(&self, node: usize) -> Result<(), ClusterError> {
        let seat = self.seat(node)?;
        let mut state = seat.state.lock();
        let Some(running) = state.running.take() else {
            return Err(wrong(node, NodeState::Stopped));
        };
        state.paused = None;
        self.interconnect.forget(seat.id);
        for other in self.seats.iter().filter(|other| other.id != seat.id) {
            self.interconnect
                .set(seat.id, other.id, |link| link.is_down = true);
            self.interconnect
                .set(other.id, seat.id, |link| link.is_down = true);
        }
        // First the connections: drivers don't believe a node down that they still reach.
        running.end();
        self.believe_links();
        if let Some(member) = &seat.node().member {
            member.coordinations.clear();
            member.resume();
        }
        Ok(())
    }

    /// Starts a node that was stopped. It has what it stored, learns what it missed of the schema, and is sent the writes
    /// that the others kept for it.
    ///
    /// # Errors
    /// If there is no such node, it runs, or its address can't be listened on.
    pub fn restart(&self, node: usize) -> Result<(), ClusterError> {
        let seat = self.seat(node)?;
        let mut state = seat.state.lock();
        if state.running.is_some() {
            return Err(wrong(node, state.name()));
        }
        state.running = Some(seat.serve(&self.options.lock())?);
        drop(state);
        for other in self.seats.iter().filter(|other| other.id != seat.id) {
            if other.state.lock().running.is_some() {
                self.interconnect
                    .set(seat.id, other.id, |link| link.is_down = false);
                self.interconnect
                    .set(other.id, seat.id, |link| link.is_down = false);
            }
        }
        self.believe_links();
        Ok(())
    }

    /// Has a node answer nothing, neither its clients nor the other nodes, who don't know and wait for it.
    ///
    /// # Errors
    /// If there is no such node, or it doesn't run.
    pub fn pause(&self, node: usize) -> Result<(), ClusterError> {
        let seat = self.seat(node)?;
        let mut state = seat.state.lock();
        match (state.name(), &state.running) {
            (NodeState::Running, Some(running)) => {
                self.interconnect.hold(seat.id);
                if let Some(member) = &seat.node().member {
                    member.pause();
                }
                let mut options = Options::clone(&running.hub.options());
                // Over a limit of requests, nothing more is read of a connection.
                let before = options.limits.requests.replace(0);
                running.hub.reconfigure(options);
                state.paused = Some(before);
                Ok(())
            }
            (other, _) => Err(wrong(node, other)),
        }
    }

    /// Has a node that was paused go on, with all that has arrived meanwhile.
    ///
    /// # Errors
    /// If there is no such node, or it isn't paused.
    pub fn resume(&self, node: usize) -> Result<(), ClusterError> {
        let seat = self.seat(node)?;
        let mut state = seat.state.lock();
        let name = state.name();
        match (state.paused.take(), &state.running) {
            (Some(requests), Some(running)) => {
                let mut options = Options::clone(&running.hub.options());
                options.limits.requests = requests;
                running.hub.reconfigure(options);
                drop(state);
                if let Some(member) = &seat.node().member {
                    member.resume();
                }
                self.interconnect.release(seat.id);
                Ok(())
            }
            _ => Err(wrong(node, name)),
        }
    }

    /// Gives every node other options, those that are stopped when they are started again.
    pub fn reconfigure(&self, options: Options) {
        for seat in &self.seats {
            let mut state = seat.state.lock();
            let mut options = options.clone();
            if let Some(before) = &mut state.paused {
                *before = options.limits.requests.replace(0);
            }
            if let Some(running) = &state.running {
                running.hub.reconfigure(options);
            }
        }
        self.options.lock().server = options;
    }

    /// The options that nodes have and are started with.
    pub fn options(&self) -> Options {
        self.options.lock().server.clone()
    }

    /// Whether the cluster was asked to end.
    pub fn is_shutdown(&self) -> bool {
        *self.ended.lock()
    }

    /// Asks all nodes to answer what is in flight and end, and lets [`wait`](Self::wait) return.
    pub fn shutdown(&self) {
        for seat in &self.seats {
            let state = seat.state.lock();
            if let Some(running) = &state.running {
                running.hub.shutdown_handle().shutdown();
                if state.paused.is_some() {
                    // What it was asked it won't answer.
                    running.hub.abort();
                }
            }
        }
        *self.ended.lock() = true;
        self.end.notify_all();
    }

    /// Waits until the cluster is [shut down](Self::shutdown) and every node has ended.
    ///
    /// # Errors
    /// The first of a node whose runtime couldn't start.
    pub fn wait(&self) -> io::Result<()> {
        let mut ended = self.ended.lock();
        while !*ended {
            self.end.wait(&mut ended);
        }
        drop(ended);
        let mut outcome = Ok(());
        for seat in &self.seats {
            let running = seat.state.lock().running.take();
            if let Some(running) = running {
                outcome = outcome.and(running.join());
            }
        }
        outcome
    }

    fn seat(&self, node: usize) -> Result<&Seat, ClusterError> {
        let seat = node.checked_sub(1).and_then(|index| self.seats.get(index));
        seat.ok_or(ClusterError::NoSuchNode(node, self.seats.len()))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.shutdown();
        // A node that failed has said so; a drop is no place to say it again.
        let _ = self.wait();
    }
}

fn ring_node(info: &NodeInfo) -> helenus_coordinator::Node {
    helenus_coordinator::Node {
        host_id: info.host_id.as_u128(),
        address: SocketAddr::new(info.address, info.port),
        data_centre: Arc::from(&*info.data_center),
        rack: Arc::from(&*info.rack),
        tokens: info
            .tokens
            .iter()
            .map(|token| helenus_coordinator::Token(*token))
            .collect(),
    }
}

fn wrong(node: usize, state: NodeState) -> ClusterError {
    ClusterError::WrongState { node, state }
}
