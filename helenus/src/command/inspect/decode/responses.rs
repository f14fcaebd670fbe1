//! What responses and events say.

use helenus_core::message::{Prepared, Rows};
use helenus_core::{ColumnSpec, DecodeError, Extras, Response, ResultMetadata, ServerEvent};
use serde_json::{Map, Value as Json, json};

use super::{Fields, fields};

/// The fields of a response. Rows without a description are read with the one that the request's statement was prepared
/// with.
///
/// # Errors
/// A cell that is cut, with its offset in the rows.
pub(super) fn describe(
    response: &Response,
    prepared_with: Option<&ResultMetadata>,
    most_rows: usize,
) -> Result<Fields, DecodeError> {
    Ok(match response {
        Response::Authenticate(authenticate) => {
            vec![("authenticator", json!(authenticate.authenticator))]
        }
        Response::Supported(supported) => {
            let options = supported.options.iter();
            let options: Map<String, Json> = options
                .map(|(key, values)| (key.clone(), json!(values)))
                .collect();
            vec![("options", options.into())]
        }
        Response::Void => vec![("kind", json!("Void"))],
        Response::SetKeyspace(keyspace) => {
            vec![
                ("kind", json!("Set_keyspace")),
                ("keyspace", json!(&**keyspace)),
            ]
        }
        Response::Rows(rows) => describe_rows(rows, prepared_with, most_rows)?,
        Response::Prepared(prepared) => describe_prepared(prepared),
        Response::SchemaChange(change) => {
            let mut all: Fields = vec![("kind", json!("Schema_change"))];
            all.extend(fields::schema_change(change));
            all
        }
        // Tokens may hold secrets.
        Response::AuthChallenge(token) | Response::AuthSuccess(token) => {
            vec![("token_bytes", json!(token.as_ref().map(bytes::Bytes::len)))]
        }
        Response::Error(error) => {
            let code = format!("0x{:04X}", error.code.0);
            let name = error
                .code
                .name()
                .map(|name| format!("{code} {name}"))
                .unwrap_or(code);
            let mut all: Fields = vec![("code", json!(name)), ("message", json!(error.message))];
            all.extend(fields::error_detail(&error.detail));
            all
        }
        _ => Vec::new(),
    })
}

/// The fields of an event.
pub(super) fn describe_event(event: &ServerEvent) -> Fields {
    let mut all: Fields = vec![("event", json!(event.event_type().name()))];
    match event {
        ServerEvent::TopologyChange { change, address } => {
            all.push(("change", json!(format!("{change:?}"))));
            all.push(("address", json!(address)));
        }
        ServerEvent::StatusChange { change, address } => {
            all.push(("change", json!(format!("{change:?}"))));
            all.push(("address", json!(address)));
        }
        ServerEvent::SchemaChange(change) => all.extend(fields::schema_change(change)),
        _ => {}
    }
    all
}

/// What stands in front of a response's message.
pub(super) fn describe_extras(extras: &Extras) -> Fields {
    let mut all = Fields::new();
    all.extend(
        extras
            .tracing_id
            .map(|id| ("tracing_id", json!(id.to_string()))),
    );
    if !extras.warnings.is_empty() {
        all.push(("warnings", json!(extras.warnings)));
    }
    if let Some(payload) = &extras.payload {
        let entry = |(key, value): &(String, Option<bytes::Bytes>)| {
            (
                key.clone(),
                value.as_deref().map_or(Json::Null, fields::bytes),
            )
        };
        all.push(("payload", Json::Object(payload.iter().map(entry).collect())));
    }
    all
}

fn describe_rows(
    rows: &Rows,
    prepared_with: Option<&ResultMetadata>,
    most_rows: usize,
) -> Result<Fields, DecodeError> {
    let own = rows.metadata.columns();
    let columns = match prepared_with {
        Some(known) if own.is_empty() && known.column_count() == rows.metadata.column_count() => {
            known.columns()
        }
        _ => own,
    };
    let mut all: Fields = vec![("kind", json!("Rows"))];
    all.extend(fields::table(columns).map(|table| ("table", json!(table))));
    if columns.is_empty() {
        all.push(("column_count", json!(rows.metadata.column_count())));
    } else {
        all.push(("columns", fields::columns(columns)));
    }
    if rows.skip_metadata {
        all.push(("metadata_skipped", json!(true)));
    }
    let state = rows.paging_state.as_deref();
    all.extend(state.map(|state| ("paging_state", fields::bytes(state))));
    if rows.metadata_changed {
        let id = rows
            .metadata
            .id()
            .map_or(Json::Null, |id| fields::bytes(id));
        all.push(("new_metadata_id", id));
    }
    all.push(("row_count", json!(rows.row_count)));
    let mut shown = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let row = row?;
        if index < most_rows {
            shown.push(describe_row(columns, row.cells()));
        }
    }
    all.push(("rows", shown.into()));
    Ok(all)
}

fn describe_row<'a>(
    columns: &[ColumnSpec<'_>],
    cells: impl Iterator<Item = Option<&'a [u8]>>,
) -> Json {
    let mut columns = columns.iter();
    cells
        .map(|cell| fields::cell(columns.next(), cell))
        .collect()
}

fn describe_prepared(prepared: &Prepared) -> Fields {
    let mut all: Fields = vec![
        ("kind", json!("Prepared")),
        ("id", fields::bytes(&prepared.id)),
    ];
    let variables = prepared.variables.columns();
    all.extend(fields::table(variables).map(|table| ("table", json!(table))));
    all.push(("variables", fields::columns(variables)));
    if !prepared.pk_indexes.is_empty() {
        all.push(("pk_indexes", json!(prepared.pk_indexes)));
    }
    if let Some(result) = &prepared.result {
        all.extend(
            result
                .id()
                .map(|id| ("result_metadata_id", fields::bytes(id))),
        );
        all.push(("result", fields::columns(result.columns())));
    }
    all
}
