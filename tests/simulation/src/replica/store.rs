//! The rows of one replica, and the only ways to change and read them.

use std::collections::BTreeMap;

use helenus_coordinator::NodeId;

use crate::model::{Change, Command, Data, Key, Mutation, Position, Row};

/// Rows in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Store {
    rows: BTreeMap<Position, Row>,
}

impl Store {
    /// Applies a mutation whole. What is added to counters, this node adds as their leader; it returns the mutation
    /// that the other replicas are to have.
    pub(crate) fn apply(&mut self, leader: NodeId, mutation: &Mutation) -> Mutation {
        let mut merged = Mutation {
            key: mutation.key,
            changes: Vec::with_capacity(mutation.changes.len()),
        };
        for (clustering, change) in &mutation.changes {
            let at = (mutation.key, *clustering);
            let row = match change {
                Change::Merge(row) => row.clone(),
                Change::Add(delta) => Row::Counter(self.added(at, leader, *delta)),
            };
            self.rows
                .entry(at)
                .and_modify(|kept| kept.merge(&row))
                .or_insert_with(|| row.clone());
            merged.changes.push((*clustering, Change::Merge(row)));
        }
        merged
    }

    fn added(&self, at: Position, leader: NodeId, delta: i64) -> BTreeMap<NodeId, (u64, i64)> {
        let (written, sum) = match self.rows.get(&at) {
            Some(Row::Counter(shards)) => shards.get(&leader).copied().unwrap_or_default(),
            _ => (0, 0),
        };
        BTreeMap::from([(leader, (written + 1, sum + delta))])
    }

    /// Reads, up to the limit.
    #[must_use]
    pub(crate) fn read(&self, command: &Command) -> Data {
        let end = (command.to, u8::MAX);
        if command.from > end {
            return Data::default();
        }
        let rows = self.rows.range(command.from..=end);
        let mut data = Data {
            rows: rows.map(|(at, row)| (*at, row.clone())).collect(),
            next: None,
        };
        data.cut(command.limit);
        data
    }

    /// Takes over everything that is newer in the other.
    pub(crate) fn merge(&mut self, other: &Store) {
        for (at, row) in &other.rows {
            self.rows
                .entry(*at)
                .and_modify(|kept| kept.merge(row))
                .or_insert_with(|| row.clone());
        }
    }

    /// A row as it is here.
    #[must_use]
    pub(crate) fn row(&self, at: Position) -> Option<&Row> {
        self.rows.get(&at)
    }

    /// The rows of one partition.
    pub(crate) fn partition(&self, key: Key) -> impl Iterator<Item = (&Position, &Row)> {
        self.rows.range((key, 0)..=(key, u8::MAX))
    }

    /// Whether everything that a mutation says is here, or something newer.
    #[must_use]
    pub(crate) fn holds(&self, mutation: &Mutation) -> bool {
        mutation.changes.iter().all(|(clustering, change)| {
            let kept = self.rows.get(&(mutation.key, *clustering));
            match (change, kept) {
                (Change::Merge(row), Some(kept)) => {
                    let mut merged = kept.clone();
                    merged.merge(row);
                    merged == *kept
                }
                (Change::Merge(_), None) => false,
                // Whoever adds can't be told from the sum.
                (Change::Add(_), _) => true,
            }
        })
    }
}
