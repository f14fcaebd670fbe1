//! Work put off for a while: one thread waits for whatever is due next, and there is none while nothing is.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() + Send>;

/// Work that is put off.
#[derive(Default, Clone)]
pub(crate) struct Delays {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    sooner: Condvar,
}

#[derive(Default)]
struct State {
    /// By when they are due, then in the order they came.
    jobs: BTreeMap<(Instant, u64), Job>,
    next: u64,
    /// Whether a thread waits for them.
    waiting: bool,
}

impl Delays {
    /// Does a short piece of work after a while, on a thread of its own.
    pub(crate) fn after(&self, delay: Duration, job: impl FnOnce() + Send + 'static) {
        let now = Instant::now();
        let due = now.checked_add(delay).unwrap_or(now);
        let mut state = self.shared.lock();
        let number = state.next;
        state.next += 1;
        state.jobs.insert((due, number), Box::new(job));
        if state.waiting {
            self.shared.sooner.notify_one();
            return;
        }
        state.waiting = true;
        drop(state);
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new().name("delays".to_owned());
        if thread.spawn(move || shared.wait()).is_err() {
            // Late work is better than none.
            self.shared.wait();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what becomes due until nothing is left.
    fn wait(&self) {
        let mut state = self.lock();
        while let Some(entry) = state.jobs.first_entry() {
            let left = entry.key().0.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let job = entry.remove();
                drop(state);
                job();
                state = self.lock();
                continue;
            }
            let waited = self.sooner.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting = false;
    }
}

impl fmt::Debug for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delays").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn what_is_due_first_is_done_first_whatever_came_first() {
        let delays = Delays::default();
        let (done, order) = mpsc::channel();
        for (millis, name) in [(400, "last"), (200, "second"), (0, "first"), (200, "third")] {
            let done = done.clone();
            delays.after(Duration::from_millis(millis), move || {
                done.send(name).unwrap();
            });
        }
        drop(done);
        let order: Vec<_> = order.iter().collect();
        assert_eq!(order, ["first", "second", "third", "last"]);
    }
}
