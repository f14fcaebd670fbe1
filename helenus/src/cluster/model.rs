//! The engine's store as coordinators know it.

use std::sync::Arc;

use bytes::Bytes;
use helenus_coordinator::{Model, NodeId, Reconciled, TokenRange};
use helenus_engine::readers::{PartitionRange, ReadCommand, RingBound};
use helenus_engine::replica::{Digest, ReadData, Reconciliation, reconcile};
use helenus_engine::schema::TableId;
use helenus_engine::storage::{Mutation, Token};

/// A table's partition, by its key's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition {
    pub(crate) table: TableId,
    pub(crate) key: Bytes,
}

/// What the engine's commands, mutations and answers are to the machines of a coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EngineModel;

impl Model for EngineModel {
    type Command = Arc<ReadCommand>;
    type Mutation = Arc<Mutation>;
    type Partition = Partition;
    type Data = ReadData;
    type Digest = Digest;

    fn digest(data: &ReadData) -> Digest {
        data.digest()
    }

    fn reconcile(command: &Arc<ReadCommand>, answers: &[(NodeId, ReadData)]) -> Reconciled<Self> {
        let Reconciliation {
            data,
            repairs,
            short,
        } = reconcile(command, answers);
        Reconciled {
            data,
            repairs: repairs
                .into_iter()
                .map(|(node, mutation)| (node, Arc::new(mutation)))
                .collect(),
            short: short
                .into_iter()
                .map(|(node, command)| (node, Arc::new(command)))
                .collect(),
        }
    }

    fn narrow(command: &Arc<ReadCommand>, range: TokenRange, rows: u32) -> Arc<ReadCommand> {
        let mut narrow = within(command, range);
        narrow.limit.rows = narrow.limit.rows.min(rows);
        Arc::new(narrow)
    }

    fn rows(data: &ReadData) -> u32 {
        data.rows()
    }

    fn is_cut(data: &ReadData) -> bool {
        data.end().is_some()
    }

    fn append(data: &mut ReadData, next: ReadData) {
        data.append(next);
    }
}

/// The command for the tokens of a range alone.
pub(crate) fn within(command: &ReadCommand, range: TokenRange) -> ReadCommand {
    let mut narrow = command.clone();
    if let PartitionRange::Tokens { start, end } = &mut narrow.range {
        *start = (*start).max(RingBound::Before(Token(range.first.0)));
        *end = (*end).min(RingBound::After(Token(range.last.0)));
    }
    narrow
}
