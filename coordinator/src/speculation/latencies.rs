//! How long the latest reads took: a histogram that forgets.

use std::time::{Duration, Instant};

/// Buckets from 1 µs on, each a fifth wider than the one before: the last begins beyond a minute.
const BUCKETS: usize = 100;

/// Half of the weight of what was recorded is forgotten in this time.
const HALF_LIFE: Duration = Duration::from_secs(60);

/// What the latest reads of a table took, the later ones weighing more. Plain data: its owner says when a read ended.
///
/// A percentile is exact to a fifth, and never below what was recorded.
#[derive(Debug, Clone)]
pub struct Latencies {
    weights: Box<[f32; BUCKETS]>,
    total: f32,
    halved: Option<Instant>,
}

impl Default for Latencies {
    fn default() -> Latencies {
        Latencies::new()
    }
}

impl Latencies {
    /// Nothing recorded.
    #[must_use]
    pub fn new() -> Latencies {
        Latencies {
            weights: Box::new([0.0; BUCKETS]),
            total: 0.0,
            halved: None,
        }
    }

    /// A read ended now that took so long.
    pub fn record(&mut self, now: Instant, latency: Duration) {
        let since = *self.halved.get_or_insert(now);
        let passed = now.saturating_duration_since(since);
        if passed >= HALF_LIFE {
            let half_lives = (passed.as_secs() / HALF_LIFE.as_secs()).min(126) as i32;
            let factor = 0.5_f32.powi(half_lives);
            self.weights.iter_mut().for_each(|weight| *weight *= factor);
            self.halved = Some(now);
            // Added up anew, lest rounding errors add up.
            self.total = self.weights.iter().sum();
        }
        if let Some(weight) = self.weights.get_mut(bucket(latency)) {
            *weight += 1.0;
            self.total += 1.0;
        }
    }

    /// How long all but the slowest reads took, `percent` of all of them; zero if nothing was recorded.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Duration {
        let wanted = f64::from(self.total) * (percent / 100.0);
        let mut below = 0.0;
        let mut last = Duration::ZERO;
        for (index, weight) in self.weights.iter().enumerate() {
            if *weight > 0.0 {
                below += f64::from(*weight);
                last = end(index);
                if below >= wanted {
                    break;
                }
            }
        }
        last
    }
}

/// Where a bucket ends.
fn end(index: usize) -> Duration {
    Duration::from_secs_f64(1e-6 * 1.2_f64.powi(index as i32))
}

fn bucket(latency: Duration) -> usize {
    let micros = latency.as_secs_f64() * 1e6;
    let index = micros.max(1.0).log(1.2).ceil();
    (index as usize).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_at_most_a_fifth_above_what_was_recorded() {
        let now = Instant::now();
        let mut latencies = Latencies::new();
        assert_eq!(latencies.percentile(99.0), Duration::ZERO);
        for millis in 1..=100 {
            latencies.record(now, Duration::from_millis(millis));
        }
        for (percent, millis) in [(50.0, 50), (99.0, 99), (100.0, 100)] {
            let found = latencies.percentile(percent);
            let exact = Duration::from_millis(millis);
            assert!(found >= exact && found <= exact.mul_f64(1.2), "{found:?}");
        }
    }

    #[test]
    fn what_was_recorded_long_ago_weighs_little() {
        let start = Instant::now();
        let mut latencies = Latencies::new();
        for _ in 0..1000 {
            latencies.record(start, Duration::from_secs(1));
        }
        let later = start + 12 * HALF_LIFE;
        for _ in 0..100 {
            latencies.record(later, Duration::from_millis(1));
        }
        assert!(latencies.percentile(99.0) < Duration::from_millis(2));
    }

    #[test]
    fn any_latency_and_any_clock_are_taken() {
        let start = Instant::now();
        let mut latencies = Latencies::new();
        latencies.record(start + HALF_LIFE, Duration::ZERO);
        latencies.record(start, Duration::MAX);
        assert_eq!(latencies.percentile(1.0), Duration::from_micros(1));
        assert!(latencies.percentile(100.0) > Duration::from_secs(60));
    }
}
