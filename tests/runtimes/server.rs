//! A server with a canned service, on any of the runtimes.

use helenus_core::ServerEvent;
use helenus_core::message::{ChangeType, SchemaChange, SchemaTarget};
use helenus_core::{ErrorResponse, Reply, Request, RequestBody, Responder, Response};
use helenus_server::{Options, PeerInfo, ServerHandle, Service, ShutdownHandle, Totals};
use std::net::SocketAddr;
use std::ops::{Deref, DerefMut};
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
pub(crate) struct Served {
    pub(crate) address: SocketAddr,
    pub(crate) shutdown: ShutdownHandle,
    pub(crate) totals: Box<dyn Fn() -> Totals + Send>,
    pub(crate) thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// Binds a service with `$bind` (`bind` or `bind_async`) and runs it on any runtime.
macro_rules! run_any {
    ($runtime:expr, $bind:ident, $service:expr, $options:expr, $workers:expr) => {
        match $runtime {
            $crate::server::Runtime::Threads => {
                run_any!(@ helenus_std::Server::$bind, run_workers, $service, $options, $workers)
            }
            $crate::server::Runtime::Tokio => {
                run_any!(@ helenus_tokio::Server::$bind, run_workers, $service, $options, $workers)
            }
            $crate::server::Runtime::TokioWorkStealing => run_any!(
                @ helenus_tokio::Server::$bind, run_work_stealing, $service, $options, $workers
            ),
            $crate::server::Runtime::Smol => {
                run_any!(@ helenus_smol::Server::$bind, run_workers, $service, $options, $workers)
            }
            $crate::server::Runtime::AsyncStd => run_any!(
                @ helenus_smol::async_std::Server::$bind, run_workers, $service, $options, $workers
            ),
        }
    };
    (@ $bind:path, $run:ident, $service:expr, $options:expr, $workers:expr) => {{
        let anywhere = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let server = $bind(anywhere, $service, $options).unwrap();
        let hub = std::sync::Arc::clone(server.hub());
        $crate::server::Served {
            address: server.local_addr(),
            shutdown: server.handle(),
            totals: Box::new(move || hub.totals()),
            thread: Some(std::thread::spawn(move || server.$run($workers))),
        }
    }};
}

impl Served {
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

impl Drop for Served {
    fn drop(&mut self) {
        self.shutdown.shutdown();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            if !thread::panicking() {
                ended.unwrap().unwrap();
            }
        }
    }
}

/// A running server of the canned service.
pub(crate) struct Running {
    pub(crate) service: Arc<Canned>,
    served: Served,
}

impl Running {
    /// Starts with two workers.
    pub(crate) fn start(runtime: Runtime, options: Options) -> Running {
        Running::start_workers(runtime, options, 2)
    }

    pub(crate) fn start_workers(runtime: Runtime, options: Options, workers: usize) -> Running {
        let service = Arc::new(Canned::default());
        let served = run_any!(runtime, bind, Arc::clone(&service), options, workers);
        Running { service, served }
    }
}

impl Deref for Running {
    type Target = Served;

    fn deref(&self) -> &Served {
        &self.served
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Served {
        &mut self.served
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What is kept would hold the shutdown up.
        self.service.release();
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

pub(crate) fn said(text: &str) -> Response {
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
        // A call that is counted and to be kept is kept already for who releases it.
        let mut kept = self.kept.lock().unwrap();
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        let text = match request.parse() {
            Ok(RequestBody::Query(query)) => query.query,
            Ok(_) => return responder.error(ErrorResponse::invalid("only QUERY")),
            Err(error) => return responder.reject(&error),
        };
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.to_owned();
        if verb == "keep" {
            return kept.push(responder.defer());
        }
        drop(kept);
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
