//! How many requests a second a server takes: tokens that all its connections draw from, a second's
//! worth of which may gather.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SECOND: u64 = 1_000_000_000;

/// A rate of requests that connections share.
///
/// A connection asks how many it may take, and says afterwards how many it took. It is soft by what
/// the connections take between both; what was taken beyond the rate is waited for.
#[derive(Debug)]
pub(crate) struct Rate {
    start: Instant,
    /// Nanoseconds that a request costs; zero without a bound.
    cost: AtomicU64,
    /// Nanoseconds from a second before `start` up to which time is used up.
    used_up: AtomicU64,
}

/// What a [`Rate`] has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// So many requests may be taken now.
    Requests(usize),
    /// One may be taken at this time.
    From(Instant),
}

impl Rate {
    /// So many requests a second, or any number.
    pub(crate) fn new(per_second: Option<u64>, now: Instant) -> Self {
        let rate = Rate {
            start: now,
            cost: AtomicU64::new(0),
            used_up: AtomicU64::new(0),
        };
        rate.set(per_second);
        rate
    }

    /// Another rate from now on. None a second would be a server that never goes on: it is taken for
    /// one.
    pub(crate) fn set(&self, per_second: Option<u64>) {
        let cost = per_second.map_or(0, |rate| (SECOND / rate.max(1)).max(1));
        self.cost.store(cost, Ordering::Relaxed);
    }

    /// What may be taken now.
    #[inline]
    pub(crate) fn left(&self, now: Instant) -> Left {
        match self.cost.load(Ordering::Relaxed) {
            0 => Left::Requests(usize::MAX),
            cost => self.tokens(now, cost),
        }
    }

    #[cold]
    fn tokens(&self, now: Instant, cost: u64) -> Left {
        let elapsed = self.elapsed(now);
        let used_up = self
            .used_up
            .load(Ordering::Relaxed)
            .max(elapsed.saturating_sub(SECOND));
        match elapsed.saturating_sub(used_up) / cost {
            0 => {
                let next = used_up.saturating_add(cost).saturating_sub(SECOND);
                Left::From(self.start + Duration::from_nanos(next))
            }
            left => Left::Requests(usize::try_from(left).unwrap_or(usize::MAX)),
        }
    }

    /// So many were taken.
    #[inline]
    pub(crate) fn take(&self, now: Instant, requests: u64) {
        let cost = self.cost.load(Ordering::Relaxed);
        if cost == 0 || requests == 0 {
            return;
        }
        let oldest = self.elapsed(now).saturating_sub(SECOND);
        let _ = self
            .used_up
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used_up| {
                Some(
                    used_up
                        .max(oldest)
                        .saturating_add(cost.saturating_mul(requests)),
                )
            });
    }

    /// Nanoseconds since a second before the start: nobody took anything in that, so that there may be a
    /// burst at once.
    fn elapsed(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.start).as_nanos();
        u64::try_from(elapsed)
            .unwrap_or(u64::MAX)
            .saturating_add(SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seconds_worth_may_gather_and_what_was_taken_comes_back_in_time() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let rate = Rate::new(Some(10), start);
        assert_eq!(rate.left(start), Left::Requests(10));
        rate.take(start, 10);
        assert_eq!(rate.left(start), Left::From(at(100)));
        assert_eq!(rate.left(at(100)), Left::Requests(1));
        assert_eq!(rate.left(at(5000)), Left::Requests(10));
    }

    #[test]
    fn what_was_taken_beyond_the_rate_is_waited_for() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let rate = Rate::new(Some(10), start);
        rate.take(start, 15);
        assert_eq!(rate.left(at(500)), Left::From(at(600)));
        assert_eq!(rate.left(at(700)), Left::Requests(2));
    }

    #[test]
    fn without_a_rate_nothing_is_counted() {
        let start = Instant::now();
        let rate = Rate::new(None, start);
        rate.take(start, 1_000_000);
        assert_eq!(rate.left(start), Left::Requests(usize::MAX));
        rate.set(Some(10));
        assert_eq!(rate.left(start), Left::Requests(10));
    }
}
