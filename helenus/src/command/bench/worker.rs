//! One thread of a load: its connections, and the event loop that pumps them.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Buf;
use helenus_client::MaybeTls;
use helenus_core::Pumped;
use mio::net::TcpStream;
use mio::{Events, Interest, Token};

use super::alarm::Alarm;
use super::error::BenchError;
use super::interrupt::Interrupt;
use super::load::{Answered, Broken, Load, READ, Terms};
use super::schedule::Schedule;
use super::tally::Tally;
use super::workload::Requests;

/// How long a server may take to accept connections and to start the protocol on them.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long a thread waits for its sockets before it looks whether it is to end early.
const LONGEST_TURN: Duration = Duration::from_millis(100);

/// The alarm's token; connections count from 0.
const ALARM: Token = Token(usize::MAX);

/// What one thread is to do.
#[derive(Debug)]
pub(super) struct Assignment {
    /// The server.
    pub(super) server: SocketAddr,
    /// How connections begin.
    pub(super) terms: Terms,
    /// This thread's connections.
    pub(super) connections: usize,
    /// Requests in flight on each.
    pub(super) depth: u16,
    /// What is asked for; `None` to connect over and over.
    pub(super) requests: Option<Requests>,
}

/// When a load is measured. It goes from when it is told until the end.
#[derive(Debug, Clone)]
pub(super) struct Span {
    /// From when on answers count.
    pub(super) begin: Instant,
    /// Until when.
    pub(super) end: Instant,
    /// When requests start, if not as soon as there is room.
    pub(super) schedule: Option<Schedule>,
}

/// A connection and its socket.
#[derive(Debug)]
struct Link {
    socket: TcpStream,
    load: MaybeTls<Load>,
    /// Whether the last read filled its buffer, or the poll said that there is something.
    is_readable: bool,
    is_writable: bool,
    /// Whether the server has ended its side: then there is something to read until nothing is.
    has_ended: bool,
    /// Whether it waits for its pump in this turn.
    is_due: bool,
}

/// One thread of a load.
#[derive(Debug)]
pub(super) struct Worker<'a> {
    assignment: Assignment,
    poll: mio::Poll,
    alarm: Alarm,
    links: Vec<Link>,
    scratch: Vec<u8>,
    /// For what is taken from a connection.
    answered: Vec<Answered>,
    /// Connections to be pumped.
    due: Vec<usize>,
    /// With a schedule: connections with room for a request, once for each.
    room: VecDeque<usize>,
    span: Option<Span>,
    tally: Tally,
    /// All that this thread has had answered, for who watches.
    progress: &'a AtomicU64,
    interrupt: &'a Interrupt,
}

impl<'a> Worker<'a> {
    /// Opens the connections and waits until requests may be sent on all of them.
    pub(super) fn connect(
        assignment: Assignment,
        progress: &'a AtomicU64,
        interrupt: &'a Interrupt,
    ) -> Result<Self, BenchError> {
        let poll = mio::Poll::new().map_err(BenchError::System)?;
        let alarm = Alarm::new(poll.registry(), ALARM).map_err(BenchError::System)?;
        let mut worker = Self {
            poll,
            alarm,
            links: Vec::new(),
            scratch: vec![0; READ],
            answered: Vec::new(),
            due: Vec::new(),
            room: VecDeque::new(),
            span: None,
            tally: Tally::default(),
            progress,
            interrupt,
            assignment,
        };
        // The workload that connects does so later.
        if worker.assignment.requests.is_some() {
            for at in 0..worker.assignment.connections {
                worker.open(at)?;
            }
        }
        let deadline = Instant::now() + PATIENCE;
        while !worker.links.iter().all(|link| link.load.is_ready()) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let reason = "it doesn't start the protocol on every connection".to_owned();
                return Err(BenchError::NoServer(worker.assignment.server, reason));
            }
            worker.turn(left)?;
        }
        Ok(worker)
    }

    /// Loads the server until the end of `span`; what was counted.
    pub(super) fn run(mut self, span: Span) -> Result<Tally, BenchError> {
        let end = span.end;
        self.span = Some(span);
        self.start()?;
        loop {
            let now = Instant::now();
            if now >= end {
                break;
            }
            let mut most = end - now;
            if let Some(schedule) = self.span.as_ref().and_then(|span| span.schedule.as_ref())
                && !self.room.is_empty()
            {
                let next = schedule.next();
                most = self
                    .alarm
                    .set(next, now, most)
                    .map_err(BenchError::System)?;
            }
            self.turn(most)?;
        }
        self.finish(end);
        Ok(self.tally)
    }

    /// Sends the first requests.
    fn start(&mut self) -> Result<(), BenchError> {
        let depth = self.assignment.depth;
        if self.assignment.requests.is_none() {
            for at in 0..self.assignment.connections {
                self.open(at)?;
            }
        } else if self.is_scheduled() {
            for _ in 0..depth {
                self.room.extend(0..self.links.len());
            }
        } else {
            let now = Instant::now();
            for at in 0..self.links.len() {
                for _ in 0..depth {
                    self.send(at, now, now);
                }
            }
        }
        self.pump_due()
    }

    fn is_scheduled(&self) -> bool {
        self.span
            .as_ref()
            .is_some_and(|span| span.schedule.is_some())
    }

    /// Opens a connection at this place.
    fn open(&mut self, at: usize) -> Result<(), BenchError> {
        let server = self.assignment.server;
        let unreachable = |error: io::Error| BenchError::NoServer(server, error.to_string());
        let mut socket = TcpStream::connect(server).map_err(unreachable)?;
        let interest = Interest::READABLE | Interest::WRITABLE;
        self.poll
            .registry()
            .register(&mut socket, Token(at), interest)
            .map_err(BenchError::System)?;
        let link = Link {
            socket,
            load: Load::open(&self.assignment.terms, server.ip(), Instant::now()),
            is_readable: false,
            is_writable: false,
            has_ended: false,
            is_due: false,
        };
        match self.links.get_mut(at) {
            Some(place) => *place = link,
            None => self.links.push(link),
        }
        Ok(())
    }

    /// Waits for sockets or the alarm, at most so long, and does what is there to do.
    fn turn(&mut self, most: Duration) -> Result<(), BenchError> {
        self.interrupt.check()?;
        let mut events = Events::with_capacity(1024);
        let most = most.min(LONGEST_TURN);
        match self.poll.poll(&mut events, Some(most)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(BenchError::System(error));
            }
            _ => {}
        }
        for event in &events {
            let at = event.token().0;
            let Some(link) = self.links.get_mut(at) else {
                continue;
            };
            if event.is_writable() && !link.is_writable {
                self.connected(at)?;
            }
            if let Some(link) = self.links.get_mut(at) {
                link.has_ended |= event.is_read_closed();
                link.is_readable |= event.is_readable() || link.has_ended;
            }
            self.mark(at);
        }
        self.send_scheduled();
        self.pump_due()
    }

    /// The socket can be written to: for the first time, that it is connected, or failed to.
    fn connected(&mut self, at: usize) -> Result<(), BenchError> {
        let server = self.assignment.server;
        let unreachable = |error: io::Error| BenchError::NoServer(server, error.to_string());
        let Some(link) = self.links.get_mut(at) else {
            return Ok(());
        };
        if let Some(error) = link.socket.take_error().map_err(unreachable)? {
            return Err(unreachable(error));
        }
        link.is_writable = true;
        link.socket.set_nodelay(true).map_err(unreachable)
    }

    fn mark(&mut self, at: usize) {
        if let Some(link) = self.links.get_mut(at)
            && !std::mem::replace(&mut link.is_due, true)
        {
            self.due.push(at);
        }
    }

    fn send_scheduled(&mut self) {
        let now = Instant::now();
        while let Some(&at) = self.room.front()
            && let Some(schedule) = self.span.as_mut().and_then(|span| span.schedule.as_mut())
            && let Some(start) = schedule.take(now)
        {
            self.room.pop_front();
            self.send(at, now, start);
        }
    }

    fn send(&mut self, at: usize, now: Instant, start: Instant) {
        if let Some(link) = self.links.get_mut(at)
            && let Some(requests) = &mut self.assignment.requests
        {
            link.load.send(now, start, requests.next());
        }
        self.mark(at);
    }

    fn pump_due(&mut self) -> Result<(), BenchError> {
        // Pumping may add to it.
        let mut next = 0;
        while let Some(&at) = self.due.get(next) {
            next += 1;
            if let Some(link) = self.links.get_mut(at) {
                link.is_due = false;
            }
            self.pump(at)?;
        }
        self.due.clear();
        Ok(())
    }

    /// One read, then one write of what that let be sent.
    fn pump(&mut self, at: usize) -> Result<(), BenchError> {
        let server = self.assignment.server;
        let broken = |error: io::Error| BenchError::Connection(server, error.to_string());
        let Some(link) = self.links.get_mut(at) else {
            return Ok(());
        };
        let was_ready = link.load.is_ready();
        // With TLS, what the handshake has to say comes of it; and what was read may not have been handed on yet.
        link.load.turn(Instant::now());
        if link.is_readable {
            link.read(&mut self.scratch).map_err(broken)?;
        }
        if let Some(why) = link.load.broken().cloned() {
            return Err(self.explain(&why));
        }
        let connects = self.assignment.requests.is_none();
        if connects && !was_ready && link.load.is_ready() {
            let opened = link.load.opened();
            let answer = Answered {
                start: opened,
                error: None,
            };
            self.count(&answer, Instant::now());
            self.progress.fetch_add(1, Ordering::Relaxed);
            return self.open(at);
        }
        self.settle(at);
        let Some(link) = self.links.get_mut(at) else {
            return Ok(());
        };
        link.write().map_err(broken)?;
        if link.is_readable {
            self.mark(at);
        }
        Ok(())
    }

    /// Counts what a connection was answered, and sends the next requests.
    fn settle(&mut self, at: usize) {
        let mut answered = std::mem::take(&mut self.answered);
        if let Some(link) = self.links.get_mut(at) {
            link.load.take_answered(&mut answered);
        }
        if !answered.is_empty() {
            self.progress
                .fetch_add(answered.len() as u64, Ordering::Relaxed);
            let (now, is_scheduled) = (Instant::now(), self.is_scheduled());
            for answer in answered.drain(..) {
                self.count(&answer, now);
                if is_scheduled {
                    self.room.push_back(at);
                } else {
                    self.send(at, now, now);
                }
            }
            if is_scheduled {
                self.send_scheduled();
            }
        }
        self.answered = answered;
    }

    fn count(&mut self, answer: &Answered, now: Instant) {
        let Some(span) = &self.span else {
            return;
        };
        if (span.begin..span.end).contains(&now) {
            let latency = now.saturating_duration_since(answer.start);
            self.tally.count(latency, answer.error.as_deref());
        } else if now >= span.end && span.schedule.is_some() {
            self.tally.count_unanswered(answer.start, span.end);
        }
    }

    /// The load is over. By a schedule, who waits for an answer, or to be sent at all, has waited.
    fn finish(&mut self, end: Instant) {
        if !self.is_scheduled() {
            return;
        }
        for link in &self.links {
            for start in link.load.waiting() {
                self.tally.count_unanswered(start, end);
            }
        }
        if let Some(schedule) = self.span.as_mut().and_then(|span| span.schedule.as_mut()) {
            while let Some(start) = schedule.take(end) {
                self.tally.count_unanswered(start, end);
            }
        }
    }

    fn explain(&self, broken: &Broken) -> BenchError {
        let server = self.assignment.server;
        match broken {
            Broken::LoginDemanded => BenchError::LoginDemanded(server),
            Broken::Over(error) => BenchError::refused(server, error),
            Broken::Compression(wanted) => {
                BenchError::Compression(server, *wanted, self.assignment.terms.version().as_u8())
            }
            Broken::Tls(reason) => BenchError::NoServer(server, reason.clone()),
            Broken::Answer(reason) => BenchError::Connection(server, reason.clone()),
        }
    }
}

impl Link {
    /// Reads once. After a short read the socket is empty: the poll tells when it isn't any more.
    fn read(&mut self, scratch: &mut [u8]) -> io::Result<()> {
        let now = Instant::now();
        let socket = &mut self.socket;
        let (mut has_more, has_ended) = (false, self.has_ended);
        let outcome = self.load.read(now, |input| match socket.read(scratch) {
            Ok(bytes) => {
                has_more = bytes == scratch.len() || has_ended && bytes > 0;
                input.extend_from_slice(scratch.get(..bytes).unwrap_or_default());
                Poll::Ready(Ok(bytes))
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                has_more = true;
                Poll::Pending
            }
            Err(error) => Poll::Ready(Err(error)),
        });
        self.is_readable = has_more;
        match outcome {
            Poll::Ready(Err(error)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Writes as far as the socket takes it.
    fn write(&mut self) -> io::Result<()> {
        while self.is_writable
            && let Some(mut transmit) = self.load.poll_transmit()
        {
            match self.socket.write(transmit.chunk()) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(bytes) => transmit.advance(bytes),
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.is_writable = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
