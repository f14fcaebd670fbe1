//! What an [`Execution`](super::Execution) asks its driver to do, and what the driver says came of it.

use std::sync::Arc;

use helenus_core::message::SchemaChange;
use helenus_core::{ErrorResponse, Response};

use super::calls::Calls;
use crate::access::{Permission, Resource};
use crate::cql::ast::{Access, Ddl};
use crate::readers::{ReadCommand, ReadProgress};
use crate::schema::Table;
use crate::storage::Mutation;

/// The next step of an execution. All but [`Done`](Action::Done) are answered by one
/// [`resume`](super::Execution::resume). Exhaustive: a driver that doesn't know an action can't go on.
#[derive(Debug)]
pub enum Action {
    /// Read into the execution, which is a [`Consumer`](crate::readers::Consumer); answer [`Outcome::Read`]. A range
    /// that spans shards is read from each in token order with the same command, until one stops or yields.
    Read(ReadCommand),
    /// Apply all of these, each whole; answer [`Outcome::Written`].
    Write(Vec<Mutation>),
    /// Under the lock of the shard that has the command's key: read to the end into the execution, then apply what
    /// [`decide`](super::Execution::decide) returns; answer [`Outcome::Written`].
    Cas(ReadCommand),
    /// Change the schema; answer [`Outcome::Altered`].
    Alter {
        /// The change.
        ddl: Arc<Ddl>,
        /// The statement as it was written: what other nodes are told.
        text: Arc<str>,
        /// The keyspace that names without one belong to.
        keyspace: Option<Arc<str>>,
    },
    /// Carry out a statement on roles, as [`Roles::apply`](crate::access::Roles::apply) says, for the user who sent it;
    /// answer [`Outcome::Answered`]. If it sets a [`password`](Access::password), that has to be hashed, which takes
    /// long. Where users don't log in, [`refuse`](not_logged_in) it.
    Access {
        /// The statement.
        statement: Arc<Access>,
        /// The keyspace that names without one belong to.
        keyspace: Option<Arc<str>>,
    },
    /// Drop all content of a table; answer [`Outcome::Truncated`].
    Truncate(Arc<Table>),
    /// Let others run, then answer [`Outcome::Resumed`].
    Yield,
    /// What follows may take long without a chance to yield, as user functions with loops do: go on where that holds
    /// nobody up, and answer [`Outcome::Resumed`] there.
    Defer,
    /// Find out whether who sent the request may do all of this, where nobody waits if that may take long; answer
    /// [`Outcome::Authorized`], or [`Outcome::Failed`]. Only of an execution that is [asking](super::Execution::asking).
    Authorize(Vec<(Permission, Resource)>),
    /// Make these calls of native functions where nobody waits, for they may block or never end; answer
    /// [`Outcome::Called`].
    Call(Calls),
    /// The end.
    Done(Box<Completed>),
}

/// What came of an [`Action`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// A read ended like this.
    Read(ReadProgress),
    /// Everything was applied.
    Written,
    /// The schema was changed, or was found to be as wanted.
    Altered {
        /// What changed; `None` if nothing did.
        change: Option<SchemaChange>,
        /// Warnings for the client.
        warnings: Vec<String>,
    },
    /// The answer is this.
    Answered(Completed),
    /// The table is empty.
    Truncated,
    /// Others ran.
    Resumed,
    /// It may.
    Authorized,
    /// All calls were made.
    Called(Calls),
    /// The action failed; the execution ends with this error.
    Failed(ErrorResponse),
}

/// What a statement on roles is answered with where users don't log in.
pub fn not_logged_in() -> ErrorResponse {
    ErrorResponse::unauthorized(
        "You have to be logged in and not anonymous to perform this request",
    )
}

/// The result of an execution.
#[derive(Debug, Clone, PartialEq)]
pub struct Completed {
    /// What the client is told.
    pub response: Response,
    /// Warnings that go with it.
    pub warnings: Vec<String>,
}

impl From<Response> for Completed {
    /// A response without warnings.
    fn from(response: Response) -> Self {
        Self {
            response,
            warnings: Vec::new(),
        }
    }
}
