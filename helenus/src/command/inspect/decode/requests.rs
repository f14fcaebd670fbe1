//! What requests say.

use helenus_core::ColumnSpec;
use helenus_core::message::{BatchStatementKind, QueryFlags, QueryParams, RequestBody, Values};
use serde_json::{Map, Value as Json, json};

use super::conversation::Statements;
use super::{Fields, fields};

/// The fields of a request; prepared statements are named by their texts where these are known.
pub(super) fn describe(request: &RequestBody<'_>, statements: &Statements) -> Fields {
    match request {
        RequestBody::Startup(startup) => {
            let options = startup.options.iter();
            let options: Map<String, Json> = options
                .map(|(key, value)| (key.to_owned(), json!(value)))
                .collect();
            vec![("options", options.into())]
        }
        RequestBody::Query(query) => {
            let mut fields: Fields = vec![("query", json!(query.query))];
            params(&query.params, &[], &mut fields);
            fields
        }
        RequestBody::Prepare(prepare) => {
            let mut fields: Fields = vec![("query", json!(prepare.query))];
            fields.extend(
                prepare
                    .keyspace
                    .map(|keyspace| ("keyspace", json!(keyspace))),
            );
            fields
        }
        RequestBody::Execute(execute) => {
            let mut fields: Fields = vec![("id", fields::bytes(execute.id))];
            let prepared = statements.get(execute.id);
            fields.extend(prepared.map(|prepared| ("query", json!(prepared.query))));
            let id = execute.result_metadata_id;
            fields.extend(id.map(|id| ("result_metadata_id", fields::bytes(id))));
            let variables = prepared.map_or(&[][..], |prepared| prepared.variables.columns());
            params(&execute.params, variables, &mut fields);
            fields
        }
        RequestBody::Batch(batch) => {
            let kind = format!("{:?}", batch.kind).to_uppercase();
            let list: Json = batch
                .statements
                .iter()
                .map(|statement| {
                    let (name, what, variables) = match statement.kind {
                        BatchStatementKind::Query(text) => ("query", json!(text), &[][..]),
                        BatchStatementKind::Prepared(id) => match statements.get(id) {
                            Some(known) => {
                                ("prepared", json!(known.query), known.variables.columns())
                            }
                            None => ("id", fields::bytes(id), &[][..]),
                        },
                    };
                    json!({ name: what, "values": values(statement.values, variables) })
                })
                .collect();
            let mut fields: Fields = vec![("type", json!(kind)), ("statements", list)];
            let rest = QueryParams {
                flags: batch.flags.set(QueryFlags::VALUES, false),
                serial_consistency: batch.serial_consistency,
                timestamp: batch.timestamp,
                keyspace: batch.keyspace,
                now_in_seconds: batch.now_in_seconds,
                ..QueryParams::new(batch.consistency)
            };
            params(&rest, &[], &mut fields);
            fields
        }
        RequestBody::Register(register) => {
            vec![("events", register.names().iter().collect())]
        }
        RequestBody::AuthResponse(response) => {
            // A token may be a password.
            let length = response.token.map(<[u8]>::len);
            vec![("token_bytes", json!(length))]
        }
        _ => Vec::new(),
    }
}

/// The statement of a request in a few words, for its answer.
pub(super) fn brief(request: &RequestBody<'_>, statements: &Statements) -> String {
    const LONGEST: usize = 120;
    let text = match request {
        RequestBody::Query(query) => query.query,
        RequestBody::Prepare(prepare) => prepare.query,
        RequestBody::Execute(execute) => statements
            .get(execute.id)
            .map_or("", |prepared| prepared.query.as_str()),
        _ => "",
    };
    let mut brief: String = text.chars().take(LONGEST).collect();
    if brief.len() < text.len() {
        brief.push('…');
    }
    let opcode = request.opcode();
    if brief.is_empty() {
        opcode.to_string()
    } else {
        format!("{opcode} {brief}")
    }
}

fn params(params: &QueryParams<'_>, variables: &[ColumnSpec<'_>], fields: &mut Fields) {
    fields.push(("consistency", json!(params.consistency.to_string())));
    if params.flags.contains(QueryFlags::VALUES) {
        fields.push(("values", values(params.values, variables)));
    }
    if params.skip_metadata() {
        fields.push(("skip_metadata", json!(true)));
    }
    let state = params.paging_state.map(fields::bytes);
    let serial = params
        .serial_consistency
        .map(|serial| json!(serial.to_string()));
    let optional = [
        ("page_size", params.page_size.map(|size| json!(size))),
        ("paging_state", state),
        ("serial_consistency", serial),
        (
            "timestamp",
            params.timestamp.map(|timestamp| json!(timestamp)),
        ),
        ("keyspace", params.keyspace.map(|keyspace| json!(keyspace))),
        (
            "now_in_seconds",
            params.now_in_seconds.map(|now| json!(now)),
        ),
    ];
    fields.extend(
        optional
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?))),
    );
}

/// Values by their names, if they carry names or the variables are known; else in their order.
fn values(values: Values<'_>, variables: &[ColumnSpec<'_>]) -> Json {
    let find = |name: &str| variables.iter().find(|column| &*column.name == name);
    let all = values.iter().enumerate();
    if values.is_named() {
        let entry = |(_, (name, value)): (usize, (Option<&str>, _))| {
            let name = name.unwrap_or_default();
            (name.to_owned(), fields::bound(find(name), value))
        };
        return Json::Object(all.map(entry).collect());
    }
    all.map(|(index, (_, value))| match variables.get(index) {
        Some(column) => json!({ &*column.name: fields::bound(Some(column), value) }),
        None => fields::bound(None, value),
    })
    .collect()
}
