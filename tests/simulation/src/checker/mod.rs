//! What must hold whatever went wrong. Each checker reads the history, or what is left when all is calm again.

mod batches;
mod conditional;
mod counters;
mod rows;

use std::fmt;

use crate::history::Record;
use crate::levels::Replicas;
use crate::replica::Store;

/// A rule that a run broke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: &'static str,
    /// What was seen.
    pub seen: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.seen)
    }
}

/// Judges a history by every rule, with what all replicas have together in the end.
#[must_use]
pub(crate) fn check(history: &[Record], replicas: Replicas, end: &Store) -> Vec<Violation> {
    let mut violations = rows::check(history, replicas, end);
    violations.extend(conditional::check(history));
    violations.extend(counters::check(history, replicas, end));
    violations.extend(batches::check(history, end));
    violations
}

#[cfg(test)]
mod tests;
