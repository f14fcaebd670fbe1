//! The values of messages in a form for people and programs.

use std::sync::Arc;

use helenus_core::message::{FailureReasons, SchemaChange, SchemaTarget};
use helenus_core::types::Value;
use helenus_core::{ColumnSpec, CqlType, ErrorDetail, RawValue};
use serde_json::{Value as Json, json};

use super::Fields;
use crate::command::hex;

/// Bytes as `0x…`.
pub(super) fn bytes(bytes: &[u8]) -> Json {
    Json::String(format!("0x{}", hex::encode(bytes)))
}

/// A value of a type; what isn't one is shown with the reason.
pub(super) fn typed(ty: &CqlType, value: &[u8]) -> Json {
    match Value::decode(ty, value) {
        Ok(value) => serde_json::to_value(&value).unwrap_or(Json::Null),
        Err(error) => json!({ "bytes": bytes(value), "invalid": format!("as {ty}: {error}") }),
    }
}

/// A cell of a column.
pub(super) fn cell(column: Option<&ColumnSpec<'_>>, value: Option<&[u8]>) -> Json {
    match (column, value) {
        (_, None) => Json::Null,
        (Some(column), Some(value)) => typed(&column.ty, value),
        (None, Some(value)) => bytes(value),
    }
}

/// A bound value.
pub(super) fn bound(column: Option<&ColumnSpec<'_>>, value: RawValue<'_>) -> Json {
    match value {
        RawValue::Unset => json!({ "unset": true }),
        value => cell(column, value.bytes()),
    }
}

/// Columns as `name type`.
pub(super) fn columns(columns: &[ColumnSpec<'_>]) -> Json {
    columns
        .iter()
        .map(|column| format!("{} {}", column.name, column.ty))
        .collect()
}

/// The one table that columns are of.
pub(super) fn table(columns: &[ColumnSpec<'_>]) -> Option<String> {
    let (first, rest) = columns.split_first()?;
    let is_same =
        |column: &ColumnSpec<'_>| column.keyspace == first.keyspace && column.table == first.table;
    rest.iter()
        .all(is_same)
        .then(|| format!("{}.{}", first.keyspace, first.table))
}

/// What was done to the schema.
pub(super) fn schema_change(change: &SchemaChange) -> Fields {
    let mut fields: Fields = vec![(
        "change",
        json!(format!("{:?}", change.change).to_uppercase()),
    )];
    let mut put =
        |target: &str, keyspace: &Arc<str>, name: Option<&Arc<str>>, arguments: &[String]| {
            fields.push(("target", json!(target)));
            fields.push(("keyspace", json!(&**keyspace)));
            if let Some(name) = name {
                fields.push(("name", json!(&**name)));
            }
            if !arguments.is_empty() {
                fields.push(("arguments", json!(arguments)));
            }
        };
    match &change.target {
        SchemaTarget::Keyspace { keyspace } => put("KEYSPACE", keyspace, None, &[]),
        SchemaTarget::Table { keyspace, name } => put("TABLE", keyspace, Some(name), &[]),
        SchemaTarget::Type { keyspace, name } => put("TYPE", keyspace, Some(name), &[]),
        SchemaTarget::Function {
            keyspace,
            name,
            arguments,
        } => {
            put("FUNCTION", keyspace, Some(name), arguments);
        }
        SchemaTarget::Aggregate {
            keyspace,
            name,
            arguments,
        } => {
            put("AGGREGATE", keyspace, Some(name), arguments);
        }
        _ => {}
    }
    fields
}

/// What an error's code adds to its message.
pub(super) fn error_detail(detail: &ErrorDetail) -> Fields {
    match detail {
        ErrorDetail::Unavailable {
            consistency,
            required,
            alive,
        } => vec![
            ("consistency", json!(consistency.to_string())),
            ("required", json!(required)),
            ("alive", json!(alive)),
        ],
        ErrorDetail::WriteTimeout {
            consistency,
            received,
            block_for,
            write_type,
            contentions,
        } => vec![
            ("consistency", json!(consistency.to_string())),
            ("received", json!(received)),
            ("block_for", json!(block_for)),
            ("write_type", json!(write_type.0)),
            ("contentions", json!(contentions)),
        ],
        ErrorDetail::ReadTimeout {
            consistency,
            received,
            block_for,
            data_present,
        } => vec![
            ("consistency", json!(consistency.to_string())),
            ("received", json!(received)),
            ("block_for", json!(block_for)),
            ("data_present", json!(data_present)),
        ],
        ErrorDetail::ReadFailure {
            consistency,
            received,
            block_for,
            reasons: why,
            data_present,
        } => vec![
            ("consistency", json!(consistency.to_string())),
            ("received", json!(received)),
            ("block_for", json!(block_for)),
            ("failures", reasons(why)),
            ("data_present", json!(data_present)),
        ],
        ErrorDetail::WriteFailure {
            consistency,
            received,
            block_for,
            reasons: why,
            write_type,
        } => vec![
            ("consistency", json!(consistency.to_string())),
            ("received", json!(received)),
            ("block_for", json!(block_for)),
            ("failures", reasons(why)),
            ("write_type", json!(write_type.0)),
        ],
        ErrorDetail::CasWriteUnknown {
            consistency,
            received,
            block_for,
        } => vec![
            ("consistency", json!(consistency.to_string())),
            ("received", json!(received)),
            ("block_for", json!(block_for)),
        ],
        ErrorDetail::FunctionFailure {
            keyspace,
            function,
            arguments,
        } => vec![
            ("keyspace", json!(keyspace)),
            ("function", json!(function)),
            ("arguments", json!(arguments)),
        ],
        ErrorDetail::AlreadyExists { keyspace, table } => {
            vec![("keyspace", json!(keyspace)), ("table", json!(table))]
        }
        ErrorDetail::Unprepared { id } => vec![("id", bytes(id))],
        _ => Vec::new(),
    }
}

fn reasons(reasons: &FailureReasons) -> Json {
    match reasons {
        FailureReasons::Count(count) => json!(count),
        FailureReasons::Map(entries) => entries
            .iter()
            .map(|(address, code)| json!([address, code]))
            .collect(),
    }
}
