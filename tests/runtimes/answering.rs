//! Requests and their answers, whoever gives them and whenever.

use crate::client::{Client, EVENT, OPTIONS, READY, SUPPORTED, envelope, query, register, startup};
use crate::server::{Running, Runtime, created};
use helenus_server::Options;
use std::time::Duration;

const SERVER_ERROR: u32 = 0x0000;

pub(crate) fn a_request_is_answered_on_its_stream(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::connect(server.address);
    client.write(&envelope(7, OPTIONS, &[]));
    let supported = client.receive();
    assert_eq!((supported.stream, supported.opcode), (7, SUPPORTED));
    client.write(&startup());
    assert_eq!(client.receive().opcode, READY);
    client.query(-3, "nothing");
    let refused = client.receive();
    assert_eq!((refused.stream, refused.error_code()), (-3, 0x2200));
    assert_eq!(client.ask("echo hello"), "hello");
    drop(client);
}

pub(crate) fn pipelined_requests_are_answered_in_order(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    let requests: Vec<u8> = (0..1000)
        .flat_map(|stream| query(stream, &format!("echo {stream}")))
        .collect();
    client.write(&requests);
    for stream in 0..1000 {
        let answer = client.receive();
        assert_eq!((answer.stream, answer.text()), (stream, stream.to_string()));
    }
    drop(client);
    let totals = eventually(|| Some(server.totals()).filter(|t| t.connections_closed == 1));
    assert_eq!(
        (totals.requests, totals.responses, totals.panics),
        (1001, 1001, 0)
    );
    assert_eq!(
        totals.bytes_received,
        (startup().len() + requests.len()) as u64
    );
}

pub(crate) fn bytes_may_come_one_at_a_time(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::connect(server.address);
    let bytes = [startup(), query(1, "echo one"), query(2, "defer two")].concat();
    for byte in bytes {
        client.write(&[byte]);
    }
    assert_eq!(client.receive().opcode, READY);
    assert_eq!(client.receive().text(), "one");
    assert_eq!(client.receive().text(), "two");
}

pub(crate) fn a_large_request_comes_whole(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    let text = format!("echo {}", "y".repeat(60_000));
    let mut padded = query(1, &text);
    // Trailing bytes of a body are ignored: the request takes five megabytes.
    padded.resize(9 + 5_000_000, 0);
    padded[5..9].copy_from_slice(&5_000_000_u32.to_be_bytes());
    let small = query(2, "echo behind it");
    client.write(&[padded, small].concat());
    assert_eq!(client.receive().text().len(), 60_000);
    assert_eq!(client.receive().text(), "behind it");
}

pub(crate) fn deferred_replies_come_from_other_threads(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    let requests: Vec<u8> = (0..200)
        .flat_map(|stream| query(stream, &format!("defer {stream}")))
        .collect();
    client.write(&requests);
    for stream in 0..200 {
        let answer = client.receive();
        assert_eq!((answer.stream, answer.text()), (stream, stream.to_string()));
    }
    // A reply that comes long after, to a connection that is parked.
    client.query(1, "keep");
    client.query(2, "echo meanwhile");
    assert_eq!(client.receive().stream, 2);
    std::thread::sleep(Duration::from_millis(50));
    server.service.release();
    let late = client.receive();
    assert_eq!((late.stream, late.text()), (1, "released".to_owned()));
}

pub(crate) fn an_offloaded_reply_comes(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    for round in 0..20 {
        assert_eq!(client.ask(&format!("offload {round}")), round.to_string());
    }
}

pub(crate) fn a_dropped_reply_answers_server_error(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    client.query(9, "forget");
    let answer = client.receive();
    assert_eq!((answer.stream, answer.error_code()), (9, SERVER_ERROR));
}

pub(crate) fn a_panic_answers_server_error_for_its_request_alone(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    client.write(
        &[
            query(1, "echo before"),
            query(2, "panic"),
            query(3, "echo after"),
        ]
        .concat(),
    );
    assert_eq!(client.receive().text(), "before");
    let panicked = client.receive();
    assert_eq!((panicked.stream, panicked.error_code()), (2, SERVER_ERROR));
    assert_eq!(client.receive().text(), "after");
    drop(client);
    let totals = eventually(|| Some(server.totals()).filter(|t| t.connections_closed == 1));
    assert_eq!((totals.panics, totals.errors), (1, 1));
}

pub(crate) fn a_panic_in_the_pool_answers_server_error(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    client.query(4, "panic-elsewhere");
    assert_eq!(client.receive().error_code(), SERVER_ERROR);
    assert_eq!(client.ask("offload still there"), "still there");
}

pub(crate) fn an_event_comes_before_the_reply_of_who_caused_it(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    client.write(&register(5));
    assert_eq!(client.receive().opcode, READY);
    client.query(6, "event ks");
    let event = client.receive();
    assert_eq!((event.stream, event.opcode), (-1, EVENT));
    assert_eq!(client.receive().text(), "ks");
}

pub(crate) fn events_reach_those_who_registered_in_order(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut listeners: Vec<Client> = (0..10)
        .map(|_| {
            let mut client = Client::login(server.address);
            client.write(&register(1));
            assert_eq!(client.receive().opcode, READY);
            client
        })
        .collect();
    let mut deaf = Client::login(server.address);
    for number in 0..50 {
        server
            .service
            .server()
            .publish(created(&format!("ks{number:02}")));
    }
    for client in &mut listeners {
        for number in 0..50 {
            let event = client.receive();
            assert_eq!(event.opcode, EVENT);
            assert!(
                event.body.ends_with(format!("ks{number:02}").as_bytes()),
                "{event:?}"
            );
        }
    }
    assert_eq!(deaf.ask("echo nothing came"), "nothing came");
}

pub(crate) fn connections_have_sessions_of_their_own(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut clients: Vec<Client> = (0..5).map(|_| Client::login(server.address)).collect();
    let mut sessions: Vec<String> = clients
        .iter_mut()
        .map(|client| client.ask("session"))
        .collect();
    sessions.sort();
    assert_eq!(sessions, ["0", "1", "2", "3", "4"]);
}

/// What `look` gives, as soon as it gives something.
pub(crate) fn eventually<T>(look: impl Fn() -> Option<T>) -> T {
    for _ in 0..2000 {
        if let Some(found) = look() {
            return found;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("it did not come to pass in ten seconds");
}
