//! The wall clock and the randomness that the engine is handed, since it has neither.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use helenus_core::ProtocolVersion;
use helenus_engine::context::Context;

/// Gives each statement its moment: timestamps that never repeat, however fast statements come.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    /// The last timestamp given, microseconds from 1970.
    last: AtomicI64,
}

impl Clock {
    /// The context of a statement that begins now on a connection of that version.
    pub(crate) fn context(&self, version: ProtocolVersion) -> Context {
        let micros = micros_since_1970();
        let previous = self
            .last
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| {
                Some(micros.max(last + 1))
            })
            .unwrap_or_else(|last| last);
        Context {
            timestamp: micros.max(previous + 1),
            now_seconds: micros.div_euclid(1_000_000),
            now_millis: micros.div_euclid(1_000),
            random: fastrand::u128(..).to_be_bytes(),
            version,
        }
    }

    /// Seconds from 1970.
    pub(crate) fn now_seconds(&self) -> i64 {
        micros_since_1970().div_euclid(1_000_000)
    }
}

/// Microseconds from 1970 by the system's clock, 0 if it stands before.
fn micros_since_1970() -> i64 {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(elapsed.as_micros()).unwrap_or(i64::MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_never_repeat() {
        let clock = Clock::default();
        let mut last = 0;
        for _ in 0..10_000 {
            let timestamp = clock.context(ProtocolVersion::V4).timestamp;
            assert!(timestamp > last);
            last = timestamp;
        }
    }
}
