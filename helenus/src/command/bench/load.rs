//! One connection of a load: everything but its socket. What was answered is kept until the worker takes it.

use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Poll, Waker, ready};
use std::time::Instant;

use bytes::{Buf, BytesMut};
use helenus_client::{ClientTls, MaybeTls};
use helenus_core::compression::Compression;
use helenus_core::connection::{CallOptions, Challenge, ClientEvent, ClientNext};
use helenus_core::{
    ClientConfig, ClientConnection, ErrorResponse, Flags, Opcode, Progress, ProtocolVersion,
    Pumped, Response, Turn,
};
use helenus_tls::{Driver, Negotiated};

/// How much one read takes at most.
pub(super) const READ: usize = 64 << 10;

/// How the connections of a load begin.
#[derive(Debug, Clone)]
pub(super) struct Terms {
    config: Arc<ClientConfig>,
    /// SASL's PLAIN, if there is somebody to log in.
    token: Option<Arc<[u8]>>,
    tls: Option<ClientTls>,
}

impl Terms {
    /// Those of a version and a compression, with so many requests in flight at most.
    pub(super) fn new(
        version: ProtocolVersion,
        compression: Option<Compression>,
        login: Option<(&str, &str)>,
        tls: Option<ClientTls>,
        depth: u16,
    ) -> Self {
        let mut config = ClientConfig::default();
        config.versions = vec![version];
        config.compressions = compression.into_iter().collect();
        // Without a compression to ask for, OPTIONS would tell nothing.
        config.ask_options = compression.is_some();
        config.request_timeout = None;
        config.heartbeat_interval = None;
        config.limits.max_in_flight = depth.into();
        config.limits.max_unsent = usize::MAX;
        let token =
            login.map(|(user, password)| format!("\0{user}\0{password}").into_bytes().into());
        Self {
            config: Arc::new(config),
            token,
            tls,
        }
    }

    /// The protocol version.
    pub(super) fn version(&self) -> ProtocolVersion {
        let versions = &self.config.versions;
        versions.first().copied().unwrap_or(ProtocolVersion::LATEST)
    }

    /// The compression that is asked for.
    pub(super) fn compression(&self) -> Option<Compression> {
        self.config.compressions.first().copied()
    }
}

/// A request that was answered.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    /// When it was to start.
    pub(super) start: Instant,
    /// What is wrong, if the answer is an ERROR.
    pub(super) error: Option<Box<ErrorResponse>>,
}

/// Why a load's connection is of no use any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Broken {
    /// The server asks who it is.
    LoginDemanded,
    /// The protocol's side of it.
    Over(helenus_core::ClientError),
    /// The server doesn't offer the compression.
    Compression(Compression),
    /// The TLS beneath.
    Tls(String),
    /// What answered a request is no answer that can be counted.
    Answer(String),
}

/// One connection of a load.
#[derive(Debug)]
pub(super) struct Load {
    connection: ClientConnection,
    terms: Terms,
    input: BytesMut,
    /// When the request on each stream was to start.
    starts: Vec<Option<Instant>>,
    answered: Vec<Answered>,
    is_ready: bool,
    broken: Option<Broken>,
    opened: Instant,
}

impl Load {
    /// A connection that is being opened to a server at `address`.
    pub(super) fn open(terms: &Terms, address: IpAddr, now: Instant) -> MaybeTls<Self> {
        let load = Self {
            connection: ClientConnection::new(Arc::clone(&terms.config), now),
            terms: terms.clone(),
            input: BytesMut::new(),
            starts: Vec::new(),
            answered: Vec::new(),
            is_ready: false,
            broken: None,
            opened: now,
        };
        match &terms.tls {
            Some(tls) => tls.connect(load, address, now, terms.config.handshake_timeout),
            None => MaybeTls::plain(load),
        }
    }

    /// Whether requests may be sent.
    pub(super) const fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// When it was opened.
    pub(super) const fn opened(&self) -> Instant {
        self.opened
    }

    /// Why it is of no use, once it is.
    pub(super) const fn broken(&self) -> Option<&Broken> {
        self.broken.as_ref()
    }

    /// Sends a request that was to start at `start`.
    pub(super) fn send(&mut self, now: Instant, start: Instant, (opcode, body): (Opcode, &[u8])) {
        let options = CallOptions::default();
        match self
            .connection
            .forward(now, opcode, Flags::NONE, body, &options)
        {
            Ok(call) => {
                let stream = usize::try_from(call.stream().0).unwrap_or(0);
                if self.starts.len() <= stream {
                    self.starts.resize(stream + 1, None);
                }
                self.starts[stream] = Some(start);
            }
            Err(refused) => self.fail(Broken::Answer(refused.to_string())),
        }
    }

    /// When the requests were to start that weren't answered yet.
    pub(super) fn waiting(&self) -> impl Iterator<Item = Instant> {
        self.starts.iter().flatten().copied()
    }

    /// Takes what was answered since the last time, for `spare`, which is empty.
    pub(super) fn take_answered(&mut self, spare: &mut Vec<Answered>) {
        std::mem::swap(&mut self.answered, spare);
    }

    fn fail(&mut self, broken: Broken) {
        self.broken.get_or_insert(broken);
    }

    fn run(&mut self, now: Instant) {
        loop {
            let mut challenge = None;
            match self.connection.next(now, &mut self.input) {
                ClientNext::Stop(Progress::Finished) => {
                    self.broken
                        .get_or_insert(Broken::Over(helenus_core::ClientError::Ended));
                    return;
                }
                ClientNext::Stop(_) => return,
                ClientNext::Event(ClientEvent::Ready) => self.is_ready = true,
                ClientNext::Event(ClientEvent::Challenge(asked)) => challenge = Some(asked),
                ClientNext::Event(ClientEvent::Answer(call, answer)) => {
                    let stream = usize::try_from(call.stream().0).unwrap_or(0);
                    let start = self.starts.get_mut(stream).and_then(Option::take);
                    let start = start.unwrap_or(now);
                    let error = match answer.opcode() {
                        Opcode::ERROR => match answer.parse() {
                            Ok((Response::Error(error), _)) => Some(Box::new(error)),
                            Ok(_) => None,
                            Err(error) => {
                                let text = error.to_string();
                                self.broken.get_or_insert(Broken::Answer(text));
                                return;
                            }
                        },
                        _ => None,
                    };
                    self.answered.push(Answered { start, error });
                }
                ClientNext::Event(ClientEvent::Failed(_, error)) => {
                    self.broken.get_or_insert(Broken::Answer(error.to_string()));
                }
                ClientNext::Event(ClientEvent::Closed(error)) => {
                    self.broken.get_or_insert(Broken::Over(error));
                }
                ClientNext::Event(_) => {}
            }
            match challenge {
                None => {}
                Some(asked) => self.log_in(&asked),
            }
            if self.is_ready
                && let Some(wanted) = self.terms.compression()
                && self.connection.compression() != Some(wanted)
            {
                self.fail(Broken::Compression(wanted));
            }
        }
    }

    fn log_in(&mut self, asked: &Challenge) {
        let answered = match (&self.terms.token, asked) {
            (Some(token), Challenge::Authenticator(_)) => self
                .connection
                .authenticate(Some(token))
                .map_err(|error| error.to_string()),
            (Some(_), _) => Err("SASL PLAIN knows no challenge".to_owned()),
            (None, _) => return self.fail(Broken::LoginDemanded),
        };
        if let Err(reason) = answered {
            self.fail(Broken::Answer(reason));
        }
    }
}

impl Pumped for Load {
    fn turn(&mut self, now: Instant) -> Turn {
        self.run(now);
        Turn::Wait
    }

    fn read<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut BytesMut) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        let bytes = ready!(read(&mut self.input))?;
        if bytes == 0 {
            self.connection.handle_eof(now);
        }
        self.run(now);
        Poll::Ready(Ok(bytes))
    }

    fn read_slice<E>(
        &mut self,
        now: Instant,
        read: impl FnOnce(&mut [u8]) -> Poll<Result<usize, E>>,
    ) -> Poll<Result<usize, E>> {
        self.read(now, |input| {
            let start = input.len();
            input.resize(start + READ, 0);
            let outcome = read(input.get_mut(start..).unwrap_or_default());
            let came = match &outcome {
                Poll::Ready(Ok(bytes)) => *bytes,
                _ => 0,
            };
            input.truncate(start + came);
            outcome
        })
    }

    fn poll_transmit(&mut self) -> Option<impl Buf> {
        self.connection.poll_transmit()
    }

    fn wants_read(&mut self) -> bool {
        self.connection.wants_read()
    }

    fn park(&mut self, _waker: &Waker) -> bool {
        true
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.connection.poll_timeout()
    }
}

impl Driver for Load {
    /// STARTUP waits in the output already.
    fn handle_handshake(&mut self, _now: Instant, _negotiated: Option<Negotiated>) {}

    fn handle_failure(&mut self, error: &helenus_tls::Error) {
        self.fail(Broken::Tls(error.to_string()));
    }

    /// What is encrypted is bounded.
    fn handle_unsent(&mut self, _bytes: usize) {}
}
