//! What replicas tell each other: commands, mutations and answers in one canonical encoding, digests of answers, and the
//! reconciliation of what several replicas answered into what an [`Execution`](crate::execution::Execution) takes as it
//! takes a shard's own rows. Who the replicas are, and how bytes travel between them, is the caller's affair.
//!
//! # Answers
//! [`Shard::read_data`](crate::storage::Shard::read_data) feeds a [`DataBuilder`] with all there is, tombstones included,
//! in a normal form: what a deletion around it covers is left out, what has expired is a tombstone, what is old enough to
//! be forgotten is forgotten, changes of deletion that change nothing don't appear, and neither does anything of columns
//! that were dropped. Replicas that would show the same to every later read so give the same bytes and the same
//! [`Digest`], whatever order their writes came in and however far they have merged their runs. A
//! [`limit`](crate::readers::ReadLimit) counts in that form, and cuts all of them at the same place.
//!
//! # Encoding
//! Every message begins with its version, 1. Numbers are big-endian; `vint` and `uvint` are the protocol's variable-length
//! ones, in as few bytes as they take; `bytes` are a `uvint` length and so many bytes; a list is a `uvint` count and its
//! items. Bits that aren't named are 0.
//!
//! | item | form |
//! |---|---|
//! | deletion | timestamp `i64`, local second `vint` |
//! | bound | 0 start, 1 before `bytes`, 2 after `bytes`, 3 end |
//! | ring bound | 0 start, 1 before token `i64`, 2 after token `i64`, 3 end |
//! | position | partition key `bytes`, bound |
//! | clustering | the values as `bytes`; the sort form is made anew |
//! | cell | flags (1 a value, 2 expires, 4 as old as the row's liveness); timestamp `i64` unless 4; ttl `uvint` and second `vint` if 2; value `bytes` if 1 |
//! | column | id `uvint`, a cell; or flags with 8 (16 a deletion), a deletion if 16, a list of (path `bytes`, cell) |
//! | row | flags (1 liveness, 2 it expires, 4 a deletion); timestamp `i64` if 1; ttl `uvint` and second `vint` if 2; deletion if 4; a list of columns |
//! | command | table id; flags (1 reversed, 2 slices, 4 a position, 8 one partition); key `bytes` if 8, else two ring bounds; a list of pairs of bounds if 2; the second `vint`; position if 4; the limits as three `uvint` |
//! | mutation | table id; key `bytes`; flags (1 a deletion, 2 a static row); these; a list of (clustering, row); a list of (bound, bound, deletion) |
//! | answer | pieces: 1 a partition's start (key `bytes`, flags and parts as a mutation's), 2 a row (clustering, row), 3 a deletion from here on (bound, deletion), 4 none from here on (bound), 5 the partition's end, 6 its end at a limit (bound); then 0 if that is all, or 7 and the position it ends at |
//!
//! Decoding allocates what the bytes justify: at most some 100 bytes for each that is there. It checks the form and the
//! columns against the table, not that values are of their types.

mod append;
mod builder;
mod changes;
mod columns;
mod command;
mod coverage;
mod data;
mod digest;
mod error;
mod feeding;
mod mutation;
mod normal;
mod partition;
mod reconcile;
mod repair;
mod row;
mod sink;
#[cfg(test)]
mod tests;
mod wire;

pub use builder::DataBuilder;
pub use data::ReadData;
pub use digest::Digest;
pub use error::EncodingError;
pub use reconcile::{Reconciliation, reconcile};
pub use sink::{Collect, Encode, Hash, Sink};

pub(crate) use feeding::Feeding;

/// The version of the encoding, the first byte of every message.
const VERSION: u8 = 1;
