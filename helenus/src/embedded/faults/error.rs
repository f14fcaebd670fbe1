//! The errors that faults answer with, as a Cassandra would whose replicas failed so.

use std::fmt;
use std::net::IpAddr;

use helenus_core::message::{ErrorDetail, ErrorResponse, FailureReasons, WriteType};
use helenus_core::{Consistency, ErrorCode};
use helenus_engine::execution::{Work, WorkKind};

/// What a request that meets a [`Fault`](super::Fault) is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultError {
    /// `timeout`: READ_TIMEOUT or WRITE_TIMEOUT, as the request reads or writes.
    Timeout,
    /// `read_timeout`: READ_TIMEOUT, which conditional writes may meet too.
    ReadTimeout,
    /// `write_timeout`: WRITE_TIMEOUT.
    WriteTimeout,
    /// `failure`: READ_FAILURE or WRITE_FAILURE, as the request reads or writes.
    Failure,
    /// `unavailable`: UNAVAILABLE, with no replica alive.
    Unavailable,
    /// `overloaded`: OVERLOADED.
    Overloaded,
    /// `is_bootstrapping`: IS_BOOTSTRAPPING.
    IsBootstrapping,
    /// `truncate_error`: TRUNCATE_ERROR.
    TruncateError,
    /// `cas_write_unknown`: CAS_WRITE_UNKNOWN; clients older than v5 get a WRITE_TIMEOUT.
    CasWriteUnknown,
    /// `server_error`: SERVER_ERROR.
    ServerError,
}

const NAMES: [(&str, FaultError); 10] = [
    ("timeout", FaultError::Timeout),
    ("read_timeout", FaultError::ReadTimeout),
    ("write_timeout", FaultError::WriteTimeout),
    ("failure", FaultError::Failure),
    ("unavailable", FaultError::Unavailable),
    ("overloaded", FaultError::Overloaded),
    ("is_bootstrapping", FaultError::IsBootstrapping),
    ("truncate_error", FaultError::TruncateError),
    ("cas_write_unknown", FaultError::CasWriteUnknown),
    ("server_error", FaultError::ServerError),
];

/// How many replicas have to answer: there is one node.
const NEEDED: i32 = 1;
/// The code of a replica's failure that has no other.
const UNKNOWN: u16 = 0;
const TIMED_OUT: &str = "Operation timed out - received only 0 responses.";

impl fmt::Display for FaultError {
    /// The name in the text of a fault.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = NAMES.iter().find(|(_, error)| error == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl FaultError {
    pub(super) fn of_name(name: &str) -> Option<Self> {
        let found = NAMES.iter().find(|(known, _)| *known == name)?;
        Some(found.1)
    }

    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// The answer to a request that does this, on the node of that address.
    pub(super) fn answer(self, work: &Work<'_>, node: IpAddr) -> ErrorResponse {
        match (self, &work.kind) {
            (Self::ReadTimeout, _) | (Self::Timeout, WorkKind::Read) => read_timeout(work),
            (Self::WriteTimeout | Self::Timeout, kind) => write_timeout(work, kind),
            (Self::Failure, kind) => failure(work, kind, node),
            (Self::Unavailable, _) => ErrorResponse::unavailable(work.consistency, NEEDED, 0),
            (Self::Overloaded, _) => ErrorResponse::overloaded(
                "Server is currently in an overloaded state and cannot accept more requests.",
            ),
            (Self::IsBootstrapping, _) => ErrorResponse::new(
                ErrorCode::IS_BOOTSTRAPPING,
                "Cannot read from a bootstrapping node",
            ),
            (Self::TruncateError, _) => {
                ErrorResponse::new(ErrorCode::TRUNCATE_ERROR, "Error during truncate")
            }
            (Self::CasWriteUnknown, _) => ErrorResponse {
                code: ErrorCode::CAS_WRITE_UNKNOWN,
                message:
                    "CAS operation result is unknown - proposal accepted by 0 but not a quorum."
                        .into(),
                detail: ErrorDetail::CasWriteUnknown {
                    consistency: work.serial_consistency,
                    received: 0,
                    block_for: NEEDED,
                },
            },
            (Self::ServerError, _) => {
                ErrorResponse::server_error("The server fails here on purpose")
            }
        }
    }
}

fn read_timeout(work: &Work<'_>) -> ErrorResponse {
    let consistency = match (&work.kind, work.serial_consistency) {
        (WorkKind::Read, _) => work.consistency,
        // The rounds of a conditional write read at a quorum.
        (_, Consistency::LOCAL_SERIAL) => Consistency::LOCAL_QUORUM,
        _ => Consistency::QUORUM,
    };
    ErrorResponse {
        code: ErrorCode::READ_TIMEOUT,
        message: TIMED_OUT.into(),
        detail: ErrorDetail::ReadTimeout {
            consistency,
            received: 0,
            block_for: NEEDED,
            data_present: false,
        },
    }
}

/// The kind of a write as errors name it, and the level they repeat.
fn write_of(work: &Work<'_>, kind: &WorkKind) -> (WriteType, Consistency) {
    match kind {
        WorkKind::Write(kind) if *kind == WriteType::CAS => {
            (WriteType::CAS, work.serial_consistency)
        }
        WorkKind::Write(kind) => (kind.clone(), work.consistency),
        _ => (WriteType::SIMPLE, work.consistency),
    }
}

fn write_timeout(work: &Work<'_>, kind: &WorkKind) -> ErrorResponse {
    let (write_type, consistency) = write_of(work, kind);
    let contentions = (write_type == WriteType::CAS).then_some(0);
    ErrorResponse {
        code: ErrorCode::WRITE_TIMEOUT,
        message: TIMED_OUT.into(),
        detail: ErrorDetail::WriteTimeout {
            consistency,
            received: 0,
            block_for: NEEDED,
            write_type,
            contentions,
        },
    }
}

fn failure(work: &Work<'_>, kind: &WorkKind, node: IpAddr) -> ErrorResponse {
    let message = format!(
        "Operation failed - received 0 responses and 1 failures: UNKNOWN from /{node}:7000"
    );
    let reasons = FailureReasons::Map(vec![(node, UNKNOWN)]);
    if *kind == WorkKind::Read {
        return ErrorResponse {
            code: ErrorCode::READ_FAILURE,
            message: message.into(),
            detail: ErrorDetail::ReadFailure {
                consistency: work.consistency,
                received: 0,
                block_for: NEEDED,
                reasons,
                data_present: false,
            },
        };
    }
    let (write_type, consistency) = write_of(work, kind);
    ErrorResponse {
        code: ErrorCode::WRITE_FAILURE,
        message: message.into(),
        detail: ErrorDetail::WriteFailure {
            consistency,
            received: 0,
            block_for: NEEDED,
            reasons,
            write_type,
        },
    }
}
