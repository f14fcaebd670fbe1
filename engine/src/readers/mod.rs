//! Reading: readers over memtable and runs yield mutation fragments, are combined and compacted, and hand what is
//! alive to a consumer that may pause at any fragment.
//!
//! The pieces compose by type, without boxes: a range reader walks the partitions of one source, a partition reader
//! slices one partition in either direction, the combined reader merges any of them, and the compactor consumes the
//! outcome. A reader borrows storage and lives as long as one call; between calls its place is a [`Position`].

mod combined;
mod command;
mod compacting;
mod fragment;
mod mutation_fragment;
mod partition_reader;
mod position;
mod range_reader;
mod slices;

pub use command::{PartitionRange, ReadCommand, ReadProgress, RingBound, Slices};
pub use fragment::{Consumer, Fragment};
pub use position::Position;

pub(crate) use combined::Combined;
pub(crate) use compacting::Compactor;
pub(crate) use mutation_fragment::{MutationConsumer, MutationFragment, MutationReader, RowRef};
pub(crate) use partition_reader::PartitionReader;
pub(crate) use range_reader::RangeReader;
