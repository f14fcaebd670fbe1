//! Reading: readers over memtable and runs yield mutation fragments, are combined and compacted, and hand what is
//! alive to a consumer that may pause at any fragment.

mod command;
mod fragment;
mod position;

pub use command::{PartitionRange, ReadCommand, ReadProgress, RingBound, Slices};
pub use fragment::{Consumer, Fragment};
pub use position::Position;
