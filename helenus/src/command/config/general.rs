//! The settings outside of any table, which all have flags of their names.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::num::NonZeroUsize;
use std::str::FromStr;

use helenus::Runtime;

use super::error::{ConfigError, Origin, Problem};
use super::raw::Raw;
use super::section::section;
use super::value::{Value, text};
use crate::command::arguments::Serve;

/// The level up to which is logged.
pub(in crate::command) type LogLevel = tracing_subscriber::filter::LevelFilter;

/// The most workers that make sense; far above what machines have.
pub(in crate::command) const MAX_WORKERS: usize = 1024;

/// Where Cassandra's clients look first.
const LISTEN: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9042));

section! {
    /// What the server is.
    General in "" {
        /// Address and port to listen on; port 0 takes a free one.
        listen: SocketAddr = LISTEN, restart;
        /// What drives connections: tokio, smol, async-std or threads.
        runtime: Runtime = Runtime::Tokio, restart;
        /// Event loops to run, or "cores" for one a core; with threads, each connection has its own.
        workers: Workers = Workers(None), restart;
        /// What to log: off, error, warn, info, debug or trace.
        log: LogLevel = LogLevel::INFO, live;
    }
}

impl General {
    /// What flags and variables say wins.
    pub(super) fn override_with(&mut self, flags: &Serve) {
        self.listen = flags.listen.unwrap_or(self.listen);
        self.runtime = flags.runtime.unwrap_or(self.runtime);
        self.workers = flags.workers.unwrap_or(self.workers);
        self.log = flags.log.unwrap_or(self.log);
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self.workers.0 {
            Some(workers) if workers.get() > MAX_WORKERS => Err(ConfigError::new(
                Origin::Everywhere,
                Problem::Value {
                    key: "workers".to_owned(),
                    reason: format!("{workers} is too many; the most is {MAX_WORKERS}"),
                },
            )),
            _ => Ok(()),
        }
    }
}

/// How many event loops run; `None` for one a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command) struct Workers(pub(in crate::command) Option<NonZeroUsize>);

impl Workers {
    /// The number of loops on this machine.
    pub(in crate::command) fn count(self) -> NonZeroUsize {
        self.0
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }
}

impl Value for Workers {
    fn read(raw: &Raw) -> Result<Self, String> {
        if raw.text() == Some("cores") {
            return Ok(Self(None));
        }
        NonZeroUsize::read(raw)
            .map(|workers| Self(Some(workers)))
            .map_err(|_| "expected a whole number of workers, 1 or more, or \"cores\"".to_owned())
    }

    fn show(&self) -> String {
        self.0
            .map_or_else(|| "\"cores\"".to_owned(), |workers| workers.to_string())
    }
}

impl Value for Runtime {
    fn read(raw: &Raw) -> Result<Self, String> {
        Runtime::from_str(text(raw)?).map_err(|error| error.to_string())
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Value for LogLevel {
    fn read(raw: &Raw) -> Result<Self, String> {
        match text(raw)? {
            level @ ("off" | "error" | "warn" | "info" | "debug" | "trace") => {
                LogLevel::from_str(level).map_err(|error| error.to_string())
            }
            other => Err(format!(
                "{other:?} is no log level; expected off, error, warn, info, debug or trace"
            )),
        }
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}
