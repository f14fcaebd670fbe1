//! The syntax tree of CQL statements, as the grammar gives it: names and literals are not resolved yet.
//! Answers to Cassandra 5.0's `Parser.g`, restricted to the statements this engine runs.

mod access;
mod ddl;
mod describe;
mod index;
mod modify;
mod select;
mod term;
mod view;

pub use access::*;
pub use ddl::*;
pub use describe::*;
pub use index::*;
pub use modify::*;
pub use select::*;
pub use term::*;
pub use view::*;

use std::sync::Arc;

/// A statement.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Statement {
    /// `SELECT`
    Select(Box<Select>),
    /// `INSERT`
    Insert(Box<Insert>),
    /// `UPDATE`
    Update(Box<Update>),
    /// `DELETE`
    Delete(Box<Delete>),
    /// `BEGIN … APPLY BATCH`
    Batch(Box<Batch>),
    /// `USE keyspace`
    Use(Name),
    /// `TRUNCATE [TABLE] table`
    Truncate(TableName),
    /// `CREATE`, `ALTER`, `DROP` of a keyspace, table, type, function or aggregate.
    Ddl(Box<Ddl>),
    /// `CREATE ROLE`, `GRANT`, `LIST`, …: roles, permissions and identities.
    Access(Box<Access>),
    /// `DESCRIBE …`, which cqlsh sends to the server.
    Describe(Describe),
    /// A statement this engine parses and refuses at run time, with the words it is named by.
    Unsupported(&'static str),
}

/// An identifier: folded to lower case unless it was quoted, without its quotes.
pub type Name = Arc<str>;

/// A table or type, with the keyspace if the text had one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// The keyspace before the dot.
    pub keyspace: Option<Name>,
    /// The name itself.
    pub name: Name,
}
