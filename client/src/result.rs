//! [`QueryResult`]: the answer to a statement.

use crate::error::Error;
use bytes::Bytes;
use helenus_core::message::{Rows, SchemaChange};
use helenus_core::rows::{FromRow, TypedRows};
use helenus_core::{Extras, Response};
use uuid::Uuid;

/// The answer to a statement, and what came with it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QueryResult {
    /// What the statement returned; never [`Response::Error`].
    pub response: Response,
    /// Tracing id, warnings and custom payload.
    pub extras: Extras,
}

impl QueryResult {
    pub(crate) fn new(response: Response, extras: Extras) -> Result<Self, Error> {
        match response {
            Response::Error(error) => Err(Error::Server(Box::new(error))),
            response => Ok(QueryResult { response, extras }),
        }
    }

    /// The rows, or this page of them; `None` if the statement returns none.
    #[must_use]
    pub fn rows(&self) -> Option<&Rows> {
        match &self.response {
            Response::Rows(rows) => Some(rows),
            _ => None,
        }
    }

    /// The rows.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if the statement returns none.
    pub fn into_rows(self) -> Result<Rows, Error> {
        match self.response {
            Response::Rows(rows) => Ok(rows),
            other => Err(Error::Unexpected(other.opcode())),
        }
    }

    /// The rows read as a Rust type, borrowed and one at a time: `result.typed::<(i32, &str)>()`. The columns are
    /// checked once, here.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if the statement returns no rows, [`Error::Row`] if they can't be read so.
    pub fn typed<'a, T: FromRow<'a>>(&'a self) -> Result<TypedRows<'a, T>, Error> {
        let rows = self.rows().ok_or_else(|| self.unexpected())?;
        Ok(rows.typed()?)
    }

    /// Where the next page begins; `None` on the last one. For
    /// [`StatementOptions::paging_state`](crate::StatementOptions::paging_state).
    #[must_use]
    pub fn paging_state(&self) -> Option<&Bytes> {
        self.rows()?.paging_state.as_ref()
    }

    /// How the statement changed the schema, if it did.
    #[must_use]
    pub fn schema_change(&self) -> Option<&SchemaChange> {
        match &self.response {
            Response::SchemaChange(change) => Some(change),
            _ => None,
        }
    }

    /// The id under which the server traced the statement, if it was asked to.
    #[must_use]
    pub fn tracing_id(&self) -> Option<Uuid> {
        self.extras.tracing_id
    }

    fn unexpected(&self) -> Error {
        Error::Unexpected(self.response.opcode())
    }

    /// What the server warns of.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.extras.warnings
    }
}
