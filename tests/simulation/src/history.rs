//! What clients asked and what they were answered, with the times of both: all that the checkers judge.

use std::time::Duration;

use helenus_core::Consistency;

use crate::model::{Cell, Change, Command, Content, Data, Key, Mutation, Row};

/// One request of a client. Values are unique in a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A read of one partition.
    Read(Command, Consistency),
    /// A read of several partitions.
    Scan(Command, Consistency),
    /// A write of plain rows.
    Write(Mutation, Consistency),
    /// Writes of several partitions, all or none in the end.
    Batch(Vec<Mutation>, Consistency),
    /// An addition to a counter.
    Add(Mutation, Consistency),
    /// Sets the one row of a partition if it has the expected value.
    Compare {
        /// The partition.
        key: Key,
        /// The value that it must have; `None`: it must have none.
        expected: Option<u64>,
        /// The value that it gets.
        value: u64,
    },
    /// A read among conditional writes.
    SerialRead(Key),
}

impl Operation {
    /// The name of its kind.
    #[must_use]
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Read(..) => "read",
            Self::Scan(..) => "scan",
            Self::Write(..) => "write",
            Self::Batch(..) => "batch",
            Self::Add(..) => "add",
            Self::Compare { .. } => "compare",
            Self::SerialRead(_) => "serial_read",
        }
    }

    /// Gives every cell that it writes its timestamp: the time of the coordinator that takes it.
    pub(crate) fn stamp(&mut self, micros: i64) {
        let mutations = match self {
            Self::Write(mutation, _) => std::slice::from_mut(mutation),
            Self::Batch(mutations, _) => mutations,
            _ => return,
        };
        for (_, change) in mutations.iter_mut().flat_map(|of| &mut of.changes) {
            if let Change::Merge(Row::Cell(cell)) = change {
                cell.at = micros;
            }
        }
    }

    /// The mutations of plain rows.
    #[must_use]
    pub(crate) fn mutations(&self) -> &[Mutation] {
        match self {
            Self::Write(mutation, _) => std::slice::from_ref(mutation),
            Self::Batch(mutations, _) => mutations,
            _ => &[],
        }
    }
}

/// What a client was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Rows.
    Data(Data),
    /// It is written.
    Written,
    /// Whether the condition held, and if not, the value that was there.
    Compared(Result<(), Option<u64>>),
    /// It can't have had an effect: too few replicas were alive, or nobody took it.
    Refused,
    /// It may or may not have had an effect, now or later.
    Unknown(&'static str),
}

/// One request with its answer.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    /// What was asked.
    pub(crate) operation: Operation,
    /// Who coordinated it.
    pub(crate) coordinator: usize,
    /// The coordinator's data centre.
    pub(crate) centre: usize,
    /// When it was asked.
    pub(crate) asked: Duration,
    /// When it was answered, and what.
    pub(crate) answered: Option<(Duration, Answer)>,
}

impl Record {
    /// When it was answered well.
    #[must_use]
    pub(crate) fn done(&self) -> Option<(Duration, &Answer)> {
        match &self.answered {
            Some((_, Answer::Refused | Answer::Unknown(_))) | None => None,
            Some((at, answer)) => Some((*at, answer)),
        }
    }

    /// Whether it may have had an effect.
    #[must_use]
    pub(crate) fn may_have_happened(&self) -> bool {
        !matches!(self.answered, Some((_, Answer::Refused)))
    }
}

/// The one value of a partition of conditional writes.
#[must_use]
pub(crate) fn value_of(data: &Data) -> Option<u64> {
    data.rows.iter().find_map(|(_, row)| match row {
        Row::Cell(Cell {
            content: Content::Value(value),
            ..
        }) => Some(*value),
        _ => None,
    })
}
