//! What clients may use up, and what becomes of those who use more.

use crate::answering::eventually;
use crate::client::{Client, STARTUP, envelope, query, startup, string};
use crate::server::{Running, Runtime};
use helenus_core::ServerConfig;
use helenus_server::Options;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const OVERLOADED: u32 = 0x1001;

fn configured(configure: impl FnOnce(&mut ServerConfig)) -> Options {
    let mut options = Options::default();
    configure(Arc::make_mut(&mut options.connection));
    options
}

pub(crate) fn other_limits_reach_open_connections_and_those_to_come(runtime: Runtime) {
    let server = Running::start(runtime, Options::default());
    let mut clients = [0, 1].map(|_| Client::login(server.address));
    let mut options = configured(|config| config.limits.max_envelope = 1000);
    options.limits.connections = 2;
    server.service.server().reconfigure(options);
    let mut third = Client::connect(server.address);
    assert!(third.is_closed());
    for client in &mut clients {
        assert_eq!(client.ask("echo kept"), "kept");
        client.query(1, &"x".repeat(2000));
        assert_eq!(client.receive().error_code(), 0x2200);
    }
    let options = configured(|config| config.idle_timeout = Some(Duration::from_millis(100)));
    server.service.server().reconfigure(options);
    for client in &mut clients {
        assert!(client.is_closed());
    }
    assert_eq!(server.totals().refused_for_server, 1);
}

pub(crate) fn who_asked_for_overloaded_gets_it_while_others_use_a_limit_up(runtime: Runtime) {
    let mut options = Options::default();
    options.limits.requests_per_address = Some(1);
    let server = Running::start(runtime, options);
    let mut hog = Client::login(server.address);
    let mut throwing = Client::connect(server.address);
    let entries = ["CQL_VERSION", "3.0.0", "THROW_ON_OVERLOAD", "1"].map(string);
    throwing.write(&envelope(
        0,
        STARTUP,
        &[&[0, 2][..], &entries.concat()].concat(),
    ));
    throwing.receive();
    hog.query(1, "keep");
    eventually(|| (server.service.calls.load(Ordering::SeqCst) == 1).then_some(()));
    // The turn that took it tells the others when it ends.
    eventually(|| {
        let mut throwing = Client {
            socket: throwing.socket.try_clone().unwrap(),
        };
        throwing.query(2, "echo x");
        (throwing.receive().opcode == crate::client::ERROR).then_some(())
    });
    throwing.query(3, "echo x");
    assert_eq!(throwing.receive().error_code(), OVERLOADED);
    server.service.release();
    assert_eq!(hog.receive().text(), "released");
    eventually(|| {
        let mut throwing = Client {
            socket: throwing.socket.try_clone().unwrap(),
        };
        throwing.query(4, "echo x");
        (throwing.receive().opcode != crate::client::ERROR).then_some(())
    });
}

pub(crate) fn requests_beyond_the_rate_are_answered_later(runtime: Runtime) {
    let mut options = Options::default();
    options.limits.requests_per_second = Some(50);
    let server = Running::start(runtime, options);
    let mut client = Client::login(server.address);
    let before = Instant::now();
    let requests: Vec<u8> = (0..100)
        .flat_map(|stream| query(stream, "echo x"))
        .collect();
    client.write(&requests);
    for stream in 0..100 {
        assert_eq!(client.receive().stream, stream);
    }
    assert!(before.elapsed() >= Duration::from_millis(800));
    assert!(server.totals().paused_for_rate > 0);
}

pub(crate) fn a_sender_of_single_bytes_holds_nobody_up_and_has_a_deadline(runtime: Runtime) {
    let options = configured(|config| config.handshake_timeout = Some(Duration::from_millis(500)));
    let server = Running::start_workers(runtime, options, 1);
    let mut other = Client::login(server.address);
    let mut slow = Client::connect(server.address);
    // It would be done after two seconds.
    let closed = [startup(), startup()].concat().iter().any(|byte| {
        thread::sleep(Duration::from_millis(30));
        assert_eq!(other.ask("echo quick"), "quick");
        slow.socket.write_all(&[*byte]).is_err()
    });
    assert!(closed || slow.is_closed());
}

pub(crate) fn a_shutdown_in_a_flood_is_bounded(runtime: Runtime) {
    let mut options = Options::default();
    options.drain_timeout = Duration::from_millis(500);
    let mut server = Running::start(runtime, options);
    let over = Arc::new(AtomicBool::new(false));
    let floods: Vec<_> = (0..4)
        .map(|_| {
            let (mut client, over) = (Client::login(server.address), Arc::clone(&over));
            // Nobody reads the answers.
            let flood: Vec<u8> = (0..500)
                .flat_map(|stream| query(stream, "big 1000"))
                .collect();
            thread::spawn(move || {
                while !over.load(Ordering::SeqCst) && client.socket.write_all(&flood).is_ok() {}
            })
        })
        .collect();
    eventually(|| (server.service.calls.load(Ordering::SeqCst) > 1000).then_some(()));
    let before = Instant::now();
    server.shutdown.shutdown();
    server.join();
    assert!(before.elapsed() < Duration::from_secs(10));
    over.store(true, Ordering::SeqCst);
    for flood in floods {
        flood.join().unwrap();
    }
}
