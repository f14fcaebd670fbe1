//! Why there is nothing to report.

use std::io;
use std::net::SocketAddr;

use helenus_client::{Error, Lost};
use helenus_core::compression::Compression;
use helenus_core::connection::ClientError;
use helenus_core::transition::State;
use thiserror::Error;

/// Why there is nothing to report.
#[derive(Debug, Error)]
pub(in crate::command) enum BenchError {
    /// Nothing listens there, or nothing that speaks CQL.
    #[error("no CQL server answers at {0}: {1}")]
    NoServer(SocketAddr, String),
    /// The server asks who it is, and nobody was named.
    #[error("the server at {0} asks for a login; say --user and --password")]
    LoginDemanded(SocketAddr),
    /// The server knows no such user.
    #[error("the server at {0} refuses the login: {1}")]
    LoginRefused(SocketAddr, String),
    /// The server can't be spoken to like this.
    #[error("the server at {0} doesn't speak protocol version {1}: {2}")]
    Version(SocketAddr, u8, String),
    /// A file for TLS is of no use.
    #[error("{0}")]
    Tls(#[source] helenus_tls::LoadError),
    /// The server, or the version, lacks the compression.
    #[error("the server at {0} doesn't offer {name} compression in protocol version {2}", name = .1.name())]
    Compression(SocketAddr, Compression, u8),
    /// The keyspace can't be made.
    #[error("the keyspace {keyspace} can't be made: {reason}")]
    Keyspace {
        /// Its name.
        keyspace: String,
        /// What the server said.
        reason: String,
    },
    /// A statement that prepares the load fails.
    #[error("{statement}: {reason}")]
    Statement {
        /// The statement.
        statement: String,
        /// What the server said.
        reason: String,
    },
    /// A connection failed while it was loaded.
    #[error("a connection to {0} failed: {1}")]
    Connection(SocketAddr, String),
    /// No server is left to compare.
    #[error("--only leaves no server; there are {0}")]
    Nothing(String),
    /// A server can't be started.
    #[error("{name} can't be started: {reason}")]
    Start {
        /// Which.
        name: String,
        /// Why.
        reason: String,
    },
    /// The process that was named isn't there.
    #[error("the CPU time of process {0} can't be read: {1}")]
    Process(u32, io::Error),
    /// The null server can't serve.
    #[error("{0}")]
    Serve(#[source] io::Error),
    /// The system has no threads left, or no event queue.
    #[error("the load can't be made: {0}")]
    System(#[source] io::Error),
    /// A signal asked it to end.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
    /// The report can't be written.
    #[error("the report can't be written: {0}")]
    Output(#[from] io::Error),
}

impl BenchError {
    /// Why a client couldn't connect.
    pub(super) fn connecting(server: SocketAddr, has_login: bool, error: &Error) -> Self {
        let Error::Lost { reason, .. } = error else {
            return Self::NoServer(server, error.to_string());
        };
        match reason {
            Lost::Authentication(_) if !has_login => Self::LoginDemanded(server),
            Lost::Authentication(reason) => Self::LoginRefused(server, reason.clone()),
            Lost::Connection(error) => Self::refused(server, error),
            reason => Self::NoServer(server, reason.to_string()),
        }
    }

    /// Why a connection is over.
    pub(super) fn refused(server: SocketAddr, error: &ClientError) -> Self {
        match error {
            ClientError::Refused {
                state: State::Authenticating,
                error,
            } => Self::LoginRefused(server, error.message.to_string()),
            ClientError::VersionRefused { tried, error, .. } => {
                Self::Version(server, tried.as_u8(), error.message.to_string())
            }
            error => Self::Connection(server, error.to_string()),
        }
    }
}
