//! [`Prepared`]: a statement that a server has prepared, and what it said about it.

use crate::error::Error;
use crate::statement::StatementOptions;
use bytes::Bytes;
use helenus_core::ResultMetadata;
use helenus_core::message::{BindValues, Prepared as Answer, ValueList};
use std::sync::{Arc, Mutex, PoisonError};

/// A prepared statement and the options it is run with. Clones share what is known of the statement, and
/// each has its own options; it may be run by any client, of another connection or node too.
///
/// What the server says later takes the place of what it said when the statement was prepared: result
/// metadata that changed, and the answer to preparing it again where it had been forgotten.
#[derive(Debug, Clone)]
pub struct Prepared {
    shared: Arc<Statement>,
    /// What it is run with.
    pub options: StatementOptions,
}

#[derive(Debug)]
struct Statement {
    text: String,
    keyspace: Option<String>,
    known: Mutex<Arc<Known>>,
}

/// What a server said about a statement.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) id: Bytes,
    pub(crate) variables: Arc<ResultMetadata>,
    pub(crate) pk_indexes: Vec<u16>,
    pub(crate) result: Option<Arc<ResultMetadata>>,
}

impl Known {
    fn new(answer: Answer) -> Arc<Self> {
        Arc::new(Known {
            id: answer.id,
            variables: answer.variables,
            pk_indexes: answer.pk_indexes,
            result: answer.result,
        })
    }

    /// The values as the statement's variables want them.
    pub(crate) fn bind(&self, values: &impl BindValues) -> Result<ValueList, Error> {
        let mut list = ValueList::new();
        list.bind(values, Some(&self.variables))?;
        Ok(list)
    }
}

impl Prepared {
    pub(crate) fn new(text: &str, options: StatementOptions, answer: Answer) -> Self {
        Prepared {
            shared: Arc::new(Statement {
                text: text.to_owned(),
                keyspace: options.keyspace.clone(),
                known: Mutex::new(Known::new(answer)),
            }),
            options,
        }
    }

    /// The statement, with other options.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut StatementOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// The statement's text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.shared.text
    }

    /// The keyspace it was prepared in, if one was named.
    #[must_use]
    pub fn keyspace(&self) -> Option<&str> {
        self.shared.keyspace.as_deref()
    }

    /// The id the server gave it.
    #[must_use]
    pub fn id(&self) -> Bytes {
        self.known().id.clone()
    }

    /// The variables to bind.
    #[must_use]
    pub fn variables(&self) -> Arc<ResultMetadata> {
        Arc::clone(&self.known().variables)
    }

    /// Which variables make the partition key, in its order; empty if they don't make it whole, and in v3.
    #[must_use]
    pub fn partition_key(&self) -> Vec<u16> {
        self.known().pk_indexes.clone()
    }

    /// The columns of its result, as they were last heard of; `None` if it has none.
    #[must_use]
    pub fn result(&self) -> Option<Arc<ResultMetadata>> {
        self.known().result.clone()
    }

    pub(crate) fn known(&self) -> Arc<Known> {
        Arc::clone(&self.lock())
    }

    /// It was prepared again.
    pub(crate) fn renew(&self, answer: Answer) -> Arc<Known> {
        let known = Known::new(answer);
        *self.lock() = Arc::clone(&known);
        known
    }

    /// The metadata of its result is another one, unless it was prepared again since `known`.
    pub(crate) fn describe(&self, known: &Arc<Known>, result: &Arc<ResultMetadata>) {
        let mut current = self.lock();
        if Arc::ptr_eq(&current, known) {
            *current = Arc::new(Known {
                id: known.id.clone(),
                variables: Arc::clone(&known.variables),
                pk_indexes: known.pk_indexes.clone(),
                result: Some(Arc::clone(result)),
            });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Arc<Known>> {
        let known = &self.shared.known;
        known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
