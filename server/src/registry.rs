//! Every open connection of a server: bounded in number, reached for events and for the drain.

use crate::budget::Budget;
use crate::clients::{ConnectionSnapshot, Record};
use crate::mailbox::{Mail, Mailbox};
use crate::options::Limits;
use crate::sync::{WakerSet, lock, wake_all};
use helenus_core::ServerEvent;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Why a connection was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The server has as many connections as it may.
    #[error("the server's limit of connections is reached")]
    TooManyConnections,
    /// The peer's address has as many connections as it may.
    #[error("the address's limit of connections is reached")]
    TooManyFromAddress,
    /// The server is shutting down.
    #[error("the server is shutting down")]
    Draining,
    /// [`Service::open`](crate::Service::open) panicked.
    #[error("the service panicked")]
    ServicePanicked,
}

/// The connections of a server and what they share.
#[derive(Debug)]
pub(crate) struct Registry {
    limits: Limits,
    bytes: Option<Arc<Budget>>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    next: u64,
    connections: BTreeMap<u64, Member>,
    addresses: HashMap<IpAddr, Address>,
    draining: bool,
    awaiting_end: WakerSet,
}

/// What the registry has of a connection.
#[derive(Debug)]
struct Member {
    mailbox: Arc<Mailbox>,
    record: Arc<Record>,
}

#[derive(Debug)]
struct Address {
    connections: usize,
    bytes: Option<Arc<Budget>>,
}

/// A connection's place in the registry; given up when dropped.
#[derive(Debug)]
pub(crate) struct Membership {
    registry: Arc<Registry>,
    pub(crate) id: u64,
    address: IpAddr,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) record: Arc<Record>,
    /// The budgets of bytes it shares: the address's and the server's, as far as they are limited.
    pub(crate) budgets: [Option<Arc<Budget>>; 2],
}

impl Registry {
    pub(crate) fn new(limits: Limits) -> Arc<Self> {
        let bytes = limits.bytes.map(Budget::new);
        Arc::new(Registry {
            limits,
            bytes,
            inner: Mutex::default(),
        })
    }

    /// Takes in a connection from `peer`.
    pub(crate) fn admit(self: &Arc<Self>, peer: SocketAddr) -> Result<Membership, Refusal> {
        let address = peer.ip();
        let mut inner = lock(&self.inner);
        if inner.draining {
            return Err(Refusal::Draining);
        }
        if inner.connections.len() >= self.limits.connections {
            return Err(Refusal::TooManyConnections);
        }
        let known = inner.addresses.entry(address).or_insert_with(|| Address {
            connections: 0,
            bytes: self.limits.bytes_per_address.map(Budget::new),
        });
        if known.connections >= self.limits.connections_per_address {
            if known.connections == 0 {
                inner.addresses.remove(&address);
            }
            return Err(Refusal::TooManyFromAddress);
        }
        known.connections += 1;
        let budgets = [known.bytes.clone(), self.bytes.clone()];
        let id = inner.next;
        inner.next += 1;
        let mailbox = Arc::new(Mailbox::default());
        let record = Arc::new(Record::new(peer));
        let member = Member {
            mailbox: Arc::clone(&mailbox),
            record: Arc::clone(&record),
        };
        inner.connections.insert(id, member);
        Ok(Membership {
            registry: Arc::clone(self),
            id,
            address,
            mailbox,
            record,
            budgets,
        })
    }

    /// How many connections are open.
    pub(crate) fn len(&self) -> usize {
        lock(&self.inner).connections.len()
    }

    /// The open connections, in the order they were accepted.
    pub(crate) fn snapshots(&self) -> Vec<ConnectionSnapshot> {
        let records: Vec<_> = {
            let inner = lock(&self.inner);
            let members = inner.connections.iter();
            members
                .map(|(id, member)| (*id, Arc::clone(&member.record)))
                .collect()
        };
        let snapshots = records.iter().map(|(id, record)| record.snapshot(*id));
        snapshots.collect()
    }

    /// What an open connection shows of itself.
    pub(crate) fn record(&self, id: u64) -> Option<Arc<Record>> {
        let inner = lock(&self.inner);
        Some(Arc::clone(&inner.connections.get(&id)?.record))
    }

    /// Posts `event` to every connection. Two events reach all of them in the same order.
    pub(crate) fn publish(&self, event: &Arc<ServerEvent>) {
        for member in lock(&self.inner).connections.values() {
            member.mailbox.post(Mail::Event(Arc::clone(event)));
        }
    }

    /// Takes no more connections and asks the open ones to finish.
    pub(crate) fn drain(&self) {
        let mut inner = lock(&self.inner);
        inner.draining = true;
        for member in inner.connections.values() {
            member.mailbox.post(Mail::Drain);
        }
    }

    /// Closes every connection at once.
    pub(crate) fn abort(&self) {
        let mut inner = lock(&self.inner);
        inner.draining = true;
        for member in inner.connections.values() {
            member.mailbox.post(Mail::Abort);
        }
    }

    /// Ready when no connection is open; wakes `waker` then.
    pub(crate) fn poll_empty(&self, waker: &Waker) -> Poll<()> {
        let mut inner = lock(&self.inner);
        if inner.connections.is_empty() {
            return Poll::Ready(());
        }
        inner.awaiting_end.register(waker);
        Poll::Pending
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        self.mailbox.close();
        let mut inner = lock(&self.registry.inner);
        inner.connections.remove(&self.id);
        if let Some(address) = inner.addresses.get_mut(&self.address) {
            address.connections -= 1;
            if address.connections == 0 {
                inner.addresses.remove(&self.address);
            }
        }
        if inner.connections.is_empty() {
            let wakers = inner.awaiting_end.take();
            drop(inner);
            wake_all(wakers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CountingWaker;

    const HERE: SocketAddr = SocketAddr::new(IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7);
    const THERE: SocketAddr = SocketAddr::new(IpAddr::V6(std::net::Ipv6Addr::LOCALHOST), 7);

    fn registry(connections: usize, connections_per_address: usize) -> Arc<Registry> {
        Registry::new(Limits {
            connections,
            connections_per_address,
            ..Limits::default()
        })
    }

    fn refusal(registry: &Arc<Registry>, address: SocketAddr) -> Option<Refusal> {
        registry.admit(address).err()
    }

    #[test]
    fn connections_are_bounded_for_the_server_and_for_an_address() {
        let registry = registry(3, 2);
        let first = registry.admit(HERE).unwrap();
        let _second = registry.admit(HERE).unwrap();
        assert_eq!(refusal(&registry, HERE), Some(Refusal::TooManyFromAddress));
        let _third = registry.admit(THERE).unwrap();
        assert_eq!(refusal(&registry, THERE), Some(Refusal::TooManyConnections));
        drop(first);
        assert_eq!((registry.len(), refusal(&registry, HERE)), (2, None));
    }

    #[test]
    fn an_address_that_left_is_forgotten() {
        let registry = registry(9, 9);
        drop(registry.admit(HERE).unwrap());
        assert!(lock(&registry.inner).addresses.is_empty());
    }

    #[test]
    fn a_drain_reaches_every_connection_and_ends_with_the_last() {
        let registry = registry(9, 9);
        let (one, two) = (
            registry.admit(HERE).unwrap(),
            registry.admit(THERE).unwrap(),
        );
        let (count, waker) = CountingWaker::pair();
        registry.drain();
        assert_eq!(refusal(&registry, HERE), Some(Refusal::Draining));
        for member in [&one, &two] {
            let mut mail = Vec::new();
            member.mailbox.collect(&mut mail);
            assert!(matches!(mail[..], [Mail::Drain]));
        }
        assert!(registry.poll_empty(&waker).is_pending());
        drop(one);
        assert_eq!(count.get(), 0);
        drop(two);
        assert_eq!(count.get(), 1);
        assert!(registry.poll_empty(&waker).is_ready());
    }
}
