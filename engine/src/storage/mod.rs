//! Mutation based storage: cells with timestamps, in rows, in partitions, in token order.
//!
//! A [`Shard`] keeps for each table a memtable, which takes the writes, and runs, which are memtables that grew too
//! large and what was merged from such. Nothing in a run changes. What counts of several versions is decided by
//! reconciliation, the same whether a write meets an older one in the memtable, a read combines sources, or runs are merged.

mod cell;
mod counter;
mod discard;
mod expiry;
mod found_row;
mod key;
mod merge;
pub(crate) mod murmur3;
mod mutation;
mod partition;
mod range_tombstones;
mod reconcile;
mod run;
mod shard;
mod sorted;
mod stored_row;
mod table_store;
mod token;

pub use cell::{Cell, ColumnData, DeletionTime, Liveness, NO_EXPIRY, Row};
pub use key::{CellPath, ClusteringBound, ClusteringKey, DecoratedKey, Token};
pub use mutation::{Mutation, RangeTombstone};
pub use run::Run;
pub use shard::{Removed, Shard, ShardOptions, TableSize};
pub use stored_row::StoredRow;

pub(crate) use expiry::Purge;
pub(crate) use found_row::FoundRow;
pub(crate) use partition::{Partition, Rows};
pub(crate) use reconcile::CellKind;
pub(crate) use run::PartitionsRange;

#[cfg(test)]
pub(crate) use shard::tests as testing;
