//! Deadlines, all from the caller's clock.

mod queue;

use std::time::{Duration, Instant};

pub(crate) use queue::DeadlineQueue;

/// The clock of a connection: the caller's, never running backwards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    now: Instant,
}

impl Clock {
    pub(crate) const fn new(now: Instant) -> Clock {
        Clock { now }
    }

    /// The latest time that was taken over.
    #[inline]
    pub(crate) const fn now(&self) -> Instant {
        self.now
    }

    /// Takes the caller's time over, unless it is earlier than an earlier one.
    #[inline]
    pub(crate) fn set(&mut self, now: Instant) -> Instant {
        self.now = self.now.max(now);
        self.now
    }
}

/// A point in time after something last happened, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    since: Instant,
    after: Option<Duration>,
}

impl Deadline {
    /// So long after `since`; never, without a duration or if that is beyond the clock's range.
    pub(crate) const fn new(since: Instant, after: Option<Duration>) -> Deadline {
        Deadline { since, after }
    }

    /// Has another length, from when it began.
    pub(crate) fn set_length(&mut self, after: Option<Duration>) {
        self.after = after;
    }

    /// Begins anew.
    #[inline]
    pub(crate) fn restart(&mut self, now: Instant) {
        self.since = now;
    }

    /// When it passes.
    pub(crate) fn at(&self) -> Option<Instant> {
        self.since.checked_add(self.after?)
    }

    /// Whether it has passed.
    pub(crate) fn is_over(&self, now: Instant) -> bool {
        self.at().is_some_and(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regressing_clock_stands_still() {
        let start = Instant::now();
        let later = start + Duration::from_secs(5);
        let mut clock = Clock::new(start);
        assert_eq!(clock.set(later), later);
        assert_eq!(clock.set(start), later);
    }

    #[test]
    fn a_deadline_passes_when_its_time_has_come() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut deadline = Deadline::new(start, Some(second));
        assert!(!deadline.is_over(start));
        assert!(deadline.is_over(start + second));
        deadline.restart(start + second);
        assert_eq!(deadline.at(), Some(start + 2 * second));
        assert_eq!(Deadline::new(start, None).at(), None);
        assert_eq!(Deadline::new(start, Some(Duration::MAX)).at(), None);
    }
}
