//! [`VirtualClock`]: time that passes when a test says so.

use std::time::{Duration, Instant};

/// A clock that goes on when it is told to.
#[derive(Debug, Clone, Copy)]
pub struct VirtualClock {
    now: Instant,
}

impl VirtualClock {
    /// A clock that shows `start`.
    #[must_use]
    pub const fn new(start: Instant) -> VirtualClock {
        VirtualClock { now: start }
    }

    /// The time it shows.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// Goes on by `time`, as far as instants reach.
    pub fn advance(&mut self, time: Duration) {
        self.now = self.now.checked_add(time).unwrap_or(self.now);
    }
}
