//! Statements of all kinds, against a server in memory that forgets, changes and pages.

use super::*;
use crate::testing::{Host, Pair, Service, client, poll, said, text};
use futures_core::Stream;
use helenus_core::connection::Retry;
use helenus_core::message::{
    BatchStatementKind, ChangeType, Prepared as PreparedAnswer, SchemaChange, SchemaTarget,
};
use helenus_core::{
    ColumnSpec, CqlType, ErrorCode, ErrorResponse, Reply, Request, Responder, ResultMetadata,
    ServerEvent,
};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Mutex;
use std::task::{Context, Poll, Wake, Waker};

fn columns(names: &[&str], id: &'static [u8]) -> Arc<ResultMetadata> {
    let column = |name: &&str| ColumnSpec {
        keyspace: "ks".into(),
        table: "t".into(),
        name: (*name).to_owned().into(),
        ty: CqlType::Int,
    };
    let columns = ResultMetadata::new(names.iter().map(column).collect());
    Arc::new(columns.with_id(Bytes::from_static(id)))
}

/// A server's mind: which statements it has, and how many columns the table.
#[derive(Default)]
struct Shop {
    prepared: Vec<String>,
    has_new_column: bool,
    /// What it was sent, in short.
    heard: Vec<String>,
}

impl Shop {
    fn result(&self) -> Arc<ResultMetadata> {
        match self.has_new_column {
            false => columns(&["a"], b"one"),
            true => columns(&["a", "b"], b"two"),
        }
    }

    fn serve(&mut self, request: Request<'_>, responder: Responder<'_>) {
        match request.parse().unwrap() {
            RequestBody::Prepare(prepare) => {
                self.heard.push(format!("prepare {}", prepare.query));
                self.prepared.push(prepare.query.to_owned());
                responder.send(Response::Prepared(Box::new(PreparedAnswer {
                    id: Bytes::copy_from_slice(prepare.query.as_bytes()),
                    variables: columns(&["k"], b""),
                    pk_indexes: vec![0],
                    result: Some(self.result()),
                })));
            }
            RequestBody::Execute(execute) => {
                let text = String::from_utf8(execute.id.to_vec()).unwrap();
                let known = execute.result_metadata_id.unwrap_or_default();
                let skips = execute.params.skip_metadata();
                let id = String::from_utf8(known.to_vec()).unwrap();
                self.heard.push(format!("execute {text} {id} {skips}"));
                if !self.prepared.contains(&text) {
                    return responder.error(unprepared(execute.id));
                }
                let result = self.result();
                let changed = !known.is_empty() && result.id().is_some_and(|id| id != known);
                let columns = result.column_count();
                responder.send(Response::Rows(Rows {
                    metadata: result,
                    paging_state: None,
                    skip_metadata: skips,
                    metadata_changed: changed,
                    row_count: 1,
                    content: Bytes::from([0, 0, 0, 4, 0, 0, 0, 7].repeat(columns)),
                }));
            }
            RequestBody::Batch(batch) => {
                self.heard.push("batch".to_owned());
                for statement in batch.statements {
                    if let BatchStatementKind::Prepared(id) = statement.kind
                        && !self.prepared.iter().any(|text| text.as_bytes() == id)
                    {
                        return responder.error(unprepared(id));
                    }
                }
                responder.send(Response::Void);
            }
            RequestBody::Query(query) => match query.query {
                "heard" => {
                    responder.send(said(&self.heard.drain(..).collect::<Vec<_>>().join("; ")))
                }
                "forget" => {
                    self.prepared.clear();
                    responder.send(Response::Void);
                }
                "alter" => {
                    self.has_new_column = true;
                    responder.send(Response::Void);
                }
                "pages" => {
                    let at = query
                        .params
                        .paging_state
                        .map_or(0, |state| i32::from(state[0]));
                    self.heard
                        .push(format!("page {at} of {:?}", query.params.page_size));
                    responder.send(Response::Rows(Rows {
                        metadata: columns(&["a"], b""),
                        paging_state: (at < 2).then(|| Bytes::from(vec![at as u8 + 1])),
                        skip_metadata: false,
                        metadata_changed: false,
                        row_count: 1,
                        content: Bytes::from([&[0, 0, 0, 4][..], &at.to_be_bytes()].concat()),
                    }));
                }
                "overloaded" => responder.error(ErrorResponse::overloaded("busy")),
                text => match text.strip_prefix("USE ") {
                    Some(keyspace) => responder.send(said(keyspace)),
                    None => responder.error(ErrorResponse::syntax("what?")),
                },
            },
            _ => {}
        }
    }
}

fn unprepared(id: &[u8]) -> ErrorResponse {
    ErrorResponse {
        detail: ErrorDetail::Unprepared {
            id: Bytes::copy_from_slice(id),
        },
        ..ErrorResponse::new(ErrorCode::UNPREPARED, "who?")
    }
}

fn service() -> Service {
    let mut shop = Shop::default();
    Box::new(
        move |request: Request<'_>, responder: Responder<'_>, _: &mut Vec<Reply>| {
            shop.serve(request, responder);
        },
    )
}

fn shop(version: ProtocolVersion) -> (Client, Pair) {
    client(&Host::new(service), |config| {
        config.connection.versions = vec![version];
    })
}

fn heard(client: &Client, pair: &mut Pair) -> String {
    text(pair.finish(client.query("heard", ())))
}

#[test]
fn rows_of_a_prepared_statement_come_without_their_description_in_v5() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let statement = pair.finish(client.prepare("S")).unwrap();
    assert_eq!(statement.variables().column_count(), 1);
    let result = pair.finish(client.execute(&statement, (1,))).unwrap();
    assert!(result.rows().unwrap().skip_metadata);
    let rows: Vec<_> = result.typed::<(i32,)>().unwrap().collect();
    assert_eq!(rows, [Ok((7,))]);
    assert_eq!(heard(&client, &mut pair), "prepare S; execute S one true");
}

#[test]
fn before_v5_rows_bring_their_description() {
    let (client, mut pair) = shop(ProtocolVersion::V4);
    let statement = pair.finish(client.prepare("S")).unwrap();
    pair.finish(client.execute(&statement, (1,))).unwrap();
    assert_eq!(heard(&client, &mut pair), "prepare S; execute S  false");
}

#[test]
fn metadata_that_changed_takes_the_place_of_what_was_known() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let statement = pair.finish(client.prepare("S")).unwrap();
    let clone = statement.clone();
    pair.finish(client.query("alter", ())).unwrap();
    for _ in 0..2 {
        let result = pair.finish(client.execute(&statement, (1,))).unwrap();
        let rows: Vec<_> = result.typed::<(i32, i32)>().unwrap().collect();
        assert_eq!(rows, [Ok((7, 7))]);
    }
    assert_eq!(clone.result().unwrap().column_count(), 2);
    assert_eq!(
        heard(&client, &mut pair),
        "prepare S; execute S one true; execute S two true"
    );
}

#[test]
fn a_forgotten_statement_is_prepared_again_once() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let statement = pair.finish(client.prepare("S")).unwrap();
    pair.finish(client.query("forget", ())).unwrap();
    pair.finish(client.execute(&statement, (1,))).unwrap();
    assert_eq!(
        heard(&client, &mut pair),
        "prepare S; execute S one true; prepare S; execute S one true"
    );
}

#[test]
fn forgotten_statements_of_a_batch_are_prepared_again_each_once() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let first = pair.finish(client.prepare("A")).unwrap();
    let second = pair.finish(client.prepare("B")).unwrap();
    let mut batch = Batch::unlogged();
    batch.execute(&first, (1,)).unwrap();
    batch.execute(&second, (2,)).unwrap();
    batch.execute(&first, (3,)).unwrap();
    batch.query("text", ()).unwrap();
    assert_eq!(batch.len(), 4);
    pair.finish(client.query("forget", ())).unwrap();
    pair.finish(client.batch(&batch)).unwrap();
    assert_eq!(
        heard(&client, &mut pair),
        "prepare A; prepare B; batch; prepare A; batch; prepare B; batch"
    );
}

#[test]
fn a_value_that_does_not_fit_its_variable_is_refused_before_it_is_sent() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let statement = pair.finish(client.prepare("S")).unwrap();
    let refused = pair
        .finish(client.execute(&statement, ("text",)))
        .unwrap_err();
    assert!(matches!(refused, Error::Bind(_)), "{refused}");
    assert_eq!(heard(&client, &mut pair), "prepare S");
}

#[test]
fn an_error_says_whether_the_call_may_be_made_again() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let busy = pair.finish(client.query("overloaded", ())).unwrap_err();
    assert_eq!(busy.may_retry(), Retry::Always);
    let wrong = pair.finish(client.query("nonsense", ())).unwrap_err();
    assert_eq!(wrong.may_retry(), Retry::Never);
}

#[test]
fn pages_are_asked_for_one_ahead_at_most() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let mut pages = client.query_pages("pages", ()).unwrap();
    pair.run();
    assert_eq!(heard(&client, &mut pair), "");
    let number = |page: Option<Result<QueryResult, Error>>| {
        let page = page.unwrap().unwrap();
        page.typed::<(i32,)>().unwrap().next().unwrap().unwrap().0
    };
    assert_eq!(number(pair.finish(pages.next())), 0);
    pair.run();
    pair.run();
    let both = "page 0 of Some(5000); page 1 of Some(5000)";
    assert_eq!(heard(&client, &mut pair), both);
    assert_eq!(number(pair.finish(pages.next())), 1);
    assert_eq!(number(pair.finish(pages.next())), 2);
    assert!(pair.finish(pages.next()).is_none());
    assert!(pair.finish(pages.next()).is_none());
    assert_eq!(heard(&client, &mut pair), "page 2 of Some(5000)");
}

#[test]
fn a_dropped_stream_of_pages_asks_for_no_more() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let mut pages = client.query_pages("pages", ()).unwrap();
    assert!(pair.finish(pages.next()).is_some());
    drop(pages);
    pair.run();
    assert_eq!(heard(&client, &mut pair), "page 0 of Some(5000)");
}

#[test]
fn an_error_ends_a_stream_of_pages() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let mut pages = client.query_pages("nonsense", ()).unwrap();
    assert!(matches!(
        pair.finish(pages.next()),
        Some(Err(Error::Server(_)))
    ));
    assert!(pair.finish(pages.next()).is_none());
}

#[test]
fn the_name_of_a_keyspace_is_quoted() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    pair.finish(client.use_keyspace("My\"Keys")).unwrap();
    let connection = pair.driver().connection();
    assert_eq!(connection.keyspace(), Some("\"My\"\"Keys\""));
}

#[test]
fn events_come_to_who_registered() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let mut events = pair
        .finish(client.events(&[EventType::SchemaChange]))
        .unwrap();
    assert!(poll(events.next()).is_pending());
    let created = ServerEvent::SchemaChange(SchemaChange {
        change: ChangeType::Created,
        target: SchemaTarget::Keyspace {
            keyspace: "ks".into(),
        },
    });
    pair.push(&created);
    assert!(matches!(
        poll(events.next()),
        Poll::Ready(Some(Ok(event))) if event == created
    ));
    assert!(poll(events.next()).is_pending());
    let supported = pair.finish(client.options()).unwrap();
    assert_eq!(supported.get("CQL_VERSION"), ["3.4.7"]);
}

#[test]
fn pages_and_events_are_streams() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let mut pages = client.query_pages("pages", ()).unwrap();
    let mut count = 0;
    while let Some(page) = pair.finish(poll_fn(|cx| Pin::new(&mut pages).poll_next(cx))) {
        assert_eq!(page.unwrap().rows().unwrap().row_count, 1);
        count += 1;
    }
    assert_eq!(count, 3);
    let mut events = pair
        .finish(client.events(&[EventType::StatusChange]))
        .unwrap();
    let mut cx = Context::from_waker(Waker::noop());
    assert!(Pin::new(&mut events).poll_next(&mut cx).is_pending());
}

/// A task that nobody but its waker holds.
struct Task(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

#[test]
fn a_task_that_goes_with_its_waker_may_hold_other_calls() {
    let (client, mut pair) = shop(ProtocolVersion::V5);
    let task = Arc::new(Task(Mutex::new(None)));
    let (waker, other) = (Waker::from(Arc::clone(&task)), client.clone());
    let mut held = Box::pin(async move { drop(other.query("nonsense", ()).await) });
    assert!(poll(held.as_mut()).is_pending());
    *task.0.lock().unwrap() = Some(held);
    drop(task);
    {
        let mut call = pin!(client.query("nonsense", ()));
        let mut cx = Context::from_waker(&waker);
        assert!(call.as_mut().poll(&mut cx).is_pending());
        drop(waker);
    }
    pair.run();
    assert_eq!(heard(&client, &mut pair), "");
}
