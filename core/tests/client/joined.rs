//! Both ends joined, in every version and compression and however bytes are cut: they agree, and the
//! client is told the same.

use std::time::{Duration, Instant};

use bytes::Bytes;
use helenus_core::compression::Compression;
use helenus_core::connection::ServerConfig;
use helenus_core::message::{Query, QueryParams, RowsHeader, StatusChange, ValueList};
use helenus_core::testing::{Cuts, Desk, Link, Pair, PairEvent, Path};
use helenus_core::{
    CallOptions, ClientConfig, ClientError, ColumnSpec, Consistency, CqlType, ErrorResponse,
    Extras, ProtocolVersion, RawValue, Request, RequestBody, Responder, Response, ResultMetadata,
    ServerEvent,
};

/// Answers with what the first value says: rows of so many bytes, an error, or nothing.
pub(crate) fn service(request: Request<'_>, responder: Responder<'_>, _: &mut Desk) {
    let extras = Extras {
        tracing_id: request.is_traced().then(|| uuid::Uuid::from_u128(7)),
        warnings: vec!["careful".to_owned()],
        payload: None,
    };
    let Ok(RequestBody::Query(query)) = request.parse() else {
        return responder.send(Response::Ready);
    };
    let value = query
        .params
        .values
        .iter()
        .next()
        .and_then(|(_, value)| value.bytes());
    match value {
        Some(b"error") => responder.error(ErrorResponse::invalid("no")),
        Some(bytes) => {
            let column = ColumnSpec {
                keyspace: "ks".into(),
                table: "t".into(),
                name: "v".into(),
                ty: CqlType::Blob,
            };
            let metadata = ResultMetadata::new(vec![column]);
            let extras = request.is_traced().then_some(&extras);
            responder.rows_with(&RowsHeader::new(&metadata), extras, |rows| {
                rows.cell(Some(bytes));
                Ok(())
            });
        }
        None => responder.send(Response::SetKeyspace("ks".into())),
    }
}

/// Bytes that no compression makes shorter.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    std::iter::repeat_with(next).take(length).collect()
}

pub(crate) fn config(version: ProtocolVersion, compression: Option<Compression>) -> ClientConfig {
    let mut config = ClientConfig::default();
    config.versions = vec![version];
    config.compressions = compression.into_iter().collect();
    config
}

fn link(cuts: Cuts) -> Link {
    let path = Path::default().with_cuts(cuts);
    Link {
        to_server: path.clone(),
        to_client: path,
    }
}

/// A whole conversation, whose values aren't longer than this; what the client was told.
fn conversation(config: ClientConfig, longest: usize, cuts: Cuts) -> Vec<PairEvent> {
    let mut pair =
        Pair::new(config, ServerConfig::default(), Instant::now(), service).over(link(cuts));
    pair.run();
    let values = [
        b"error".to_vec(),
        Vec::new(),
        vec![7; 100],
        vec![7; 3000],
        noise(3000),
        vec![7; 200_000],
        noise(200_000),
    ];
    for value in values.iter().filter(|value| value.len() <= longest) {
        let mut list = ValueList::new();
        list.push(RawValue::Bytes(value)).unwrap();
        let params = QueryParams {
            values: list.as_values(),
            ..QueryParams::new(Consistency::ONE)
        };
        let query = RequestBody::Query(Query {
            query: "SELECT v",
            params,
        });
        pair.send(&query, &CallOptions::default()).unwrap();
        pair.send(&query, &CallOptions::default().with_tracing())
            .unwrap();
    }
    let params = QueryParams::new(Consistency::ONE);
    let last = RequestBody::Query(Query {
        query: "USE ks",
        params,
    });
    pair.send(&last, &CallOptions::default()).unwrap();
    let mut names = bytes::BytesMut::new();
    helenus_core::wire::WireWrite::put_string_list(&mut names, &["STATUS_CHANGE"]);
    let names = helenus_core::wire::Reader::new(&names)
        .string_list()
        .unwrap();
    let register = RequestBody::Register(helenus_core::message::Register::new(names));
    pair.send(&register, &CallOptions::default()).unwrap();
    pair.run();
    pair.server().push(&ServerEvent::StatusChange {
        change: StatusChange::Down,
        address: "[::1]:9042".parse().unwrap(),
    });
    pair.run();
    assert_eq!(pair.client().keyspace(), Some("ks"));
    assert_eq!(pair.client().in_flight(), 0);
    assert_eq!(pair.server_error(), None);
    pair.client().close();
    pair.run();
    assert!(pair.client().is_finished() && pair.server().is_finished());
    pair.events()
}

#[test]
fn whatever_is_agreed_and_however_it_is_cut_the_client_is_told_the_same() {
    let mut matrix = vec![
        (ProtocolVersion::V5, None),
        (ProtocolVersion::V5, Some(Compression::Lz4)),
    ];
    for version in [ProtocolVersion::V3, ProtocolVersion::V4] {
        let compressions = [None, Some(Compression::Lz4), Some(Compression::Snappy)];
        matrix.extend(compressions.map(|compression| (version, compression)));
    }
    for (version, compression) in matrix {
        let told = |longest, cuts| {
            let events = conversation(config(version, compression), longest, cuts);
            let strip = |event| match event {
                // How a body travels may hang on what else is sent with it, its content may not.
                PairEvent::Answer(call, answer) => (call.stream().0, Some(answer.body), None),
                other => (0, None, Some(other)),
            };
            events.into_iter().map(strip).collect::<Vec<_>>()
        };
        let short = told(3000, Cuts::Whole);
        assert_eq!(told(3000, Cuts::BYTES), short, "{version} {compression:?}");
        let whole = told(200_000, Cuts::Whole);
        assert_eq!(whole.len(), 1 + 14 + 2 + 1, "{version} {compression:?}");
        let sizes: Vec<_> = whole
            .iter()
            .filter_map(|(_, body, _)| Some(body.as_ref()?.len()))
            .collect();
        assert!(sizes.iter().filter(|size| **size > 200_000).count() == 4);
        for cuts in [
            Cuts::Every(1460),
            Cuts::Every(4096),
            Cuts::Random {
                seed: 5,
                longest: 3000,
            },
        ] {
            assert_eq!(
                told(200_000, cuts),
                whole,
                "{version} {compression:?} {cuts:?}"
            );
        }
    }
}

#[test]
fn requests_of_every_kind_are_read_as_they_were_written() {
    use helenus_core::message::{
        Batch, BatchStatement, BatchStatementKind, BatchStatementList, BatchType, Execute, Prepare,
    };
    for version in ProtocolVersion::ALL {
        let mut values = ValueList::named();
        values.push_named("a", RawValue::Bytes(b"1")).unwrap();
        values.push_named("b", RawValue::Null).unwrap();
        let params = QueryParams {
            values: values.as_values(),
            page_size: Some(100),
            paging_state: Some(b"state"),
            serial_consistency: Some(Consistency::LOCAL_SERIAL),
            timestamp: Some(-5),
            ..QueryParams::new(Consistency::QUORUM)
        };
        let statement = BatchStatement {
            kind: BatchStatementKind::Query("INSERT"),
            values: helenus_core::message::Values::EMPTY,
        };
        let mut statements = BatchStatementList::new();
        statements.push(&statement).unwrap();
        let execute = Execute {
            id: b"id",
            result_metadata_id: Some(b"rid"),
            params,
        };
        let batch = Batch {
            kind: BatchType::Unlogged,
            statements: statements.as_statements(),
            consistency: Consistency::ONE,
            flags: Default::default(),
            serial_consistency: None,
            timestamp: Some(9),
            keyspace: None,
            now_in_seconds: None,
        };
        let requests = [
            RequestBody::Query(Query {
                query: "SELECT",
                params,
            }),
            RequestBody::Execute(execute),
            RequestBody::Prepare(Prepare {
                query: "SELECT ?",
                keyspace: None,
            }),
            RequestBody::Batch(batch),
        ];
        let expected: Vec<String> = requests
            .iter()
            .map(|request| described(request, version))
            .collect();
        let seen = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let log = seen.clone();
        let service = move |request: Request<'_>, responder: Responder<'_>, _: &mut Desk| {
            log.borrow_mut()
                .push(described(&request.parse().unwrap(), version));
            responder.send(Response::Void);
        };
        let mut pair = Pair::new(
            config(version, None),
            ServerConfig::default(),
            Instant::now(),
            service,
        );
        pair.run();
        for request in &requests {
            pair.send(request, &CallOptions::default()).unwrap();
        }
        pair.run();
        assert_eq!(*seen.borrow(), expected);
    }
}

/// What a request says, without the flags that encoding sets.
fn described(request: &RequestBody<'_>, version: ProtocolVersion) -> String {
    let params = |params: &QueryParams<'_>| {
        let values: Vec<_> = params.values.iter().collect();
        format!(
            "{:?} {values:?} {:?} {:?} {:?} {:?}",
            params.consistency,
            params.page_size,
            params.paging_state,
            params.serial_consistency,
            params.timestamp
        )
    };
    match request {
        RequestBody::Query(query) => format!("{} {}", query.query, params(&query.params)),
        RequestBody::Execute(execute) => {
            let id = execute
                .result_metadata_id
                .filter(|_| version >= ProtocolVersion::V5);
            format!("{:?} {id:?} {}", execute.id, params(&execute.params))
        }
        RequestBody::Batch(batch) => {
            let statements: Vec<_> = batch.statements.iter().map(|one| one.kind).collect();
            format!(
                "{:?} {statements:?} {:?} {:?}",
                batch.kind, batch.consistency, batch.timestamp
            )
        }
        other => format!("{other:?}"),
    }
}

#[test]
fn authentication_may_take_several_rounds() {
    struct Rounds(u8);
    impl helenus_core::testing::PairService for Rounds {
        fn call(&mut self, _: Request<'_>, responder: Responder<'_>, _: &mut Desk) {
            responder.send(Response::Void);
        }
        fn authenticate(
            &mut self,
            token: helenus_core::connection::AuthToken<'_>,
            responder: Responder<'_>,
        ) {
            assert_eq!(token.bytes(), Some(&[self.0][..]));
            self.0 += 1;
            match self.0 {
                3 => responder.accept(Some(Bytes::from_static(b"welcome"))),
                _ => responder.challenge(Some(vec![self.0].into())),
            }
        }
    }
    for version in ProtocolVersion::ALL {
        let mut server = ServerConfig::default();
        server.authenticator = Some("Rounds".to_owned());
        let start = Instant::now();
        let mut pair =
            Pair::new(config(version, None), server, start, Rounds(0)).over(link(Cuts::BYTES));
        for round in 0..3 {
            pair.run();
            assert!(matches!(pair.events()[..], [PairEvent::Challenge(_)]));
            pair.client().authenticate(Some(&[round])).unwrap();
        }
        pair.run();
        assert_eq!(pair.events(), [PairEvent::Ready]);
        assert_eq!(pair.client().final_token().unwrap(), &b"welcome"[..]);
    }
}

#[test]
fn a_slow_network_costs_time_and_nothing_else() {
    let path = Path::default()
        .with_latency(Duration::from_secs(3))
        .with_cuts(Cuts::Every(100));
    let link = Link {
        to_server: path.clone(),
        to_client: path,
    };
    let start = Instant::now();
    let mut pair = Pair::new(
        ClientConfig::default(),
        ServerConfig::default(),
        start,
        service,
    )
    .over(link);
    pair.advance(Duration::from_secs(11));
    assert_eq!(
        pair.events(),
        [PairEvent::Closed(ClientError::HandshakeTimeout)]
    );
}
