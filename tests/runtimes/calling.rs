//! Calls of the library's clients: in whatever order they are answered, given up, refused or lost.

use crate::answering::eventually;
use crate::library::{Connected, all, connect, connect_with, try_connect, wait};
use crate::server::{Running, Runtime, created};
use helenus_client::{Client, Config, Error, Lost, QueryResult, Statement};
use helenus_core::connection::{CallError, ClientError, Retry};
use helenus_core::message::EventType;
use helenus_core::{ProtocolVersion, Response};
use helenus_server::Options;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

/// What the canned service says.
pub(crate) fn text(outcome: Result<QueryResult, Error>) -> String {
    match outcome.unwrap().response {
        Response::SetKeyspace(text) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

async fn ask(client: &Client, query: &str) -> String {
    text(client.query(query, ()).await)
}

/// Makes a call and gives it up before its answer is there.
fn give_up(server: &Running, client: &Client, query: &str) {
    let before = server.service.calls.load(Ordering::SeqCst);
    let mut call = pin!(client.query(query, ()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(call.as_mut().poll(&mut cx).is_pending());
    eventually(|| (server.service.calls.load(Ordering::SeqCst) > before).then_some(()));
}

pub(crate) fn calls_of_many_threads_share_a_connection(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let client = connect(runtime, server.address);
    thread::scope(|scope| {
        for thread in 0..4 {
            let client = &client;
            scope.spawn(move || {
                for round in 0..50 {
                    let verb = if round % 2 == 0 { "echo" } else { "defer" };
                    let queries: Vec<String> = (0..4)
                        .map(|n| format!("{verb} {thread}-{round}-{n}"))
                        .collect();
                    let answers = wait(all(queries.iter().map(|query| ask(client, query))));
                    for (query, answer) in queries.iter().zip(answers) {
                        assert!(query.ends_with(&answer), "{query}: {answer}");
                    }
                }
            });
        }
    });
    assert_eq!(server.totals().connections_opened, 1);
}

pub(crate) fn answers_may_come_out_of_order(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let client = connect(runtime, server.address);
    let kept = async { text(client.query("keep", ()).await) };
    let meanwhile = async {
        for _ in 0..10 {
            assert_eq!(ask(&client, "echo meanwhile").await, "meanwhile");
        }
        server.service.release();
        String::new()
    };
    let both: [std::pin::Pin<Box<dyn Future<Output = String>>>; 2] =
        [Box::pin(kept), Box::pin(meanwhile)];
    assert_eq!(wait(all(both)), ["released", ""]);
}

pub(crate) fn a_dropped_call_keeps_its_stream_until_the_late_answer(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    // One stream is all there is.
    let client = connect_with(runtime, server.address, |config| {
        config.connection.limits.max_in_flight = 1;
    });
    give_up(&server, &client, "keep");
    let mut next = pin!(client.query("echo next", ()));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(next.as_mut().poll(&mut cx).is_pending());
    thread::sleep(Duration::from_millis(50));
    assert!(next.as_mut().poll(&mut cx).is_pending());
    server.service.release();
    // Not the late answer, which would say that it is released.
    assert_eq!(text(wait(next)), "next");
    assert_eq!(wait(ask(&client, "echo on")), "on");
}

pub(crate) fn a_call_that_times_out_leaves_the_others_alone(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let client = connect(runtime, server.address);
    let hasty =
        Statement::new("keep").with(|options| options.timeout = Some(Duration::from_millis(50)));
    let error = wait(client.query(hasty, ())).unwrap_err();
    assert!(
        matches!(error, Error::Call(CallError::TimedOut { sent: true })),
        "{error}"
    );
    assert_eq!(error.may_retry(), Retry::IfIdempotent);
    server.service.release();
    assert_eq!(wait(ask(&client, "echo on")), "on");
}

pub(crate) fn calls_wait_while_the_connection_is_full(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let client = connect_with(runtime, server.address, |config| {
        config.connection.limits.max_in_flight = 3;
    });
    let queries: Vec<String> = (0..100).map(|n| format!("defer {n}")).collect();
    let answers = wait(all(queries.iter().map(|query| ask(&client, query))));
    let expected: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    assert_eq!(answers, expected);
}

pub(crate) fn an_error_is_for_its_call_alone(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let client = connect(runtime, server.address);
    for query in ["nonsense", "panic", "forget"] {
        let error = wait(client.query(query, ())).unwrap_err();
        assert!(matches!(error, Error::Server(_)), "{query}: {error}");
        assert_eq!(wait(ask(&client, "echo on")), "on");
    }
}

pub(crate) fn events_are_streamed_in_order(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let client = connect(runtime, server.address);
    let mut events = wait(client.events(&[EventType::SchemaChange])).unwrap();
    for number in 0..50 {
        let name = format!("ks{number}");
        server.service.server().publish(created(&name));
    }
    for number in 0..50 {
        let event = wait(events.next()).unwrap().unwrap();
        assert_eq!(event, created(&format!("ks{number}")));
    }
}

pub(crate) fn a_slow_reader_of_events_is_told_that_it_lost_some(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let client = connect_with(runtime, server.address, |config| config.event_buffer = 2);
    let mut events = wait(client.events(&[EventType::SchemaChange])).unwrap();
    for name in ["a", "b", "c", "d"] {
        assert_eq!(wait(ask(&client, &format!("event {name}"))), name);
    }
    assert_eq!(wait(events.next()).unwrap().unwrap(), created("a"));
    assert_eq!(wait(events.next()).unwrap().unwrap(), created("b"));
    assert!(matches!(wait(events.next()), Some(Err(Error::SlowReader))));
    assert!(wait(events.next()).is_none());
}

pub(crate) fn the_last_client_to_go_closes_the_connection(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let Connected { client, pump } = connect(runtime, server.address);
    let clone = client.clone();
    drop(client);
    assert_eq!(wait(ask(&clone, "echo still there")), "still there");
    assert_eq!(server.totals().connections_closed, 0);
    drop(clone);
    eventually(|| (server.totals().connections_closed == 1).then_some(()));
    drop(pump);
}

pub(crate) fn a_server_that_goes_away_fails_every_call(runtime: Runtime) {
    let mut server = Running::start(runtime, {
        let mut options = Options::default();
        options.drain_timeout = Duration::from_millis(50);
        options
    });
    let client = connect(runtime, server.address);
    let calls = (0..3).map(|_| client.query("keep", ()));
    let gone = async {
        eventually(|| (server.service.calls.load(Ordering::SeqCst) == 3).then_some(()));
        server.shutdown.shutdown();
        Err(Error::SlowReader)
    };
    let mut all_of_them: Vec<std::pin::Pin<Box<dyn Future<Output = _>>>> = Vec::new();
    for call in calls {
        all_of_them.push(Box::pin(call));
    }
    all_of_them.push(Box::pin(gone));
    let mut outcomes = wait(all(all_of_them));
    outcomes.pop();
    for outcome in outcomes {
        let error = outcome.unwrap_err();
        assert!(matches!(error, Error::Lost { sent: true, .. }), "{error:?}");
        assert_eq!(error.may_retry(), Retry::IfIdempotent);
    }
    server.join();
    let later = wait(client.query("echo later", ())).unwrap_err();
    assert_eq!(later.may_retry(), Retry::Always);
}

pub(crate) fn nobody_at_the_address_is_an_error_of_the_socket(runtime: Runtime) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    let Err(error) = try_connect(runtime, address, Config::default()) else {
        panic!("somebody answered");
    };
    assert!(
        matches!(&error, Error::Lost { reason: Lost::Socket(error), .. }
            if error.kind() == io::ErrorKind::ConnectionRefused),
        "{error}"
    );
}

pub(crate) fn a_server_that_never_answers_is_given_up(runtime: Runtime) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = Config::default();
    config.connection.handshake_timeout = Some(Duration::from_millis(50));
    let Err(error) = try_connect(runtime, silent.local_addr().unwrap(), config) else {
        panic!("somebody answered");
    };
    assert!(
        matches!(
            &error,
            Error::Lost {
                reason: Lost::Connection(ClientError::HandshakeTimeout),
                ..
            }
        ),
        "{error}"
    );
}

/// Refuses v5 as Apache Cassandra 3 does, and passes everything else on to `server`.
fn old_server(server: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let mut version = [0];
            if client.peek(&mut version).unwrap() == 1 && version == [5] {
                let text = "Invalid or unsupported protocol version (5); supported versions are (3/v3, 4/v4)";
                let length = u8::try_from(6 + text.len()).unwrap();
                let mut client = client;
                client.read_exact(&mut [0; 9]).unwrap();
                client
                    .write_all(&[0x84, 0, 0, 0, 0, 0, 0, 0, length])
                    .unwrap();
                let code = [0, 0, 0, 0x0A, 0, length - 6];
                client
                    .write_all(&[&code, text.as_bytes()].concat())
                    .unwrap();
                continue;
            }
            let server = TcpStream::connect(server).unwrap();
            pass_on(client.try_clone().unwrap(), server.try_clone().unwrap());
            pass_on(server, client);
        }
    });
    address
}

fn pass_on(mut from: TcpStream, mut to: TcpStream) {
    thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(Shutdown::Write);
    });
}

pub(crate) fn a_refused_version_is_stepped_down_from(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let client = connect(runtime, old_server(server.address));
    assert_eq!(client.version(), ProtocolVersion::V4);
    assert_eq!(wait(ask(&client, "echo hello")), "hello");
}
