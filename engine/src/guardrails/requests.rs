//! The guardrails of statements that read and write. Answers to the `validate` and `execute` of Cassandra's statements.

use helenus_core::message::{ErrorDetail, FailureReasons, WriteType};
use helenus_core::{Consistency, ErrorCode, ErrorResponse};

use super::guard::{Guard, Limit, Lists};
use super::{ConsistencyLevels, Guardrails};
use crate::schema::{Schema, is_local_system};
use crate::statement::{Change, KeyPlan, Modify, Select};

/// Checks a `SELECT` before its values are looked at.
pub(crate) fn check_select(
    select: &Select,
    consistency: Consistency,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let rules = guard.rules;
    if select.allow_filtering
        && !rules.allow_filtering_enabled
        && !is_local_system(&select.table.keyspace)
    {
        return Err(guard.refuse(
            "allow_filtering",
            "Querying with ALLOW FILTERING is not allowed. ALLOW FILTERING can potentially visit all the data in the \
             table and have unpredictable performance.",
        ));
    }
    if select.group_by.is_some() {
        guard.enabled(rules.group_by_enabled, "group_by", "GROUP BY functionality")?;
    }
    check_levels(
        &[consistency],
        &rules.read_consistency_levels,
        ("read_consistency_levels", "read consistency levels"),
        guard,
    )?;
    let is_everywhere = !matches!(select.restrictions.keys, KeyPlan::Points(_));
    if select.restrictions.uses_index && is_everywhere {
        guard.enabled_or(
            rules.non_partition_restricted_index_query_enabled,
            "non_partition_restricted_index_query_enabled",
            "Non-partition key restricted query is not allowed. Executing a query on secondary indexes without \
             partition key restriction might degrade performance",
        )?;
    }
    Ok(())
}

fn check_levels(
    provided: &[Consistency],
    levels: &ConsistencyLevels,
    names: (&str, &str),
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let lists = Lists {
        disallowed: &levels.disallowed,
        ignored: &[],
        warned: &levels.warned,
    };
    if lists.are_empty() {
        return Ok(());
    }
    guard.values(names, provided, &lists)
}

/// Checks the levels of a request that writes.
pub(crate) fn check_write_levels(
    consistency: Consistency,
    serial: Option<Consistency>,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let rules: &Guardrails = guard.rules;
    check_levels(
        &[consistency, serial.unwrap_or(Consistency::SERIAL)],
        &rules.write_consistency_levels,
        ("write_consistency_levels", "write consistency levels"),
        guard,
    )
}

/// Checks a timestamp that a statement of its own says; Cassandra doesn't look at those of batches. `now` is in
/// microseconds.
pub(crate) fn check_timestamp(
    table: &str,
    timestamp: i64,
    now: i64,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    // Cassandra's clock for this has milliseconds.
    let now = now - now.rem_euclid(1000);
    let away = |distance: i64| u64::try_from(distance).unwrap_or(0);
    let (ahead, behind) = (
        away(timestamp.saturating_sub(now)),
        away(now.saturating_sub(timestamp)),
    );
    let bound = |limit: Limit, direction: i64| {
        let (Limit::Warn(distance) | Limit::Fail(distance)) = limit;
        let distance = i64::try_from(distance).unwrap_or(i64::MAX);
        let bound = now.saturating_add(distance.saturating_mul(direction));
        match limit {
            Limit::Warn(_) => format!("warning threshold {bound}"),
            Limit::Fail(_) => format!("failure threshold {bound}"),
        }
    };
    let exceeded = guard.rules.maximum_timestamp.exceeded_by(ahead);
    guard.limit("maximum_timestamp", exceeded, |limit| {
        format!(
            "The modification to table {table} has a timestamp {timestamp} after the maximum allowable {}. Timestamps \
             too far in the future can lead to data that can't be easily overwritten",
            bound(limit, 1)
        )
    })?;
    let exceeded = guard.rules.minimum_timestamp.exceeded_by(behind);
    guard.limit("minimum_timestamp", exceeded, |limit| {
        format!(
            "The modification to table {table} has a timestamp {timestamp} before the minimum allowable {}. Timestamps \
             too far in the past can cause writes can be unexpectedly lost",
            bound(limit, -1)
        )
    })
}

/// Checks a modification, whose levels are checked apart.
pub(crate) fn check_modification(
    modify: &Modify,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let rules = guard.rules;
    if modify.timestamp.is_some() {
        guard.enabled(
            rules.user_timestamps_enabled,
            "user_timestamps",
            "User provided timestamps (USING TIMESTAMP)",
        )?;
    }
    if modify.reads && !rules.read_before_write_list_operations_enabled {
        let what = modify.operations.iter().find_map(|operation| {
            Some(match operation.change {
                Change::SetIndex(..) => "Setting of list items by index",
                Change::DeleteIndex(_) => "Removal of list items by index",
                Change::Discard(_) if operation.reads() => "Removal of list items",
                _ => return None,
            })
        });
        if let Some(what) = what {
            return Err(guard.refuse(
                "read_before_write_list_operations",
                format_args!("{what} requiring read before write is not allowed"),
            ));
        }
    }
    Ok(())
}

/// Refuses a write to a table whose changes can't be logged.
pub(crate) fn check_change_log(
    schema: &Schema,
    modify: &Modify,
    consistency: Consistency,
    write_type: WriteType,
    guard: &Guard<'_>,
) -> Result<(), ErrorResponse> {
    if !guard.rules.refuses_cdc() || !modify.table.options.cdc {
        return Ok(());
    }
    let address = schema.node.address;
    Err(ErrorResponse {
        code: ErrorCode::WRITE_FAILURE,
        message: format!(
            "Operation failed - received 0 responses and 1 failures: UNKNOWN from /{address}:7000"
        )
        .into(),
        detail: ErrorDetail::WriteFailure {
            consistency,
            received: 0,
            block_for: 1,
            reasons: FailureReasons::Map(vec![(address, UNKNOWN)]),
            write_type,
        },
    })
}

/// A replica failed for a reason without a code of its own.
const UNKNOWN: u16 = 0;

/// Which part of the primary key `IN` relations are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The partition key.
    Partition,
    /// The clustering columns.
    Clustering,
}

/// Checks how many places the `IN` relations of a statement name.
pub(crate) fn check_places(
    part: Part,
    combinations: usize,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let part = match part {
        Part::Partition => "partition key",
        Part::Clustering => "clustering key",
    };
    let threshold = guard.rules.in_select_cartesian_product;
    let exceeded = threshold.exceeded_by(combinations as u64);
    guard.limit("in_select_cartesian_product", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "The cartesian product of the IN restrictions on {part} produces {combinations} values, this exceeds \
             warning threshold of {bound}."
        ),
        Limit::Fail(bound) => format!(
            "Aborting query because the cartesian product of the IN restrictions on {part} produces {combinations} \
             values, this exceeds fail threshold of {bound}."
        ),
    })
}

/// Checks how many partitions the `IN` of a `SELECT` names.
pub(crate) fn check_partitions(
    table: &str,
    partitions: usize,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let exceeded = guard
        .rules
        .partition_keys_in_select
        .exceeded_by(partitions as u64);
    guard.limit("partition_keys_in_select", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "Query with partition keys in IN clause on table {table}, with number of partition keys {partitions} \
             exceeds warning threshold of {bound}."
        ),
        Limit::Fail(bound) => format!(
            "Aborting query with partition keys in IN clause on table {table}, number of partition keys {partitions} \
             exceeds fail threshold of {bound}."
        ),
    })
}

/// Checks the page size of a `SELECT` that is paged.
pub(crate) fn check_page_size(
    table: &str,
    size: u32,
    guard: &mut Guard<'_>,
) -> Result<(), ErrorResponse> {
    let exceeded = guard.rules.page_size.exceeded_by(size.into());
    guard.limit("page_size", exceeded, |limit| match limit {
        Limit::Warn(bound) => format!(
            "Query for table {table} with page size {size} exceeds warning threshold of {bound}."
        ),
        Limit::Fail(bound) => format!(
            "Aborting query for table {table}, page size {size} exceeds fail threshold of {bound}."
        ),
    })
}

/// Refuses `USE` where it is off.
pub(crate) fn check_use(guard: &Guard<'_>) -> Result<(), ErrorResponse> {
    if guard.rules.use_statements_enabled {
        return Ok(());
    }
    Err(ErrorResponse::invalid(
        "USE statements prohibited. (see use_statements_enabled in cassandra.yaml)",
    ))
}

/// Refuses `TRUNCATE` where it is off.
pub(crate) fn check_truncate(guard: &mut Guard<'_>) -> Result<(), ErrorResponse> {
    let enabled = guard.rules.drop_truncate_table_enabled;
    guard.enabled(
        enabled,
        "drop_truncate_table_enabled",
        "DROP and TRUNCATE TABLE functionality",
    )
}
