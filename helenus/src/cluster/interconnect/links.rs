//! The links between the nodes, without I/O: what is sent goes in with the time, and comes out when it arrives, if it
//! does.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use helenus_coordinator::NodeId;

/// How one direction between two nodes behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Link {
    /// How long a message is on its way.
    pub(crate) latency: Duration,
    /// How much longer one may be, which lets others overtake it.
    pub(crate) jitter: Duration,
    /// Of a million messages, how many are lost.
    pub(crate) loss: u32,
    /// Of a million messages, how many arrive twice.
    pub(crate) duplication: u32,
    /// Whether nothing passes, for the network is parted.
    pub(crate) is_cut: bool,
    /// Whether nothing passes, for one of its ends is down.
    pub(crate) is_down: bool,
}

/// Of so many messages are [`Link::loss`] and [`Link::duplication`].
pub(crate) const MILLION: u32 = 1_000_000;

/// A message that has arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Delivery {
    /// Who sent it.
    pub(crate) from: NodeId,
    /// Whom it is for.
    pub(crate) to: NodeId,
    /// The message.
    pub(crate) bytes: Bytes,
}

/// All links between some nodes.
#[derive(Debug)]
pub(crate) struct Links {
    nodes: usize,
    /// By sender, then by receiver.
    links: Vec<Link>,
    /// By receiver: what has arrived while it took nothing, in order. `None` while it takes what arrives.
    held: Vec<Option<Vec<Delivery>>>,
    /// By when they arrive, then in the order they were sent.
    flying: BTreeMap<(Instant, u64), Delivery>,
    sent: u64,
    random: u64,
}

impl Links {
    /// Perfect links between so many nodes. What befalls a message follows from the seed.
    pub(crate) fn new(nodes: usize, seed: u64) -> Self {
        Self {
            nodes,
            links: vec![Link::default(); nodes * nodes],
            held: vec![None; nodes],
            flying: BTreeMap::new(),
            sent: 0,
            random: seed,
        }
    }

    /// The link from one node to another; `None` if there is no such node.
    pub(crate) fn link(&mut self, from: NodeId, to: NodeId) -> Option<&mut Link> {
        let (from, to) = (usize::from(from.0), usize::from(to.0));
        if from >= self.nodes || to >= self.nodes {
            return None;
        }
        self.links.get_mut(from * self.nodes + to)
    }

    /// Has what arrives at a node wait, from now on.
    pub(crate) fn hold(&mut self, node: NodeId) {
        if let Some(held) = self.held.get_mut(usize::from(node.0)) {
            held.get_or_insert_with(Vec::new);
        }
    }

    /// Gives out what waited for a node, which takes what arrives from now on.
    pub(crate) fn release(&mut self, node: NodeId) -> Vec<Delivery> {
        let held = self.held.get_mut(usize::from(node.0));
        held.and_then(Option::take).unwrap_or_default()
    }

    /// Forgets what is on its way from or to a node, and what waits for it: the node has ended.
    pub(crate) fn forget(&mut self, node: NodeId) {
        self.flying
            .retain(|_, delivery| delivery.from != node && delivery.to != node);
        if let Some(held) = self.held.get_mut(usize::from(node.0)) {
            *held = None;
        }
    }

    /// Sends a message. It is returned if it arrives at once; if it arrives later, [`poll_timeout`](Self::poll_timeout)
    /// says when.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        from: NodeId,
        to: NodeId,
        bytes: Bytes,
    ) -> Option<Delivery> {
        let link = *self.link(from, to)?;
        if link.is_cut || link.is_down || self.happens(link.loss) {
            return None;
        }
        let delivery = Delivery { from, to, bytes };
        if self.happens(link.duplication) {
            self.fly(now, link, delivery.clone());
        }
        if link.latency.is_zero() && link.jitter.is_zero() {
            return self.arrive(delivery);
        }
        self.fly(now, link, delivery);
        None
    }

    /// The next message that has arrived.
    pub(crate) fn poll_delivery(&mut self, now: Instant) -> Option<Delivery> {
        loop {
            let first = self.flying.first_entry()?;
            if first.key().0 > now {
                return None;
            }
            let delivery = first.remove();
            if let Some(delivery) = self.arrive(delivery) {
                return Some(delivery);
            }
        }
    }

    /// When the next message arrives.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.flying.first_key_value().map(|((due, _), _)| *due)
    }

    fn fly(&mut self, now: Instant, link: Link, delivery: Delivery) {
        let jitter = u64::try_from(link.jitter.as_nanos()).unwrap_or(u64::MAX);
        let late = match jitter {
            0 => Duration::ZERO,
            most => Duration::from_nanos(self.next() % most),
        };
        let due = now
            .checked_add(link.latency)
            .and_then(|due| due.checked_add(late));
        self.flying
            .insert((due.unwrap_or(now), self.sent), delivery);
        self.sent += 1;
    }

    /// Hands a message over, or keeps it for a node that takes nothing now.
    fn arrive(&mut self, delivery: Delivery) -> Option<Delivery> {
        match self.held.get_mut(usize::from(delivery.to.0)) {
            Some(Some(held)) => {
                held.push(delivery);
                None
            }
            _ => Some(delivery),
        }
    }

    /// Whether what happens to so many of a million messages happens to this one.
    fn happens(&mut self, of_a_million: u32) -> bool {
        of_a_million > 0 && self.next() % u64::from(MILLION) < u64::from(of_a_million)
    }

    /// The next of a sequence of random numbers: Steele's SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    fn number(links: &mut Links, now: Instant, number: u8) -> Option<Delivery> {
        links.send(now, A, B, Bytes::copy_from_slice(&[number]))
    }

    fn arrived(links: &mut Links, now: Instant) -> Vec<u8> {
        std::iter::from_fn(|| links.poll_delivery(now))
            .map(|delivery| delivery.bytes[0])
            .collect()
    }

    #[test]
    fn a_perfect_link_delivers_at_once() {
        let mut links = Links::new(2, 1);
        let now = Instant::now();
        let delivery = number(&mut links, now, 7).unwrap();
        assert_eq!((delivery.from, delivery.to, delivery.bytes[0]), (A, B, 7));
        assert_eq!(links.poll_timeout(), None);
        assert_eq!(links.send(now, A, NodeId(2), Bytes::new()), None);
    }

    #[test]
    fn latency_keeps_the_order_and_jitter_does_not() {
        let now = Instant::now();
        let mut links = Links::new(2, 1);
        let latency = Duration::from_millis(5);
        links.link(A, B).unwrap().latency = latency;
        for each in 0..20 {
            assert_eq!(number(&mut links, now, each), None);
        }
        assert_eq!(links.poll_timeout(), Some(now + latency));
        assert!(arrived(&mut links, now).is_empty());
        assert!(arrived(&mut links, now + latency).is_sorted());

        links.link(A, B).unwrap().jitter = latency;
        for each in 0..20 {
            number(&mut links, now, each);
        }
        let mut late = arrived(&mut links, now + 2 * latency);
        assert!(!late.is_sorted());
        late.sort_unstable();
        assert!(late.into_iter().eq(0..20));
    }

    #[test]
    fn messages_are_lost_and_doubled_as_often_as_the_link_says() {
        let now = Instant::now();
        let mut links = Links::new(2, 1);
        links.link(A, B).unwrap().loss = MILLION / 4;
        let passed = (0..1000).filter(|_| number(&mut links, now, 0).is_some());
        assert!((700..800).contains(&passed.count()));
        *links.link(A, B).unwrap() = Link {
            duplication: MILLION,
            ..Link::default()
        };
        assert!(number(&mut links, now, 9).is_some());
        assert_eq!(arrived(&mut links, now), [9]);
    }

    #[test]
    fn a_cut_link_passes_nothing_one_way() {
        let now = Instant::now();
        let mut links = Links::new(2, 1);
        links.link(A, B).unwrap().is_cut = true;
        assert_eq!(number(&mut links, now, 1), None);
        assert!(links.send(now, B, A, Bytes::new()).is_some());
    }

    #[test]
    fn what_arrives_at_a_node_that_is_held_waits_for_its_release() {
        let now = Instant::now();
        let mut links = Links::new(2, 1);
        links.hold(B);
        assert_eq!(number(&mut links, now, 1), None);
        assert_eq!(number(&mut links, now, 2), None);
        let waited = links.release(B);
        assert!(waited.iter().map(|delivery| delivery.bytes[0]).eq([1, 2]));
        assert!(number(&mut links, now, 3).is_some());
        links.hold(B);
        number(&mut links, now, 4);
        links.forget(B);
        assert!(links.release(B).is_empty());
    }

    #[test]
    fn the_same_seed_gives_the_same_fate() {
        let fate = |seed| {
            let now = Instant::now();
            let mut links = Links::new(2, seed);
            links.link(A, B).unwrap().loss = MILLION / 2;
            let passes = (0..64).map(|_| number(&mut links, now, 0).is_some());
            passes.collect::<Vec<_>>()
        };
        assert_eq!(fate(5), fate(5));
        assert_ne!(fate(5), fate(6));
    }
}
