//! What a read delivers, piece by piece.

use std::ops::ControlFlow;

use crate::storage::{ClusteringKey, DecoratedKey, Row};

/// A piece of a read's answer. Only what is alive is delivered: no tombstones, nothing deleted or expired; a partition
/// of which nothing is alive doesn't appear at all.
///
/// A row may still carry the [`deletion`](Row::deletion) it survived, and a complex column likewise.
#[derive(Debug)]
pub enum Fragment<'a> {
    /// A partition begins. It has a live static row or a live row within the slices.
    PartitionStart(&'a DecoratedKey),
    /// The static row, if any of it is alive.
    StaticRow(&'a Row),
    /// A row: its primary key's liveness or one of its columns is alive.
    Row(&'a ClusteringKey, &'a Row),
    /// The partition that began is over.
    PartitionEnd,
}

/// Takes in what a read delivers.
pub trait Consumer {
    /// Takes one fragment; `Break` pauses the read just after it.
    fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()>;

    /// Learns of so many tombstones of a partition that the read passed over since it last told, those in the row that
    /// comes next among them; `Break` ends the read, which then says `Stopped`. Expired values count; what a deletion
    /// around it covers, and what is old enough to be forgotten, doesn't.
    fn pass_tombstones(&mut self, _key: &DecoratedKey, _count: usize) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(Fragment<'_>) -> ControlFlow<()>> Consumer for F {
    fn consume(&mut self, fragment: Fragment<'_>) -> ControlFlow<()> {
        self(fragment)
    }
}
