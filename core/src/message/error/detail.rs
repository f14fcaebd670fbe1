//! What the code of an ERROR adds to its message. Answers to native protocol v5, section 9.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;

use bytes::Bytes;

use crate::codes::Consistency;

/// What kind of write failed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct WriteType(pub Cow<'static, str>);

impl WriteType {
    /// One statement.
    pub const SIMPLE: Self = Self(Cow::Borrowed("SIMPLE"));
    /// A logged batch; its log was written.
    pub const BATCH: Self = Self(Cow::Borrowed("BATCH"));
    /// An unlogged batch.
    pub const UNLOGGED_BATCH: Self = Self(Cow::Borrowed("UNLOGGED_BATCH"));
    /// A counter's update.
    pub const COUNTER: Self = Self(Cow::Borrowed("COUNTER"));
    /// The log of a logged batch.
    pub const BATCH_LOG: Self = Self(Cow::Borrowed("BATCH_LOG"));
    /// A conditional write.
    pub const CAS: Self = Self(Cow::Borrowed("CAS"));
    /// A materialized view's update.
    pub const VIEW: Self = Self(Cow::Borrowed("VIEW"));
    /// Change data.
    pub const CDC: Self = Self(Cow::Borrowed("CDC"));
}

impl fmt::Debug for WriteType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which replicas failed: their number up to v4, each with its reason in v5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureReasons {
    /// How many failed. v5 can't say it: it writes an empty map.
    Count(i32),
    /// Who failed, each with a code. Versions before v5 write how many there are.
    Map(Vec<(IpAddr, u16)>),
}

/// What an error's code adds to its message.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorDetail {
    /// Nothing.
    None,
    /// Of UNAVAILABLE.
    Unavailable {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas it requires.
        required: i32,
        /// How many are alive.
        alive: i32,
    },
    /// Of WRITE_TIMEOUT.
    WriteTimeout {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas confirmed.
        received: i32,
        /// How many had to.
        block_for: i32,
        /// The kind of write.
        write_type: WriteType,
        /// How often a conditional write met another one; written in v5 if the kind is
        /// [`WriteType::CAS`].
        contentions: Option<u16>,
    },
    /// Of READ_TIMEOUT.
    ReadTimeout {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas answered.
        received: i32,
        /// How many had to.
        block_for: i32,
        /// Whether the replica that was asked for data answered.
        data_present: bool,
    },
    /// Of READ_FAILURE; v3 turns it into a READ_TIMEOUT.
    ReadFailure {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas answered.
        received: i32,
        /// How many had to.
        block_for: i32,
        /// Who failed.
        reasons: FailureReasons,
        /// Whether the replica that was asked for data answered.
        data_present: bool,
    },
    /// Of FUNCTION_FAILURE; v3 turns it into an INVALID.
    FunctionFailure {
        /// The function's keyspace.
        keyspace: String,
        /// Its name.
        function: String,
        /// The CQL types of its arguments.
        arguments: Vec<String>,
    },
    /// Of WRITE_FAILURE; v3 turns it into a WRITE_TIMEOUT.
    WriteFailure {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas confirmed.
        received: i32,
        /// How many had to.
        block_for: i32,
        /// Who failed.
        reasons: FailureReasons,
        /// The kind of write.
        write_type: WriteType,
    },
    /// Of CAS_WRITE_UNKNOWN; versions before v5 turn it into a WRITE_TIMEOUT.
    CasWriteUnknown {
        /// The consistency level.
        consistency: Consistency,
        /// How many replicas confirmed.
        received: i32,
        /// How many had to.
        block_for: i32,
    },
    /// Of ALREADY_EXISTS.
    AlreadyExists {
        /// The keyspace that exists, or that the table is in.
        keyspace: String,
        /// The table that exists; empty if it is the keyspace.
        table: String,
    },
    /// Of UNPREPARED.
    Unprepared {
        /// The unknown id.
        id: Bytes,
    },
}
