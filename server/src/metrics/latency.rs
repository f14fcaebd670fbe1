//! How long requests took: counts in buckets that double, so that a percentile is known within a factor of two, and
//! between buckets nearly.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Buckets of a [`Histogram`].
pub const BUCKETS: usize = 24;

/// The bound of the first bucket is two to the power of this, in nanoseconds: 4.1 µs. That of the last but one is
/// 17.2 s.
const FIRST: u32 = 12;

/// How often something took how long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Histogram {
    /// How many are in each bucket: those longer than the bound before, up to its own.
    pub buckets: [u64; BUCKETS],
    /// All durations together.
    pub sum: Duration,
}

impl Histogram {
    /// The longest duration in a bucket; `None` for the last, which holds all that are longer.
    #[must_use]
    pub const fn bound(bucket: usize) -> Option<Duration> {
        if bucket + 1 >= BUCKETS {
            return None;
        }
        Some(Duration::from_nanos(1 << (FIRST + bucket as u32)))
    }

    /// How many there are in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
}

/// The bucket of a duration in nanoseconds.
#[inline]
const fn bucket(nanos: u64) -> usize {
    let bits = u64::BITS - nanos.saturating_sub(1).leading_zeros();
    let bucket = bits.saturating_sub(FIRST) as usize;
    if bucket < BUCKETS {
        bucket
    } else {
        BUCKETS - 1
    }
}

/// A [`Histogram`] that threads add to.
#[derive(Debug, Default)]
pub(crate) struct AtomicHistogram {
    buckets: [AtomicU64; BUCKETS],
    nanos: AtomicU64,
}

impl AtomicHistogram {
    /// Counts `times` that something took `elapsed`.
    #[inline]
    pub(crate) fn record(&self, elapsed: Duration, times: u64) {
        let nanos = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        if let Some(counter) = self.buckets.get(bucket(nanos)) {
            counter.fetch_add(times, Ordering::Relaxed);
        }
        let all = nanos.saturating_mul(times);
        self.nanos.fetch_add(all, Ordering::Relaxed);
    }

    pub(crate) fn add_to(&self, histogram: &mut Histogram) {
        for (count, counter) in histogram.buckets.iter_mut().zip(&self.buckets) {
            *count += counter.load(Ordering::Relaxed);
        }
        histogram.sum += Duration::from_nanos(self.nanos.load(Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_first_bucket_whose_bound_it_does_not_exceed() {
        for nanos in [0, 1, 4096, 4097, 8192, 1_000_000, 1_000_000_000, u64::MAX] {
            let place = bucket(nanos);
            let fits =
                |place| Histogram::bound(place).is_none_or(|b| b >= Duration::from_nanos(nanos));
            assert!(fits(place), "{nanos}");
            assert!(place == 0 || !fits(place - 1), "{nanos}");
        }
        assert_eq!(Histogram::bound(0), Some(Duration::from_nanos(4096)));
        assert_eq!(
            Histogram::bound(BUCKETS - 2),
            Some(Duration::from_nanos(1 << 34))
        );
        assert_eq!(Histogram::bound(BUCKETS - 1), None);
    }

    #[test]
    fn what_took_the_same_time_is_counted_at_once() {
        let counters = AtomicHistogram::default();
        counters.record(Duration::from_micros(10), 32);
        counters.record(Duration::from_secs(60), 1);
        let mut histogram = Histogram::default();
        counters.add_to(&mut histogram);
        assert_eq!(
            (histogram.buckets[2], histogram.buckets[BUCKETS - 1]),
            (32, 1)
        );
        assert_eq!(histogram.count(), 33);
        assert_eq!(
            histogram.sum,
            Duration::from_micros(320) + Duration::from_secs(60)
        );
    }
}
