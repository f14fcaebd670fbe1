//! A server with a canned service, on any of the runtimes.

use helenus_core::ServerEvent;
use helenus_core::message::{ChangeType, SchemaChange, SchemaTarget};
use helenus_core::{ErrorResponse, Reply, Request, RequestBody, Responder, Response};
use helenus_server::{Options, PeerInfo, ServerHandle, Service, ShutdownHandle, Totals};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// What the suite runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runtime {
    Threads,
    Tokio,
    TokioWorkStealing,
    Smol,
    AsyncStd,
}

/// A running server; shut down when dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) service: Arc<Canned>,
    pub(crate) shutdown: ShutdownHandle,
    totals: Box<dyn Fn() -> Totals + Send>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Running {
    /// Starts with two workers.
    pub(crate) fn start(runtime: Runtime, options: Options) -> Running {
        Running::start_workers(runtime, options, 2)
    }

    pub(crate) fn start_workers(runtime: Runtime, options: Options, workers: usize) -> Running {
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let service = Arc::new(Canned::default());
        macro_rules! start {
            ($server:ty, $run:ident $(, $workers:expr)?) => {{
                let server = <$server>::bind(address, Arc::clone(&service), options).unwrap();
                let hub = Arc::clone(server.hub());
                Running {
                    address: server.local_addr(),
                    service,
                    shutdown: server.handle(),
                    totals: Box::new(move || hub.totals()),
                    thread: Some(thread::spawn(move || server.$run($($workers)?))),
                }
            }};
        }
        match runtime {
            Runtime::Threads => start!(helenus_std::Server<Canned>, run),
            Runtime::Tokio => start!(helenus_tokio::Server<Canned>, run_workers, workers),
            Runtime::TokioWorkStealing => {
                start!(helenus_tokio::Server<Canned>, run_work_stealing, workers)
            }
            Runtime::Smol => start!(helenus_smol::Server<Canned>, run_workers, workers),
            Runtime::AsyncStd => {
                start!(
                    helenus_smol::async_std::Server<Canned>,
                    run_workers,
                    workers
                )
            }
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        (self.totals)()
    }

    /// Waits for the server to end.
    pub(crate) fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.shutdown.shutdown();
        self.service.release();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !thread::panicking() {
                ended.unwrap().unwrap();
            }
        }
    }
}

/// A service that does what the query text says.
#[derive(Default)]
pub(crate) struct Canned {
    server: OnceLock<ServerHandle>,
    other_thread: OnceLock<Mutex<Sender<Errand>>>,
    kept: Mutex<Vec<Reply>>,
    pub(crate) calls: AtomicUsize,
    pub(crate) closed: AtomicUsize,
}

type Errand = Box<dyn FnOnce() + Send>;

impl Canned {
    /// Answers what `keep` kept.
    pub(crate) fn release(&self) {
        for reply in self.kept.lock().unwrap().drain(..) {
            reply.send(said("released"));
        }
    }

    pub(crate) fn server(&self) -> &ServerHandle {
        self.server.get().unwrap()
    }

    fn elsewhere(&self, errand: impl FnOnce() + Send + 'static) {
        self.other_thread
            .get()
            .unwrap()
            .lock()
            .unwrap()
            .send(Box::new(errand))
            .unwrap();
    }
}

fn said(text: &str) -> Response {
    Response::SetKeyspace(text.into())
}

pub(crate) fn created(keyspace: &str) -> ServerEvent {
    ServerEvent::SchemaChange(SchemaChange {
        change: ChangeType::Created,
        target: SchemaTarget::Keyspace {
            keyspace: keyspace.into(),
        },
    })
}

impl Service for Canned {
    type Session = u64;

    fn start(&self, server: ServerHandle) {
        let (sender, errands) = channel::<Errand>();
        thread::spawn(move || errands.into_iter().for_each(|errand| errand()));
        assert!(self.server.set(server).is_ok());
        assert!(self.other_thread.set(Mutex::new(sender)).is_ok());
    }

    fn open(&self, peer: &PeerInfo) -> u64 {
        peer.connection
    }

    fn close(&self, _session: u64) {
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    fn call(&self, _: Instant, session: &mut u64, request: Request<'_>, responder: Responder<'_>) {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let text = match request.parse() {
            Ok(RequestBody::Query(query)) => query.query,
            Ok(_) => return responder.error(ErrorResponse::invalid("only QUERY")),
            Err(error) => return responder.error(error.response()),
        };
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.to_owned();
        match verb {
            "echo" => responder.send(said(&rest)),
            "call" => responder.send(said(&call.to_string())),
            "session" => responder.send(said(&session.to_string())),
            "defer" => {
                let reply = responder.defer();
                self.elsewhere(move || reply.send(said(&rest)));
            }
            "event" => {
                let reply = responder.defer();
                self.server().publish(created(&rest));
                reply.send(said(&rest));
            }
            "keep" => self.kept.lock().unwrap().push(responder.defer()),
            "forget" => drop(responder.defer()),
            "offload" => self
                .server()
                .offload()
                .submit(responder.defer(), move || said(&rest)),
            "panic" => panic!("as told to"),
            "panic-elsewhere" => self.server().offload().submit(responder.defer(), || {
                panic!("as told to, on another thread")
            }),
            "big" => responder.send(said(&"x".repeat(rest.parse().unwrap()))),
            "burn" => {
                let until = Instant::now() + Duration::from_micros(100);
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                responder.send(said("burnt"));
            }
            _ => responder.error(ErrorResponse::invalid("no such verb")),
        }
    }
}
