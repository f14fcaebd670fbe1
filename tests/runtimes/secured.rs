//! TLS, at both ends.

use crate::answering::eventually;
use crate::calling::text;
use crate::certificates::{Secured, foreign, trusted};
use crate::client::{Client, query, startup};
use crate::library::{Connected, all, connect_with, try_connect, wait};
use crate::server::{Running, Runtime, said};
use helenus_client::{Config, Error, Lost};
use helenus_core::{Request, Responder, ServerConfig};
use helenus_server::{ClientAuth, Options, PeerInfo, ServerTls, Service};
use helenus_tls::ClientTls;
use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

fn secured(tls: ServerTls) -> Options {
    let mut options = Options::default();
    options.tls = Some(tls);
    options
}

fn connect(runtime: Runtime, address: SocketAddr, tls: ClientTls) -> Connected {
    connect_with(runtime, address, |config| config.tls = Some(tls))
}

fn ask(client: &Connected, query: &str) -> String {
    text(wait(client.query(query, ())))
}

/// Why a connection doesn't come about.
fn refusal(runtime: Runtime, address: SocketAddr, tls: Option<ClientTls>) -> String {
    let mut config = Config::default();
    config.tls = tls;
    match try_connect(runtime, address, config) {
        Err(Error::Lost { reason, .. }) => reason.to_string(),
        other => panic!("{:?}", other.map(|_| "connected")),
    }
}

pub(crate) fn clients_speak_tls_and_resume_their_sessions(runtime: Runtime) {
    let server = Running::start(runtime, secured(trusted().server()));
    let named = trusted().client().with_server_name("localhost").unwrap();
    for _ in 0..2 {
        let client = connect(runtime, server.address, named.clone());
        assert_eq!(ask(&client, "echo privately"), "privately");
        assert_eq!(ask(&client, "defer a while"), "a while");
    }
    let totals = server.totals();
    assert_eq!((totals.tls_handshakes, totals.tls_resumptions), (2, 1));
    assert_eq!((totals.tls_failures, totals.tls_plaintext), (0, 0));
}

pub(crate) fn bulk_goes_both_ways_over_tls(runtime: Runtime) {
    let server = Running::start(runtime, secured(trusted().server()));
    let client = connect(runtime, server.address, trusted().client());
    let queries: Vec<String> = (0..100)
        .map(|n| format!("echo {n}{}", "x".repeat(60_000)))
        .collect();
    let answers = wait(all(queries.iter().map(|query| client.query(&**query, ()))));
    for (query, answer) in queries.iter().zip(answers) {
        assert!(query.ends_with(&text(answer)));
    }
}

pub(crate) fn a_slow_reader_over_tls_gets_every_answer(runtime: Runtime) {
    let server = Running::start(runtime, secured(trusted().server()));
    let mut client = trusted().socket(server.address);
    client.write_all(&startup()).unwrap();
    // Much more than sockets, ciphertext and output hold together; it is read when all is asked for.
    for stream in 0..200 {
        client.write_all(&query(stream, "big 60000")).unwrap();
    }
    let mut header = [0; 9];
    client.read_exact(&mut header).unwrap();
    assert_eq!(header[4], crate::client::READY);
    for stream in 0..200_i16 {
        client.read_exact(&mut header).unwrap();
        let [_, _, high, low, _, length @ ..] = header;
        assert_eq!(i16::from_be_bytes([high, low]), stream);
        let mut body = vec![0; u32::from_be_bytes(length) as usize];
        client.read_exact(&mut body).unwrap();
        assert_eq!(body.len(), 60_006);
    }
}

/// Says whose connection it is.
struct Whose;

impl Service for Whose {
    type Session = String;

    fn open(&self, peer: &PeerInfo) -> String {
        let name = peer.identity().and_then(|identity| identity.common_name());
        name.unwrap_or_else(|| "nobody".to_owned())
    }

    fn call(&self, _: Instant, name: &mut String, _: Request<'_>, responder: Responder<'_>) {
        responder.send(said(name));
    }
}

pub(crate) fn a_certificate_says_who_the_client_is(runtime: Runtime) {
    let run = |asked| {
        let options = secured(trusted().asking(asked));
        run_any!(runtime, bind, Arc::new(Whose), options, 2)
    };
    let (none, optional, required) = (
        run(ClientAuth::None),
        run(ClientAuth::Optional),
        run(ClientAuth::Required),
    );
    let who = |address, tls| ask(&connect(runtime, address, tls), "who am I");
    assert_eq!(who(none.address, trusted().ada()), "nobody");
    assert_eq!(who(optional.address, trusted().client()), "nobody");
    assert_eq!(who(optional.address, trusted().ada()), "ada");
    assert_eq!(who(required.address, trusted().ada()), "ada");
    let refused = refusal(runtime, required.address, Some(trusted().client()));
    assert!(refused.contains("CertificateRequired"), "{refused}");
    assert_eq!(required.totals().tls_failures, 1);
}

pub(crate) fn a_server_that_is_not_trusted_is_left(runtime: Runtime) {
    let server = Running::start(runtime, secured(foreign().server()));
    let refused = refusal(runtime, server.address, Some(trusted().client()));
    assert!(refused.contains("UnknownIssuer"), "{refused}");
    let other = foreign().client().with_server_name("other").unwrap();
    let refused = refusal(runtime, server.address, Some(other));
    assert!(refused.contains("not valid for name"), "{refused}");
    eventually(|| (server.totals().tls_failures == 2).then_some(()));
}

pub(crate) fn who_speaks_without_tls_to_tls_is_told_and_the_reverse(runtime: Runtime) {
    let server = Running::start(runtime, secured(trusted().server()));
    let mut client = Client::connect(server.address);
    client.write(&startup());
    let answer = client.receive();
    assert_eq!(answer.error_code(), 0x000a);
    assert!(String::from_utf8_lossy(&answer.body).contains("This port speaks TLS"));
    assert!(client.is_closed());
    assert_eq!(server.totals().tls_plaintext, 1);
    let refused = refusal(runtime, server.address, None);
    assert!(refused.contains("This port speaks TLS"), "{refused}");

    let plain = Running::start(runtime, Options::default());
    let refused = refusal(runtime, plain.address, Some(trusted().client()));
    assert!(refused.contains("doesn't speak TLS"), "{refused}");
}

pub(crate) fn where_tls_is_optional_both_are_served(runtime: Runtime) {
    let tls = trusted().server_with(|files| files.plaintext = true);
    let server = Running::start(runtime, secured(tls));
    let mut plain = Client::login(server.address);
    let private = connect(runtime, server.address, trusted().client());
    assert_eq!(plain.ask("echo in public"), "in public");
    assert_eq!(ask(&private, "echo privately"), "privately");
}

pub(crate) fn half_a_tls_handshake_is_closed_at_its_deadline(runtime: Runtime) {
    let mut config = ServerConfig::default();
    config.handshake_timeout = Some(Duration::from_millis(200));
    let mut options = secured(trusted().server());
    options.connection = Arc::new(config);
    let server = Running::start(runtime, options);
    let mut silent = Client::connect(server.address);
    let mut half = Client::connect(server.address);
    // A record of the handshake, most of which doesn't come.
    half.write(&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc]);
    assert!(silent.is_closed() && half.is_closed());
    eventually(|| (server.totals().tls_failures == 2).then_some(()));
    assert_eq!(server.service.closed.load(Ordering::SeqCst), 0);
}

pub(crate) fn a_replaced_certificate_leaves_connections_open(runtime: Runtime) {
    let tls = trusted().server();
    let server = Running::start(runtime, secured(tls.clone()));
    let old = connect(runtime, server.address, trusted().client());
    assert_eq!(ask(&old, "echo before"), "before");
    tls.replace(&foreign().server());
    let new = connect(runtime, server.address, foreign().client());
    assert_eq!(ask(&new, "echo with the new one"), "with the new one");
    assert_eq!(ask(&old, "echo still here"), "still here");
    let refused = refusal(runtime, server.address, Some(trusted().client()));
    assert!(refused.contains("UnknownIssuer"), "{refused}");
}

pub(crate) fn a_shutdown_ends_tls_with_a_last_word(runtime: Runtime) {
    let mut server = Running::start(runtime, secured(trusted().server()));
    let mut client: Secured = trusted().socket(server.address);
    client.write_all(&startup()).unwrap();
    client.write_all(&query(3, "keep")).unwrap();
    eventually(|| (server.service.calls.load(Ordering::SeqCst) == 1).then_some(()));
    let mut shaking = Client::connect(server.address);
    eventually(|| (server.totals().connections_opened == 2).then_some(()));
    server.shutdown.shutdown();
    // Who hasn't even greeted isn't waited for.
    assert!(shaking.is_closed());
    server.service.release();
    let mut answers = Vec::new();
    // The end is announced: rustls takes any other for an attack.
    client.read_to_end(&mut answers).unwrap();
    assert!(answers.ends_with(b"released"));
    drop(client);
    server.join();
}

pub(crate) fn a_half_closed_client_reads_its_answers_over_tls(runtime: Runtime) {
    let server = Running::start(runtime, secured(trusted().server()));
    let mut client = trusted().socket(server.address);
    client.write_all(&startup()).unwrap();
    for stream in 0..50 {
        client.write_all(&query(stream, "defer answer")).unwrap();
    }
    client.conn.send_close_notify();
    client.flush().unwrap();
    client.sock.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answers = Vec::new();
    client.read_to_end(&mut answers).unwrap();
    let found = answers.windows(6).filter(|window| window == b"answer");
    assert_eq!(found.count(), 50);
}

pub(crate) fn a_client_whose_server_never_shakes_hands_gives_up(runtime: Runtime) {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut config = Config::default();
    config.tls = Some(trusted().client());
    config.connection.handshake_timeout = Some(Duration::from_millis(200));
    let outcome = try_connect(runtime, silent.local_addr().unwrap(), config);
    let Err(Error::Lost { reason, .. }) = outcome else {
        panic!("it connected");
    };
    assert!(
        matches!(reason, Lost::Tls(helenus_tls::Error::TimedOut)),
        "{reason}"
    );
    silent.set_nonblocking(true).unwrap();
    let (mut socket, _) = silent.accept().unwrap();
    socket.set_nonblocking(false).unwrap();
    let mut greeting = Vec::new();
    match socket.read_to_end(&mut greeting) {
        Ok(_) => {}
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    assert_eq!(greeting[0], 0x16);
}
