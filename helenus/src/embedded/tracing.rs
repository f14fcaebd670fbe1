//! Traces of requests that ask for one: rows of `system_traces`, which clients read by the id in the answer.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use helenus_core::message::{QueryParams, RequestBody};
use helenus_core::types::Value;
use helenus_core::{Consistency, RawValue};
use helenus_engine::context::Context;
use helenus_engine::schema::Table;
use helenus_engine::statement::Statement;
use helenus_engine::system::writer::PartitionWriter;
use uuid::{NoContext, Timestamp, Uuid};

use super::Node;
use super::cql_literal::cql_literal;

/// How long a trace is kept: a day, as with Cassandra.
const TTL: u32 = 86_400;

/// A request being traced.
#[derive(Debug)]
pub(super) struct Trace {
    /// What the client finds the trace by.
    pub(super) id: Uuid,
    began: Instant,
    context: Context,
    client: IpAddr,
    coordinator: SocketAddr,
    request: &'static str,
    /// Names and values, sorted by name.
    parameters: BTreeMap<String, String>,
}

impl Trace {
    /// Begins to trace a request.
    pub(super) fn begin(
        now: Instant,
        context: Context,
        client: IpAddr,
        coordinator: SocketAddr,
        body: &RequestBody<'_>,
        node: &Node,
    ) -> Self {
        let mut parameters = BTreeMap::new();
        let mut put = |name: &str, value: String| parameters.insert(name.to_owned(), value);
        let request = match body {
            RequestBody::Query(query) => {
                put("query", shown(query.query));
                options(&query.params, &mut put);
                "Execute CQL3 query"
            }
            RequestBody::Prepare(prepare) => {
                put("query", shown(prepare.query));
                "Preparing CQL3 query"
            }
            RequestBody::Execute(execute) => {
                if let Some(statement) = node.statements.get(execute.id) {
                    put("query", shown(&statement.text));
                    bound(&statement, &execute.params, &mut put);
                }
                options(&execute.params, &mut put);
                "Execute CQL3 prepared query"
            }
            RequestBody::Batch(batch) => {
                let serial_consistency = batch.serial_consistency;
                let params = QueryParams {
                    serial_consistency,
                    ..QueryParams::new(batch.consistency)
                };
                options(&params, &mut put);
                "Execute batch of CQL3 queries"
            }
            _ => "Execute CQL3 query",
        };
        Self {
            id: time_uuid(&context, 0),
            began: now,
            context,
            client,
            coordinator,
            request,
            parameters,
        }
    }

    /// Writes the trace of a request that was just answered.
    pub(super) fn finish(self, node: &Node, now: Instant) {
        let schema = node.schema();
        let elapsed = now.saturating_duration_since(self.began);
        if let Some(sessions) = schema.table("system_traces", "sessions") {
            let text = |text: &String| Value::Text(text.clone());
            let parameters = self.parameters.iter();
            let parameters = parameters.map(|(name, value)| (text(name), Some(text(value))));
            let row = [
                ("session_id", Value::Uuid(self.id)),
                ("client", Value::Inet(self.client)),
                ("command", Value::Text("QUERY".to_owned())),
                ("coordinator", Value::Inet(self.coordinator.ip())),
                (
                    "coordinator_port",
                    Value::Int(self.coordinator.port().into()),
                ),
                ("duration", Value::Int(micros(elapsed))),
                ("parameters", Value::Map(parameters.collect())),
                ("request", Value::Text(self.request.to_owned())),
                ("started_at", Value::Timestamp(self.context.now_millis)),
            ];
            let mut writer = self.writer(sessions, &row);
            writer.insert(&row);
            node.strew(&writer.finish(), self.context.now_seconds);
        }
        if let Some(events) = schema.table("system_traces", "events") {
            let mut writer = self.writer(events, &[("session_id", Value::Uuid(self.id))]);
            for (place, activity, at) in [
                (1, self.request, Duration::ZERO),
                (2, "Request complete", elapsed),
            ] {
                writer.insert(&[
                    ("event_id", Value::Timeuuid(time_uuid(&self.context, place))),
                    ("activity", Value::Text(activity.to_owned())),
                    ("source", Value::Inet(self.coordinator.ip())),
                    ("source_port", Value::Int(self.coordinator.port().into())),
                    ("source_elapsed", Value::Int(micros(at))),
                    ("thread", Value::Text("coordinator".to_owned())),
                ]);
            }
            node.strew(&writer.finish(), self.context.now_seconds);
        }
    }

    fn writer(&self, table: &Arc<Table>, key: &[(&str, Value)]) -> PartitionWriter {
        PartitionWriter::new(table, self.context.timestamp, key)
            .expire(TTL, self.context.now_seconds.saturating_add(TTL.into()))
    }
}

/// A statement as traces show it, which everybody may read: without the password of a role.
fn shown(query: &str) -> String {
    let lower = query.to_ascii_lowercase();
    let words = lower.trim_start();
    let is_of_role = words.starts_with("create") || words.starts_with("alter");
    match lower.find("password").filter(|_| is_of_role) {
        Some(at) => format!("{}password *******", query.get(..at).unwrap_or_default()),
        None => query.to_owned(),
    }
}

/// What a request says of how it is to be run.
fn options(params: &QueryParams<'_>, put: &mut impl FnMut(&str, String) -> Option<String>) {
    let serial = params.serial_consistency.unwrap_or(Consistency::SERIAL);
    put("consistency_level", params.consistency.to_string());
    put("serial_consistency_level", serial.to_string());
    if let Some(page_size) = params.page_size.filter(|size| *size > 0) {
        put("page_size", page_size.to_string());
    }
}

/// The values that are bound, by number and name of their variables.
fn bound(
    statement: &Statement,
    params: &QueryParams<'_>,
    put: &mut impl FnMut(&str, String) -> Option<String>,
) {
    let values: Vec<_> = params.values.iter().collect();
    let named: HashMap<_, _> = values
        .iter()
        .copied()
        .filter_map(|(name, value)| Some((name?, value)))
        .collect();
    for (index, variable) in statement.variables.columns().iter().enumerate() {
        let value = match params.values.is_named() {
            true => named.get(&*variable.name).copied(),
            false => values.get(index).map(|(_, value)| *value),
        };
        let literal = cql_literal(&variable.ty, value.and_then(RawValue::bytes));
        put(&format!("bound_var_{index}_{}", variable.name), literal);
    }
}

/// A time UUID of the context's moment, `place` ticks of 100 ns later. The context's timestamp is its alone, so the UUID is too.
fn time_uuid(context: &Context, place: u32) -> Uuid {
    let micros = context.timestamp.rem_euclid(1_000_000) as u32;
    let seconds = u64::try_from(context.timestamp.div_euclid(1_000_000)).unwrap_or_default();
    let time = Timestamp::from_unix(NoContext, seconds, micros * 1_000 + place * 100);
    let [a, b, c, d, e, f, ..] = context.random;
    // The multicast bit says that the node isn't a network card's address (RFC 9562, section 6.10).
    Uuid::new_v1(time, &[a | 1, b, c, d, e, f])
}

fn micros(elapsed: Duration) -> i32 {
    i32::try_from(elapsed.as_micros()).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_shows_no_password() {
        for (query, trace) in [
            (
                "CREATE ROLE r WITH PASSWORD = 'secret' AND LOGIN = true",
                "CREATE ROLE r WITH password *******",
            ),
            (
                " alter user u with hashed password '$2a$'",
                " alter user u with hashed password *******",
            ),
            (
                "SELECT password FROM ks.users",
                "SELECT password FROM ks.users",
            ),
        ] {
            assert_eq!(shown(query), trace);
        }
    }
}
