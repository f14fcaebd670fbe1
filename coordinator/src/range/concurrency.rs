//! How many ranges are read at once: as many as the rows so far suggest. Answers to Cassandra's
//! `RangeCommandIterator.computeConcurrencyFactor`.

/// How a range is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeOptions {
    /// How many live rows are enough: a page, or a limit. There may be more in the answer.
    pub rows: u32,
    /// How many ranges are read at once at first: the rows that are wanted by what a range is thought to have.
    pub concurrency: u32,
    /// How many ranges are read at once at most.
    pub max_concurrency: u32,
}

/// What a read of ranges knows of its progress.
#[derive(Debug)]
pub(super) struct Concurrency {
    options: RangeOptions,
    ranges: u32,
    at_once: u32,
    submitted: u32,
    returned: u32,
}

impl Concurrency {
    /// Nothing of so many ranges has been read.
    pub(super) fn new(options: RangeOptions, ranges: u32) -> Concurrency {
        let most = options.max_concurrency.clamp(1, ranges.max(1));
        Concurrency {
            at_once: options.concurrency.clamp(1, most),
            options,
            ranges,
            submitted: 0,
            returned: 0,
        }
    }

    pub(super) fn at_once(&self) -> u32 {
        self.at_once
    }

    pub(super) fn rows_left(&self) -> u32 {
        self.options.rows.saturating_sub(self.returned)
    }

    pub(super) fn submitted(&mut self, ranges: u32) {
        self.submitted = self.submitted.saturating_add(ranges);
    }

    pub(super) fn returned(&mut self, rows: u32) {
        self.returned = self.returned.saturating_add(rows);
    }

    /// Learns from the ranges that were read; gives how many are read at once from now on if none had a row.
    pub(super) fn adapt(&mut self) -> Option<u32> {
        let left = self.ranges.saturating_sub(self.submitted).max(1);
        let most = self.options.max_concurrency.clamp(1, left);
        if self.returned == 0 {
            self.at_once = most;
            return Some(most);
        }
        // Rounded: rows that are left, by rows a range.
        let (rows, returned) = (u64::from(self.rows_left()), u64::from(self.returned));
        let wanted = (rows * u64::from(self.submitted) + returned / 2) / returned;
        self.at_once = u32::try_from(wanted).unwrap_or(u32::MAX).clamp(1, most);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adapted(ranges: u32, submitted: u32, most: u32, limit: u32, returned: u32) -> u32 {
        let options = RangeOptions {
            rows: limit,
            concurrency: 1,
            max_concurrency: most,
        };
        let mut concurrency = Concurrency::new(options, ranges);
        concurrency.submitted(submitted);
        concurrency.returned(returned);
        concurrency.adapt();
        concurrency.at_once()
    }

    #[test]
    fn as_many_ranges_are_read_at_once_as_are_thought_to_hold_the_rows_that_are_left() {
        // No rows yet: all that are left, at most the most.
        assert_eq!(adapted(100, 10, 100, 500, 0), 90);
        assert_eq!(adapted(100, 10, 32, 500, 0), 32);
        // Ten rows a range, 400 to go.
        assert_eq!(adapted(100, 10, 100, 500, 100), 40);
        // Few to go: one range; many a range: rounded.
        assert_eq!(adapted(100, 10, 100, 101, 100), 1);
        assert_eq!(adapted(100, 3, 100, 7, 3), 4);
        // Never none, even if none is left.
        assert_eq!(adapted(10, 10, 100, 500, 0), 1);
        assert_eq!(adapted(10, 5, 0, 500, 1), 1);
        assert_eq!(adapted(10, 1, 100, u32::MAX, 1), 9);
    }
}
