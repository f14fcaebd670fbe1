//! Canned replies, the same for every request of a kind: from a bare event loop that looks at little more than headers,
//! which is the least that a server on loopback can cost; and from helenus' own servers, whose cost above it shows so.

mod bare;
mod canned;
mod connection;
mod output;
mod replies;

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use clap::ValueEnum;
use helenus::{Runtime, Server, ShutdownHandle};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use canned::Canned;

/// What serves canned replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::command) enum Loop {
    /// A bare event loop a worker, with the least parsing.
    Bare,
    /// helenus on tokio, a loop a worker.
    Tokio,
    /// helenus on tokio's work-stealing runtime.
    TokioWorkStealing,
    /// helenus on smol, an executor a worker.
    Smol,
    /// helenus on async-std.
    AsyncStd,
    /// helenus on a blocking thread a connection.
    Threads,
}

impl Loop {
    const fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare",
            Self::Tokio => "tokio",
            Self::TokioWorkStealing => "tokio-work-stealing",
            Self::Smol => "smol",
            Self::AsyncStd => "async-std",
            Self::Threads => "threads",
        }
    }
}

impl fmt::Display for Loop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Serves canned replies until SIGINT or SIGTERM.
///
/// # Errors
/// When the address can't be listened on, or the system gives no threads or event queues.
pub(super) fn serve(address: SocketAddr, event_loop: Loop, workers: usize) -> io::Result<()> {
    let runtime = match event_loop {
        Loop::Bare => return serve_bare(address, workers),
        Loop::TokioWorkStealing => {
            let service = Arc::new(Canned::default());
            let server =
                helenus_tokio::Server::bind(address, service, helenus::Options::default())?;
            end_on_signals(Some(server.handle()))?;
            say_ready(server.local_addr(), event_loop, workers)?;
            return server.run_work_stealing(workers);
        }
        Loop::Tokio => Runtime::Tokio,
        Loop::Smol => Runtime::Smol,
        Loop::AsyncStd => Runtime::AsyncStd,
        Loop::Threads => Runtime::Threads,
    };
    let service = Arc::new(Canned::default());
    let server = Server::bind(runtime, address, service, helenus::Options::default())?;
    end_on_signals(Some(server.handle()))?;
    say_ready(server.local_addr(), event_loop, workers)?;
    server.run(workers)
}

fn serve_bare(address: SocketAddr, workers: usize) -> io::Result<()> {
    let listeners = bare::listen(address, workers)?;
    let local = match listeners.first() {
        Some(listener) => listener.local_addr()?,
        None => address,
    };
    end_on_signals(None)?;
    say_ready(local, Loop::Bare, workers)?;
    bare::run(listeners)
}

/// The one line on standard output.
fn say_ready(address: SocketAddr, event_loop: Loop, workers: usize) -> io::Result<()> {
    let workers = match workers {
        1 => "1 worker".to_owned(),
        workers => format!("{workers} workers"),
    };
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "ready: cql {address} (canned replies, loop {event_loop}, {workers})"
    )?;
    out.flush()
}

/// Shuts the server down on the first signal. Canned replies are nothing to wait for: without a server, the process ends.
fn end_on_signals(shutdown: Option<ShutdownHandle>) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                match &shutdown {
                    Some(shutdown) => shutdown.shutdown(),
                    None => std::process::exit(if signal == SIGTERM { 0 } else { 128 + signal }),
                }
            }
        })?;
    Ok(())
}
