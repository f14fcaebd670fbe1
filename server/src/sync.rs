//! Locks that outlive a panic, the fence around code that may panic, and the set of wakers that wait
//! for one thing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Locks `mutex`. Every critical section of this crate leaves its data whole at each step, so a
/// panic in another thread takes nothing away from it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Who waits, as a number of its own: the waker that it leaves replaces the one it left before.
///
/// Wakers alone don't tell that they are the same task's: `Waker::will_wake` may say no of two clones, and a set
/// that goes by it grows with each poll.
#[derive(Debug)]
pub struct Seat(u64);

impl Default for Seat {
    fn default() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Seat(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Tasks that wait for the same change, in the order in which their seats were made.
#[derive(Debug, Default)]
pub(crate) struct WakerSet {
    wakers: BTreeMap<u64, Waker>,
}

impl WakerSet {
    /// Leaves `waker`, in the place of the one before.
    pub(crate) fn register(&mut self, seat: &Seat, waker: &Waker) {
        match self.wakers.entry(seat.0) {
            Entry::Occupied(mut known) => known.get_mut().clone_from(waker),
            Entry::Vacant(place) => drop(place.insert(waker.clone())),
        }
    }

    /// Takes every waker out; the caller wakes them after it let go of its lock.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Waker> + use<> {
        std::mem::take(&mut self.wakers).into_values()
    }
}

/// Wakes each of `wakers`.
pub(crate) fn wake_all(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        waker.wake();
    }
}

/// Runs `f`, in which somebody else's code may panic; `None` if it did. `what` is for the log.
pub(crate) fn contain<T>(what: &'static str, f: impl FnOnce() -> T) -> Option<T> {
    // What `f` leaves half done is its own: this crate's state is whole at each step.
    let outcome = catch_unwind(AssertUnwindSafe(f));
    if outcome.is_err() {
        tracing::error!("{what} panicked");
    }
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::CountingWaker;

    #[test]
    fn a_seat_has_one_waker_however_often_it_is_left_anew() {
        let (mut set, seats) = (WakerSet::default(), [Seat::default(), Seat::default()]);
        let ((first, old), (second, new)) = (CountingWaker::pair(), CountingWaker::pair());
        for _ in 0..100 {
            // As different to `will_wake` as the clones of one task's may be.
            set.register(&seats[0], &old);
            set.register(&seats[0], &new);
        }
        set.register(&seats[1], &new);
        wake_all(set.take());
        assert_eq!((first.get(), second.get()), (0, 2));
        assert_eq!(set.take().count(), 0);
    }
}
