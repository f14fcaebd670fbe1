//! Why a request failed, and the ERROR that says so: which fields, which counts and which words, as in Apache Cassandra's
//! exceptions of the same names. Answers to native protocol v5, section 9.

use std::fmt::Write as _;

use helenus_core::codes::ErrorCode;
use helenus_core::message::{ErrorDetail, FailureReasons, WriteType};
use helenus_core::{Consistency, ErrorResponse};
use smallvec::SmallVec;

use crate::node::{DataCentre, NodeId};
use crate::ring::Ring;

/// Why a replica didn't do what it was asked: a code of the protocol's reason map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FailureReason(pub u16);

impl FailureReason {
    /// Nothing more is known: an answer that can't be read, an error that nobody foresaw.
    pub const UNKNOWN: Self = Self(0);
    /// More tombstones than a read may meet.
    pub const READ_TOO_MANY_TOMBSTONES: Self = Self(1);
    /// It took the replica too long.
    pub const TIMEOUT: Self = Self(2);
    /// The replica doesn't know the table as the coordinator does.
    pub const INCOMPATIBLE_SCHEMA: Self = Self(3);
    /// More bytes than a read may take.
    pub const READ_SIZE: Self = Self(4);
    /// The replica couldn't be reached.
    pub const NODE_DOWN: Self = Self(5);
    /// The index isn't built.
    pub const INDEX_NOT_AVAILABLE: Self = Self(6);
    /// More index files than a read may use.
    pub const READ_TOO_MANY_INDEXES: Self = Self(7);

    /// Cassandra's name of it; a code that has none is shown as [`FailureReason::UNKNOWN`].
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::READ_TOO_MANY_TOMBSTONES => "READ_TOO_MANY_TOMBSTONES",
            Self::TIMEOUT => "TIMEOUT",
            Self::INCOMPATIBLE_SCHEMA => "INCOMPATIBLE_SCHEMA",
            Self::READ_SIZE => "READ_SIZE",
            Self::NODE_DOWN => "NODE_DOWN",
            Self::INDEX_NOT_AVAILABLE => "INDEX_NOT_AVAILABLE",
            Self::READ_TOO_MANY_INDEXES => "READ_TOO_MANY_INDEXES",
            _ => "UNKNOWN",
        }
    }
}

/// Who failed, and why: each node once.
pub type FailureReasonMap = SmallVec<[(NodeId, FailureReason); 5]>;

/// Why a request failed. Counts are of replicas.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// Too few replicas are alive: nothing was sent.
    Unavailable {
        /// The level that was asked for.
        level: Consistency,
        /// How many it takes, in the data centre if one is named.
        required: u16,
        /// How many are alive.
        alive: u16,
        /// The data centre that has too few, at EACH_QUORUM.
        data_centre: Option<DataCentre>,
    },
    /// Too few replicas answered a read in time.
    ReadTimeout {
        /// The level that was asked for.
        level: Consistency,
        /// How many answered.
        received: u16,
        /// How many had to.
        required: u16,
        /// Whether one of them answered with data in full.
        data_present: bool,
    },
    /// Too many replicas failed at a read.
    ReadFailure {
        /// The level that was asked for.
        level: Consistency,
        /// How many answered.
        received: u16,
        /// How many had to.
        required: u16,
        /// Whether one of them answered with data in full.
        data_present: bool,
        /// Who failed.
        reasons: FailureReasonMap,
    },
    /// Too few replicas confirmed a write in time. It may be there, or come later.
    WriteTimeout {
        /// The level that was asked for.
        level: Consistency,
        /// How many confirmed.
        received: u16,
        /// How many had to.
        required: u16,
        /// What kind of write.
        write_type: WriteType,
        /// How often a conditional write was pre-empted by another one.
        contentions: Option<u16>,
    },
    /// Too many replicas failed at a write. It may be on the others.
    WriteFailure {
        /// The level that was asked for.
        level: Consistency,
        /// How many confirmed.
        received: u16,
        /// How many had to.
        required: u16,
        /// What kind of write.
        write_type: WriteType,
        /// Who failed.
        reasons: FailureReasonMap,
    },
    /// A conditional write was accepted by some replicas and by no majority: it may be finished later.
    CasWriteUnknown {
        /// The level of the rounds.
        level: Consistency,
        /// How many accepted.
        received: u16,
        /// How many had to.
        required: u16,
    },
    /// Too few nodes of this data centre are alive to keep a batch: nothing was sent.
    BatchLogUnavailable {
        /// How many it takes.
        required: u16,
        /// How many are alive.
        alive: u16,
    },
    /// At ANY, no replica is alive and the hint for this one isn't kept: there are too many.
    Overloaded {
        /// The replica.
        node: NodeId,
    },
    /// A table wasn't truncated everywhere.
    Truncate(TruncateFailure),
}

/// Why a table wasn't truncated everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TruncateFailure {
    /// A node isn't alive: nothing was sent.
    Unavailable,
    /// Not all nodes confirmed in time.
    Timeout {
        /// How many did.
        received: u16,
    },
    /// This node failed.
    Replica(NodeId),
}

impl Failure {
    /// A read that timed out, or failed if anybody did.
    pub(crate) fn of_read(
        level: Consistency,
        (received, required): (u16, u16),
        data_present: bool,
        reasons: FailureReasonMap,
    ) -> Failure {
        if reasons.is_empty() {
            return Failure::ReadTimeout {
                level,
                received,
                required,
                data_present,
            };
        }
        Failure::ReadFailure {
            level,
            received,
            required,
            data_present,
            reasons,
        }
    }

    /// The ERROR for the client, with the nodes' addresses.
    #[must_use]
    pub fn into_response(self, ring: &Ring) -> ErrorResponse {
        let (code, message, detail) = match self {
            Failure::Unavailable {
                level,
                required,
                alive,
                data_centre,
            } => {
                let mut message = format!("Cannot achieve consistency level {level}");
                if let Some(name) = data_centre.and_then(|id| ring.data_centre_name(id)) {
                    let _ = write!(message, " in DC {name}");
                }
                let detail = ErrorDetail::Unavailable {
                    consistency: level,
                    required: required.into(),
                    alive: alive.into(),
                };
                (ErrorCode::UNAVAILABLE, message, detail)
            }
            Failure::ReadTimeout {
                level,
                received,
                required,
                data_present,
            } => {
                let detail = ErrorDetail::ReadTimeout {
                    consistency: level,
                    received: received.into(),
                    block_for: required.into(),
                    data_present,
                };
                (ErrorCode::READ_TIMEOUT, timed_out(received), detail)
            }
            Failure::ReadFailure {
                level,
                received,
                required,
                data_present,
                reasons,
            } => {
                let message = failed(received, &reasons, ring);
                let detail = ErrorDetail::ReadFailure {
                    consistency: level,
                    received: received.into(),
                    block_for: required.into(),
                    reasons: by_address(&reasons, ring),
                    data_present,
                };
                (ErrorCode::READ_FAILURE, message, detail)
            }
            Failure::WriteTimeout {
                level,
                received,
                required,
                write_type,
                contentions,
            } => {
                let message = match contentions {
                    Some(contentions) if write_type == WriteType::CAS => format!(
                        "CAS operation timed out: received {received} of {required} required responses after \
                         {contentions} contention retries"
                    ),
                    _ => timed_out(received),
                };
                let detail = ErrorDetail::WriteTimeout {
                    consistency: level,
                    received: received.into(),
                    block_for: required.into(),
                    write_type,
                    contentions,
                };
                (ErrorCode::WRITE_TIMEOUT, message, detail)
            }
            Failure::WriteFailure {
                level,
                received,
                required,
                write_type,
                reasons,
            } => {
                let message = failed(received, &reasons, ring);
                let detail = ErrorDetail::WriteFailure {
                    consistency: level,
                    received: received.into(),
                    block_for: required.into(),
                    reasons: by_address(&reasons, ring),
                    write_type,
                };
                (ErrorCode::WRITE_FAILURE, message, detail)
            }
            Failure::CasWriteUnknown {
                level,
                received,
                required,
            } => {
                let message = format!(
                    "CAS operation result is unknown - proposal accepted by {received} but not a quorum."
                );
                let detail = ErrorDetail::CasWriteUnknown {
                    consistency: level,
                    received: received.into(),
                    block_for: required.into(),
                };
                (ErrorCode::CAS_WRITE_UNKNOWN, message, detail)
            }
            Failure::BatchLogUnavailable { required, alive } => {
                let level = Consistency::TWO;
                let message = format!(
                    "Cannot achieve consistency level {level} for batchlog in local DC, required:{required}, \
                     available:{alive}"
                );
                let detail = ErrorDetail::Unavailable {
                    consistency: level,
                    required: required.into(),
                    alive: alive.into(),
                };
                (ErrorCode::UNAVAILABLE, message, detail)
            }
            Failure::Overloaded { node } => {
                let message = format!("Too many in flight hints for {}", ring.shown(node));
                return ErrorResponse::overloaded(message);
            }
            Failure::Truncate(failure) => {
                return ErrorResponse::new(ErrorCode::TRUNCATE_ERROR, failure.message(ring));
            }
        };
        ErrorResponse {
            code,
            message: message.into(),
            detail,
        }
    }
}

impl TruncateFailure {
    fn message(self, ring: &Ring) -> String {
        match self {
            TruncateFailure::Unavailable => {
                "Error during truncate: Cannot achieve consistency level ALL".to_owned()
            }
            TruncateFailure::Timeout { received } => format!(
                "Error during truncate: Truncate timed out - received only {received} responses"
            ),
            TruncateFailure::Replica(node) => {
                format!("Truncate failed on replica {}", ring.shown(node))
            }
        }
    }
}

fn timed_out(received: u16) -> String {
    format!("Operation timed out - received only {received} responses.")
}

fn failed(received: u16, reasons: &[(NodeId, FailureReason)], ring: &Ring) -> String {
    let mut message = format!(
        "Operation failed - received {received} responses and {} failures",
        reasons.len()
    );
    for (index, (node, reason)) in reasons.iter().enumerate() {
        let separator = if index == 0 { ": " } else { ", " };
        let _ = write!(
            message,
            "{separator}{} from {}",
            reason.name(),
            ring.shown(*node)
        );
    }
    message
}

fn by_address(reasons: &[(NodeId, FailureReason)], ring: &Ring) -> FailureReasons {
    let known =
        |(node, reason): &(NodeId, FailureReason)| Some((ring.node(*node)?.address.ip(), reason.0));
    FailureReasons::Map(reasons.iter().filter_map(known).collect())
}

#[cfg(test)]
mod tests;
