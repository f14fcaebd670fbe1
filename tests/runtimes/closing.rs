//! How connections and servers end.

use crate::answering::eventually;
use crate::client::{Client, QUERY, header, query};
use crate::server::{Canned, Running, Runtime};
use helenus_core::ServerConfig;
use helenus_server::Options;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const PROTOCOL_ERROR: u32 = 0x000a;

pub(crate) fn a_half_closed_client_reads_its_answers(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    let requests: Vec<u8> = (0..100)
        .flat_map(|stream| query(stream, "defer answer"))
        .collect();
    client.write(&requests);
    client.half_close();
    for stream in 0..100 {
        let answer = client.receive();
        assert_eq!(
            (answer.stream, answer.text()),
            (stream, "answer".to_owned())
        );
    }
    assert!(client.is_closed());
}

pub(crate) fn a_fault_is_answered_before_the_close(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::connect(server.address);
    // Not CQL at all: the version byte says so.
    client.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(client.receive().error_code(), PROTOCOL_ERROR);
}

pub(crate) fn a_sender_of_a_hundred_megabytes_before_login_reads_its_error(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::connect(server.address);
    let length = 100_000_000;
    client.write(&header(1, QUERY, length));
    send_much(&mut client, length, 0);
    let answer = client.receive();
    assert_eq!(answer.opcode, crate::client::ERROR);
}

pub(crate) fn a_sender_of_garbage_reads_its_error(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::connect(server.address);
    send_much(&mut client, 100_000_000, 0x42);
    assert_eq!(client.receive().error_code(), PROTOCOL_ERROR);
}

fn send_much(client: &mut Client, length: usize, byte: u8) {
    let chunk = vec![byte; 1_000_000];
    for _ in 0..length / chunk.len() {
        client.write(&chunk);
    }
}

pub(crate) fn a_shutdown_answers_what_is_in_flight(runtime: Runtime) {
    let mut server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    client.query(3, "keep");
    assert_eq!(client.ask("echo taken"), "taken");
    server.shutdown.shutdown();
    // No more connections; but the one with a request in flight stays.
    eventually(|| {
        std::net::TcpStream::connect(server.address)
            .is_err()
            .then_some(())
    });
    server.service.release();
    assert_eq!(client.receive().text(), "released");
    assert!(client.is_closed());
    drop(client);
    server.join();
}

pub(crate) fn a_shutdown_is_bounded(runtime: Runtime) {
    let mut options = Options::default();
    options.drain_timeout = Duration::from_millis(200);
    let mut server = Running::start(runtime, options);
    let mut client = Client::login(server.address);
    client.query(3, "keep");
    assert_eq!(client.ask("echo taken"), "taken");
    let before = Instant::now();
    server.shutdown.shutdown();
    server.join();
    let took = before.elapsed();
    assert!(
        took >= Duration::from_millis(190) && took < Duration::from_secs(5),
        "{took:?}"
    );
    assert!(client.is_closed());
}

pub(crate) fn a_shutdown_ends_idle_connections(runtime: Runtime) {
    let mut server = Running::start(runtime, Options::default());
    let mut clients: Vec<Client> = (0..20).map(|_| Client::login(server.address)).collect();
    server.shutdown.shutdown();
    for client in &mut clients {
        assert!(client.is_closed());
    }
    drop(clients);
    server.join();
    assert_eq!(server.service.closed.load(Ordering::SeqCst), 20);
}

pub(crate) fn a_connection_over_the_limit_is_closed(runtime: Runtime) {
    let mut options = Options::default();
    options.limits.connections = 2;
    let server = Running::start(runtime, options);
    let first = Client::login(server.address);
    let mut second = Client::login(server.address);
    let mut third = Client::connect(server.address);
    assert!(third.is_closed());
    assert_eq!(second.ask("echo here"), "here");
    drop(first);
    eventually(|| (server.service.closed.load(Ordering::SeqCst) == 1).then_some(()));
    assert_eq!(Client::login(server.address).ask("echo instead"), "instead");
    assert_eq!(server.totals().connections_refused, 1);
}

pub(crate) fn a_port_in_use_is_refused_with_its_address(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let (address, service) = (server.address, Arc::clone(&server.service));
    let mut client = Client::login(address);
    let refused = match runtime {
        Runtime::Threads => {
            helenus_std::Server::bind(address, service, Options::default()).map(drop)
        }
        Runtime::Tokio | Runtime::TokioWorkStealing => {
            helenus_tokio::Server::bind(address, service, Options::default()).map(drop)
        }
        Runtime::Smol => helenus_smol::Server::bind(address, service, Options::default()).map(drop),
        Runtime::AsyncStd => {
            helenus_smol::async_std::Server::bind(address, service, Options::default()).map(drop)
        }
    };
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    assert!(error.to_string().contains(&address.to_string()), "{error}");
    assert_eq!(client.ask("echo unharmed"), "unharmed");
}

pub(crate) fn a_silent_handshake_is_closed_at_its_deadline(runtime: Runtime) {
    let mut config = ServerConfig::default();
    config.handshake_timeout = Some(Duration::from_millis(200));
    let mut options = Options::default();
    options.connection = Arc::new(config);
    let server = Running::start(runtime, options);
    let mut ready = Client::login(server.address);
    let mut silent = Client::connect(server.address);
    let before = Instant::now();
    while silent.try_receive().is_ok() {}
    let took = before.elapsed();
    assert!(
        took >= Duration::from_millis(150) && took < Duration::from_secs(5),
        "{took:?}"
    );
    assert_eq!(ready.ask("echo still here"), "still here");
}

pub(crate) fn a_connection_that_goes_away_is_forgotten(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut client = Client::login(server.address);
    client.query(1, "keep");
    assert_eq!(client.ask("echo x"), "x");
    drop(client);
    // The reply that is still owed keeps it half open; answering it ends it.
    server.service.release();
    eventually(|| (server.service.server().connections() == 0).then_some(()));
    let _: &Canned = &server.service;
    assert_eq!(server.service.closed.load(Ordering::SeqCst), 1);
}
