//! Bytes or requests that many connections share: each leases what it holds, and one that finds the
//! budget used up stops reading until what another gives back wakes it.

use crate::sync::{lock, wake_all};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// The limit of a budget that has none.
const UNBOUNDED: u64 = u64::MAX;

/// A bound on what is held together by all who lease from it, in bytes or in requests.
///
/// The bound is soft by what one read brings: holding is reported after the fact, since a request
/// already begun is always admitted, and only reading *more* has to wait.
#[derive(Debug)]
pub struct Budget {
    limit: AtomicU64,
    used: AtomicU64,
    awaited: AtomicBool,
    waiting: Mutex<BTreeMap<u64, Waker>>,
    leases: AtomicU64,
}

impl Budget {
    /// A budget of `limit`, or without a bound.
    pub fn new(limit: Option<u64>) -> Arc<Self> {
        Arc::new(Budget {
            limit: AtomicU64::new(limit.unwrap_or(UNBOUNDED)),
            used: AtomicU64::new(0),
            awaited: AtomicBool::new(false),
            waiting: Mutex::default(),
            leases: AtomicU64::new(0),
        })
    }

    /// Has another limit from now on, and wakes who waits: there may be room now. What was leased
    /// without a bound is counted when its holder next says what it holds.
    pub fn set_limit(&self, limit: Option<u64>) {
        self.limit
            .store(limit.unwrap_or(UNBOUNDED), Ordering::SeqCst);
        self.wake();
    }

    /// What is held at the moment. Nothing is counted as long as there is no bound.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::SeqCst)
    }

    fn limit(&self) -> u64 {
        self.limit.load(Ordering::SeqCst)
    }

    /// Whether more may be read.
    pub fn has_room(&self) -> bool {
        self.used() < self.limit()
    }

    fn release(&self, amount: u64) {
        let before = self.used.fetch_sub(amount, Ordering::SeqCst);
        if before.saturating_sub(amount) < self.limit() {
            self.wake();
        }
    }

    fn wake(&self) {
        if self.awaited.load(Ordering::SeqCst) {
            let mut waiting = lock(&self.waiting);
            self.awaited.store(false, Ordering::SeqCst);
            let wakers = std::mem::take(&mut *waiting);
            drop(waiting);
            wake_all(wakers.into_values());
        }
    }
}

/// What one holder has of a [`Budget`]; given back when dropped.
#[derive(Debug)]
pub struct Lease {
    budget: Arc<Budget>,
    held: u64,
    /// Tells the holders that wait apart.
    number: u64,
}

impl Lease {
    /// A lease of nothing yet.
    pub fn new(budget: Arc<Budget>) -> Self {
        let number = budget.leases.fetch_add(1, Ordering::Relaxed);
        Lease {
            budget,
            held: 0,
            number,
        }
    }

    /// The holder now has so much. Free of cost when that is what it had.
    pub fn hold(&mut self, amount: u64) {
        let amount = match self.budget.limit() {
            UNBOUNDED => 0,
            _ => amount,
        };
        if amount > self.held {
            self.budget
                .used
                .fetch_add(amount - self.held, Ordering::SeqCst);
        } else if amount < self.held {
            self.budget.release(self.held - amount);
        }
        self.held = amount;
    }

    /// How much the holder may have in all, with what the others have.
    pub fn share(&self) -> u64 {
        match self.budget.limit() {
            UNBOUNDED => UNBOUNDED,
            limit => limit.saturating_sub(self.budget.used().saturating_sub(self.held)),
        }
    }

    /// Whether more may be read; if not, `waker` is woken once, when this may have changed.
    pub fn poll_room(&self, waker: &Waker) -> bool {
        let budget = &self.budget;
        if budget.has_room() {
            return true;
        }
        let mut waiting = lock(&budget.waiting);
        waiting.insert(self.number, waker.clone());
        budget.awaited.store(true, Ordering::SeqCst);
        // What was given back between the first look and this found nobody waiting.
        budget.has_room()
    }

    /// The budget it leases from.
    pub fn budget(&self) -> &Budget {
        &self.budget
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.hold(0);
        if self.budget.awaited.load(Ordering::SeqCst) {
            lock(&self.budget.waiting).remove(&self.number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CountingWaker;

    fn two(limit: Option<u64>) -> (Arc<Budget>, Lease, Lease) {
        let budget = Budget::new(limit);
        let (a, b) = (
            Lease::new(Arc::clone(&budget)),
            Lease::new(Arc::clone(&budget)),
        );
        (budget, a, b)
    }

    #[test]
    fn a_freed_byte_wakes_who_waits_for_room() {
        let (budget, mut a, mut b) = two(Some(10));
        let (count, waker) = CountingWaker::pair();
        a.hold(4);
        assert!(a.poll_room(&waker));
        b.hold(7);
        assert!(!a.poll_room(&waker) && !a.poll_room(&waker));
        a.hold(5);
        assert_eq!((budget.used(), count.get()), (12, 0));
        b.hold(4);
        assert_eq!((budget.used(), count.get()), (9, 1));
        drop(a);
        drop(b);
        assert_eq!((budget.used(), count.get()), (0, 1));
    }

    #[test]
    fn a_holder_may_have_what_the_others_leave() {
        let (_, mut a, mut b) = two(Some(10));
        a.hold(4);
        b.hold(3);
        assert_eq!((a.share(), b.share()), (7, 6));
        b.hold(12);
        assert_eq!((a.share(), b.share()), (0, 6));
    }

    #[test]
    fn who_waits_and_goes_leaves_no_waker_behind() {
        let (budget, mut a, b) = two(Some(1));
        let (count, waker) = CountingWaker::pair();
        a.hold(1);
        assert!(!b.poll_room(&waker));
        drop(b);
        assert!(lock(&budget.waiting).is_empty());
        drop(a);
        assert_eq!(count.get(), 0);
    }

    #[test]
    fn another_limit_wakes_who_waits_and_counts_from_then_on() {
        let (budget, mut a, b) = two(Some(1));
        let (count, waker) = CountingWaker::pair();
        a.hold(5);
        assert!(!b.poll_room(&waker));
        budget.set_limit(Some(9));
        assert_eq!((count.get(), b.share()), (1, 4));
        budget.set_limit(None);
        a.hold(7);
        assert_eq!((budget.used(), b.share()), (0, u64::MAX));
        budget.set_limit(Some(9));
        a.hold(7);
        assert_eq!(b.share(), 2);
    }
}
