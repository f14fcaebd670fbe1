//! What reads may pass over and return: tombstones, and bytes of a page. Answers to Cassandra's `WarningsSnapshot` and to
//! the thresholds of its `SelectStatement`.

use std::fmt;
use std::net::IpAddr;

use helenus_core::message::{ErrorDetail, FailureReasons};
use helenus_core::types::quoted;
use helenus_core::{Consistency, ErrorCode, ErrorResponse};

use super::guard::{Guard, Limit};
use crate::literal;
use crate::readers::{PartitionRange, RingBound};
use crate::schema::Table;
use crate::statement::{BoundKeys, key_part};
use crate::storage::DecoratedKey;

/// The codes of replicas' failures.
const READ_TOO_MANY_TOMBSTONES: (&str, u16) = ("READ_TOO_MANY_TOMBSTONES", 1);
const READ_SIZE: (&str, u16) = ("READ_SIZE", 4);

/// The read of a `SELECT` as Cassandra prints it: its partition, if it has one, but not its rows.
struct Query<'q>(&'q Table, Option<&'q DecoratedKey>);

impl fmt::Display for Query<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(table, key) = self;
        let (keyspace, name) = (quoted(&table.keyspace), quoted(&table.name));
        write!(f, "SELECT * FROM {keyspace}.{name}")?;
        if let Some(key) = key {
            for (position, column) in table.partition_key().iter().enumerate() {
                let value = match table.partition_key_len {
                    1 => &key.key[..],
                    _ => key_part(&key.key, position).unwrap_or_default(),
                };
                let word = if position == 0 { "WHERE" } else { "AND" };
                let (name, value) = (quoted(&column.name), literal::display(&column.ty, value));
                write!(f, " {word} {name} = {value}")?;
            }
        }
        f.write_str(" ALLOW FILTERING")
    }
}

/// Where a read was, behind a word of its own for one partition.
struct Tokens<'q>(Option<&'q DecoratedKey>);

impl fmt::Display for Tokens<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(key) => write!(f, "token={}", key.token.0),
            None => {
                let least = i64::MIN;
                write!(f, "token range: ({least}, {least}]")
            }
        }
    }
}

/// What a client is told of a read that passed over many tombstones; no key is a scan.
pub(crate) fn tombstone_warning(
    table: &Table,
    key: Option<&DecoratedKey>,
    tombstones: u64,
) -> String {
    format!(
        "1 nodes scanned up to {tombstones} tombstones and issued tombstone warnings for query {} (see \
         tombstone_warn_threshold) with {}",
        Query(table, key),
        Tokens(key)
    )
}

/// The failure of a read that passed over too many tombstones, and the warning that goes with it.
pub(crate) fn tombstones_exceeded(
    table: &Table,
    key: Option<&DecoratedKey>,
    tombstones: u64,
    consistency: Consistency,
    node: IpAddr,
) -> (ErrorResponse, String) {
    let message = format!(
        "1 nodes scanned over {tombstones} tombstones and aborted the query {} (see tombstone_failure_threshold)",
        Query(table, key)
    );
    let warning = format!("{message} with {}", Tokens(key));
    let error = failure(&message, READ_TOO_MANY_TOMBSTONES, false, consistency, node);
    (error, warning)
}

fn failure(
    message: &str,
    (reason, code): (&str, u16),
    data_present: bool,
    consistency: Consistency,
    node: IpAddr,
) -> ErrorResponse {
    ErrorResponse {
        code: ErrorCode::READ_FAILURE,
        message: format!("Operation failed - {message}: {reason} from /{node}:7000").into(),
        detail: ErrorDetail::ReadFailure {
            consistency,
            received: 0,
            block_for: 1,
            reasons: FailureReasons::Map(vec![(node, code)]),
            data_present,
        },
    }
}

/// The partitions that a page is of.
struct Partitions<'p>(&'p BoundKeys);

impl fmt::Display for Partitions<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let token = |bound: &RingBound| match bound {
            RingBound::Start | RingBound::End => i64::MIN,
            RingBound::Before(token) | RingBound::After(token) => token.0,
        };
        match self.0 {
            BoundKeys::One(key) | BoundKeys::Range(PartitionRange::Key(key)) => {
                write!(f, "token: {}", key.token.0)
            }
            BoundKeys::Many(keys) => {
                let tokens: Vec<_> = keys.iter().map(|key| key.token.0.to_string()).collect();
                write!(f, "tokens: [{}]", tokens.join(", "))
            }
            BoundKeys::Range(PartitionRange::Tokens { start, end }) => {
                write!(f, "token range: ({}, {})", token(start), token(end))
            }
        }
    }
}

/// Holds the size of a page, in bytes of its values, against its limits.
pub(crate) fn read_size(
    table: &Table,
    keys: &BoundKeys,
    size: u64,
    consistency: Consistency,
    node: IpAddr,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let (kind, bound) = match guard.rules.coordinator_read_size.exceeded_by(size) {
        None => return Ok(()),
        Some(Limit::Warn(bound)) => ("warning", bound),
        Some(Limit::Fail(bound)) => ("failure", bound),
    };
    let message = format!(
        "Read on table {}.{} has exceeded the size {kind} threshold of {} bytes with {}",
        table.keyspace,
        table.name,
        Grouped(bound),
        Partitions(keys)
    );
    guard.warn(message.clone());
    if kind == "warning" {
        return Ok(());
    }
    Err(failure(&message, READ_SIZE, true, consistency, node))
}

/// A number with a comma before every three digits.
struct Grouped(u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (index, digit) in digits.char_indices() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}
