//! Many, fast and slow clients at once.

use crate::client::{Client, query};
use crate::server::{Running, Runtime};
use helenus_core::ServerConfig;
use helenus_server::Options;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

/// Sends `requests` from another thread, while this one reads or doesn't.
fn sending(client: &Client, requests: Vec<u8>) -> thread::JoinHandle<()> {
    let mut sender = Client {
        socket: client.socket.try_clone().unwrap(),
    };
    thread::spawn(move || sender.write(&requests))
}

pub(crate) fn a_slow_reader_stops_being_read_and_gets_every_answer(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    // 120 MB of answers, far above what the connection and the kernel hold.
    let requests: Vec<u8> = (0..2000)
        .flat_map(|stream| query(stream, "big 60000"))
        .collect();
    let sender = sending(&client, requests);
    thread::sleep(Duration::from_millis(500));
    let taken = server.service.calls.load(Ordering::SeqCst);
    assert!(
        taken < 500,
        "{taken} requests were taken though nobody reads the answers"
    );
    for stream in 0..2000 {
        let answer = client.receive();
        assert_eq!((answer.stream, answer.text().len()), (stream, 60_000));
    }
    sender.join().unwrap();
}

pub(crate) fn reading_goes_on_while_writing_blocks(runtime: Runtime) {
    let mut config = ServerConfig::default();
    config.limits.max_unsent = 1 << 30;
    let mut options = Options::default();
    options.connection = Arc::new(config);
    let server = Running::start(runtime, options);
    let mut client = Client::login(server.address);
    let requests: Vec<u8> = (0..500)
        .flat_map(|stream| query(stream, "big 60000"))
        .collect();
    client.write(&requests);
    // The answers, 30 MB, fill the kernel's buffers; requests are taken all the same.
    crate::answering::eventually(|| {
        (server.service.calls.load(Ordering::SeqCst) == 500).then_some(())
    });
    client.query(1000, "echo the last");
    crate::answering::eventually(|| {
        (server.service.calls.load(Ordering::SeqCst) == 501).then_some(())
    });
    for _ in 0..500 {
        assert_eq!(client.receive().text().len(), 60_000);
    }
    assert_eq!(client.receive().text(), "the last");
}

pub(crate) fn a_busy_connection_lets_others_have_their_turn(runtime: Runtime) {
    let server = Running::start_workers(runtime, Options::default(), 1);
    let mut light = Client::login(server.address);
    let mut busy = Client::login(server.address);
    // 60 kB: all of them may come in one read.
    let flood: Vec<u8> = (0..3000).flat_map(|stream| query(stream, "burn")).collect();
    busy.write(&flood);
    crate::answering::eventually(|| {
        (server.service.calls.load(Ordering::SeqCst) > 0).then_some(())
    });
    let call: usize = light.ask("call").parse().unwrap();
    assert!(
        call < 2500,
        "served only after {call} requests of another connection"
    );
    for _ in 0..3000 {
        assert_eq!(busy.receive().text(), "burnt");
    }
}

pub(crate) fn many_connections_are_served(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut clients: Vec<Client> = (0..300).map(|_| Client::login(server.address)).collect();
    for round in 0..3 {
        for client in &mut clients {
            client.query(round, "defer x");
        }
        for client in &mut clients {
            assert_eq!(client.receive().stream, round);
        }
    }
    assert_eq!(server.service.server().connections(), 300);
}

pub(crate) fn a_shared_budget_pauses_and_wakes_connections(runtime: Runtime) {
    let mut options = Options::default();
    options.limits.bytes = Some(1);
    let server = Running::start(runtime, options);
    let mut hog = Client::login(server.address);
    let mut other = Client::login(server.address);
    assert_eq!(other.ask("echo there is room"), "there is room");
    // Answers that nobody reads hold the whole budget.
    let requests: Vec<u8> = (0..200)
        .flat_map(|stream| query(stream, "big 60000"))
        .collect();
    let sender = sending(&hog, requests);
    thread::sleep(Duration::from_millis(300));
    let before = server.service.calls.load(Ordering::SeqCst);
    other.query(1, "echo late");
    thread::sleep(Duration::from_millis(200));
    assert_eq!(server.service.calls.load(Ordering::SeqCst), before);
    for _ in 0..200 {
        assert_eq!(hog.receive().text().len(), 60_000);
    }
    assert_eq!(other.receive().text(), "late");
    sender.join().unwrap();
}
