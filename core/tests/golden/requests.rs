//! Requests: the bytes decode to the listed fields, and the fields encode to the bytes.

use bytes::{BufMut, BytesMut};
use helenus_core::message::{
    AuthResponse, Batch, BatchStatement, BatchStatementKind, BatchStatementList, BatchType,
    Execute, Prepare, Query, QueryFlags, QueryParams, Register, RequestBody, Startup, ValueList,
};
use helenus_core::wire::{Reader, WireWrite};
use helenus_core::{Direction, Flags, Opcode, RawValue};
use serde_json::Value as Json;

use crate::vectors::{self, Golden, consistency, hex, int, optional_hex, string, strings};

#[test]
fn requests_decode_to_their_fields_and_encode_from_them() {
    let all = vectors::envelopes(Direction::Request);
    assert_eq!(all.len(), 1347);
    for golden in &all {
        check(golden);
    }
}

fn check(golden: &Golden) {
    let fields = &golden.fields;
    let traced = fields["tracing"].as_bool().unwrap_or(false);
    assert_eq!(
        golden.header.flags.contains(Flags::TRACING),
        traced,
        "{}",
        golden.id
    );
    let mut reader = Reader::new(&golden.body);
    let mut out = BytesMut::new();
    if golden.header.flags.contains(Flags::CUSTOM_PAYLOAD) {
        let map = reader.bytes_map().unwrap();
        let mut payload: Vec<_> = map
            .iter()
            .map(|(k, v)| (k.to_owned(), v.map(bytes::Bytes::copy_from_slice)))
            .collect();
        out.put_bytes_map(&payload);
        payload.sort();
        assert_eq!(
            Some(payload),
            vectors::payload(&fields["payload"]),
            "{}",
            golden.id
        );
    }
    let decoded = RequestBody::decode(golden.header.opcode, golden.version, &mut reader).unwrap();
    assert!(reader.is_empty(), "{}", golden.id);
    let mut compare = |built: RequestBody<'_>| {
        assert_eq!(decoded, built, "{}", golden.id);
        assert_eq!(built.opcode(), golden.header.opcode);
        built.encode(golden.version, &mut out);
        assert_eq!(out, golden.body, "{}", golden.id);
    };
    match golden.header.opcode {
        Opcode::OPTIONS => compare(RequestBody::Options),
        Opcode::STARTUP => {
            // JSON keeps no order; the entries are compared sorted and encoded as they stand.
            let RequestBody::Startup(startup) = decoded else {
                panic!("{}", golden.id)
            };
            let mut options: Vec<_> = startup.options.iter().collect();
            let mut bytes = BytesMut::new();
            bytes.put_string_map(&options);
            let options_again = Reader::new(&bytes).string_map().unwrap();
            compare(RequestBody::Startup(Startup {
                options: options_again,
            }));
            options.sort();
            let listed = fields["options"].as_object().unwrap();
            let listed: Vec<_> = listed
                .iter()
                .map(|(k, v)| (k.as_str(), v.as_str().unwrap()))
                .collect();
            assert_eq!(options, listed);
        }
        Opcode::REGISTER => {
            let mut bytes = BytesMut::new();
            bytes.put_string_list(&strings(&fields["events"]));
            compare(RequestBody::Register(Register::new(
                Reader::new(&bytes).string_list().unwrap(),
            )));
        }
        Opcode::AUTH_RESPONSE => {
            let token = optional_hex(&fields["token"]);
            compare(RequestBody::AuthResponse(AuthResponse {
                token: token.as_deref(),
            }));
        }
        Opcode::PREPARE => compare(RequestBody::Prepare(Prepare {
            query: fields["query"].as_str().unwrap(),
            keyspace: fields["keyspace"].as_str(),
        })),
        Opcode::QUERY => with_params(&fields["params"], |params| {
            compare(RequestBody::Query(Query {
                query: fields["query"].as_str().unwrap(),
                params,
            }));
        }),
        Opcode::EXECUTE => with_params(&fields["params"], |params| {
            let id = hex(&fields["id"]);
            let result_metadata_id = optional_hex(&fields["result_metadata_id"]);
            compare(RequestBody::Execute(Execute {
                id: &id,
                result_metadata_id: result_metadata_id.as_deref(),
                params,
            }));
        }),
        Opcode::BATCH => {
            let statements = statements(&fields["statements"]);
            compare(RequestBody::Batch(batch(fields, &statements)));
        }
        other => panic!("{other} is no request"),
    }
}

fn with_params(fields: &Json, use_params: impl FnOnce(QueryParams<'_>)) {
    let mut values = match fields["named_values"].is_array() {
        true => ValueList::named(),
        false => ValueList::new(),
    };
    for entry in fields["named_values"].as_array().into_iter().flatten() {
        push_value(&mut values, entry[0].as_str().unwrap(), &entry[1]);
    }
    for value in fields["values"].as_array().into_iter().flatten() {
        push_value(&mut values, "", value);
    }
    let paging_state = optional_hex(&fields["paging_state"]);
    let params = QueryParams {
        flags: QueryFlags(fields["flags"].as_u64().unwrap() as u32),
        values: values.as_values(),
        page_size: fields.get("page_size").map(int),
        paging_state: paging_state.as_deref(),
        serial_consistency: fields.get("serial_consistency").map(consistency),
        timestamp: fields.get("timestamp").map(|json| json.as_i64().unwrap()),
        keyspace: fields["keyspace"].as_str(),
        now_in_seconds: fields.get("now_in_seconds").map(int),
        ..QueryParams::new(consistency(&fields["consistency"]))
    };
    assert_eq!(
        params.skip_metadata(),
        fields["skip_metadata"].as_bool().unwrap()
    );
    use_params(params);
}

fn push_value(values: &mut ValueList, name: &str, json: &Json) {
    let bytes;
    let value = match json.as_str() {
        None => RawValue::Null,
        Some("unset") => RawValue::Unset,
        Some(_) => {
            bytes = hex(json);
            RawValue::Bytes(&bytes)
        }
    };
    values.push_named(name, value).unwrap();
}

fn statements(json: &Json) -> BatchStatementList {
    let mut list = BatchStatementList::new();
    for statement in json.as_array().unwrap() {
        let mut values = ValueList::new();
        for value in statement["values"].as_array().unwrap() {
            push_value(&mut values, "", value);
        }
        let id;
        let kind = match statement["query"].as_str() {
            Some(query) => BatchStatementKind::Query(query),
            None => {
                id = hex(&statement["id"]);
                BatchStatementKind::Prepared(&id)
            }
        };
        list.push(&BatchStatement {
            kind,
            values: values.as_values(),
        })
        .unwrap();
    }
    list
}

fn batch<'a>(fields: &'a Json, statements: &'a BatchStatementList) -> Batch<'a> {
    Batch {
        kind: match string(&fields["type"]).as_str() {
            "logged" => BatchType::Logged,
            "unlogged" => BatchType::Unlogged,
            "counter" => BatchType::Counter,
            other => panic!("unknown type {other}"),
        },
        statements: statements.as_statements(),
        consistency: consistency(&fields["consistency"]),
        flags: QueryFlags(fields["flags"].as_u64().unwrap() as u32),
        serial_consistency: fields.get("serial_consistency").map(consistency),
        timestamp: fields.get("timestamp").map(|json| json.as_i64().unwrap()),
        keyspace: fields["keyspace"].as_str(),
        now_in_seconds: fields.get("now_in_seconds").map(int),
    }
}

#[test]
fn bytes_behind_a_request_are_ignored() {
    for golden in vectors::envelopes(Direction::Request) {
        if golden.header.flags.contains(Flags::CUSTOM_PAYLOAD) {
            continue;
        }
        let mut longer = BytesMut::from(&golden.body[..]);
        longer.put_slice(&[0xFF; 9]);
        let decode = |bytes| {
            let mut reader = Reader::new(bytes);
            let body = RequestBody::decode(golden.header.opcode, golden.version, &mut reader);
            (body.unwrap(), reader.position())
        };
        assert_eq!(decode(&longer), decode(&golden.body), "{}", golden.id);
    }
}
