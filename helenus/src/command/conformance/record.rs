//! New probes: the same programs with the replies that a server gave for those expected. Which fields are compared
//! follows from the kind of the reply, unless the draft says so.

use std::collections::HashMap;
use std::io;

use helenus_core::Opcode;
use helenus_core::wire::Reader;
use serde_json::{Map, Value, json};

use super::play::Traffic;
use super::reply::Reply;
use super::run::Finding;
use crate::command::hex;

/// The probes of `text` with the replies that were received; those that weren't played are left out.
pub(super) fn record(text: &str, findings: &[Finding<'_>]) -> io::Result<String> {
    let by_id: HashMap<&str, &Finding<'_>> = findings
        .iter()
        .map(|finding| (finding.probe.id.as_str(), finding))
        .collect();
    let mut out = String::new();
    for line in text.lines() {
        let mut probe: Map<String, Value> = serde_json::from_str(line)?;
        let finding = probe
            .get("id")
            .and_then(Value::as_str)
            .and_then(|id| by_id.get(id));
        let Some(finding) = finding else { continue };
        fill(&mut probe, finding);
        out.push_str(&Value::Object(probe).to_string());
        out.push('\n');
    }
    Ok(out)
}

fn fill(probe: &mut Map<String, Value>, finding: &Finding<'_>) {
    let replies = |connection: &str| -> Vec<&Reply> {
        let of = finding
            .traffic
            .iter()
            .filter(|(name, _)| name == connection);
        of.filter_map(|(_, traffic)| match traffic {
            Traffic::Received(reply) => Some(reply),
            Traffic::Sent(_) => None,
        })
        .collect()
    };
    let mut next: HashMap<String, std::vec::IntoIter<&Reply>> = HashMap::new();
    let sent = finding
        .traffic
        .iter()
        .filter_map(|(name, traffic)| match traffic {
            Traffic::Sent(bytes) if name == "a" => Some(json!(hex::brief(bytes, 4096))),
            _ => None,
        });
    probe.insert("send".to_owned(), sent.collect());
    probe.insert(
        "reply".to_owned(),
        replies("a").into_iter().map(shown).collect(),
    );
    let steps = probe.get_mut("steps").and_then(Value::as_array_mut);
    for step in steps.into_iter().flatten() {
        let connection = step["conn"].as_str().unwrap_or("a").to_owned();
        let left = next
            .entry(connection.clone())
            .or_insert_with(|| replies(&connection).into_iter());
        if let Some(expected) = step.get_mut("expect")
            && let Some(reply) = left.next()
        {
            *expected = expectation(reply, expected);
        }
        for expected in step
            .get_mut("expect_any_order")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if let Some(reply) = left.next() {
                *expected = expectation(reply, expected);
            }
        }
    }
}

/// The reply with all its bytes, for who reads the file.
fn shown(reply: &Reply) -> Value {
    let mut object = fields(reply);
    object["hex"] = json!(hex::brief(&reply.bytes, 4096));
    object
}

/// The reply as an expectation; what the draft keeps, compares or looks for in a message stays.
fn expectation(reply: &Reply, draft: &Value) -> Value {
    let mut object = fields(reply);
    object["compare"] = compared(reply).into();
    for (name, value) in draft.as_object().into_iter().flatten() {
        object[name.as_str()] = value.clone();
    }
    object
}

fn compared(reply: &Reply) -> Vec<&'static str> {
    let mut names = vec!["framing", "version", "stream", "opcode"];
    let of_kind: &[&str] = match (reply.header.opcode, reply.kind().as_deref()) {
        (Opcode::ERROR, _) => &["code", "extra"],
        (Opcode::SUPPORTED, _) => &["supported_keys"],
        (Opcode::RESULT, Some("Rows")) => &[
            "kind",
            "rows.columns",
            "rows.spec",
            "rows.flags",
            "rows.rest",
        ],
        (Opcode::RESULT, Some("Prepared")) => &["kind", "prepared.rest"],
        (Opcode::RESULT, _) => &["kind", "body"],
        _ => &["body"],
    };
    names.extend(of_kind);
    if reply.field("tracing_id").is_some() {
        names.extend(["has_tracing_id", "flags"]);
    }
    if reply.field("warnings").is_some() {
        names.push("warning_count");
    }
    names
}

fn fields(reply: &Reply) -> Value {
    let hex_of = |name| reply.field(name).map(hex::encode);
    let mut object = json!({
        "framing": reply.framing.name(),
        "version": reply.header.version,
        "flags": reply.header.flags.0,
        "stream": reply.header.stream.0,
        "opcode": reply.header.opcode.to_string(),
    });
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            object[name] = value;
        }
    };
    put("tracing_id", hex_of("tracing_id").map(Value::from));
    put(
        "has_tracing_id",
        reply.field("tracing_id").map(|_| true.into()),
    );
    if let Some(list) = reply.field("warnings")
        && let Ok(warnings) = Reader::new(list).string_list()
    {
        put("warnings", Some(warnings.iter().collect()));
        put("warning_count", Some(warnings.len().into()));
    }
    match (reply.header.opcode, reply.kind().as_deref()) {
        (Opcode::ERROR, _) => {
            put(
                "code",
                reply.code().map(|code| format!("0x{:04X}", code.0).into()),
            );
            put("message", reply.message().map(Value::from));
            put("extra", hex_of("extra").map(Value::from));
        }
        (Opcode::SUPPORTED, _) => {
            let keys = ["PROTOCOL_VERSIONS", "COMPRESSION", "CQL_VERSION"];
            put(
                "supported",
                Some(
                    keys.into_iter()
                        .map(|key| (key.to_owned(), json!([])))
                        .collect::<Map<_, _>>()
                        .into(),
                ),
            );
        }
        (Opcode::RESULT, Some("Rows")) => {
            let rows = json!({
                "flags": reply.int("rows.flags"),
                "columns": reply.int("rows.columns"),
                "spec": hex_of("rows.spec"),
                "rest": hex_of("rows.rest"),
            });
            put("kind", Some("Rows".into()));
            put("rows", Some(rows));
            put("row_count", reply.row_count().map(Value::from));
        }
        (Opcode::RESULT, Some("Prepared")) => {
            put("kind", Some("Prepared".into()));
            put("prepared", Some(json!({ "rest": hex_of("prepared.rest") })));
        }
        (_, kind) => {
            put("kind", kind.map(Value::from));
            put("body", hex_of("body").map(Value::from));
        }
    }
    object
}
