//! The caller's time, never running backwards.

use std::time::Instant;

/// The latest time that a machine has been told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) const fn new(now: Instant) -> Clock {
        Clock(now)
    }

    /// Takes the caller's time over, unless it is earlier than an earlier one.
    #[inline]
    pub(crate) fn set(&mut self, now: Instant) -> Instant {
        self.0 = self.0.max(now);
        self.0
    }

    #[inline]
    pub(crate) const fn now(self) -> Instant {
        self.0
    }
}
