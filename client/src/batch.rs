//! [`Batch`]: several statements in one request.

use crate::error::Error;
use crate::prepared::Prepared;
use crate::statement::StatementOptions;
use helenus_core::message::{
    BatchStatement, BatchStatementKind, BatchStatementList, BatchType, BindValues, ValueList,
};

/// Several statements that are run in one request.
///
/// ```
/// # fn make() -> Result<(), helenus_client::Error> {
/// let mut batch = helenus_client::Batch::logged();
/// batch.query("INSERT INTO ks.t (a, b) VALUES (1, ?)", ("one",))?;
/// batch.query("DELETE FROM ks.t WHERE a = 2", ())?;
/// # assert_eq!(batch.len(), 2);
/// # Ok(())
/// # }
/// # make().unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct Batch {
    pub(crate) kind: BatchType,
    pub(crate) list: BatchStatementList,
    /// Each prepared statement that is in the list.
    pub(crate) prepared: Vec<Prepared>,
    /// What the statements are run with. Page size and paging state mean nothing here.
    pub options: StatementOptions,
}

impl Batch {
    /// An empty batch whose statements are all applied in the end, or none.
    #[must_use]
    pub fn logged() -> Self {
        Batch::new(BatchType::Logged)
    }

    /// An empty batch whose statements only travel together.
    #[must_use]
    pub fn unlogged() -> Self {
        Batch::new(BatchType::Unlogged)
    }

    /// An empty batch of updates of counters.
    #[must_use]
    pub fn counter() -> Self {
        Batch::new(BatchType::Counter)
    }

    fn new(kind: BatchType) -> Self {
        Batch {
            kind,
            list: BatchStatementList::new(),
            prepared: Vec::new(),
            options: StatementOptions::default(),
        }
    }

    /// The batch, its options changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut StatementOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// Appends a statement given as text.
    ///
    /// # Errors
    /// [`Error::Bind`] if a value can't be bound, [`Error::TooMany`] from the 65,536th statement on.
    pub fn query(&mut self, text: &str, values: impl BindValues) -> Result<&mut Self, Error> {
        let mut list = ValueList::new();
        list.bind(&values, None)?;
        self.push(BatchStatementKind::Query(text), &list)
    }

    /// Appends a prepared statement; its options have no part in a batch.
    ///
    /// # Errors
    /// As [`Batch::query`].
    pub fn execute(
        &mut self,
        statement: &Prepared,
        values: impl BindValues,
    ) -> Result<&mut Self, Error> {
        let known = statement.known();
        let list = known.bind(&values)?;
        if !self.prepared.iter().any(|other| other.id() == known.id) {
            self.prepared.push(statement.clone());
        }
        self.push(BatchStatementKind::Prepared(&known.id), &list)
    }

    fn push(
        &mut self,
        kind: BatchStatementKind<'_>,
        values: &ValueList,
    ) -> Result<&mut Self, Error> {
        let values = values.as_values();
        self.list.push(&BatchStatement { kind, values })?;
        Ok(self)
    }

    /// How many statements it has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.as_statements().len()
    }

    /// Whether it has no statement.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
