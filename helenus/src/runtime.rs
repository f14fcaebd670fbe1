//! The runtimes a server can be started on, by name.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// What drives the connections of a server. All behave alike; they differ in what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Runtime {
    /// tokio, one event loop a worker. Named `tokio`.
    #[default]
    Tokio,
    /// smol, one executor a worker. Named `smol`.
    Smol,
    /// async-std's executor and reactor. Named `async-std`.
    AsyncStd,
    /// A blocking thread a connection. Named `threads`.
    Threads,
}

impl Runtime {
    /// All runtimes.
    pub const ALL: [Self; 4] = [Self::Tokio, Self::Smol, Self::AsyncStd, Self::Threads];

    /// The name that flags, files and logs use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tokio => "tokio",
            Self::Smol => "smol",
            Self::AsyncStd => "async-std",
            Self::Threads => "threads",
        }
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no runtime has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is no runtime; expected tokio, smol, async-std or threads")]
pub struct UnknownRuntime(String);

impl FromStr for Runtime {
    type Err = UnknownRuntime;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|runtime| runtime.name() == name)
            .ok_or_else(|| UnknownRuntime(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runtime_is_found_by_its_name() {
        for runtime in Runtime::ALL {
            assert_eq!(runtime.name().parse(), Ok(runtime));
        }
        assert_eq!(
            "Tokio".parse::<Runtime>().unwrap_err().to_string(),
            "\"Tokio\" is no runtime; expected tokio, smol, async-std or threads"
        );
    }
}
