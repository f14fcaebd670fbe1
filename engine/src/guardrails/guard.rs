//! Holding figures against their limits while a statement is begun, and keeping the warnings that come of it.

use std::fmt;

use helenus_core::{Consistency, ErrorResponse};

use super::{Guardrails, Threshold};

/// The guardrails of one execution, and what its client is to be warned of.
#[derive(Debug)]
pub(crate) struct Guard<'g> {
    /// The limits.
    pub(crate) rules: &'g Guardrails,
    warnings: Vec<String>,
}

/// Which bound of a threshold is exceeded, and how much it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// The one to warn at.
    Warn(u64),
    /// The one to fail at.
    Fail(u64),
}

impl fmt::Display for Limit {
    /// As most of Cassandra's texts name it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Warn(bound) => write!(f, "warning threshold of {bound}"),
            Self::Fail(bound) => write!(f, "failure threshold of {bound}"),
        }
    }
}

impl Threshold {
    /// The bound that a figure is above, if it is above any.
    pub(crate) fn exceeded_by(&self, figure: u64) -> Option<Limit> {
        match (self.warn, self.fail) {
            (_, Some(fail)) if figure > fail => Some(Limit::Fail(fail)),
            (Some(warn), _) if figure > warn => Some(Limit::Warn(warn)),
            _ => None,
        }
    }

    /// The bound that a figure is below, if it is below any.
    pub(crate) fn missed_by(&self, figure: u64) -> Option<Limit> {
        match (self.warn, self.fail) {
            (_, Some(fail)) if figure < fail => Some(Limit::Fail(fail)),
            (Some(warn), _) if figure < warn => Some(Limit::Warn(warn)),
            _ => None,
        }
    }
}

impl<'g> Guard<'g> {
    pub(crate) fn new(rules: &'g Guardrails) -> Self {
        Self {
            rules,
            warnings: Vec::new(),
        }
    }

    /// Warns the client.
    pub(crate) fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    /// The warnings so far.
    pub(crate) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }

    /// Warns of a violation.
    pub(super) fn violated(&mut self, name: &str, text: impl fmt::Display) {
        self.warn(format!("Guardrail {name} violated: {text}"));
    }

    /// Refuses the statement; the client is also warned, with the same words, as Cassandra does.
    pub(super) fn refuse(&mut self, name: &str, text: impl fmt::Display) -> ErrorResponse {
        let message = format!("Guardrail {name} violated: {text}");
        self.warn(message.clone());
        ErrorResponse::invalid(message)
    }

    /// Warns of a bound that is exceeded, or refuses.
    pub(super) fn limit<T: fmt::Display>(
        &mut self,
        name: &str,
        exceeded: Option<Limit>,
        text: impl FnOnce(Limit) -> T,
    ) -> Result<(), ErrorResponse> {
        match exceeded {
            None => Ok(()),
            Some(limit @ Limit::Warn(_)) => {
                self.violated(name, text(limit));
                Ok(())
            }
            Some(limit @ Limit::Fail(_)) => Err(self.refuse(name, text(limit))),
        }
    }

    /// Refuses a feature that is off.
    pub(super) fn enabled(
        &mut self,
        enabled: bool,
        name: &str,
        feature: &str,
    ) -> Result<(), ErrorResponse> {
        self.enabled_or(enabled, name, format_args!("{feature} is not allowed"))
    }

    /// Refuses a feature that is off in words of its own.
    pub(super) fn enabled_or(
        &mut self,
        enabled: bool,
        name: &str,
        text: impl fmt::Display,
    ) -> Result<(), ErrorResponse> {
        match enabled {
            true => Ok(()),
            false => Err(self.refuse(name, text)),
        }
    }

    /// Warns of values that are advised against or ignored, or refuses those that are not allowed.
    pub(super) fn values<T: Listed>(
        &mut self,
        (name, what): (&str, &str),
        provided: &[T],
        lists: &Lists<'_, T>,
    ) -> Result<(), ErrorResponse> {
        if let Some(found) = both(provided, lists.disallowed) {
            let all = listed(lists.disallowed);
            return Err(self.refuse(
                name,
                format_args!(
                    "Provided values {found} are not allowed for {what} (disallowed values are: {all})"
                ),
            ));
        }
        if let Some(found) = both(provided, lists.ignored) {
            let all = listed(lists.ignored);
            self.violated(
                name,
                format_args!(
                    "Ignoring provided values {found} as they are not supported for {what} (ignored values are: {all})"
                ),
            );
        }
        if let Some(found) = both(provided, lists.warned) {
            let all = listed(lists.warned);
            self.violated(
                name,
                format_args!(
                    "Provided values {found} are not recommended for {what} (warned values are: {all})"
                ),
            );
        }
        Ok(())
    }
}

/// Values of which a rule says something.
pub(super) struct Lists<'a, T> {
    /// Those that are refused.
    pub(super) disallowed: &'a [T],
    /// Those that are as if they weren't there.
    pub(super) ignored: &'a [T],
    /// Those that are advised against.
    pub(super) warned: &'a [T],
}

impl<T> Lists<'_, T> {
    /// Whether the rule says nothing.
    pub(super) const fn are_empty(&self) -> bool {
        self.disallowed.is_empty() && self.ignored.is_empty() && self.warned.is_empty()
    }
}

/// Values as texts list them, in the orders of the sets that Cassandra has them in.
pub(super) trait Listed: PartialEq + fmt::Display {
    /// Puts values of a statement in order.
    fn sort_provided(values: &mut [&Self]);
    /// Puts values of a rule in order.
    fn sort_configured(values: &mut [&Self]);
}

impl Listed for Consistency {
    fn sort_provided(values: &mut [&Self]) {
        values.sort_by_key(|level| level.0);
    }

    fn sort_configured(values: &mut [&Self]) {
        Self::sort_provided(values);
    }
}

impl Listed for String {
    fn sort_provided(values: &mut [&Self]) {
        values.sort();
    }

    /// That of a Java `HashSet`: by buckets, of which there are more than four for three values.
    fn sort_configured(values: &mut [&Self]) {
        let buckets = (values.len() * 4 / 3 + 1).next_power_of_two().max(16) as u32;
        values.sort_by_key(|text| {
            let units = text.encode_utf16();
            let hash = units.fold(0_u32, |hash, unit| {
                hash.wrapping_mul(31).wrapping_add(unit.into())
            });
            (hash ^ hash >> 16) & (buckets - 1)
        });
    }
}

/// Those that are on both sides, as `[a, b]`, if any is.
fn both<T: Listed>(provided: &[T], listed: &[T]) -> Option<String> {
    let mut both: Vec<&T> = provided
        .iter()
        .filter(|value| listed.contains(value))
        .collect();
    T::sort_provided(&mut both);
    both.dedup();
    (!both.is_empty()).then(|| written(&both))
}

/// All values of a rule, as `[a, b]`.
fn listed<T: Listed>(values: &[T]) -> String {
    let mut all: Vec<&T> = values.iter().collect();
    T::sort_configured(&mut all);
    written(&all)
}

fn written<T: Listed>(values: &[&T]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    format!("[{}]", values.join(", "))
}
