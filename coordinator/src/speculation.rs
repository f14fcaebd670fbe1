//! When a read asks one replica more than it needs: a table's `speculative_retry`, and what reads have taken so far.
//! Answers to Cassandra's `SpeculativeRetryPolicy` and its implementations.

use std::time::Duration;

mod latencies;

pub use latencies::Latencies;

/// What one read does about replicas that take long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speculation {
    /// Waits for those that it needs.
    Never,
    /// Asks one more at once.
    Always,
    /// Asks one more after this time, or as soon as one of those that it needs fails.
    After(Duration),
}

/// A table's `speculative_retry`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum SpeculativeRetry {
    /// `NONE` or `NEVER`.
    Never,
    /// `ALWAYS`.
    Always,
    /// When one of the two says so.
    Wait(Wait),
    /// `MIN(…,…)`: when the first of both says so.
    Min(Wait, Wait),
    /// `MAX(…,…)`: when both say so.
    Max(Wait, Wait),
}

/// How long replicas are waited for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Wait {
    /// As long as this part of the latest reads took, in percent, between 0 and 100: `99p`, `99PERCENTILE`.
    Percentile(f64),
    /// `50ms`.
    Fixed(Duration),
}

impl SpeculativeRetry {
    /// Cassandra's default: `99p`.
    pub const DEFAULT: SpeculativeRetry = SpeculativeRetry::Wait(Wait::Percentile(99.0));

    /// Reads the option's text, whatever its case; none if Cassandra would refuse it.
    #[must_use]
    pub fn parse(text: &str) -> Option<SpeculativeRetry> {
        let text: String = text.trim().to_ascii_uppercase();
        match text.as_str() {
            "NONE" | "NEVER" => return Some(SpeculativeRetry::Never),
            "ALWAYS" => return Some(SpeculativeRetry::Always),
            _ => {}
        }
        let both = |name: &str| {
            let arguments = text.strip_prefix(name)?.trim_start();
            let arguments = arguments.strip_prefix('(')?.strip_suffix(')')?;
            let (left, right) = arguments.split_once(',')?;
            let (left, right) = (Wait::parse(left)?, Wait::parse(right)?);
            // One of each kind: the other combinations could be said by one of them.
            let kinds_differ = matches!(left, Wait::Fixed(_)) != matches!(right, Wait::Fixed(_));
            kinds_differ.then_some((left, right))
        };
        if let Some((left, right)) = both("MIN") {
            return Some(SpeculativeRetry::Min(left, right));
        }
        if let Some((left, right)) = both("MAX") {
            return Some(SpeculativeRetry::Max(left, right));
        }
        Wait::parse(&text).map(SpeculativeRetry::Wait)
    }

    /// What a read does that begins now and has this long. One that would ask another replica only when its own time is
    /// over doesn't.
    #[must_use]
    pub fn resolve(self, latencies: &Latencies, timeout: Duration) -> Speculation {
        let wait = match self {
            SpeculativeRetry::Never => return Speculation::Never,
            SpeculativeRetry::Always => return Speculation::Always,
            SpeculativeRetry::Wait(wait) => wait.resolve(latencies),
            SpeculativeRetry::Min(left, right) => {
                left.resolve(latencies).min(right.resolve(latencies))
            }
            SpeculativeRetry::Max(left, right) => {
                left.resolve(latencies).max(right.resolve(latencies))
            }
        };
        if wait < timeout {
            Speculation::After(wait)
        } else {
            Speculation::Never
        }
    }
}

impl Wait {
    fn parse(text: &str) -> Option<Wait> {
        let text = text.trim();
        if let Some(millis) = text.strip_suffix("MS") {
            // Cassandra drops what is behind the point.
            return Some(Wait::Fixed(Duration::from_millis(number(millis)? as u64)));
        }
        let percent = text
            .strip_suffix("PERCENTILE")
            .or_else(|| text.strip_suffix('P'))?;
        let percent = number(percent)?;
        (percent > 0.0 && percent < 100.0).then_some(Wait::Percentile(percent))
    }

    fn resolve(self, latencies: &Latencies) -> Duration {
        match self {
            Wait::Percentile(percent) => latencies.percentile(percent),
            Wait::Fixed(wait) => wait,
        }
    }
}

/// A number as Cassandra's patterns have it: digits, and perhaps digits behind a point.
fn number(text: &str) -> Option<f64> {
    let text = text.trim_end();
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests;
