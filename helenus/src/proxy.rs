//! [`Proxy`]: passes every request on to another server, undecoded where both ends speak the same version.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use async_lock::OnceCell;
use helenus_client::{Client, Config, Error, Events};
use helenus_core::forward::{self, Message};
use helenus_core::message::{ErrorResponse, EventType, Undecoded};
use helenus_core::{ErrorCode, ProtocolVersion, Request, Response};
use helenus_server::{AsyncService, PeerInfo, ServerHandle, Spawn};

use crate::Runtime;
use crate::connect::RuntimeSpawn;

/// The server behind a [`Proxy`].
#[derive(Debug, Clone)]
pub struct Upstream {
    /// Where it listens.
    pub address: SocketAddr,
    /// How to connect to it: versions, compressions and who the proxy is.
    pub config: Config,
}

/// A server before another one: each connection of a client has a connection of its own to the server behind, which may
/// speak another version and compression. `helenus_core::forward` has the table of what that changes.
///
/// Events come on a connection of their own, so that they may come later than the answer to what they tell of. When a
/// connection to the server behind is lost, the client's answers IS_BOOTSTRAPPING to whatever it is asked, which drivers
/// take for a reason to go elsewhere.
///
/// A session's keyspace, prepared statements and everything else is the matter of the server behind, whose events reach
/// the clients as well. Clients aren't asked who they are; the proxy is who its configuration says. What the system
/// tables say of addresses isn't touched: a driver that looks for the cluster's nodes finds the server behind, not the
/// proxy.
///
/// ```no_run
/// use helenus::{ClientConfig, Options, Proxy, Runtime, Server, Upstream};
///
/// let upstream = Upstream { address: "127.0.0.1:9042".parse()?, config: ClientConfig::default() };
/// let proxy = Proxy::new(Runtime::Tokio, upstream);
/// let server = Server::bind_async(Runtime::Tokio, "127.0.0.1:9043".parse()?, proxy, Options::default())?;
/// server.run(2)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Proxy {
    target: Arc<Target>,
}

#[derive(Debug)]
struct Target {
    runtime: Runtime,
    tasks: RuntimeSpawn,
    upstream: Upstream,
    server: OnceLock<ServerHandle>,
    /// Whether somebody listens to the events of the server behind.
    listens: AtomicBool,
}

impl Proxy {
    /// A proxy that a [`Server`](crate::Server) on `runtime` serves.
    pub fn new(runtime: Runtime, upstream: Upstream) -> Self {
        Self {
            target: Arc::new(Target {
                runtime,
                tasks: runtime.into(),
                upstream,
                server: OnceLock::new(),
                listens: AtomicBool::new(false),
            }),
        }
    }
}

/// What a client's connection has: one to the server behind, once a request has needed it.
#[derive(Debug, Clone, Default)]
pub struct Line(Arc<OnceCell<Client>>);

impl AsyncService for Proxy {
    type Session = Line;

    fn start(&self, server: ServerHandle) {
        // A proxy is served once; a second server would get the events of the first.
        let _ = self.target.server.set(server);
    }

    fn open(&self, _peer: &PeerInfo) -> Line {
        Line::default()
    }

    fn call(
        &self,
        line: &mut Line,
        request: Request<'_>,
    ) -> impl Future<Output = Response> + Send + 'static {
        let (target, line) = (Arc::clone(&self.target), line.clone());
        let version = request.version();
        let (opcode, flags) = (request.opcode(), request.header().flags);
        let body = request.into_bytes();
        async move {
            let request = Message {
                opcode,
                flags,
                body: Cow::Borrowed(&body[..]),
            };
            match target.forward(&line, request, version).await {
                Ok(answer) => Response::Undecoded(answer),
                Err(error) => error.into(),
            }
        }
    }
}

impl Target {
    /// Passes a request of this version on, and its answer back.
    async fn forward(
        self: &Arc<Self>,
        line: &Line,
        request: Message<'_>,
        version: ProtocolVersion,
    ) -> Result<Undecoded, ErrorResponse> {
        let client = line.0.get_or_try_init(|| self.connect()).await;
        let client = client.map_err(|error| unreachable(&error))?;
        let behind = client.version();
        let request = forward::request(request, version, behind, None);
        let Message {
            opcode,
            flags,
            body,
        } = request.map_err(|error| error.response())?;
        let answer = client.forward(opcode, flags, &body).await;
        let answer = answer.map_err(|error| unreachable(&error))?;
        if version == behind {
            return Ok(answer);
        }
        let message = Message {
            opcode: answer.opcode,
            flags: answer.flags,
            body: Cow::Borrowed(&answer.body[..]),
        };
        let message = forward::response(message, behind, version);
        let message = message.map_err(|error| ErrorResponse::server_error(error.to_string()))?;
        Ok(Undecoded {
            opcode: message.opcode,
            flags: message.flags,
            body: match message.body {
                Cow::Borrowed(body) => answer.body.slice_ref(body),
                Cow::Owned(body) => body.into(),
            },
        })
    }

    async fn connect(self: &Arc<Self>) -> Result<Client, Error> {
        let Upstream { address, config } = &self.upstream;
        let client = self.runtime.connect(*address, config.clone()).await?;
        if !self.listens.swap(true, Ordering::AcqRel) {
            // In a task of its own: this future is dropped if its client goes away, and others would wait for
            // events that nobody fetches.
            let (listening, decided) = async_channel::bounded::<()>(1);
            let target = Arc::clone(self);
            self.tasks.spawn(Box::pin(async move {
                match target.listen().await {
                    Ok(events) => {
                        drop(listening);
                        target.pass_on(events).await;
                    }
                    Err(error) => target.deaf(&error),
                }
            }));
            // Closed without a word. The first request goes on after that, so that what it changes is heard.
            let _ = decided.recv().await;
        }
        Ok(client)
    }

    async fn listen(&self) -> Result<Events, Error> {
        let Upstream { address, config } = &self.upstream;
        let client = self.runtime.connect(*address, config.clone()).await?;
        client.events(&EVENTS).await
    }

    /// Passes events on, until the connection that they come on is gone.
    async fn pass_on(&self, mut events: Events) {
        while let Some(event) = events.next().await {
            match event {
                Ok(event) => {
                    if let Some(server) = self.server.get() {
                        server.publish(event);
                    }
                }
                Err(error) => return self.deaf(&error),
            }
        }
        self.listens.store(false, Ordering::Release);
    }

    /// No events come any more; the next client that connects begins anew.
    fn deaf(&self, error: &Error) {
        tracing::warn!(%error, "no events come from the server behind");
        self.listens.store(false, Ordering::Release);
    }
}

/// Everything that servers tell of.
const EVENTS: [EventType; 3] = [
    EventType::SchemaChange,
    EventType::StatusChange,
    EventType::TopologyChange,
];

/// The answer when there is none from the server behind: one that drivers take for a reason to try another server.
fn unreachable(error: &Error) -> ErrorResponse {
    let text = format!("The server behind the proxy doesn't answer: {error}");
    ErrorResponse::new(ErrorCode::IS_BOOTSTRAPPING, text)
}
