//! What was found out, as JSON lines: one object a probe, and one for the whole.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::play::{Mismatch, Traffic};
use super::report::Tally;
use super::run::{Finding, Verdict};
use crate::command::hex;

/// Writes a line for each finding and one for all of them.
pub(super) fn report(
    out: &mut impl Write,
    findings: &[Finding<'_>],
    tally: &Tally,
) -> io::Result<()> {
    for finding in findings {
        writeln!(out, "{}", object(finding))?;
    }
    writeln!(out, "{}", json!({ "summary": tally }))
}

fn object(finding: &Finding<'_>) -> Value {
    let probe = finding.probe;
    let mut object = json!({
        "id": probe.id,
        "group": probe.group,
        "version": probe.version,
        "about": probe.about,
        "verdict": name(finding.verdict),
        "milliseconds": finding.took.as_millis() as u64,
    });
    if let Some(quirk) = &probe.quirk {
        object["quirk"] = json!(quirk);
    }
    if let Some(row) = finding.deliberate {
        object["why"] = json!(row.why);
    }
    if let Some(mismatch) = &finding.mismatch {
        object["mismatch"] = explain(mismatch);
        object["traffic"] = finding
            .traffic
            .iter()
            .map(|(connection, traffic)| side(connection, traffic))
            .collect();
    }
    object
}

const fn name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::AsCassandra => "as-cassandra",
        Verdict::SharesQuirk => "as-cassandra-quirk",
        Verdict::Deliberate => "deliberate",
        Verdict::Differs => "differs",
        Verdict::NotPlayed => "not-played",
    }
}

fn explain(mismatch: &Mismatch) -> Value {
    let mut object = json!({
        "step": mismatch.step,
        "expected": mismatch.expected,
        "got": mismatch.got,
    });
    if let Some((reply, differences)) = mismatch.reply.as_deref() {
        object["reply"] = json!(hex::encode(&reply.bytes));
        object["differences"] = json!(differences);
        if let Some(why) = &reply.broken {
            object["broken"] = json!(why);
        }
    }
    object
}

fn side(connection: &str, traffic: &Traffic) -> Value {
    match traffic {
        Traffic::Sent(bytes) => json!({ "connection": connection, "sent": hex::encode(bytes) }),
        Traffic::Received(reply) => json!({
            "connection": connection,
            "received": hex::encode(&reply.bytes),
            "framing": reply.framing.name(),
            "reply": reply.name(),
        }),
    }
}
