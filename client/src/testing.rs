//! A client's driver joined in memory to core's end of a server, for this crate's own tests.

use crate::client::Client;
use crate::config::Config;
use crate::connect::{Attempt, connect};
use crate::driver::Driver;
use crate::error::Error;
use crate::result::QueryResult;
use bytes::{Buf, BytesMut};
use helenus_core::connection::AuthToken;
use helenus_core::{
    Event, Extras, Next, Outbox, ProtocolVersion, Pumped, Reply, Request, RequestTicket, Responder,
    Response, ServerConfig, ServerConnection, ServerEvent, Turn,
};
use helenus_tls::MaybeTls;
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::ready;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// Counts how often it was woken.
#[derive(Debug, Default)]
pub(crate) struct CountingWaker(AtomicUsize);

impl CountingWaker {
    pub(crate) fn pair() -> (Arc<Self>, Waker) {
        let count = Arc::new(CountingWaker::default());
        (Arc::clone(&count), Waker::from(count))
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls once.
pub(crate) fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

type Mail = Mutex<Vec<(RequestTicket, Response, Option<Box<Extras>>)>>;

#[derive(Debug, Default)]
struct Post(Mail);

impl Outbox for Post {
    fn deliver(&self, ticket: RequestTicket, response: Response, extras: Option<Box<Extras>>) {
        self.0.lock().unwrap().push((ticket, response, extras));
    }
}

/// What answers requests; it may keep replies in the list.
pub(crate) type Service = Box<dyn FnMut(Request<'_>, Responder<'_>, &mut Vec<Reply>)>;

/// A server to be: its configuration, the newest version it speaks, and what makes its services.
pub(crate) struct Host {
    pub(crate) config: ServerConfig,
    pub(crate) newest: ProtocolVersion,
    pub(crate) service: fn() -> Service,
}

impl Host {
    pub(crate) fn new(service: fn() -> Service) -> Self {
        Host {
            config: ServerConfig::default(),
            newest: ProtocolVersion::V5,
            service,
        }
    }
}

/// A client and a server, and the bytes between them.
pub(crate) struct Pair {
    pub(crate) now: Instant,
    /// None once the client's side has closed.
    pub(crate) driver: Option<MaybeTls<Driver>>,
    pub(crate) kept: Vec<Reply>,
    /// Pieces that the client's side wrote.
    pub(crate) writes: usize,
    server: ServerConnection,
    newest: ProtocolVersion,
    post: Arc<Post>,
    received: BytesMut,
    service: Service,
}

impl Pair {
    fn new(driver: MaybeTls<Driver>, now: Instant, host: &Host) -> Self {
        let post = Arc::new(Post::default());
        let outbox = Arc::clone(&post) as Arc<dyn Outbox>;
        Pair {
            now,
            driver: Some(driver),
            kept: Vec::new(),
            writes: 0,
            server: ServerConnection::new(Arc::new(host.config.clone()), outbox, now),
            newest: host.newest,
            post,
            received: BytesMut::new(),
            service: (host.service)(),
        }
    }

    pub(crate) fn driver(&mut self) -> &mut Driver {
        self.driver.as_mut().unwrap()
    }

    /// Moves bytes until nothing moves, as two pumps would. Whether the client's side is open still.
    pub(crate) fn run(&mut self) -> bool {
        while let Some(driver) = &mut self.driver {
            let turn = driver.turn(self.now);
            let mut moved = turn == Turn::Yield;
            while let Some(mut transmit) = driver.poll_transmit() {
                self.received.extend_from_slice(transmit.chunk());
                let length = transmit.remaining();
                transmit.advance(length);
                self.writes += 1;
                moved = true;
            }
            if turn == Turn::Close {
                self.driver = None;
                return false;
            }
            let sent = self.serve();
            if !sent.is_empty() {
                moved = true;
                self.feed(&sent);
            }
            if !moved {
                return true;
            }
        }
        false
    }

    /// Has the server handle what it received; what it sends.
    fn serve(&mut self) -> Vec<u8> {
        let is_newer = |version: &u8| *version > self.newest.as_u8();
        if self.newest < ProtocolVersion::V5 && self.received.first().is_some_and(is_newer) {
            self.received.clear();
            return refusal();
        }
        for (ticket, response, extras) in self.post.0.lock().unwrap().drain(..) {
            drop(self.server.respond(ticket, response, extras));
        }
        loop {
            match self.server.next(self.now, &mut self.received) {
                Next::Stop(_) => break,
                Next::Event(Event::Request(request, responder)) => {
                    (self.service)(request, responder, &mut self.kept);
                }
                Next::Event(Event::Authenticate(token, responder)) => welcome(&token, responder),
                Next::Event(_) => {}
            }
        }
        let mut sent = Vec::new();
        while let Some(mut transmit) = self.server.poll_transmit() {
            sent.extend_from_slice(transmit.chunk());
            let length = transmit.remaining();
            transmit.advance(length);
        }
        sent
    }

    /// The server sends an event.
    pub(crate) fn push(&mut self, event: &ServerEvent) {
        self.server.push(event);
        self.run();
    }

    /// Gives the client's side `bytes` as one read.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let now = self.now;
        let read = |buffer: &mut BytesMut| {
            buffer.extend_from_slice(bytes);
            Poll::Ready(Ok::<_, Infallible>(bytes.len()))
        };
        let read = self.driver().read(now, read);
        assert_eq!(read, Poll::Ready(Ok(bytes.len())));
    }

    /// Lets time pass on both sides.
    pub(crate) fn pass(&mut self, time: Duration) {
        self.now += time;
        self.run();
    }

    /// Polls `future` until it is ready, moving bytes meanwhile.
    pub(crate) fn finish<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        for _ in 0..10 {
            if let Poll::Ready(output) = poll(future.as_mut()) {
                return output;
            }
            self.run();
        }
        panic!("it waits for something that doesn't come");
    }
}

/// How Apache Cassandra refuses a version that is too new for it.
fn refusal() -> Vec<u8> {
    let text = "Invalid or unsupported protocol version (5); supported versions are (3/v3, 4/v4)";
    let length = (4 + 2 + text.len()) as u8;
    let header = [0x84, 0, 0, 0, 0, 0, 0, 0, length];
    let code = [0, 0, 0, 0x0A, 0, text.len() as u8];
    [&header[..], &code, text.as_bytes()].concat()
}

fn welcome(token: &AuthToken<'_>, responder: Responder<'_>) {
    match token.bytes() {
        Some(b"\0ada\0lovelace") => responder.accept(None),
        _ => responder.refuse("nobody of that name".to_owned()),
    }
}

/// Connects to `host`: what came of it, the last connection that was tried, and the number of tries.
pub(crate) fn connect_to(host: &Host, config: Config) -> (Result<Client, Error>, Pair, usize) {
    let now = Instant::now();
    let pairs: RefCell<Vec<Pair>> = RefCell::default();
    let open = |attempt: Attempt| {
        let address = SocketAddr::from(([127, 0, 0, 1], 9042));
        let (connecting, driver) = attempt.begin(address, now);
        pairs.borrow_mut().push(Pair::new(driver, now, host));
        ready(Ok(connecting))
    };
    let mut connecting = pin!(connect(config, open));
    let client = loop {
        if let Poll::Ready(client) = poll(connecting.as_mut()) {
            break client;
        }
        pairs.borrow_mut().last_mut().unwrap().run();
    };
    let tries = pairs.borrow().len();
    let pair = pairs.borrow_mut().pop().unwrap();
    (client, pair, tries)
}

/// A client of `host` with the default configuration, changed.
pub(crate) fn client(host: &Host, change: impl FnOnce(&mut Config)) -> (Client, Pair) {
    let mut config = Config::default();
    change(&mut config);
    let (client, pair, _) = connect_to(host, config);
    (client.unwrap(), pair)
}

/// What a text says, in an answer without rows.
pub(crate) fn said(text: &str) -> Response {
    Response::SetKeyspace(text.into())
}

/// The text of an answer that says one.
pub(crate) fn text(outcome: Result<QueryResult, Error>) -> String {
    match outcome.unwrap().response {
        Response::SetKeyspace(text) => text.to_string(),
        other => panic!("{other:?}"),
    }
}
