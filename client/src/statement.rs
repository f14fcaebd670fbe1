//! What a statement is run with, and a statement given as text.

use bytes::Bytes;
use helenus_core::Consistency;
use helenus_core::message::{QueryParams, Values};
use std::time::Duration;

/// A custom payload: names with their bytes. v3 doesn't carry it.
pub type Payload = Vec<(String, Option<Bytes>)>;

/// What a statement is run with.
///
/// ```
/// use helenus_client::StatementOptions;
/// use helenus_core::Consistency;
///
/// let mut options = StatementOptions::default();
/// options.consistency = Consistency::QUORUM;
/// options.tracing = true;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StatementOptions {
    /// The consistency level; LOCAL_ONE by default.
    pub consistency: Consistency,
    /// The consistency of the conditional part of a statement; the server's default if `None`.
    pub serial_consistency: Option<Consistency>,
    /// How many rows an answer has at most. `None` by default: all of them, or, in a stream of
    /// pages, [`Config::page_size`](crate::Config::page_size).
    pub page_size: Option<i32>,
    /// Where to go on: what an earlier answer's [`paging_state`](crate::QueryResult::paging_state) was.
    pub paging_state: Option<Bytes>,
    /// The timestamp of what the statement writes, in microseconds; the server's clock if `None`.
    pub timestamp: Option<i64>,
    /// The keyspace that unqualified names mean; v5 only, refused before it is sent in older versions.
    pub keyspace: Option<String>,
    /// What the statement takes for now, in seconds from 1970; v5 only, refused in older versions.
    pub now_in_seconds: Option<i32>,
    /// Whether the server shall trace the statement; the answer has the
    /// [id of the trace](crate::QueryResult::tracing_id).
    pub tracing: bool,
    /// How long a call may take, from the moment the connection's pump sees it;
    /// that of the [configuration](helenus_core::ClientConfig::request_timeout) if `None`.
    pub timeout: Option<Duration>,
    /// A custom payload for the server; from v4, left out in v3.
    pub payload: Option<Payload>,
}

impl Default for StatementOptions {
    fn default() -> Self {
        StatementOptions {
            consistency: Consistency::LOCAL_ONE,
            serial_consistency: None,
            page_size: None,
            paging_state: None,
            timestamp: None,
            keyspace: None,
            now_in_seconds: None,
            tracing: false,
            timeout: None,
            payload: None,
        }
    }
}

impl StatementOptions {
    /// The parameters of a QUERY or EXECUTE.
    pub(crate) fn params<'a>(&'a self, values: Values<'a>) -> QueryParams<'a> {
        QueryParams {
            values,
            page_size: self.page_size,
            paging_state: self.paging_state.as_deref(),
            serial_consistency: self.serial_consistency,
            timestamp: self.timestamp,
            keyspace: self.keyspace.as_deref(),
            now_in_seconds: self.now_in_seconds,
            ..QueryParams::new(self.consistency)
        }
    }
}

/// A statement given as text, with its options. A plain text is one with the default options.
///
/// ```
/// use helenus_client::Statement;
///
/// let statement = Statement::new("SELECT * FROM ks.t").with(|options| options.page_size = Some(100));
/// # assert_eq!(statement.options.page_size, Some(100));
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Statement<'a> {
    /// The text.
    pub text: &'a str,
    /// What it is run with.
    pub options: StatementOptions,
}

impl<'a> Statement<'a> {
    /// A statement with the default options.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Statement {
            text,
            options: StatementOptions::default(),
        }
    }

    /// The statement, its options changed.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut StatementOptions)) -> Self {
        change(&mut self.options);
        self
    }
}

impl<'a> From<&'a str> for Statement<'a> {
    fn from(text: &'a str) -> Self {
        Statement::new(text)
    }
}

impl<'a> From<&'a String> for Statement<'a> {
    fn from(text: &'a String) -> Self {
        Statement::new(text)
    }
}
