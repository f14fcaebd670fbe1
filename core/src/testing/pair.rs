//! [`Pair`]: both ends of a connection, joined in memory.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};

use super::clock::VirtualClock;
use super::desk::Desk;
use super::event::PairEvent;
use super::link::{Arrival, Link, Wire};
use crate::connection::{
    AuthToken, CallId, CallOptions, ClientConfig, ClientConnection, ClientNext, Event, Next,
    Outbox, Request, RequestTicket, Responder, SendRefused, ServerConfig, ServerConnection,
};
use crate::error::Error;
use crate::message::{Extras, RequestBody, Response};

/// What a [`Pair`]'s server does with requests. A function is one, and a closure that names the types of its
/// arguments.
pub trait PairService {
    /// Answers a request: at once through the `responder`, later through the `desk`.
    fn call(&mut self, request: Request<'_>, responder: Responder<'_>, desk: &mut Desk);

    /// Answers a token of authentication; everybody is let in by default.
    fn authenticate(&mut self, token: AuthToken<'_>, responder: Responder<'_>) {
        drop(token);
        responder.accept(None);
    }
}

impl<F: FnMut(Request<'_>, Responder<'_>, &mut Desk)> PairService for F {
    fn call(&mut self, request: Request<'_>, responder: Responder<'_>, desk: &mut Desk) {
        self(request, responder, desk);
    }
}

/// Answers on their way from a [`Reply`](crate::connection::Reply) to the server's end.
type Mail = (RequestTicket, Response, Option<Box<Extras>>);

struct Mailbox(Sender<Mail>);

impl Outbox for Mailbox {
    fn deliver(&self, ticket: RequestTicket, response: Response, extras: Option<Box<Extras>>) {
        // Nobody takes answers any more once the pair is dropped.
        let _ = self.0.send((ticket, response, extras));
    }
}

/// A [`ClientConnection`] and a [`ServerConnection`], joined by a [`Link`], with a clock of their own.
///
/// Nothing happens but in [`run`](Pair::run) and [`advance`](Pair::advance); the same seed, service and
/// calls give the same bytes at the same times.
pub struct Pair {
    client: ClientConnection,
    server: ServerConnection,
    service: Box<dyn PairService>,
    desk: Desk,
    mail: Receiver<Mail>,
    clock: VirtualClock,
    to_server: Wire,
    to_client: Wire,
    client_input: BytesMut,
    server_input: BytesMut,
    events: Vec<PairEvent>,
    server_error: Option<Error>,
}

impl Pair {
    /// A client that has just connected to a server, over a perfect network.
    #[must_use]
    pub fn new(
        client: ClientConfig,
        server: ServerConfig,
        start: Instant,
        service: impl PairService + 'static,
    ) -> Pair {
        let (outbox, mail) = channel();
        let version = client.preferred_version();
        Pair {
            client: ClientConnection::with_version(Arc::new(client), version, start),
            server: ServerConnection::new(Arc::new(server), Arc::new(Mailbox(outbox)), start),
            service: Box::new(service),
            desk: Desk::new(start, 0),
            mail,
            clock: VirtualClock::new(start),
            to_server: Wire::new(Link::default().to_server),
            to_client: Wire::new(Link::default().to_client),
            client_input: BytesMut::new(),
            server_input: BytesMut::new(),
            events: Vec::new(),
            server_error: None,
        }
    }

    /// The same pair over this network. For a pair that hasn't run yet: what is under way is lost.
    #[must_use]
    pub fn over(mut self, link: Link) -> Pair {
        self.to_server = Wire::new(link.to_server);
        self.to_client = Wire::new(link.to_client);
        self
    }

    /// The same pair, its desk's [random numbers](Desk::random) those of this seed.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Pair {
        self.desk = Desk::new(self.clock.now(), seed);
        self
    }

    /// The client's end.
    pub const fn client(&mut self) -> &mut ClientConnection {
        &mut self.client
    }

    /// The server's end.
    pub const fn server(&mut self) -> &mut ServerConnection {
        &mut self.server
    }

    /// Where the service leaves what it answers later.
    pub const fn desk(&mut self) -> &mut Desk {
        &mut self.desk
    }

    /// The time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Bytes the client has sent so far: a position to [cut](super::Path::cut_at) or
    /// [damage](super::Path::corrupt) another such pair at.
    #[must_use]
    pub const fn sent_by_client(&self) -> u64 {
        self.to_server.position()
    }

    /// Bytes the server has sent so far.
    #[must_use]
    pub const fn sent_by_server(&self) -> u64 {
        self.to_client.position()
    }

    /// Sends a request, as [`ClientConnection::send`] does.
    ///
    /// # Errors
    ///
    /// [`SendRefused`].
    pub fn send(
        &mut self,
        request: &RequestBody<'_>,
        options: &CallOptions<'_>,
    ) -> Result<CallId, SendRefused> {
        self.client.send(self.clock.now(), request, options)
    }

    /// What the client was told since this was last asked.
    pub fn events(&mut self) -> Vec<PairEvent> {
        std::mem::take(&mut self.events)
    }

    /// The fatal error of the server's end.
    #[must_use]
    pub const fn server_error(&self) -> Option<&Error> {
        self.server_error.as_ref()
    }

    /// Goes on until nothing is under way and no answer is left to be given; as much time passes as that
    /// takes. Timeouts pass only in between.
    pub fn run(&mut self) {
        self.settle();
        while let Some(at) = self.next_work() {
            self.step_to(at);
        }
    }

    /// Lets time pass, with all that happens in it.
    pub fn advance(&mut self, time: Duration) {
        let end = self
            .clock
            .now()
            .checked_add(time)
            .unwrap_or(self.clock.now());
        self.settle();
        loop {
            let timers = [self.client.poll_timeout(), self.server.poll_timeout()];
            let timer = timers.into_iter().flatten().min();
            let next = [self.next_work(), timer].into_iter().flatten().min();
            match next.filter(|at| *at <= end) {
                Some(at) => self.step_to(at),
                None => break,
            }
        }
        self.step_to(end);
    }

    /// When something is due that isn't a timeout.
    fn next_work(&self) -> Option<Instant> {
        // A peer that doesn't read leaves bytes on the wire: they are due when it reads again.
        let to_server = self.to_server.next_at().filter(|_| self.server_reads());
        let arrivals = [to_server, self.to_client.next_at(), self.desk.next_at()];
        arrivals.into_iter().flatten().min()
    }

    /// Does what is due at a time, which is now from then on: arrivals before answers before timeouts.
    fn step_to(&mut self, at: Instant) {
        let behind = at.saturating_duration_since(self.clock.now());
        self.clock.advance(behind);
        let now = self.clock.now();
        self.desk.set_now(now);
        loop {
            self.settle();
            if !self.arrive(now) && !self.desk.answer() {
                break;
            }
        }
        for (timer, is_client) in [
            (self.client.poll_timeout(), true),
            (self.server.poll_timeout(), false),
        ] {
            match timer.is_some_and(|at| at <= now) {
                true if is_client => self.client.handle_timeout(now),
                true => self.server.handle_timeout(now),
                false => {}
            }
        }
        self.settle();
    }

    /// Whether bytes that arrive at the server are taken off the wire.
    fn server_reads(&self) -> bool {
        // Who is finished reads and discards, as an adapter does.
        self.server.wants_read() || self.server.is_finished()
    }

    /// Hands the next piece that has arrived to each end.
    fn arrive(&mut self, now: Instant) -> bool {
        let arrivals = [
            self.server_reads()
                .then(|| self.to_server.take(now))
                .flatten(),
            self.to_client.take(now),
        ];
        let any = arrivals.iter().any(Option::is_some);
        let [at_server, at_client] = arrivals;
        match at_server {
            Some(Arrival::Bytes(bytes)) => self.server_input.extend_from_slice(&bytes),
            Some(Arrival::End) => self.server.handle_eof(now),
            None => {}
        }
        match at_client {
            Some(Arrival::Bytes(bytes)) => self.client_input.extend_from_slice(&bytes),
            Some(Arrival::End) => self.client.handle_eof(now),
            None => {}
        }
        any
    }

    /// Lets both ends do all they can at this time.
    fn settle(&mut self) {
        while self.turn_client() | self.turn_server() {}
    }

    /// Takes the client's events and output; whether there was any.
    fn turn_client(&mut self) -> bool {
        let now = self.clock.now();
        let mut any = false;
        while let ClientNext::Event(event) = self.client.next(now, &mut self.client_input) {
            self.events.push(event.into());
            any = true;
        }
        while let Some(mut transmit) = self.client.poll_transmit() {
            if !self.to_server.write(now, transmit.chunk()) {
                self.to_server.end(now);
                self.to_client.end(now);
            }
            transmit.advance(transmit.remaining());
            any = true;
        }
        if self.client.is_finished() {
            self.to_server.end(now);
        }
        any
    }

    /// Takes the server's events and output, and the answers that were put off; whether there was any.
    fn turn_server(&mut self) -> bool {
        let now = self.clock.now();
        let mut any = false;
        while let Ok((ticket, response, extras)) = self.mail.try_recv() {
            // An answer to a connection that is over is nobody's.
            let _ = self.server.respond(ticket, response, extras);
            any = true;
        }
        while let Next::Event(event) = self.server.next(now, &mut self.server_input) {
            any = true;
            match event {
                Event::Request(request, responder) => {
                    self.service.call(request, responder, &mut self.desk);
                }
                Event::Authenticate(token, responder) => {
                    self.service.authenticate(token, responder);
                }
                Event::Closed(error) => self.server_error = Some(error),
            }
        }
        while let Some(mut transmit) = self.server.poll_transmit() {
            if !self.to_client.write(now, transmit.chunk()) {
                self.to_client.end(now);
                self.to_server.end(now);
            }
            transmit.advance(transmit.remaining());
            any = true;
        }
        if self.server.is_finished() {
            self.to_client.end(now);
        }
        any
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pair")
            .field("client", &self.client)
            .field("server", &self.server)
            .field("events", &self.events)
            .finish_non_exhaustive()
    }
}
