//! `USING TIMESTAMP` and `USING TTL`: when and for how long a modification writes. Answers to Cassandra's `Attributes`.

use helenus_core::ErrorResponse;

use super::cells::Stamp;
use crate::statement::{Modify, ModifyKind};
use crate::term::{Binds, Bound, Term};

/// Seconds of the longest time to live: 20 years.
const MAX_TTL: i32 = 20 * 365 * 24 * 60 * 60;
/// The last second a cell can expire at: Cassandra's limit.
const MAX_EXPIRY: i64 = i32::MAX as i64 - 1;

/// When and for how long a modification writes.
pub(crate) fn stamp(
    plan: &Modify,
    binds: &Binds<'_>,
    timestamp: i64,
    now_seconds: i64,
) -> Result<Stamp, ErrorResponse> {
    let timestamp = match &plan.timestamp {
        Some(term) => explicit_timestamp(term, binds)?.unwrap_or(timestamp),
        None => timestamp,
    };
    let default_ttl = i32::try_from(plan.table.default_ttl).unwrap_or(MAX_TTL);
    let ttl = match &plan.ttl {
        Some(term) => explicit_ttl(term, binds)?.unwrap_or(default_ttl),
        None if plan.kind == ModifyKind::Delete => 0,
        None => default_ttl,
    };
    let expires_at = now_seconds.saturating_add(i64::from(ttl));
    if ttl > 0 && expires_at > MAX_EXPIRY {
        return Err(ErrorResponse::invalid(format!(
            "Request on table {}.{} with {}ttl of {ttl} seconds exceeds maximum supported expiration date of 2038-01-19T03:14:06+00:00. In order to avoid this use a lower TTL, change the expiration date overflow policy or upgrade to a version where this limitation is fixed. See CASSANDRA-14092 and CASSANDRA-14227 for more details.",
            plan.table.keyspace,
            plan.table.name,
            if plan.ttl.is_none() { "default " } else { "" }
        )));
    }
    Ok(Stamp {
        timestamp,
        ttl: u32::try_from(ttl).unwrap_or(0),
        now_seconds,
    })
}

/// The value of `USING TIMESTAMP`; `None` if it is unset.
pub(crate) fn explicit_timestamp(
    term: &Term,
    binds: &Binds<'_>,
) -> Result<Option<i64>, ErrorResponse> {
    match term.bind(binds)? {
        Bound::Unset => Ok(None),
        Bound::Null => Err(ErrorResponse::invalid("Invalid null value of timestamp")),
        bound => match bound
            .as_slice()
            .and_then(|bytes| bytes.try_into().ok())
            .map(i64::from_be_bytes)
        {
            Some(i64::MIN) => Err(ErrorResponse::invalid(
                "Out of bound timestamp, must be in [-9223372036854775807, 9223372036854775807]",
            )),
            Some(timestamp) => Ok(Some(timestamp)),
            None => Err(ErrorResponse::invalid("Invalid timestamp value")),
        },
    }
}

/// The value of `USING TTL`; `None` if it is unset, none if it is null.
fn explicit_ttl(term: &Term, binds: &Binds<'_>) -> Result<Option<i32>, ErrorResponse> {
    let ttl = match term.bind(binds)? {
        Bound::Unset => return Ok(None),
        Bound::Null => return Ok(Some(0)),
        bound => bound
            .as_slice()
            .and_then(|bytes| bytes.try_into().ok())
            .map(i32::from_be_bytes)
            .ok_or_else(|| ErrorResponse::invalid("Invalid timestamp value"))?,
    };
    if ttl < 0 {
        return Err(ErrorResponse::invalid(format!(
            "A TTL must be greater or equal to 0, but was {ttl}"
        )));
    }
    if ttl > MAX_TTL {
        return Err(ErrorResponse::invalid(format!(
            "ttl is too large. requested ({ttl}) maximum ({MAX_TTL})"
        )));
    }
    Ok(Some(ttl))
}
