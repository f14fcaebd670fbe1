//! How long an accept loop rests after an error, so that it neither dies nor spins when the
//! process is out of descriptors.

use std::time::Duration;

/// The pause after the first error that wants one.
const FIRST: Duration = Duration::from_millis(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(1);

/// The state of an accept loop's patience: doubled by each failure in a row, reset by a success.
#[derive(Debug, Default, Clone)]
pub struct AcceptBackoff {
    pause: Duration,
}

impl AcceptBackoff {
    /// A connection was accepted.
    pub fn succeeded(&mut self) {
        self.pause = Duration::ZERO;
    }

    /// Accepting failed with `error`: how long to wait before the next try, from nothing to a
    /// second. An error that belongs to the one connection that was being accepted needs no pause.
    pub fn failed(&mut self, error: &std::io::Error) -> Duration {
        use std::io::ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
        if matches!(
            error.kind(),
            ConnectionAborted | ConnectionReset | Interrupted | WouldBlock
        ) {
            return Duration::ZERO;
        }
        self.pause = (self.pause * 2).clamp(FIRST, LONGEST);
        self.pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Error, ErrorKind};

    #[test]
    fn failures_in_a_row_double_the_pause_up_to_a_second() {
        let mut backoff = AcceptBackoff::default();
        let pauses: Vec<u128> = (0..10)
            .map(|_| backoff.failed(&Error::from_raw_os_error(24)).as_millis())
            .collect();
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        backoff.succeeded();
        assert_eq!(backoff.failed(&Error::from_raw_os_error(24)), FIRST);
    }

    #[test]
    fn a_connection_that_went_away_needs_no_pause() {
        let mut backoff = AcceptBackoff::default();
        let error = Error::from(ErrorKind::ConnectionAborted);
        assert_eq!(backoff.failed(&error), Duration::ZERO);
    }
}
