//! Building mutations from a planned modification and its values. Answers to Cassandra's `UpdateParameters` and the
//! `execute` of its operations.

use std::collections::BTreeMap;

use bytes::Bytes;
use helenus_core::ErrorResponse;
use helenus_core::types::CqlType;

use super::cells::{RowBuilder, Stamp};
use crate::schema::ColumnId;
use crate::statement::{
    BoundKeys, BoundRows, Change, Modify, ModifyKind, Operation, check_combinations,
};
use crate::storage::{
    Cell, CellPath, ClusteringKey, ColumnData, DecoratedKey, DeletionTime, Mutation,
    RangeTombstone, Row,
};
use crate::term::{Binds, Bound, Elements, Pairs, Term};
use crate::types::compare;

/// Seconds of the longest time to live: 20 years.
const MAX_TTL: i32 = 20 * 365 * 24 * 60 * 60;
/// The last second a cell can expire at: Cassandra's limit.
const MAX_EXPIRY: i64 = i32::MAX as i64 - 1;

/// Rows as a read before a write found them, by partition and place; no clustering key is the static row.
pub(crate) type FoundRows = BTreeMap<(DecoratedKey, Option<ClusteringKey>), Row>;

/// A modification's places: partitions, and rows in each.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The partitions.
    pub(crate) keys: Vec<DecoratedKey>,
    /// The rows.
    pub(crate) rows: BoundRows,
}

/// Where a modification applies under these bindings.
pub(crate) fn places(plan: &Modify, binds: &Binds<'_>) -> Result<Places, ErrorResponse> {
    let keys = match plan.keys.bind(&plan.table, binds)? {
        BoundKeys::One(key) => vec![key],
        BoundKeys::Many(keys) => keys,
        BoundKeys::Range(_) => Vec::new(),
    };
    let rows = if plan.only_static {
        BoundRows::All
    } else {
        plan.clustering.bind(&plan.table, binds)?
    };
    let rows_each = match &rows {
        BoundRows::All | BoundRows::One(_) => 1,
        BoundRows::Keys(keys) => keys.len(),
        BoundRows::Ranges(ranges) => ranges.len(),
    };
    check_combinations(keys.len(), rows_each)?;
    Ok(Places { keys, rows })
}

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

/// The mutations of a modification, one a partition. `found` has the rows that [`Modify::reads`] asks for.
pub(crate) fn mutations(
    plan: &Modify,
    places: &Places,
    stamp: Stamp,
    binds: &Binds<'_>,
    found: &FoundRows,
    out: &mut Vec<Mutation>,
) -> Result<(), ErrorResponse> {
    for key in &places.keys {
        let mut mutation = Mutation {
            table: plan.table.clone(),
            key: key.clone(),
            partition_deletion: None,
            static_row: None,
            rows: Vec::new(),
            range_tombstones: Vec::new(),
        };
        if plan.kind == ModifyKind::Delete && plan.operations.is_empty() {
            delete_rows(&places.rows, stamp, &mut mutation);
            out.push(mutation);
            continue;
        }
        if plan.operations.iter().any(|operation| operation.is_static) {
            let existing = find(found, key, None);
            let row = build(plan, true, stamp, binds, existing)?;
            if row != Row::default() {
                mutation.static_row = Some(row);
            }
        }
        if !plan.only_static {
            match &places.rows {
                BoundRows::One(clustering) => {
                    let row = build(
                        plan,
                        false,
                        stamp,
                        binds,
                        find(found, key, Some(clustering)),
                    )?;
                    push_row(&mut mutation, clustering, row);
                }
                BoundRows::Keys(keys) => {
                    for clustering in keys {
                        let row = build(
                            plan,
                            false,
                            stamp,
                            binds,
                            find(found, key, Some(clustering)),
                        )?;
                        push_row(&mut mutation, clustering, row);
                    }
                }
                BoundRows::All | BoundRows::Ranges(_) => {}
            }
        }
        if mutation.static_row.is_some() || !mutation.rows.is_empty() {
            out.push(mutation);
        }
    }
    Ok(())
}

fn push_row(mutation: &mut Mutation, clustering: &ClusteringKey, row: Row) {
    if row != Row::default() {
        mutation.rows.push((clustering.clone(), row));
    }
}

fn find<'f>(
    found: &'f FoundRows,
    key: &DecoratedKey,
    clustering: Option<&ClusteringKey>,
) -> Option<&'f Row> {
    if found.is_empty() {
        return None;
    }
    found.get(&(key.clone(), clustering.cloned()))
}

fn delete_rows(rows: &BoundRows, stamp: Stamp, mutation: &mut Mutation) {
    let deletion = stamp.deletion();
    let row = |clustering: &ClusteringKey| {
        let row = Row {
            deletion: Some(deletion),
            ..Row::default()
        };
        (clustering.clone(), row)
    };
    match rows {
        BoundRows::All => mutation.partition_deletion = Some(deletion),
        // A table without clustering columns has one row a partition, which goes with it.
        BoundRows::One(clustering) if clustering.sort.is_empty() => {
            mutation.partition_deletion = Some(deletion)
        }
        BoundRows::One(clustering) => mutation.rows.push(row(clustering)),
        BoundRows::Keys(keys) => mutation.rows.extend(keys.iter().map(row)),
        BoundRows::Ranges(ranges) => {
            let tombstone = |(start, end): &(_, _)| RangeTombstone {
                start: Clone::clone(start),
                end: Clone::clone(end),
                deletion,
            };
            mutation
                .range_tombstones
                .extend(ranges.iter().map(tombstone));
        }
    }
}

fn build(
    plan: &Modify,
    is_static: bool,
    stamp: Stamp,
    binds: &Binds<'_>,
    existing: Option<&Row>,
) -> Result<Row, ErrorResponse> {
    let mut builder = RowBuilder::new(stamp, plan.operations.len());
    if plan.kind == ModifyKind::Insert && !is_static {
        builder.make_live();
    }
    for operation in plan
        .operations
        .iter()
        .filter(|operation| operation.is_static == is_static)
    {
        apply(&mut builder, operation, binds, existing)?;
    }
    Ok(builder.finish())
}

fn apply(
    builder: &mut RowBuilder,
    operation: &Operation,
    binds: &Binds<'_>,
    existing: Option<&Row>,
) -> Result<(), ErrorResponse> {
    let (id, ty) = (operation.column, &operation.ty);
    match &operation.change {
        Change::Set(term) => match (term.bind(binds)?, ty) {
            (Bound::Unset, _) => {}
            (bound, CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) | CqlType::Udt(_)) => {
                builder.overwrite(id);
                if let Some(value) = bound.into_bytes() {
                    put_elements(builder, id, ty, &value, binds, false)?;
                }
            }
            (bound, _) => builder.set(id, bound.into_bytes()),
        },
        Change::Append(term) => {
            if let Some(value) = term.bind(binds)?.into_bytes() {
                put_elements(builder, id, ty, &value, binds, false)?;
            }
        }
        Change::Prepend(term) => {
            if let Some(value) = term.bind(binds)?.into_bytes() {
                put_elements(builder, id, ty, &value, binds, true)?;
            }
        }
        Change::Discard(term) => {
            if let Some(value) = term.bind(binds)?.into_bytes() {
                discard(builder, id, ty, &value, existing);
            }
        }
        Change::SetEntry(key, value) => {
            let CqlType::Map(types) = ty else {
                return Ok(());
            };
            let key = required(key.bind(binds)?, "map key")?;
            match value.bind(binds)? {
                Bound::Unset => {}
                bound => builder.set_element(id, path(&types.0, key), bound.into_bytes()),
            }
        }
        Change::SetIndex(index, value) => {
            let index = list_index(index, binds)?;
            match value.bind(binds)? {
                Bound::Unset => {}
                bound => {
                    let path = nth(
                        existing,
                        id,
                        index,
                        "Attempted to set an element on a list which is null",
                    )?;
                    builder.set_element(id, path, bound.into_bytes());
                }
            }
        }
        Change::SetField(field, value) => match value.bind(binds)? {
            Bound::Unset => {}
            bound => builder.set_element(id, field_path(*field), bound.into_bytes()),
        },
        Change::Delete => match ty {
            CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) | CqlType::Udt(_) => {
                builder.delete_complex(id)
            }
            _ => builder.set(id, None),
        },
        Change::DeleteEntry(key) => {
            let (key_type, what) = match ty {
                CqlType::Map(types) => (&types.0, "map key"),
                CqlType::Set(element) => (&**element, "set value"),
                _ => return Ok(()),
            };
            let key = required(key.bind(binds)?, what)?;
            builder.set_element(id, path(key_type, key), None);
        }
        Change::DeleteIndex(index) => {
            let index = list_index(index, binds)?;
            let path = nth(
                existing,
                id,
                index,
                "Attempted to delete an element from a list which is null",
            )?;
            builder.set_element(id, path, None);
        }
        Change::DeleteField(field) => builder.set_element(id, field_path(*field), None),
        Change::Increment(term) => count(builder, id, term, binds, Some)?,
        Change::Decrement(term) => count(builder, id, term, binds, i64::checked_neg)?,
    }
    Ok(())
}

/// Writes the elements of a serialized collection or user type; those of a list get paths that sort behind or, for
/// `prepend`, before all that are there.
fn put_elements(
    builder: &mut RowBuilder,
    id: ColumnId,
    ty: &CqlType,
    value: &Bytes,
    binds: &Binds<'_>,
    prepend: bool,
) -> Result<(), ErrorResponse> {
    match ty {
        CqlType::List(_) => {
            for element in Elements::new(value) {
                let element = element.ok_or_else(null_element)?;
                let path = super::cells::list_path(binds, prepend);
                builder.set_element(id, path, Some(value.slice_ref(element)));
            }
        }
        CqlType::Set(element_type) => {
            for element in Elements::new(value) {
                let element = value.slice_ref(element.ok_or_else(null_element)?);
                builder.set_element(id, path(element_type, element), Some(Bytes::new()));
            }
        }
        CqlType::Map(types) => {
            for (key, item) in Pairs::new(value) {
                let item = item.ok_or_else(null_element)?;
                builder.set_element(
                    id,
                    path(&types.0, value.slice_ref(key)),
                    Some(value.slice_ref(item)),
                );
            }
        }
        CqlType::Udt(_) => {
            for (field, part) in crate::term::Fields::new(value).enumerate() {
                if let Some(part) = part {
                    builder.set_element(id, field_path(field), Some(value.slice_ref(part)));
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn null_element() -> ErrorResponse {
    ErrorResponse::invalid("null is not supported inside collections")
}

fn discard(
    builder: &mut RowBuilder,
    id: ColumnId,
    ty: &CqlType,
    value: &Bytes,
    existing: Option<&Row>,
) {
    let elements = || Elements::new(value).flatten();
    match ty {
        CqlType::Set(key_type) => {
            elements().for_each(|key| {
                builder.set_element(id, path(key_type, value.slice_ref(key)), None)
            });
        }
        CqlType::Map(types) => {
            elements().for_each(|key| {
                builder.set_element(id, path(&types.0, value.slice_ref(key)), None)
            });
        }
        CqlType::List(element) => {
            for (path, cell) in list_cells(existing, id) {
                let gone = cell.value.as_ref().is_some_and(|held| {
                    elements().any(|wanted| compare(element, held, wanted).is_eq())
                });
                if gone {
                    builder.set_element(id, path.clone(), None);
                }
            }
        }
        _ => {}
    }
}

fn list_cells(existing: Option<&Row>, id: ColumnId) -> &[(CellPath, Cell)] {
    let data = existing.and_then(|row| row.columns.iter().find(|(column, _)| *column == id));
    match data {
        Some((_, ColumnData::Complex { cells, .. })) => cells,
        _ => &[],
    }
}

fn nth(
    existing: Option<&Row>,
    id: ColumnId,
    index: i32,
    missing: &'static str,
) -> Result<CellPath, ErrorResponse> {
    let cells = list_cells(existing, id);
    if cells.is_empty() {
        return Err(ErrorResponse::invalid(missing));
    }
    usize::try_from(index)
        .ok()
        .and_then(|index| cells.get(index))
        .map(|(path, _)| path.clone())
        .ok_or_else(|| {
            ErrorResponse::invalid(format!(
                "List index {index} out of bound, list has size {}",
                cells.len()
            ))
        })
}

fn list_index(term: &Term, binds: &Binds<'_>) -> Result<i32, ErrorResponse> {
    let bytes = required(term.bind(binds)?, "value for list index")?;
    <[u8; 4]>::try_from(&bytes[..])
        .map(i32::from_be_bytes)
        .map_err(|_| ErrorResponse::invalid("Invalid null value for list index"))
}

fn required(bound: Bound<'_>, what: &str) -> Result<Bytes, ErrorResponse> {
    let kind = if bound.is_unset() { "unset" } else { "null" };
    bound
        .into_bytes()
        .ok_or_else(|| ErrorResponse::invalid(format!("Invalid {kind} {what}")))
}

fn count(
    builder: &mut RowBuilder,
    id: ColumnId,
    term: &Term,
    binds: &Binds<'_>,
    change: impl Fn(i64) -> Option<i64>,
) -> Result<(), ErrorResponse> {
    let delta = match term.bind(binds)? {
        Bound::Unset => return Ok(()),
        bound => bound
            .as_slice()
            .and_then(|bytes| bytes.try_into().ok())
            .map(i64::from_be_bytes)
            .ok_or_else(|| {
                ErrorResponse::invalid("Invalid null value for counter increment/decrement")
            })?,
    };
    let delta = change(delta).ok_or_else(|| {
        ErrorResponse::invalid(format!(
            "The negation of {delta} overflows supported counter precision (signed 8 bytes integer)"
        ))
    })?;
    builder.set(id, Some(Bytes::copy_from_slice(&delta.to_be_bytes())));
    Ok(())
}

fn path(ty: &CqlType, value: Bytes) -> CellPath {
    let mut sort = Vec::with_capacity(value.len() + 4);
    crate::types::comparable::encode(ty, &value, false, &mut sort);
    CellPath {
        sort: sort.into(),
        value,
    }
}

fn field_path(field: usize) -> CellPath {
    let bytes = Bytes::copy_from_slice(&i16::try_from(field).unwrap_or(i16::MAX).to_be_bytes());
    CellPath {
        sort: bytes.clone(),
        value: bytes,
    }
}

/// Everything of a partition as of this moment.
pub(crate) fn deletion(timestamp: i64, now_seconds: i64) -> DeletionTime {
    DeletionTime {
        timestamp,
        local_seconds: now_seconds,
    }
}
