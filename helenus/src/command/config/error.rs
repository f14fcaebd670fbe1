//! Why there are no settings: what is wrong, and where it stands.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

/// Why there are no settings.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{origin}{problem}")]
pub(in crate::command) struct ConfigError {
    origin: Origin,
    problem: Problem,
}

impl ConfigError {
    pub(super) fn new(origin: Origin, problem: Problem) -> Self {
        Self { origin, problem }
    }
}

/// Where something is set.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Origin {
    /// In a line, from 1, of a file.
    File { file: PathBuf, line: usize },
    /// By `--set`, with this text.
    Flag(String),
    /// By several sources together.
    Everywhere,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line } => write!(f, "{}:{line}: ", file.display()),
            Self::Flag(text) => write!(f, "--set {text}: "),
            Self::Everywhere => Ok(()),
        }
    }
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Error)]
pub(super) enum Problem {
    /// The file can't be read.
    #[error("cannot read the configuration file {}: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: String },
    /// The file is no TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// A key that doesn't exist.
    #[error(
        "unknown key {key:?}; did you mean {nearest:?}? (`helenus serve --help-config` lists all)"
    )]
    UnknownKey { key: String, nearest: String },
    /// A `--set` without a value.
    #[error("expected section.key=value")]
    NoAssignment,
    /// A key's value that doesn't do, with what would be right.
    #[error("{key}: {reason}")]
    Value { key: String, reason: String },
}
