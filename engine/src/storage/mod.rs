//! Mutation based storage: cells with timestamps, in rows, in partitions, in token order.

mod cell;
mod key;
mod mutation;
mod token;

pub use cell::{Cell, ColumnData, DeletionTime, Liveness, NO_EXPIRY, Row};
pub use key::{CellPath, ClusteringBound, ClusteringKey, DecoratedKey, Token};
pub use mutation::{Mutation, RangeTombstone};
