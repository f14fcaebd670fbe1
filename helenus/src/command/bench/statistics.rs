//! The rates of a run's intervals in a few numbers.

use serde::Serialize;

/// How the rates of intervals are spread, requests a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Spread {
    /// Of all requests over all the time, which weighs a shorter interval less.
    pub(super) mean: f64,
    /// The sample's, which divides by one less than there are intervals; 0 of one.
    pub(super) standard_deviation: f64,
    /// Half of the intervals are below it.
    pub(super) median: f64,
    /// The median of the distances from the median, which one odd interval doesn't move.
    pub(super) mad: f64,
    /// The slowest interval.
    pub(super) min: f64,
    /// The fastest.
    pub(super) max: f64,
    /// How many intervals there are.
    pub(super) intervals: usize,
}

impl Spread {
    /// That of intervals of so many requests in so many seconds.
    pub(super) fn of(intervals: &[(u64, f64)]) -> Self {
        let rates: Vec<f64> = intervals
            .iter()
            .filter(|(_, seconds)| *seconds > 0.0)
            .map(|(requests, seconds)| *requests as f64 / seconds)
            .collect();
        let requests: u64 = intervals.iter().map(|(requests, _)| requests).sum();
        let seconds: f64 = intervals.iter().map(|(_, seconds)| seconds).sum();
        let count = rates.len() as f64;
        let centre = rates.iter().sum::<f64>() / count.max(1.0);
        let squares: f64 = rates.iter().map(|rate| (rate - centre).powi(2)).sum();
        let middle = median(rates.clone());
        Self {
            mean: if seconds > 0.0 {
                requests as f64 / seconds
            } else {
                0.0
            },
            standard_deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            median: middle,
            mad: median(rates.iter().map(|rate| (rate - middle).abs()).collect()),
            min: rates.iter().copied().reduce(f64::min).unwrap_or(0.0),
            max: rates.iter().copied().reduce(f64::max).unwrap_or(0.0),
            intervals: rates.len(),
        }
    }
}

/// The middle of the numbers, or of the middle two; 0 of none.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let (half, is_odd) = (numbers.len() / 2, numbers.len() % 2 == 1);
    match (half.checked_sub(1), is_odd) {
        (_, true) => numbers[half],
        (Some(below), false) => (numbers[below] + numbers[half]) / 2.0,
        (None, false) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_odd_interval_moves_the_mean_but_not_the_median_nor_its_deviation() {
        let spread = Spread::of(&[(10, 1.0), (12, 1.0), (11, 1.0), (10, 1.0), (57, 1.0)]);
        assert_eq!(spread.mean, 20.0);
        assert_eq!(spread.median, 11.0);
        assert_eq!(spread.mad, 1.0);
        assert_eq!((spread.min, spread.max), (10.0, 57.0));
        // √((10² + 8² + 9² + 10² + 37²) / 4)
        assert!((spread.standard_deviation - 20.7).abs() < 0.01);
    }

    #[test]
    fn the_mean_weighs_intervals_by_their_length() {
        let spread = Spread::of(&[(300, 1.0), (50, 0.5)]);
        assert!((spread.mean - 350.0 / 1.5).abs() < 1e-9);
        assert_eq!(spread.median, 200.0);
    }

    #[test]
    fn of_one_interval_or_none_there_is_no_deviation() {
        let one = Spread::of(&[(7, 2.0)]);
        assert_eq!((one.mean, one.standard_deviation, one.mad), (3.5, 0.0, 0.0));
        let none = Spread::of(&[]);
        assert_eq!((none.mean, none.median, none.intervals), (0.0, 0.0, 0));
    }
}
