//! What a real Apache Cassandra 5.0.4 answered, replayed: every probe of the connection's groups that is
//! stable and no quirk. Where a probe needs an engine, what the connection makes of the answer is compared.

use std::path::Path;

use helenus_core::compression::Compression;
use helenus_core::connection::{Request, Responder, ServerConfig};
use helenus_core::message::{ErrorResponse, Extras, Response};
use helenus_core::testing::Cuts;
use helenus_core::{ErrorCode, Opcode};
use serde_json::Value;

use crate::client::{Client, Got, request, segment, unhex};
use crate::server::{Server, Service};

const GROUPS: [&str; 9] = [
    "auth",
    "version",
    "handshake",
    "framing",
    "segment",
    "compression",
    "options",
    "register",
    "limits",
];

fn probes(profile: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/probes.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|probe| {
            probe["profile"] == profile
                && GROUPS.contains(&probe["group"].as_str().unwrap())
                && probe.get("quirk").is_none()
                && probe.get("unstable").is_none()
        })
        .collect()
}

/// Answers as the probe says the engine does, as far as the connection has to do with it.
fn engine(probe: &Value) -> Service {
    let errors: Vec<(i16, u32)> = replies(probe)
        .filter(|reply| reply["opcode"] == "ERROR")
        .map(|reply| (stream(&reply), code(&reply)))
        .collect();
    let is_big = probe["id"].as_str().unwrap().contains("big-reply")
        || probe["id"].as_str().unwrap().contains("large-reply");
    Box::new(move |request: Request<'_>, responder: Responder<'_>| {
        let extras = Extras {
            tracing_id: request.is_traced().then(uuid::Uuid::nil),
            ..Extras::default()
        };
        if let Err(error) = request.parse() {
            return responder.reject(&error);
        }
        let failure = errors
            .iter()
            .find(|(stream, _)| *stream == request.stream().0);
        match failure {
            Some((_, code)) => {
                responder.error(ErrorResponse::new(ErrorCode(*code), "as the engine says"));
            }
            None if is_big => responder.send_with(
                Response::AuthChallenge(Some(vec![7; 300_000].into())),
                &extras,
            ),
            None => responder.send_with(Response::Void, &extras),
        }
    })
}

fn replies(probe: &Value) -> impl Iterator<Item = Value> {
    let steps = probe["steps"].as_array().unwrap();
    let expected: Vec<Value> = steps.iter().flat_map(expected).collect();
    expected.into_iter()
}

fn expected(step: &Value) -> Vec<Value> {
    if let Some(reply) = step.get("expect") {
        return vec![reply.clone()];
    }
    let any = step.get("expect_any_order").and_then(Value::as_array);
    any.cloned().unwrap_or_default()
}

fn stream(reply: &Value) -> i16 {
    i16::try_from(reply["stream"].as_i64().unwrap()).unwrap()
}

fn code(reply: &Value) -> u32 {
    u32::from_str_radix(reply["code"].as_str().unwrap().trim_start_matches("0x"), 16).unwrap()
}

fn render(parts: &Value) -> Vec<u8> {
    let parts = parts.as_array().unwrap().iter();
    parts.flat_map(render_part).collect()
}

fn render_part(part: &Value) -> Vec<u8> {
    if let Some(text) = part.as_str() {
        return unhex(text);
    }
    if let Some(unit) = part.get("repeat") {
        let count = usize::try_from(part["count"].as_u64().unwrap()).unwrap();
        return unhex(unit.as_str().unwrap()).repeat(count);
    }
    if let Some(envelope) = part.get("envelope") {
        let number = |name: &str| envelope[name].as_i64().unwrap_or(0);
        let byte = |name: &str| u8::try_from(number(name)).unwrap();
        let stream = i16::try_from(number("stream")).unwrap();
        let body = render(&envelope["body"]);
        return request(
            byte("version"),
            byte("flags"),
            stream,
            byte("opcode"),
            &body,
        );
    }
    let described = &part["segment"];
    let format = match described["format"].as_str() {
        Some("lz4") => helenus_core::segment::SegmentFormat::Lz4,
        _ => helenus_core::segment::SegmentFormat::Plain,
    };
    let self_contained = described["self_contained"].as_bool().unwrap_or(true);
    segment(format, self_contained, &render(&described["payload"]))
}

/// Whether an envelope is the expected reply.
fn matches(got: &Got, reply: &Value) -> bool {
    let opcode = (0..=u8::MAX)
        .map(Opcode)
        .find(|opcode| opcode.to_string() == reply["opcode"].as_str().unwrap())
        .unwrap();
    let big = got.opcode == Opcode::AUTH_CHALLENGE && opcode == Opcode::RESULT;
    let compares = |name: &str| {
        let names = reply["compare"].as_array().unwrap().iter();
        names.flat_map(Value::as_str).any(|found| found == name)
    };
    got.framing == reply["framing"].as_str().unwrap()
        && u64::from(got.version) == reply["version"].as_u64().unwrap()
        && got.stream == stream(reply)
        && (got.opcode == opcode || big)
        && (opcode != Opcode::ERROR || got.code() == code(reply))
        && (!compares("flags")
            || got.flags & !1 == u8::try_from(reply["flags"].as_u64().unwrap()).unwrap() & !1)
        && (!(compares("body") && matches!(opcode, Opcode::READY | Opcode::AUTH_SUCCESS))
            || got.body == unhex(reply["body"].as_str().unwrap()))
        && message_fits(got, reply)
        && supported_fits(got, reply)
}

fn message_fits(got: &Got, reply: &Value) -> bool {
    let Some(texts) = reply.get("message_contains").and_then(Value::as_array) else {
        return true;
    };
    let mut texts = texts.iter().flat_map(Value::as_str);
    texts.all(|text| got.message().contains(text))
}

fn supported_fits(got: &Got, reply: &Value) -> bool {
    let Some(supported) = reply.get("supported").and_then(Value::as_object) else {
        return true;
    };
    let body = String::from_utf8_lossy(&got.body);
    supported.iter().all(|(key, values)| {
        let mut values = values.as_array().unwrap().iter().flat_map(Value::as_str);
        body.contains(key.as_str()) && values.all(|value| body.contains(value))
    })
}

/// Replays a probe; what was received in each step, and whether the connection was closed.
fn replay(probe: &Value, cuts: Cuts, check: bool) -> (Vec<Got>, bool) {
    let id = probe["id"].as_str().unwrap();
    let mut config = ServerConfig::default();
    if probe["profile"] == "auth" {
        config.authenticator = Some("org.apache.cassandra.auth.PasswordAuthenticator".to_owned());
    }
    let mut server = Server::new(config, engine(probe));
    let compression = probe["compression"]
        .as_str()
        .and_then(Compression::from_name);
    let mut client = Client::new(compression);
    let mut everything = Vec::new();
    let mut waiting: Vec<Got> = Vec::new();
    for step in probe["steps"].as_array().unwrap() {
        if let Some(parts) = step.get("send") {
            let cuts = match step.get("chunk").and_then(Value::as_u64) {
                Some(length) => Cuts::Every(usize::try_from(length).unwrap()),
                None => cuts,
            };
            server.receive(&render(parts), cuts);
        } else if step.get("shutdown_write").is_some() {
            server.connection.handle_eof(server.clock.now());
            server.run();
        }
        let got = client.read(&server.sent());
        everything.extend(got.iter().cloned());
        waiting.extend(got);
        if !check {
            continue;
        }
        for reply in expected(step) {
            let index = match step.get("expect") {
                Some(_) => (!waiting.is_empty()).then_some(0),
                None => waiting.iter().position(|got| matches(got, &reply)),
            };
            let got = index.map(|index| waiting.remove(index));
            assert!(
                got.as_ref().is_some_and(|got| matches(got, &reply)),
                "{id}: expected {reply}\ngot {got:?}, then {waiting:?}"
            );
        }
        if step.get("silence_ms").is_some() {
            assert!(
                waiting.is_empty(),
                "{id}: {waiting:?} where silence was expected"
            );
            assert!(!server.connection.is_finished(), "{id}");
        }
        if step.get("closed").is_some() {
            assert!(waiting.is_empty(), "{id}: {waiting:?} before the close");
            assert!(server.connection.is_finished(), "{id} is to be closed");
        }
    }
    if check {
        assert!(waiting.is_empty(), "{id}: {waiting:?} left over");
    }
    (everything, server.connection.is_finished())
}

fn check(probes: &[Value]) {
    let mut failed = Vec::new();
    for probe in probes {
        let outcome = std::panic::catch_unwind(|| replay(probe, Cuts::Whole, true));
        if outcome.is_err() {
            failed.push(probe["id"].as_str().unwrap());
        }
    }
    assert!(failed.is_empty(), "{} failed: {failed:#?}", failed.len());
}

#[test]
fn every_probe_is_answered_as_cassandra_does() {
    let probes = probes("plain");
    assert!(probes.len() > 400, "{} probes", probes.len());
    check(&probes);
}

#[test]
fn every_probe_with_authentication_is_answered_as_cassandra_does() {
    let probes = probes("auth");
    assert!(probes.len() > 100, "{} probes", probes.len());
    check(&probes);
}

#[test]
fn the_answers_do_not_depend_on_how_the_bytes_were_cut() {
    for probe in probes("plain").iter().chain(&probes("auth")) {
        let whole = replay(probe, Cuts::Whole, false);
        let length: usize = probe["steps"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|step| Some(render(step.get("send")?).len()))
            .sum();
        let random = Cuts::Random {
            seed: length as u64,
            longest: 40 + length / 50,
        };
        assert_eq!(replay(probe, random, false), whole, "{}", probe["id"]);
        if length < 1 << 18 {
            assert_eq!(replay(probe, Cuts::BYTES, false), whole, "{}", probe["id"]);
        }
    }
}
