//! Every open connection of a server: bounded in number, reached for events and for the drain.

use crate::clients::{ConnectionSnapshot, Held, Record};
use crate::mailbox::{Mail, Mailbox};
use crate::options::{Limits, Options};
use crate::rate::Rate;
use crate::shares::{Budgets, Shares};
use crate::sync::{Seat, WakerSet, lock, wake_all};
use helenus_core::ServerEvent;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Instant;

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
    budgets: Budgets,
    rate: Arc<Rate>,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    limits: Limits,
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
    budgets: Budgets,
}

/// A connection's place in the registry; given up when dropped.
#[derive(Debug)]
pub(crate) struct Membership {
    registry: Arc<Registry>,
    pub(crate) id: u64,
    address: IpAddr,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) record: Arc<Record>,
}

impl Registry {
    pub(crate) fn new(limits: Limits, now: Instant) -> Arc<Self> {
        Arc::new(Registry {
            budgets: Budgets::of_server(&limits),
            rate: Arc::new(Rate::new(limits.requests_per_second, now)),
            inner: Mutex::new(Inner {
                limits,
                next: 0,
                connections: BTreeMap::new(),
                addresses: HashMap::new(),
                draining: false,
                awaiting_end: WakerSet::default(),
            }),
        })
    }

    /// Other limits hold from now on, those of `options`; every connection is told.
    pub(crate) fn reconfigure(&self, options: &Arc<Options>) {
        let limits = &options.limits;
        let mut inner = lock(&self.inner);
        inner.limits = limits.clone();
        self.rate.set(limits.requests_per_second);
        self.budgets.limit_server(limits);
        for address in inner.addresses.values() {
            address.budgets.limit_address(limits);
        }
        for member in inner.connections.values() {
            member.mailbox.post(Mail::Options(Arc::clone(options)));
        }
    }

    /// Takes in a connection from `peer`, with its part of what it shares with others.
    pub(crate) fn admit(
        self: &Arc<Self>,
        peer: SocketAddr,
    ) -> Result<(Membership, Shares), Refusal> {
        let address = peer.ip();
        let mut inner = lock(&self.inner);
        let inner = &mut *inner;
        if inner.draining {
            return Err(Refusal::Draining);
        }
        if inner.connections.len() >= inner.limits.connections {
            return Err(Refusal::TooManyConnections);
        }
        let known = inner.addresses.entry(address).or_insert_with(|| Address {
            connections: 0,
            budgets: Budgets::of_address(&inner.limits),
        });
        if known.connections >= inner.limits.connections_per_address {
            if known.connections == 0 {
                inner.addresses.remove(&address);
            }
            return Err(Refusal::TooManyFromAddress);
        }
        known.connections += 1;
        let budgets = [known.budgets.clone(), self.budgets.clone()];
        let shares = Shares::new(budgets, Arc::clone(&self.rate));
        let id = inner.next;
        inner.next += 1;
        let mailbox = Arc::new(Mailbox::default());
        let record = Arc::new(Record::new(peer));
        let member = Member {
            mailbox: Arc::clone(&mailbox),
            record: Arc::clone(&record),
        };
        inner.connections.insert(id, member);
        let membership = Membership {
            registry: Arc::clone(self),
            id,
            address,
            mailbox,
            record,
        };
        Ok((membership, shares))
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

    /// What the open connections hold together.
    pub(crate) fn held(&self) -> Held {
        let inner = lock(&self.inner);
        let members = inner.connections.values();
        members.map(|member| member.record.held()).sum()
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
    pub(crate) fn poll_empty(&self, seat: &Seat, waker: &Waker) -> Poll<()> {
        let mut inner = lock(&self.inner);
        if inner.connections.is_empty() {
            return Poll::Ready(());
        }
        inner.awaiting_end.register(seat, waker);
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
        let limits = Limits {
            connections,
            connections_per_address,
            ..Limits::default()
        };
        Registry::new(limits, Instant::now())
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
            registry.admit(HERE).unwrap().0,
            registry.admit(THERE).unwrap().0,
        );
        let ((count, waker), seat) = (CountingWaker::pair(), Seat::default());
        registry.drain();
        assert_eq!(refusal(&registry, HERE), Some(Refusal::Draining));
        for member in [&one, &two] {
            let mut mail = Vec::new();
            member.mailbox.collect(&mut mail);
            assert!(matches!(mail[..], [Mail::Drain]));
        }
        assert!(registry.poll_empty(&seat, &waker).is_pending());
        drop(one);
        assert_eq!(count.get(), 0);
        drop(two);
        assert_eq!(count.get(), 1);
        assert!(registry.poll_empty(&seat, &waker).is_ready());
    }

    #[test]
    fn other_limits_hold_for_those_who_come_and_those_who_are_there() {
        let registry = registry(1, 1);
        let (first, _) = registry.admit(HERE).unwrap();
        assert!(registry.admit(THERE).is_err());
        let mut options = Options::default();
        options.limits.connections = 2;
        registry.reconfigure(&Arc::new(options));
        assert!(registry.admit(THERE).is_ok());
        let mut mail = Vec::new();
        first.mailbox.collect(&mut mail);
        assert!(matches!(&mail[..], [Mail::Options(options)] if options.limits.connections == 2));
    }
}
