//! A fault as users write it: which requests meet it, and what becomes of them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use helenus_core::message::WriteType;
use helenus_engine::execution::{Work, WorkKind};
use helenus_engine::schema::is_system;

use super::FaultError;

/// A fault that requests meet instead of, or on the way to, their answer: for tests of what an application does when its
/// database is slow or fails. It is written in words:
///
/// ```text
/// OPERATION [on KEYSPACE[.TABLE]] [delay DURATION] [error ERROR [applied]] [times NUMBER]
/// ```
///
/// ```
/// use helenus::Fault;
///
/// let slow: Fault = "read on shop.orders delay 250ms".parse()?;
/// let lost: Fault = "write on shop error timeout applied times 2".parse()?;
/// assert_eq!(lost.to_string(), "write on shop error timeout applied times 2");
/// # Ok::<(), helenus::InvalidFault>(())
/// ```
///
/// Requests that are refused anyway, being invalid or unauthorized, meet none. Neither do those to the server's own
/// tables, which drivers read, unless the fault names their keyspace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// What requests do that meet it.
    pub operation: FaultOperation,
    /// The keyspace that they use; `None` for any of users'.
    pub keyspace: Option<String>,
    /// The table in it; `None` for any.
    pub table: Option<String>,
    /// How long they wait before anything is done.
    pub delay: Duration,
    /// What they are answered; `None` for what they would be without the fault.
    pub error: Option<FaultError>,
    /// Whether they are carried out although they are answered an error: what a client can't tell from one that isn't.
    pub applied: bool,
    /// How many requests meet it before it is over; `None` for all.
    pub times: Option<u32>,
}

/// What requests do that meet a [`Fault`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultOperation {
    /// `any`: use a table in whatever way.
    Any,
    /// `read`: `SELECT`.
    Read,
    /// `write`: modify in whatever way.
    Write,
    /// `counter`: update counters.
    Counter,
    /// `batch`: several modifications, logged or not.
    Batch,
    /// `conditional`: modify under a condition.
    Conditional,
    /// `truncate`: `TRUNCATE`.
    Truncate,
}

const OPERATIONS: [(&str, FaultOperation); 7] = [
    ("any", FaultOperation::Any),
    ("read", FaultOperation::Read),
    ("write", FaultOperation::Write),
    ("counter", FaultOperation::Counter),
    ("batch", FaultOperation::Batch),
    ("conditional", FaultOperation::Conditional),
    ("truncate", FaultOperation::Truncate),
];

/// Units of a delay in microseconds.
const UNITS: [(&str, u64); 3] = [("us", 1), ("ms", 1_000), ("s", 1_000_000)];

/// What is wrong with the text of a [`Fault`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidFault(String);

impl Fault {
    /// A fault of all requests of a kind that does nothing yet.
    pub fn new(operation: FaultOperation) -> Self {
        Self {
            operation,
            keyspace: None,
            table: None,
            delay: Duration::ZERO,
            error: None,
            applied: false,
            times: None,
        }
    }

    /// Whether a request that does this meets it.
    pub(super) fn meets(&self, work: &Work<'_>) -> bool {
        let matches_operation = match (self.operation, &work.kind) {
            (FaultOperation::Any, _)
            | (FaultOperation::Read, WorkKind::Read)
            | (FaultOperation::Write, WorkKind::Write(_))
            | (FaultOperation::Truncate, WorkKind::Truncate) => true,
            (FaultOperation::Counter, WorkKind::Write(kind)) => *kind == WriteType::COUNTER,
            (FaultOperation::Conditional, WorkKind::Write(kind)) => *kind == WriteType::CAS,
            (FaultOperation::Batch, WorkKind::Write(kind)) => {
                [WriteType::BATCH, WriteType::UNLOGGED_BATCH].contains(kind)
            }
            _ => false,
        };
        matches_operation && work.tables.iter().any(|table| self.meets_table(*table))
    }

    fn meets_table(&self, (keyspace, table): (&str, &str)) -> bool {
        let in_keyspace = match &self.keyspace {
            Some(wanted) => wanted == keyspace,
            None => !is_system(keyspace),
        };
        in_keyspace && self.table.as_ref().is_none_or(|wanted| wanted == table)
    }

    fn add(&mut self, word: &str, words: &mut dyn Iterator<Item = &str>) -> Result<(), String> {
        let mut next = || {
            let value = words.next();
            value.ok_or_else(|| format!("expected something behind {word:?}"))
        };
        match word {
            "on" => {
                let place = next()?;
                let (keyspace, table) = match place.split_once('.') {
                    Some((keyspace, table)) => (keyspace, Some(table)),
                    None => (place, None),
                };
                self.keyspace = Some(keyspace.to_owned());
                self.table = table.map(str::to_owned);
            }
            "delay" => {
                let text = next()?;
                self.delay = delay(text).ok_or_else(|| {
                    format!("{text:?} is no delay; write it as 250ms, in us, ms or s")
                })?;
            }
            "error" => {
                let name = next()?;
                let error = FaultError::of_name(name).ok_or_else(|| {
                    let names: Vec<_> = FaultError::names().collect();
                    format!("{name:?} is no error; expected one of {}", names.join(", "))
                })?;
                self.error = Some(error);
            }
            "applied" if self.error.is_some() => self.applied = true,
            "applied" => return Err("applied needs an error in front of it".to_owned()),
            "times" => {
                let text = next()?;
                let times = text.parse().ok().filter(|times| *times > 0);
                self.times = Some(times.ok_or_else(|| {
                    format!("{text:?} is no number of times; expected a whole number, 1 or more")
                })?);
            }
            _ => {
                return Err(format!(
                    "{word:?} is not understood; expected on, delay, error, applied or times"
                ));
            }
        }
        Ok(())
    }
}

/// A number and its unit.
fn delay(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, micros) = UNITS.iter().find(|(name, _)| *name == unit)?;
    Some(Duration::from_micros(
        number.parse::<u64>().ok()?.checked_mul(*micros)?,
    ))
}

impl FromStr for Fault {
    type Err = InvalidFault;

    fn from_str(text: &str) -> Result<Self, InvalidFault> {
        let mut words = text.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        let operation = OPERATIONS.iter().find(|(name, _)| *name == first);
        let Some((_, operation)) = operation else {
            let names: Vec<_> = OPERATIONS.iter().map(|(name, _)| *name).collect();
            return Err(InvalidFault(format!(
                "{first:?} is no operation; a fault begins with one of {}",
                names.join(", ")
            )));
        };
        let mut fault = Self::new(*operation);
        while let Some(word) = words.next() {
            fault.add(word, &mut words).map_err(InvalidFault)?;
        }
        if fault.error.is_none() && fault.delay.is_zero() {
            return Err(InvalidFault(
                "a fault needs a delay, an error or both".to_owned(),
            ));
        }
        Ok(fault)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = OPERATIONS
            .iter()
            .find(|(_, operation)| *operation == self.operation);
        f.write_str(operation.map_or("", |(name, _)| name))?;
        if let Some(keyspace) = &self.keyspace {
            write!(f, " on {keyspace}")?;
            if let Some(table) = &self.table {
                write!(f, ".{table}")?;
            }
        }
        if !self.delay.is_zero() {
            let micros = self.delay.as_micros();
            let fits = |(_, factor): &&(&str, u64)| micros.is_multiple_of(u128::from(*factor));
            if let Some((unit, factor)) = UNITS.iter().rev().find(fits) {
                write!(f, " delay {}{unit}", micros / u128::from(*factor))?;
            }
        }
        if let Some(error) = self.error {
            write!(f, " error {error}")?;
        }
        if self.applied {
            f.write_str(" applied")?;
        }
        self.times
            .map_or(Ok(()), |times| write!(f, " times {times}"))
    }
}
