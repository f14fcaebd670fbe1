//! Responses: the bytes decode to the listed fields, and the fields encode to the bytes.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use helenus_core::message::{
    Authenticate, ChangeType, FailureReasons, Prepared, Rows, RowsHeader, SchemaChange,
    SchemaTarget, StatusChange, Supported, TopologyChange, WriteType,
};
use helenus_core::wire::Reader;
use helenus_core::{
    ColumnSpec, Direction, ErrorCode, ErrorDetail, ErrorResponse, Extras, Opcode, Response,
    ResultMetadata, RowsWriter, ServerEvent,
};
use serde_json::Value as Json;

use crate::types::column_type;
use crate::vectors::{self, Golden, consistency, hex, int, optional_hex, string, strings};

/// Checks that a way to encode a message gives the golden body.
type AssertWhole<'a> = &'a dyn Fn(&dyn Fn(&mut BytesMut), &str);

#[test]
fn responses_decode_to_their_fields_and_encode_from_them() {
    let all = vectors::envelopes(Direction::Response);
    assert_eq!(all.len(), 982);
    for golden in &all {
        check(golden);
    }
}

fn check(golden: &Golden) {
    let (id, version, fields) = (&golden.id, golden.version, &golden.fields);
    let mut reader = Reader::new(&golden.body);
    let mut extras = Extras::decode(golden.header.flags, &mut reader).unwrap();
    let at = reader.position();
    let mut front = BytesMut::new();
    let flags = extras.encode(version, &mut front);
    assert_eq!(flags.0, golden.header.flags.0 & 0x0E, "{id}");
    if let Some(payload) = &mut extras.payload {
        payload.sort();
    }
    let listed = Extras {
        tracing_id: fields["tracing_id"].as_str().map(|id| id.parse().unwrap()),
        warnings: fields.get("warnings").map(strings).unwrap_or_default(),
        payload: vectors::payload(&fields["payload"]),
    };
    assert_eq!(extras, listed, "{id}");

    let assert_whole = |encode: &dyn Fn(&mut BytesMut), how: &str| {
        let mut out = front.clone();
        encode(&mut out);
        assert_eq!(out, golden.body, "{id} {how}");
    };
    if golden.header.opcode == Opcode::EVENT {
        let decoded = ServerEvent::decode(&mut reader, version).unwrap();
        assert_eq!(decoded, event(fields), "{id}");
        return assert_whole(&|out| decoded.encode(version, out), "event");
    }
    let decoded = Response::decode(golden.header.opcode, version, &golden.body, at).unwrap();
    assert_eq!(decoded.opcode(), golden.header.opcode, "{id}");
    assert_whole(&|out| decoded.encode(version, out), "decoded");
    match &decoded {
        Response::Rows(rows) => check_rows(golden, rows, &assert_whole),
        Response::Prepared(prepared) => check_prepared(golden, prepared, &assert_whole),
        Response::Supported(supported) => {
            let mut options = supported.options.clone();
            options.sort();
            let listed = fields["options"].as_object().unwrap();
            let listed: Vec<_> = listed
                .iter()
                .map(|(k, v)| (k.clone(), strings(v)))
                .collect();
            assert_eq!(Supported { options }, Supported { options: listed }, "{id}");
        }
        other => {
            let built = response(golden);
            assert_eq!(*other, built, "{id}");
            assert_whole(&|out| built.encode(version, out), "built");
        }
    }
}

fn response(golden: &Golden) -> Response {
    let fields = &golden.fields;
    match golden.header.opcode {
        Opcode::READY => Response::Ready,
        Opcode::AUTHENTICATE => Response::Authenticate(Authenticate {
            authenticator: string(&fields["authenticator"]),
        }),
        Opcode::AUTH_CHALLENGE => {
            Response::AuthChallenge(optional_hex(&fields["token"]).map(Bytes::from))
        }
        Opcode::AUTH_SUCCESS => {
            Response::AuthSuccess(optional_hex(&fields["token"]).map(Bytes::from))
        }
        Opcode::ERROR => Response::Error(error(fields)),
        Opcode::RESULT => match string(&fields["kind"]).as_str() {
            "void" => Response::Void,
            "set_keyspace" => Response::SetKeyspace(string(&fields["keyspace"]).into()),
            "schema_change" => Response::SchemaChange(schema_change(fields)),
            other => panic!("unknown kind {other}"),
        },
        other => panic!("{other} is no response"),
    }
}

fn columns(json: &Json) -> Vec<ColumnSpec<'static>> {
    let column = |json: &Json| ColumnSpec {
        keyspace: string(&json["keyspace"]).into(),
        table: string(&json["table"]).into(),
        name: string(&json["name"]).into(),
        ty: column_type(&json["type"]),
    };
    json.as_array().unwrap().iter().map(column).collect()
}

/// The metadata of `json`; where it leaves the columns out, of as many columns that only count.
fn metadata(json: &Json, id: &Json) -> ResultMetadata {
    let columns = match json.get("columns") {
        Some(listed) => columns(listed),
        None => (0..json["column_count"].as_u64().unwrap())
            .map(|index| ColumnSpec {
                keyspace: "ks".into(),
                // Columns of one table have a flag that is sent even without their description.
                table: if json["flags"].as_i64().unwrap() & 1 == 0 {
                    format!("t{index}")
                } else {
                    "t".into()
                }
                .into(),
                name: "c".into(),
                ty: helenus_core::CqlType::Int,
            })
            .collect(),
    };
    let metadata = ResultMetadata::new(columns);
    match optional_hex(id) {
        Some(id) => metadata.with_id(id.into()),
        None => metadata,
    }
}

fn check_rows(golden: &Golden, decoded: &Rows, assert_whole: AssertWhole<'_>) {
    let id = &golden.id;
    let json = &golden.fields["metadata"];
    let built = metadata(json, &json["new_metadata_id"]);
    let described = json.get("columns").is_some();
    if described {
        assert_eq!(decoded.metadata.columns(), built.columns(), "{id}");
    }
    assert_eq!(decoded.skip_metadata, !described, "{id}");
    assert_eq!(
        decoded.metadata.column_count() as u64,
        json["column_count"],
        "{id}"
    );
    assert_eq!(decoded.metadata.id(), built.id(), "{id}");
    let paging_state = optional_hex(&json["paging_state"]);
    assert_eq!(
        decoded.paging_state.as_deref(),
        paging_state.as_deref(),
        "{id}"
    );
    let cells: Vec<Vec<Option<Vec<u8>>>> = golden.fields["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(optional_hex).collect())
        .collect();
    let read: Vec<Vec<Option<Vec<u8>>>> = decoded
        .iter()
        .map(|row| {
            row.unwrap()
                .cells()
                .map(|cell| cell.map(<[u8]>::to_vec))
                .collect()
        })
        .collect();
    assert_eq!(read, cells, "{id}");
    let header = RowsHeader {
        paging_state: paging_state.as_deref(),
        skip_metadata: !described,
        metadata_changed: built.id().is_some(),
        ..RowsHeader::new(&built)
    };
    let write = |out: &mut BytesMut| {
        let mut writer = RowsWriter::new(out, &header, golden.version);
        for cell in cells.iter().flatten() {
            writer.cell(cell.as_deref());
        }
        assert_eq!(writer.finish(), Ok(cells.len() as u32), "{id}");
    };
    assert_whole(&write, "written row by row");
}

fn check_prepared(golden: &Golden, decoded: &Prepared, assert_whole: AssertWhole<'_>) {
    let (id, fields) = (&golden.id, &golden.fields);
    let variables = metadata(&fields["variables"], &Json::Null);
    let result = metadata(&fields["result_metadata"], &fields["result_metadata_id"]);
    assert_eq!(decoded.variables.columns(), variables.columns(), "{id}");
    let decoded_result = decoded.result.as_ref().unwrap();
    assert_eq!(decoded_result.columns(), result.columns(), "{id}");
    assert_eq!(decoded_result.id(), result.id(), "{id}");
    let pk_indexes = fields["variables"]["pk_indexes"]
        .as_array()
        .into_iter()
        .flatten();
    let built = Prepared {
        id: hex(&fields["id"]).into(),
        variables: Arc::new(variables),
        pk_indexes: pk_indexes.map(|json| int(json) as u16).collect(),
        result: Some(Arc::new(result)),
    };
    assert_eq!(
        (&decoded.id, &decoded.pk_indexes),
        (&built.id, &built.pk_indexes),
        "{id}"
    );
    let response = Response::Prepared(Box::new(built));
    assert_whole(&|out| response.encode(golden.version, out), "built");
}

fn schema_change(fields: &Json) -> SchemaChange {
    let change = match string(&fields["change"]).as_str() {
        "CREATED" => ChangeType::Created,
        "UPDATED" => ChangeType::Updated,
        "DROPPED" => ChangeType::Dropped,
        other => panic!("unknown change {other}"),
    };
    let keyspace: Arc<str> = string(&fields["keyspace"]).into();
    let name = || string(&fields["name"]).into();
    let arguments = || strings(&fields["arguments"]);
    let target = match string(&fields["target"]).as_str() {
        "KEYSPACE" => SchemaTarget::Keyspace { keyspace },
        "TABLE" => SchemaTarget::Table {
            keyspace,
            name: name(),
        },
        "TYPE" => SchemaTarget::Type {
            keyspace,
            name: name(),
        },
        "FUNCTION" => SchemaTarget::Function {
            keyspace,
            name: name(),
            arguments: arguments(),
        },
        "AGGREGATE" => SchemaTarget::Aggregate {
            keyspace,
            name: name(),
            arguments: arguments(),
        },
        other => panic!("unknown target {other}"),
    };
    SchemaChange { change, target }
}

fn event(fields: &Json) -> ServerEvent {
    if fields["event"] == "SCHEMA_CHANGE" {
        return ServerEvent::SchemaChange(schema_change(fields));
    }
    let ip: IpAddr = string(&fields["address"]).parse().unwrap();
    let address = SocketAddr::new(ip, int(&fields["port"]) as u16);
    match string(&fields["change"]).as_str() {
        "NEW_NODE" => ServerEvent::TopologyChange {
            change: TopologyChange::NewNode,
            address,
        },
        "REMOVED_NODE" => ServerEvent::TopologyChange {
            change: TopologyChange::RemovedNode,
            address,
        },
        "MOVED_NODE" => ServerEvent::TopologyChange {
            change: TopologyChange::MovedNode,
            address,
        },
        "UP" => ServerEvent::StatusChange {
            change: StatusChange::Up,
            address,
        },
        "DOWN" => ServerEvent::StatusChange {
            change: StatusChange::Down,
            address,
        },
        other => panic!("unknown change {other}"),
    }
}

fn error(fields: &Json) -> ErrorResponse {
    let code = ErrorCode(int(&fields["code"]) as u32);
    let consistency = || consistency(&fields["consistency"]);
    let number = |name: &str| int(&fields[name]);
    let write_type = || WriteType(Cow::Owned(string(&fields["write_type"])));
    let reasons = || match fields.get("reasons") {
        Some(reasons) => FailureReasons::Map(
            reasons
                .as_array()
                .unwrap()
                .iter()
                .map(|entry| (string(&entry[0]).parse().unwrap(), int(&entry[1]) as u16))
                .collect(),
        ),
        None => FailureReasons::Count(number("num_failures")),
    };
    let detail = match code {
        ErrorCode::UNAVAILABLE => ErrorDetail::Unavailable {
            consistency: consistency(),
            required: number("required"),
            alive: number("alive"),
        },
        ErrorCode::WRITE_TIMEOUT => ErrorDetail::WriteTimeout {
            consistency: consistency(),
            received: number("received"),
            block_for: number("block_for"),
            write_type: write_type(),
            contentions: fields.get("contentions").map(|json| int(json) as u16),
        },
        ErrorCode::READ_TIMEOUT => ErrorDetail::ReadTimeout {
            consistency: consistency(),
            received: number("received"),
            block_for: number("block_for"),
            data_present: fields["data_present"].as_bool().unwrap(),
        },
        ErrorCode::READ_FAILURE => ErrorDetail::ReadFailure {
            consistency: consistency(),
            received: number("received"),
            block_for: number("block_for"),
            reasons: reasons(),
            data_present: fields["data_present"].as_bool().unwrap(),
        },
        ErrorCode::WRITE_FAILURE => ErrorDetail::WriteFailure {
            consistency: consistency(),
            received: number("received"),
            block_for: number("block_for"),
            reasons: reasons(),
            write_type: write_type(),
        },
        ErrorCode::FUNCTION_FAILURE => ErrorDetail::FunctionFailure {
            keyspace: string(&fields["keyspace"]),
            function: string(&fields["function"]),
            arguments: strings(&fields["arg_types"]),
        },
        ErrorCode::CAS_WRITE_UNKNOWN => ErrorDetail::CasWriteUnknown {
            consistency: consistency(),
            received: number("received"),
            block_for: number("block_for"),
        },
        ErrorCode::ALREADY_EXISTS => ErrorDetail::AlreadyExists {
            keyspace: string(&fields["keyspace"]),
            table: string(&fields["table"]),
        },
        ErrorCode::UNPREPARED => ErrorDetail::Unprepared {
            id: hex(&fields["id"]).into(),
        },
        _ => ErrorDetail::None,
    };
    ErrorResponse {
        code,
        message: string(&fields["message"]).into(),
        detail,
    }
}
