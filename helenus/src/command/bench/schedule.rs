//! When requests are to start that come by a schedule, whatever the server does.

use std::time::{Duration, Instant};

/// The finest step of a schedule: requests that are due within one start together, so that a high rate doesn't wake
/// the load for each of them.
const STEP_NANOS: u128 = 100_000;

const SECOND_NANOS: u128 = 1_000_000_000;

/// A schedule of evenly spaced starts. It doesn't stop for a server that is slow: starts that couldn't be kept stay due,
/// with the time at which they were due.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    begin: Instant,
    /// From here on nothing starts any more.
    end: Instant,
    /// Starts a second of all threads together.
    rate: u64,
    /// How many threads share them.
    threads: u64,
    /// Starts that were taken.
    taken: u64,
}

impl Schedule {
    /// One thread's part of so many starts a second from `begin` until `end`.
    pub(super) const fn new((begin, end): (Instant, Instant), rate: u64, threads: u64) -> Self {
        Self {
            begin,
            end,
            rate,
            threads,
            taken: 0,
        }
    }

    /// When the next request is to start.
    pub(super) fn next(&self) -> Instant {
        let nanos = u128::from(self.taken) * u128::from(self.threads) * SECOND_NANOS
            / u128::from(self.rate.max(1));
        let steps = nanos / STEP_NANOS * STEP_NANOS;
        self.begin + Duration::from_nanos(u64::try_from(steps).unwrap_or(u64::MAX))
    }

    /// Takes the next start, if it has come.
    pub(super) fn take(&mut self, now: Instant) -> Option<Instant> {
        let next = self.next();
        if next > now || next >= self.end {
            return None;
        }
        self.taken += 1;
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_spaced_evenly_and_those_that_werent_kept_keep_their_time() {
        let begin = Instant::now();
        let at = |millis| begin + Duration::from_millis(millis);
        let mut schedule = Schedule::new((begin, at(30)), 200, 2);
        assert_eq!(schedule.take(at(0)), Some(at(0)));
        assert_eq!(schedule.take(at(9)), None);
        assert_eq!(schedule.next(), at(10));
        // The server kept the load waiting until 35 ms.
        let taken: Vec<Instant> = std::iter::from_fn(|| schedule.take(at(35))).collect();
        assert_eq!(taken, [at(10), at(20)]);
        assert_eq!(schedule.take(at(100)), None);
    }

    #[test]
    fn a_high_rate_starts_several_at_each_step() {
        let begin = Instant::now();
        let mut schedule = Schedule::new((begin, begin + Duration::from_secs(1)), 50_000, 1);
        let first: Vec<Instant> = std::iter::from_fn(|| schedule.take(begin)).collect();
        assert_eq!(first, [begin; 5]);
        assert_eq!(schedule.next(), begin + Duration::from_micros(100));
    }
}
