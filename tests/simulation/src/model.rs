//! A store small enough to be judged: partitions of rows, each row a cell with a timestamp or a counter.
//!
//! It has what makes replication hard: tombstones, limits that cut an answer, so that reads may fall short, and counters
//! made of shards, one a leader. Tokens are in the order of the keys, so that a range of tokens is one of keys.

use std::collections::BTreeMap;
use std::fmt;

use helenus_coordinator::{NodeId, Token};

/// A partition's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Key(pub u8);

impl Key {
    /// Its token: keys are spread evenly, in their order.
    #[must_use]
    pub(crate) const fn token(self) -> Token {
        Token(i64::MIN + (self.0 as i64 + 1) * STEP)
    }

    /// The first key whose token isn't less.
    #[must_use]
    pub(crate) fn from_token(token: Token) -> Self {
        let found = (0..u8::MAX).map(Key).find(|key| key.token() >= token);
        found.unwrap_or(Key(u8::MAX))
    }

    /// The last key whose token isn't greater; `None` if all are.
    #[must_use]
    pub(crate) fn up_to_token(token: Token) -> Option<Self> {
        (0..u8::MAX).rev().map(Key).find(|key| key.token() <= token)
    }
}

/// Between the tokens of two keys.
const STEP: i64 = 1 << 55;

/// Where a row is: its partition, then its clustering.
pub(crate) type Position = (Key, u8);

/// A value with its timestamp; no value is a tombstone. Of two the greater wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Cell {
    /// The timestamp, in microseconds.
    pub(crate) at: i64,
    /// At equal timestamps a tombstone wins, then the greater value.
    pub(crate) content: Content,
}

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Content {
    /// The row is there.
    Value(u64),
    /// The row was deleted.
    Tombstone,
}

/// A counter's shards: of each leader how often it wrote and its sum. Of two the one that was written more often wins.
pub(crate) type Shards = BTreeMap<NodeId, (u64, i64)>;

/// What a replica keeps of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Row {
    /// A plain row.
    Cell(Cell),
    /// A counter.
    Counter(Shards),
}

impl Row {
    /// Takes over what is newer in the other.
    pub(crate) fn merge(&mut self, other: &Row) {
        match (self, other) {
            (Row::Cell(mine), Row::Cell(other)) => *mine = (*mine).max(*other),
            (Row::Counter(mine), Row::Counter(other)) => {
                for (leader, shard) in other {
                    let kept = mine.entry(*leader).or_default();
                    *kept = (*kept).max(*shard);
                }
            }
            // A key is one or the other for the whole of a run.
            (mine, other) => *mine = other.clone(),
        }
    }

    /// Whether a limit counts it.
    #[must_use]
    pub(crate) fn is_live(&self) -> bool {
        !matches!(self, Row::Cell(cell) if cell.content == Content::Tombstone)
    }
}

/// A read of rows from a position on, up to and with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Command {
    /// The first row.
    pub(crate) from: Position,
    /// The last partition.
    pub(crate) to: Key,
    /// How many live rows at most.
    pub(crate) limit: u32,
}

/// A change of one partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mutation {
    /// The partition.
    pub(crate) key: Key,
    /// The rows that change.
    pub(crate) changes: Vec<(u8, Change)>,
}

/// A change of one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// Merged with what is there.
    Merge(Row),
    /// Added to a counter by its leader, who makes a `Merge` of it for the other replicas.
    Add(i64),
}

/// A replica's answer: rows in their order, tombstones included.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Data {
    /// The rows.
    pub(crate) rows: Vec<(Position, Row)>,
    /// Where to go on if the limit cut the answer; `None` if there is nothing more.
    pub(crate) next: Option<Position>,
}

impl Data {
    /// Rows that aren't deleted.
    pub(crate) fn live(&self) -> impl Iterator<Item = &(Position, Row)> {
        self.rows.iter().filter(|(_, row)| row.is_live())
    }

    /// The row at a position.
    #[must_use]
    pub(crate) fn row(&self, at: Position) -> Option<&Row> {
        let index = self.rows.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(&self.rows[index].1)
    }

    /// Whether the answer says what is, or isn't, at a position.
    #[must_use]
    pub(crate) fn covers(&self, at: Position) -> bool {
        self.next.is_none_or(|next| at < next)
    }

    /// Ends the answer at its `limit`th live row.
    pub(crate) fn cut(&mut self, limit: u32) {
        let mut live = 0;
        let last = self.rows.iter().position(|(_, row)| {
            live += u32::from(row.is_live());
            live == limit
        });
        if let Some(last) = last {
            self.next = Some(following(self.rows[last].0));
            self.rows.truncate(last + 1);
        }
    }
}

/// The first position after one.
#[must_use]
pub(crate) fn following((key, clustering): Position) -> Position {
    match clustering.checked_add(1) {
        Some(next) => (key, next),
        None => (Key(key.0.saturating_add(1)), 0),
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}", self.0)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.content {
            Content::Value(value) => write!(f, "{value}@{}", self.at),
            Content::Tombstone => write!(f, "dead@{}", self.at),
        }
    }
}
