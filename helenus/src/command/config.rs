//! The settings of `helenus serve`: flags and variables over a TOML file over defaults.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use helenus::Runtime;
use thiserror::Error;
use toml::de::{DeTable, DeValue};

use super::arguments::Serve;

/// The level up to which is logged.
pub(super) type LogLevel = tracing_subscriber::filter::LevelFilter;

/// The most workers that make sense; far above what machines have.
const MAX_WORKERS: usize = 1024;

/// The settings in force.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    /// Where to listen.
    pub(super) listen: SocketAddr,
    /// What drives the connections.
    pub(super) runtime: Runtime,
    /// How many event loops run.
    pub(super) workers: NonZeroUsize,
    /// What is logged.
    pub(super) log: LogLevel,
}

/// Why there are no settings.
#[derive(Debug, Error, PartialEq)]
pub(super) enum ConfigError {
    /// The file can't be read.
    #[error("cannot read the configuration file {}: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file is no TOML.
    #[error("{}:{line}: not valid TOML: {reason}", file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// A key that doesn't exist.
    #[error("{}:{line}: unknown key {key:?}; did you mean {nearest:?}? (keys: {})", file.display(), KEYS.join(", "))]
    UnknownKey {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key as written.
        key: String,
        /// The key that looks most like it.
        nearest: &'static str,
    },
    /// A key's value that doesn't do.
    #[error("{}:{line}: {key}: {reason}", file.display())]
    Value {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key.
        key: &'static str,
        /// What is wrong, and what would be right.
        reason: String,
    },
    /// More workers than any machine has.
    #[error("workers: {0} is too many; the most is {MAX_WORKERS}")]
    TooManyWorkers(usize),
}

/// The keys of the file, which are also the flags.
const KEYS: [&str; 4] = ["listen", "runtime", "workers", "log"];

/// What one source sets.
#[derive(Debug, Default, PartialEq)]
struct Layer {
    listen: Option<SocketAddr>,
    runtime: Option<Runtime>,
    workers: Option<NonZeroUsize>,
    log: Option<LogLevel>,
}

impl Config {
    /// The settings that flags, variables, the file they name and the defaults give together.
    pub(super) fn resolve(flags: &Serve) -> Result<Self, ConfigError> {
        let file = match &flags.config {
            Some(path) => Layer::read(path)?,
            None => Layer::default(),
        };
        let workers = flags
            .workers
            .or(file.workers)
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        if workers.get() > MAX_WORKERS {
            return Err(ConfigError::TooManyWorkers(workers.get()));
        }
        Ok(Self {
            listen: flags.listen.or(file.listen).unwrap_or(DEFAULT_LISTEN),
            runtime: flags.runtime.or(file.runtime).unwrap_or(Runtime::Tokio),
            workers,
            log: flags.log.or(file.log).unwrap_or(LogLevel::INFO),
        })
    }
}

/// Where Cassandra's clients look first.
const DEFAULT_LISTEN: SocketAddr = SocketAddr::V4(std::net::SocketAddrV4::new(
    std::net::Ipv4Addr::LOCALHOST,
    9042,
));

impl Layer {
    fn read(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Unreadable {
            file: path.to_owned(),
            reason: error.to_string(),
        })?;
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let table = DeTable::parse(text).map_err(|error| ConfigError::Syntax {
            file: path.to_owned(),
            line: line(text, error.span()),
            reason: error.message().to_owned(),
        })?;
        let mut layer = Self::default();
        for (key, value) in table.get_ref() {
            let line = line(text, Some(key.span()));
            let Some(known) = KEYS.into_iter().find(|known| *known == key.get_ref()) else {
                return Err(ConfigError::UnknownKey {
                    file: path.to_owned(),
                    line,
                    key: key.get_ref().to_string(),
                    nearest: nearest(key.get_ref()),
                });
            };
            layer
                .set(known, value.get_ref())
                .map_err(|reason| ConfigError::Value {
                    file: path.to_owned(),
                    line,
                    key: known,
                    reason,
                })?;
        }
        Ok(layer)
    }

    fn set(&mut self, key: &'static str, value: &DeValue<'_>) -> Result<(), String> {
        match key {
            "listen" => self.listen = Some(parse_listen(string(value)?)?),
            "runtime" => self.runtime = Some(parse_runtime(string(value)?)?),
            "log" => self.log = Some(parse_log(string(value)?)?),
            _ => self.workers = Some(workers(value)?),
        }
        Ok(())
    }
}

/// The line, from 1, where `span` begins; the last one when there is none.
fn line(text: &str, span: Option<Range<usize>>) -> usize {
    let end = span.map_or(text.len(), |span| span.start.min(text.len()));
    1 + text.as_bytes()[..end]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}

fn string<'a>(value: &'a DeValue<'_>) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| {
        format!(
            "expected a string in quotes, but this is of type {}",
            value.type_str()
        )
    })
}

fn workers(value: &DeValue<'_>) -> Result<NonZeroUsize, String> {
    const EXPECTED: &str = "expected a whole number of workers, 1 or more";
    let integer = value.as_integer().ok_or(EXPECTED)?;
    usize::from_str_radix(integer.as_str(), integer.radix())
        .ok()
        .and_then(NonZeroUsize::new)
        .ok_or_else(|| EXPECTED.to_owned())
}

/// The key that looks most like `key`.
fn nearest(key: &str) -> &'static str {
    let likeness = |known: &&str| strsim::jaro_winkler(known, key);
    KEYS.into_iter()
        .max_by(|left, right| likeness(left).total_cmp(&likeness(right)))
        .unwrap_or(KEYS[0])
}

/// An address to listen on.
pub(super) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| {
        format!("{text:?} is no address and port; write it as 127.0.0.1:9042 or [::1]:9042")
    })
}

/// A runtime by its name.
pub(super) fn parse_runtime(text: &str) -> Result<Runtime, String> {
    Runtime::from_str(text).map_err(|error| error.to_string())
}

/// A log level by its name.
pub(super) fn parse_log(text: &str) -> Result<LogLevel, String> {
    match text {
        "off" | "error" | "warn" | "info" | "debug" | "trace" => {
            LogLevel::from_str(text).map_err(|error| error.to_string())
        }
        _ => Err(format!(
            "{text:?} is no log level; expected off, error, warn, info, debug or trace"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Layer, String> {
        Layer::parse(Path::new("helenus.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_key_of_the_file_is_taken() {
        let text = "# all of them\nlisten = \"127.0.0.2:9142\"\nruntime = \"async-std\"\nworkers = 3\nlog = \"debug\"\n";
        assert_eq!(
            parse(text),
            Ok(Layer {
                listen: Some("127.0.0.2:9142".parse().unwrap()),
                runtime: Some(Runtime::AsyncStd),
                workers: NonZeroUsize::new(3),
                log: Some(LogLevel::DEBUG),
            })
        );
    }

    #[test]
    fn an_unknown_key_is_refused_with_its_line_and_the_nearest_right_one() {
        assert_eq!(
            parse("log = \"info\"\nruntme = \"tokio\"\n"),
            Err(
                "helenus.toml:2: unknown key \"runtme\"; did you mean \"runtime\"? \
                (keys: listen, runtime, workers, log)"
                    .to_owned()
            )
        );
    }

    #[test]
    fn a_wrong_value_is_refused_with_what_would_be_right() {
        for (text, message) in [
            (
                "workers = 0",
                "helenus.toml:1: workers: expected a whole number of workers, 1 or more",
            ),
            (
                "workers = \"two\"",
                "helenus.toml:1: workers: expected a whole number of workers, 1 or more",
            ),
            (
                "log = 3",
                "helenus.toml:1: log: expected a string in quotes, but this is of type integer",
            ),
            (
                "\nruntime = \"tokyo\"",
                "helenus.toml:2: runtime: \"tokyo\" is no runtime; expected tokio, smol, async-std or threads",
            ),
            (
                "listen = \"localhost\"",
                "helenus.toml:1: listen: \"localhost\" is no address and port; write it as 127.0.0.1:9042 or [::1]:9042",
            ),
        ] {
            assert_eq!(parse(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_no_toml_is_refused_with_its_line() {
        let error = parse("log = \"info\"\nworkers = = 2\n").unwrap_err();
        assert!(
            error.starts_with("helenus.toml:2: not valid TOML: "),
            "{error}"
        );
    }

    #[test]
    fn a_flag_wins_over_the_default() {
        let flags = Serve {
            runtime: Some(Runtime::Threads),
            workers: NonZeroUsize::new(7),
            ..Serve::default()
        };
        let config = Config::resolve(&flags).unwrap();
        assert_eq!(config.runtime, Runtime::Threads);
        assert_eq!(config.workers.get(), 7);
        assert_eq!(config.listen, DEFAULT_LISTEN);
    }

    #[test]
    fn more_workers_than_any_machine_has_are_refused() {
        let flags = Serve {
            workers: NonZeroUsize::new(5000),
            ..Serve::default()
        };
        assert_eq!(
            Config::resolve(&flags),
            Err(ConfigError::TooManyWorkers(5000))
        );
    }
}
