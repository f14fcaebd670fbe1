//! Holding figures against their limits while a statement is begun, and keeping the warnings that come of it.

use std::fmt;

use helenus_core::ErrorResponse;

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
        if enabled {
            return Ok(());
        }
        Err(self.refuse(name, format_args!("{feature} is not allowed")))
    }

    /// Warns of values that are advised against, or refuses those that are not allowed.
    pub(super) fn values<T: PartialEq + fmt::Display>(
        &mut self,
        (name, what): (&str, &str),
        provided: &[T],
        disallowed: &[T],
        warned: &[T],
    ) -> Result<(), ErrorResponse> {
        if let Some(found) = Listed::both(provided, disallowed) {
            let all = Listed::of(disallowed);
            return Err(self.refuse(
                name,
                format_args!(
                    "Provided values {found} are not allowed for {what} (disallowed values are: {all})"
                ),
            ));
        }
        if let Some(found) = Listed::both(provided, warned) {
            let all = Listed::of(warned);
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

/// Values as `[a, b]`, each once and in order.
struct Listed(Vec<String>);

impl Listed {
    fn of<T: fmt::Display>(values: &[T]) -> Self {
        Self(values.iter().map(T::to_string).collect())
    }

    /// Those that are on both sides, if any is.
    fn both<T: PartialEq + fmt::Display>(provided: &[T], listed: &[T]) -> Option<Self> {
        let both = provided.iter().filter(|value| listed.contains(value));
        let mut both: Vec<String> = both.map(T::to_string).collect();
        both.sort();
        both.dedup();
        (!both.is_empty()).then_some(Self(both))
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.0.join(", "))
    }
}
