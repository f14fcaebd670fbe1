//! What a service asks of its runtime: futures, timers, authentication.

use crate::answering::eventually;
use crate::calling::text;
use crate::client::{AUTH_RESPONSE, AUTH_SUCCESS, AUTHENTICATE, Client, QUERY, envelope, startup};
use crate::library::{try_connect, wait};
use crate::server::{Runtime, said};
use helenus_client::{Authenticator, Config, Error, Lost};
use helenus_core::connection::AuthToken;
use helenus_core::{Reply, Request, RequestBody, Responder, Response, ServerConfig};
use helenus_server::{AsyncService, Options, PeerInfo, ServerHandle, Service};
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Waits for a thread that sleeps as many milliseconds as the query says, or for ever.
struct Sleeping {
    /// One for each future that is alive.
    alive: Arc<AtomicUsize>,
}

struct Alive(Arc<AtomicUsize>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl AsyncService for Sleeping {
    type Session = ();

    fn open(&self, _: &PeerInfo) {}

    fn call(
        &self,
        (): &mut (),
        request: Request<'_>,
    ) -> impl Future<Output = Response> + Send + 'static {
        let text = match request.parse() {
            Ok(RequestBody::Query(query)) => query.query.to_owned(),
            _ => String::new(),
        };
        self.alive.fetch_add(1, Ordering::SeqCst);
        let alive = Alive(Arc::clone(&self.alive));
        async move {
            let _alive = alive;
            match text.parse() {
                Ok(0) => {}
                Ok(pause) => slept(Duration::from_millis(pause)).await,
                Err(_) => std::future::pending().await,
            }
            said(&text)
        }
    }
}

/// Ready after `pause`, for which a thread sleeps.
async fn slept(pause: Duration) {
    let state: Arc<Mutex<(bool, Option<Waker>)>> = Arc::default();
    let sleeper = Arc::clone(&state);
    thread::spawn(move || {
        thread::sleep(pause);
        let mut state = sleeper.lock().unwrap();
        state.0 = true;
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    });
    poll_fn(move |cx| {
        let mut state = state.lock().unwrap();
        state.1 = Some(cx.waker().clone());
        if state.0 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

pub(crate) fn an_asynchronous_service_waits_without_keeping_others_waiting(runtime: Runtime) {
    let alive = Arc::new(AtomicUsize::new(0));
    let service = Sleeping {
        alive: Arc::clone(&alive),
    };
    let mut options = Options::default();
    options.linger.total = Duration::from_millis(500);
    let server = run_any!(runtime, bind_async, service, options, 2);
    let mut client = Client::login(server.address);
    client.query(1, "200");
    client.query(2, "0");
    client.query(3, "100");
    client.query(4, "ever");
    let streams: Vec<i16> = (0..3).map(|_| client.receive().stream).collect();
    assert_eq!(streams, [2, 3, 1]);
    assert_eq!(alive.load(Ordering::SeqCst), 1);
    drop(client);
    // What still waits is dropped with its connection.
    eventually(|| (alive.load(Ordering::SeqCst) == 0).then_some(()));
}

/// Fires once each time it is wound, and answers then.
#[derive(Default)]
struct Alarm {
    server: OnceLock<ServerHandle>,
    deadline: Mutex<Option<Instant>>,
    waiting: Mutex<Vec<Reply>>,
    fired: Mutex<Vec<Instant>>,
}

impl Service for Alarm {
    type Session = ();

    fn start(&self, server: ServerHandle) {
        assert!(self.server.set(server).is_ok());
    }

    fn open(&self, _: &PeerInfo) {}

    fn call(&self, now: Instant, (): &mut (), _: Request<'_>, responder: Responder<'_>) {
        self.waiting.lock().unwrap().push(responder.defer());
        *self.deadline.lock().unwrap() = Some(now + Duration::from_millis(100));
        self.server.get().unwrap().wake();
    }

    fn poll_timeout(&self) -> Option<Instant> {
        *self.deadline.lock().unwrap()
    }

    fn handle_timeout(&self, now: Instant) {
        assert!(
            self.deadline
                .lock()
                .unwrap()
                .take()
                .is_some_and(|deadline| deadline <= now)
        );
        self.fired.lock().unwrap().push(now);
        for reply in self.waiting.lock().unwrap().drain(..) {
            reply.send(said("it rang"));
        }
    }
}

pub(crate) fn a_timer_of_the_service_fires_once_each_time_it_is_set(runtime: Runtime) {
    let service = Arc::new(Alarm::default());
    let server = run_any!(runtime, bind, Arc::clone(&service), Options::default(), 2);
    let mut client = Client::login(server.address);
    for round in 1..=3 {
        let before = Instant::now();
        assert_eq!(client.ask("wind it up"), "it rang");
        assert_eq!(service.fired.lock().unwrap().len(), round);
        let took = before.elapsed();
        assert!(
            took >= Duration::from_millis(100) && took < Duration::from_secs(5),
            "{took:?}"
        );
    }
    thread::sleep(Duration::from_millis(150));
    assert_eq!(service.fired.lock().unwrap().len(), 3);
}

pub(crate) fn timers_of_the_service_run_while_it_drains(runtime: Runtime) {
    let service = Arc::new(Alarm::default());
    let server = run_any!(runtime, bind, Arc::clone(&service), Options::default(), 2);
    let mut client = Client::login(server.address);
    client.query(1, "wind it up");
    eventually(|| service.deadline.lock().unwrap().map(|_| ()));
    server.shutdown.shutdown();
    assert_eq!(client.receive().text(), "it rang");
    assert!(client.is_closed());
}

/// Lets those in who know the word, after a look on another thread.
#[derive(Default)]
struct Guarded {
    server: OnceLock<ServerHandle>,
}

impl Service for Guarded {
    type Session = Arc<AtomicBool>;

    fn start(&self, server: ServerHandle) {
        assert!(self.server.set(server).is_ok());
    }

    fn open(&self, _: &PeerInfo) -> Arc<AtomicBool> {
        Arc::default()
    }

    fn authenticate(
        &self,
        _: Instant,
        known: &mut Arc<AtomicBool>,
        token: AuthToken<'_>,
        responder: Responder<'_>,
    ) {
        if token.bytes() != Some(b"sesame") {
            return responder.refuse("not that word".to_owned());
        }
        let known = Arc::clone(known);
        self.server
            .get()
            .unwrap()
            .offload()
            .submit(responder.defer(), move || {
                known.store(true, Ordering::SeqCst);
                Response::AuthSuccess(None)
            });
    }

    fn call(
        &self,
        _: Instant,
        known: &mut Arc<AtomicBool>,
        _: Request<'_>,
        responder: Responder<'_>,
    ) {
        responder.send(said(if known.load(Ordering::SeqCst) {
            "known"
        } else {
            "unknown"
        }));
    }
}

/// Demands authentication by `class`.
fn guarded(class: &str) -> Options {
    let mut config = ServerConfig::default();
    config.authenticator = Some(class.to_owned());
    let mut options = Options::default();
    options.connection = Arc::new(config);
    options
}

/// Knows a word for those who ask for it by the right name.
#[derive(Debug)]
struct Word(&'static str);

impl Authenticator for Word {
    fn initial(&self, authenticator: &str) -> Result<Option<Vec<u8>>, String> {
        match authenticator {
            "org.example.Doorman" => Ok(Some(self.0.as_bytes().to_vec())),
            other => Err(format!("no word for {other}")),
        }
    }

    fn challenge(&self, _: Option<&[u8]>) -> Result<Option<Vec<u8>>, String> {
        Err("no second word".to_owned())
    }
}

pub(crate) fn the_librarys_client_says_who_it_is(runtime: Runtime) {
    let outcome = |class: &str, word: Option<&'static str>| {
        let options = guarded(class);
        let server = run_any!(runtime, bind, Arc::new(Guarded::default()), options, 2);
        let mut config = Config::default();
        config.authenticator = word.map(|word| Arc::new(Word(word)) as _);
        let client = try_connect(runtime, server.address, config)?;
        Ok(text(wait(client.query("who am I", ()))))
    };
    let refused = |outcome: Result<String, Error>| match outcome {
        Err(Error::Lost { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let doorman = "org.example.Doorman";
    assert_eq!(outcome(doorman, Some("sesame")).unwrap(), "known");
    let reason = refused(outcome(doorman, Some("what"))).to_string();
    assert!(reason.contains("not that word"), "{reason}");
    for (class, word) in [(doorman, None), ("org.example.Other", Some("sesame"))] {
        let reason = refused(outcome(class, word));
        assert!(matches!(reason, Lost::Authentication(_)), "{reason}");
    }
}

pub(crate) fn a_client_is_let_in_when_it_knows_the_word(runtime: Runtime) {
    let options = guarded("org.example.Doorman");
    let server = run_any!(runtime, bind, Arc::new(Guarded::default()), options, 2);
    let mut client = Client::connect(server.address);
    client.write(&startup());
    assert_eq!(client.receive().opcode, AUTHENTICATE);
    client.write(&envelope(1, QUERY, &[]));
    assert_eq!(client.receive().error_code(), 0x000a);
    client.write(&envelope(2, AUTH_RESPONSE, b"\x00\x00\x00\x04what"));
    assert_eq!(client.receive().error_code(), 0x0100);
    client.write(&envelope(3, AUTH_RESPONSE, b"\x00\x00\x00\x06sesame"));
    let welcome = client.receive();
    assert_eq!((welcome.stream, welcome.opcode), (3, AUTH_SUCCESS));
    assert_eq!(client.ask("who am I"), "known");
}
