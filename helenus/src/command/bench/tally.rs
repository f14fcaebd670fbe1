//! What a run has counted: on one thread, then over all.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use helenus_core::ErrorResponse;

/// What was counted while it was measured.
#[derive(Debug, Clone)]
pub(super) struct Tally {
    /// Requests answered, with errors too; or connections made.
    pub(super) answered: u64,
    /// From when each was to start until its answer was read, nanoseconds.
    pub(super) latency: Histogram<u64>,
    /// Answers that were ERROR, by code.
    pub(super) errors: BTreeMap<u32, u64>,
    /// The first error's words.
    pub(super) example: Option<String>,
    /// Starts that were due by the schedule, and whose answers didn't come before the end.
    pub(super) unanswered: u64,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            answered: 0,
            #[expect(
                clippy::expect_used,
                reason = "the constant is within the histogram's bounds"
            )]
            latency: Histogram::new(3).expect("three digits are within the bounds"),
            errors: BTreeMap::new(),
            example: None,
            unanswered: 0,
        }
    }
}

impl Tally {
    /// Counts an answer.
    pub(super) fn count(&mut self, latency: Duration, error: Option<&ErrorResponse>) {
        self.answered += 1;
        self.record(latency);
        if let Some(error) = error {
            *self.errors.entry(error.code.0).or_default() += 1;
            self.example.get_or_insert_with(|| error.to_string());
        }
    }

    /// Counts a request that was to start at `start` and hasn't been answered at `end`: its latency is at least that.
    pub(super) fn count_unanswered(&mut self, start: Instant, end: Instant) {
        self.unanswered += 1;
        self.record(end.saturating_duration_since(start));
    }

    fn record(&mut self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        // The histogram resizes itself, so that every value fits.
        let _ = self.latency.record(nanos.max(1));
    }

    /// Adds another thread's.
    pub(super) fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.unanswered += other.unanswered;
        // Both resize themselves, so that every value fits.
        let _ = self.latency.add(&other.latency);
        for (code, count) in other.errors {
            *self.errors.entry(code).or_default() += count;
        }
        self.example = self.example.take().or(other.example);
    }

    /// The latency that this share of requests doesn't exceed, microseconds.
    pub(super) fn micros(&self, quantile: f64) -> f64 {
        self.latency.value_at_quantile(quantile) as f64 / 1e3
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_counted_by_code_and_the_first_is_kept() {
        let mut tally = Tally::default();
        tally.count(Duration::from_micros(10), None);
        let error = ErrorResponse::invalid("no such table");
        tally.count(Duration::from_micros(30), Some(&error));
        let mut other = Tally::default();
        other.count(
            Duration::from_micros(20),
            Some(&ErrorResponse::invalid("later")),
        );
        tally.add(other);
        assert_eq!(tally.answered, 3);
        assert_eq!(tally.errors, BTreeMap::from([(0x2200, 2)]));
        assert!(tally.example.unwrap().contains("no such table"));
        assert_eq!(tally.latency.len(), 3);
    }

    #[test]
    fn percentiles_are_of_the_highest_value_they_hold_to_three_digits() {
        let mut tally = Tally::default();
        for micros in 1..=1000 {
            tally.count(Duration::from_micros(micros), None);
        }
        let near = |quantile, wanted: f64| {
            let got = tally.micros(quantile);
            assert!(
                (got - wanted).abs() <= wanted / 1000.0,
                "{got} for {wanted}"
            );
        };
        near(0.5, 500.0);
        near(0.99, 990.0);
        near(0.999, 999.0);
        near(1.0, 1000.0);
    }

    #[test]
    fn who_was_never_answered_counts_as_long_as_it_waited() {
        let (begin, mut tally) = (Instant::now(), Tally::default());
        tally.count_unanswered(begin, begin + Duration::from_millis(5));
        assert_eq!((tally.answered, tally.unanswered), (0, 1));
        assert!(tally.micros(1.0) >= 5000.0);
    }
}
