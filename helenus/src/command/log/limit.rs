//! A limit on warnings and errors: who can provoke one can provoke a million.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tracing::callsite::Identifier;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Warnings and errors of one kind that are logged in a [`PERIOD`]; a kind is a place in the code.
const MOST: u32 = 10;

/// The time that the limit is for.
const PERIOD: Duration = Duration::from_secs(1);

/// Formats events, and leaves out those over the limit. Their number is told behind the next of their kind.
#[derive(Debug, Default)]
pub(super) struct Limited {
    format: Format<Full>,
    kinds: Mutex<HashMap<Identifier, Kind>>,
}

/// What was logged of one kind.
#[derive(Debug, Clone, Copy)]
struct Kind {
    since: Instant,
    logged: u32,
    left_out: u64,
}

impl Kind {
    const fn new(now: Instant) -> Self {
        Self {
            since: now,
            logged: 0,
            left_out: 0,
        }
    }

    /// Whether to log one more; if so, how many were left out before it.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        if now.saturating_duration_since(self.since) >= PERIOD {
            self.since = now;
            self.logged = 0;
        }
        if self.logged >= MOST {
            self.left_out += 1;
            return None;
        }
        self.logged += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

impl Limited {
    /// Whether to log this event; if so, how many of its kind were left out before it.
    fn admit(&self, event: &Event<'_>) -> Option<u64> {
        if *event.metadata().level() > Level::WARN {
            return Some(0);
        }
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let kind = kinds.entry(event.metadata().callsite());
        kind.or_insert(Kind::new(now)).admit(now)
    }
}

impl<S, N> FormatEvent<S, N> for Limited
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let Some(left_out) = self.admit(event) else {
            return Ok(());
        };
        self.format.format_event(context, writer.by_ref(), event)?;
        if left_out > 0 {
            writeln!(writer, "({left_out} more like this were not logged)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Arc;

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[test]
    fn so_many_of_a_kind_are_logged_in_a_second_and_the_rest_is_counted() {
        let start = Instant::now();
        let mut kind = Kind::new(start);
        for _ in 0..MOST {
            assert_eq!(kind.admit(start), Some(0));
        }
        for _ in 0..990 {
            assert_eq!(kind.admit(start + PERIOD / 2), None);
        }
        assert_eq!(kind.admit(start + PERIOD), Some(990));
        assert_eq!(kind.admit(start + PERIOD), Some(0));
    }

    #[derive(Clone, Default)]
    struct Text(Arc<Mutex<Vec<u8>>>);

    impl Write for Text {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn kinds_have_limits_of_their_own_and_what_is_no_warning_has_none() {
        let text = Text::default();
        let writer = text.clone();
        let format = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .event_format(Limited::default())
            .with_writer(move || writer.clone());
        tracing::subscriber::with_default(tracing_subscriber::registry().with(format), || {
            for number in 0..50 {
                tracing::warn!(number, "one kind");
                tracing::error!(number, "another kind");
                tracing::info!(number, "no limit");
            }
        });
        let text = String::from_utf8(text.0.lock().unwrap().clone()).unwrap();
        let lines = |kind: &str| text.lines().filter(|line| line.contains(kind)).count();
        assert_eq!(lines("no limit"), 50);
        // A machine that stops for a second begins a new one.
        assert!((10..=20).contains(&lines("one kind")), "{text}");
        assert!((10..=20).contains(&lines("another kind")), "{text}");
    }
}
