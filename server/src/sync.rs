//! Locks that outlive a panic, the fence around code that may panic, and the set of wakers that wait
//! for one thing.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Locks `mutex`. Every critical section of this crate leaves its data whole at each step, so a
/// panic in another thread takes nothing away from it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tasks that wait for the same change, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct WakerSet {
    wakers: Vec<Waker>,
}

impl WakerSet {
    /// Adds `waker`, once however often its task asks.
    pub(crate) fn register(&mut self, waker: &Waker) {
        if !self.wakers.iter().any(|known| known.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }

    /// Takes every waker out; the caller wakes them after it let go of its lock.
    pub(crate) fn take(&mut self) -> Vec<Waker> {
        std::mem::take(&mut self.wakers)
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
