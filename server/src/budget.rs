//! Bytes that many connections share: each leases what its buffers hold, and one that finds the
//! budget used up stops reading until a freed byte wakes it.

use crate::sync::{WakerSet, lock, wake_all};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// A bound on the bytes held together by all who lease from it.
///
/// The bound is soft by what one read brings: holding is reported after the fact, since a request
/// already begun is always admitted, and only reading *more* has to wait.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    awaited: AtomicBool,
    waiting: Mutex<WakerSet>,
}

impl Budget {
    /// A budget of `limit` bytes.
    pub fn new(limit: u64) -> Arc<Self> {
        Arc::new(Budget {
            limit,
            used: AtomicU64::new(0),
            awaited: AtomicBool::new(false),
            waiting: Mutex::default(),
        })
    }

    /// Bytes held at the moment.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::SeqCst)
    }

    /// Whether more may be read.
    pub fn has_room(&self) -> bool {
        self.used() < self.limit
    }

    /// Whether more may be read; if not, `waker` is woken once, when this may have changed.
    pub fn poll_room(&self, waker: &Waker) -> bool {
        if self.has_room() {
            return true;
        }
        let mut waiting = lock(&self.waiting);
        waiting.register(waker);
        self.awaited.store(true, Ordering::SeqCst);
        // A release between the first look and the registration saw nobody waiting.
        self.has_room()
    }

    fn release(&self, bytes: u64) {
        let before = self.used.fetch_sub(bytes, Ordering::SeqCst);
        if before.saturating_sub(bytes) < self.limit && self.awaited.load(Ordering::SeqCst) {
            let mut waiting = lock(&self.waiting);
            self.awaited.store(false, Ordering::SeqCst);
            let wakers = waiting.take();
            drop(waiting);
            wake_all(wakers);
        }
    }
}

/// What one holder has of a [`Budget`]; given back when dropped.
#[derive(Debug)]
pub struct Lease {
    budget: Arc<Budget>,
    held: u64,
}

impl Lease {
    /// A lease of nothing yet.
    pub fn new(budget: Arc<Budget>) -> Self {
        Lease { budget, held: 0 }
    }

    /// The holder now has `bytes`. Free of cost when that is what it had.
    pub fn hold(&mut self, bytes: u64) {
        if bytes > self.held {
            self.budget
                .used
                .fetch_add(bytes - self.held, Ordering::SeqCst);
        } else if bytes < self.held {
            self.budget.release(self.held - bytes);
        }
        self.held = bytes;
    }

    /// The budget it leases from.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.hold(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CountingWaker;

    #[test]
    fn a_freed_byte_wakes_who_waits_for_room() {
        let budget = Budget::new(10);
        let (mut a, mut b) = (
            Lease::new(Arc::clone(&budget)),
            Lease::new(Arc::clone(&budget)),
        );
        let (count, waker) = CountingWaker::pair();
        a.hold(4);
        assert!(budget.poll_room(&waker));
        b.hold(7);
        assert!(!budget.poll_room(&waker) && !budget.poll_room(&waker));
        a.hold(5);
        assert_eq!((budget.used(), count.get()), (12, 0));
        b.hold(4);
        assert_eq!((budget.used(), count.get()), (9, 1));
        drop(a);
        drop(b);
        assert_eq!((budget.used(), count.get()), (0, 1));
    }
}
