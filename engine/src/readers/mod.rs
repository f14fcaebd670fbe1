//! Reading: readers over memtable and runs yield mutation fragments, are combined and compacted, and hand what is
//! alive to a consumer that may pause at any fragment.
//!
//! The pieces compose by type, without boxes: a [`RunReader`] walks the partitions of one memtable or run and slices
//! each in either direction, [`Combined`] merges any readers, and a [`Compactor`] consumes the outcome and feeds what is
//! alive to a [`Consumer`]. A reader lends its fragments until its next step. That a consumer has enough, or that a
//! reader has to wait, is a plain value; both keep their places, and [`consume`] makes a future of it for who has an
//! executor. A reader borrows storage and lives as long as one call;
//! between calls its place is a [`Position`].
//!
//! ```
//! # use std::ops::ControlFlow;
//! # use helenus_engine::readers::*;
//! # use helenus_engine::storage::{DecoratedKey, Run};
//! /// The keys of all partitions that two runs have, as far as the first that begins with `stop`.
//! fn keys(command: &ReadCommand, runs: [&Run; 2], stop: u8) -> Vec<DecoratedKey> {
//!     let mut keys = Vec::new();
//!     let mut combined = Combined::new(runs.map(|run| RunReader::new(command, run)), command);
//!     let consumed = combined.consume_pausable(&mut |key: &DecoratedKey, fragment: MutationFragment<'_>| {
//!         if let MutationFragment::PartitionStart(_) = fragment {
//!             keys.push(key.clone());
//!         }
//!         match key.key.first() {
//!             Some(first) if *first == stop => ControlFlow::Break(()),
//!             _ => ControlFlow::Continue(()),
//!         }
//!     });
//!     // Either way it could go on: `Paused` just behind the fragment that was consumed last.
//!     assert!(matches!(consumed, Consumed::Finished | Consumed::Paused(())));
//!     keys
//! }
//! ```

mod arriving;
mod combined;
mod command;
mod compacting;
mod filtering;
mod fragment;
mod limits;
mod mutation_fragment;
mod partition_reader;
mod place;
mod position;
mod reader;
mod run_reader;
mod slices;
mod waiting;

#[cfg(test)]
mod tests;

pub use arriving::{Arriving, OwnedFragment};
pub use combined::Combined;
pub use command::{PartitionRange, ReadCommand, ReadLimit, ReadProgress, RingBound, Slices};
pub use compacting::Compactor;
pub use filtering::Filtering;
pub use fragment::{Consumer, Fragment};
pub use mutation_fragment::MutationFragment;
pub use place::Place;
pub use position::Position;
pub use reader::{Consumed, MutationConsumer, MutationReader, Step};
pub use run_reader::RunReader;
pub use waiting::{Rest, Wait, consume};

pub(crate) use partition_reader::PartitionReader;
