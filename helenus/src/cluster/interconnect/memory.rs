//! The interconnect of nodes in one process: what arrives at once is handed over on the sender's thread, the rest by
//! whoever does what is put off.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use bytes::Bytes;
use helenus_coordinator::NodeId;
use parking_lot::Mutex;

use super::Door;
use super::links::{Delivery, Link, Links};
use crate::embedded::Delays;

/// The links of a cluster, and the doors at their ends.
pub(crate) struct Memory {
    links: Mutex<Links>,
    /// By node.
    doors: OnceLock<Vec<Weak<dyn Door>>>,
    delays: Delays,
}

impl Memory {
    /// Perfect links between so many nodes.
    pub(crate) fn new(nodes: usize, seed: u64) -> Arc<Self> {
        Arc::new(Self {
            links: Mutex::new(Links::new(nodes, seed)),
            doors: OnceLock::new(),
            delays: Delays::default(),
        })
    }

    /// Says once who is at the ends. Until then what arrives is lost.
    pub(crate) fn connect(&self, doors: Vec<Weak<dyn Door>>) {
        // Whoever connected it first keeps it.
        let _ = self.doors.set(doors);
    }

    /// Sends a message, which may be lost.
    pub(crate) fn send(self: &Arc<Self>, from: NodeId, to: NodeId, bytes: Bytes) {
        let now = Instant::now();
        let mut links = self.links.lock();
        let before = links.poll_timeout();
        let arrived = links.send(now, from, to, bytes);
        let next = links.poll_timeout();
        drop(links);
        if let Some(delivery) = arrived {
            self.hand_over(delivery);
        }
        if let Some(due) = next.filter(|due| before.is_none_or(|before| *due < before)) {
            self.deliver_at(now, due);
        }
    }

    /// Changes how the link from one node to another behaves.
    pub(crate) fn set(&self, from: NodeId, to: NodeId, change: impl FnOnce(&mut Link)) {
        if let Some(link) = self.links.lock().link(from, to) {
            change(link);
        }
    }

    /// How the link from one node to another behaves.
    pub(crate) fn link(&self, from: NodeId, to: NodeId) -> Link {
        let mut links = self.links.lock();
        links.link(from, to).copied().unwrap_or_default()
    }

    /// Has what arrives at a node wait.
    pub(crate) fn hold(&self, node: NodeId) {
        self.links.lock().hold(node);
    }

    /// Hands over what has waited for a node, and what arrives from now on.
    pub(crate) fn release(&self, node: NodeId) {
        let waited = self.links.lock().release(node);
        for delivery in waited {
            self.hand_over(delivery);
        }
    }

    /// Loses what is on its way from or to a node.
    pub(crate) fn forget(&self, node: NodeId) {
        self.links.lock().forget(node);
    }

    fn deliver_at(self: &Arc<Self>, now: Instant, due: Instant) {
        let memory = Arc::downgrade(self);
        let delay = due.saturating_duration_since(now);
        self.delays.after(delay, move || {
            if let Some(memory) = memory.upgrade() {
                memory.deliver();
            }
        });
    }

    /// Hands over what is due, and comes back for the rest.
    fn deliver(self: &Arc<Self>) {
        loop {
            let now = Instant::now();
            let mut links = self.links.lock();
            let delivery = links.poll_delivery(now);
            let next = links.poll_timeout();
            drop(links);
            match (delivery, next) {
                (Some(delivery), _) => self.hand_over(delivery),
                (None, Some(due)) => return self.deliver_at(now, due),
                (None, None) => return,
            }
        }
    }

    fn hand_over(&self, delivery: Delivery) {
        let Delivery { from, to, bytes } = delivery;
        let doors = self.doors.get();
        let door = doors.and_then(|doors| doors.get(usize::from(to.0))?.upgrade());
        if let Some(door) = door {
            door.receive(from, bytes);
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    const A: NodeId = NodeId(0);
    const B: NodeId = NodeId(1);

    struct Mailbox(Mutex<mpsc::Sender<(NodeId, Bytes, std::thread::ThreadId)>>);

    impl Door for Mailbox {
        fn receive(self: Arc<Self>, from: NodeId, bytes: Bytes) {
            let thread = std::thread::current().id();
            self.0.lock().send((from, bytes, thread)).unwrap();
        }
    }

    type Mail = mpsc::Receiver<(NodeId, Bytes, std::thread::ThreadId)>;

    fn pair() -> (Arc<Memory>, Arc<dyn Door>, Mail) {
        let (sender, mail) = mpsc::channel();
        let door: Arc<dyn Door> = Arc::new(Mailbox(Mutex::new(sender)));
        let memory = Memory::new(2, 7);
        memory.connect(vec![Arc::downgrade(&door), Arc::downgrade(&door)]);
        (memory, door, mail)
    }

    #[test]
    fn a_message_over_a_perfect_link_arrives_on_the_senders_thread() {
        let (memory, _door, mail) = pair();
        memory.send(A, B, Bytes::from_static(b"hello"));
        let (from, bytes, thread) = mail.try_recv().unwrap();
        assert_eq!((from, &*bytes), (A, &b"hello"[..]));
        assert_eq!(thread, std::thread::current().id());
    }

    #[test]
    fn what_takes_its_time_arrives_on_another_thread_in_order() {
        let (memory, _door, mail) = pair();
        memory.set(A, B, |link| link.latency = Duration::from_millis(2));
        for number in 0..100_u8 {
            memory.send(A, B, Bytes::copy_from_slice(&[number]));
        }
        let got: Vec<_> = mail.iter().take(100).collect();
        assert!(got.iter().map(|(_, bytes, _)| bytes[0]).eq(0..100));
        let here = std::thread::current().id();
        assert!(got.iter().all(|(_, _, thread)| *thread != here));
    }

    #[test]
    fn what_was_held_is_handed_over_on_release() {
        let (memory, _door, mail) = pair();
        memory.hold(B);
        memory.send(A, B, Bytes::from_static(b"late"));
        assert!(mail.try_recv().is_err());
        memory.release(B);
        assert_eq!(&*mail.try_recv().unwrap().1, b"late");
    }
}
