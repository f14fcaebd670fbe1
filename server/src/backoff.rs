//! How long an accept loop rests after an error, so that it neither dies nor spins when the
//! process is out of descriptors.

use crate::control::Control;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The pause after the first error that wants one.
const FIRST: Duration = Duration::from_millis(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(1);

/// Connections accepted in a row after which trouble is over, and said again when it is back.
const RECOVERED: u32 = 64;

/// The state of an accept loop's patience: doubled by each failure in a row, reset by a success.
///
/// What it waits for is said once: a server that is short of descriptors accepts a connection whenever
/// one goes, and fails again.
#[derive(Debug, Default, Clone)]
pub struct AcceptBackoff {
    pause: Duration,
    accepted: u32,
    control: Arc<Control>,
}

impl AcceptBackoff {
    pub(crate) fn new(control: Arc<Control>) -> Self {
        AcceptBackoff {
            control,
            ..AcceptBackoff::default()
        }
    }

    /// A connection was accepted.
    pub fn succeeded(&mut self) {
        self.pause = Duration::ZERO;
        self.accepted = self.accepted.saturating_add(1);
        if self.accepted == RECOVERED {
            self.control.told.store(false, Ordering::Relaxed);
        }
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
        self.accepted = 0;
        if !self.control.told.swap(true, Ordering::Relaxed) {
            tracing::warn!(%error, "cannot accept connections; open ones go on, and it is tried again");
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

    #[test]
    fn trouble_is_over_when_enough_were_accepted_in_a_row() {
        let control = Arc::new(Control::default());
        let mut backoffs = [0, 1].map(|_| AcceptBackoff::new(Arc::clone(&control)));
        let told = || control.told.load(Ordering::Relaxed);
        let error = Error::from_raw_os_error(24);
        backoffs[0].failed(&error);
        assert!(told());
        for _ in 0..RECOVERED - 1 {
            backoffs[1].succeeded();
        }
        backoffs[1].failed(&error);
        backoffs[1].succeeded();
        assert!(told());
        for _ in 1..RECOVERED {
            backoffs[1].succeeded();
        }
        assert!(!told());
    }
}
