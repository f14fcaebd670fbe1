//! [`Stats`]: plain counters of a connection. Nothing is shared: whoever drives the connection adds the
//! differences to what it publishes.

use crate::error::ErrorKind;

/// What a connection has seen since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Well-formed requests, those of the handshake included.
    pub requests: u64,
    /// Answers written.
    pub responses: u64,
    /// Events written.
    pub events: u64,
    /// Bytes of output that were sent.
    pub bytes_sent: u64,
    /// Answers that were ERRORs, whoever wrote them.
    pub errors: u64,
    /// Fatal errors: zero or one.
    pub fatal: u64,
    /// What broke the protocol or a limit, by its kind. Each of them was answered with an ERROR or was
    /// fatal, so that these stand still where [`Stats::errors`] and [`Stats::fatal`] do.
    pub faults: ErrorCounts,
}

/// A counter for each [`ErrorKind`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorCounts([u64; ErrorKind::ALL.len()]);

impl ErrorCounts {
    /// How many of this kind.
    #[must_use]
    pub fn get(&self, kind: ErrorKind) -> u64 {
        self.0.get(kind as usize).copied().unwrap_or_default()
    }

    /// Counts one.
    pub(crate) fn count(&mut self, kind: ErrorKind) {
        self.add(kind, 1);
    }

    /// Counts `more` of this kind.
    pub fn add(&mut self, kind: ErrorKind, more: u64) {
        if let Some(count) = self.0.get_mut(kind as usize) {
            *count = count.saturating_add(more);
        }
    }

    /// How many of any kind.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Every kind that was counted, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (ErrorKind, u64)> {
        let kinds = ErrorKind::ALL.iter().copied().zip(self.0);
        kinds.filter(|(_, count)| *count > 0)
    }
}

impl std::ops::Sub for ErrorCounts {
    type Output = ErrorCounts;

    /// What was counted since `earlier`.
    fn sub(self, earlier: ErrorCounts) -> ErrorCounts {
        let mut more = ErrorCounts::default();
        for ((more, now), before) in more.0.iter_mut().zip(self.0).zip(earlier.0) {
            *more = now.saturating_sub(before);
        }
        more
    }
}
