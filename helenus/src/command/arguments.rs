//! The grammar of the command line. Flags of `serve` that name a setting have a key of the same name in the configuration
//! file and a `HELENUS_` variable.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use helenus::Runtime;
use helenus::tls::ClientAuth;

use super::bench::Bench;
use super::cert::Cert;
use super::cluster::Cluster;
use super::config::{LogLevel, Method, Workers, flag};
use super::conformance::Conformance;
use super::inspect::Inspect;
use super::pages::{Completions, Man};
use super::ping::Ping;

/// The `helenus` command line.
#[derive(Debug, Parser)]
#[command(name = "helenus", version, about, max_term_width = 100)]
#[command(
    long_about = "helenus serves the Cassandra native protocol (CQL v3, v4 and v5) from one small process: \
    the drivers and cqlsh that speak to Apache Cassandra speak to it."
)]
#[command(propagate_version = true, arg_required_else_help = true)]
pub(super) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Serve CQL from an embedded, in-memory engine
    ///
    /// Prints one line on standard output once clients can connect, with the port that was taken, and logs to
    /// standard error. SIGINT and SIGTERM end it after the requests in flight were answered; SIGHUP has it read the
    /// configuration file again and take over what a running server can: limits and the log level.
    ///
    /// A flag wins over its environment variable, that over the configuration file, and that over the default.
    Serve(Serve),

    /// Compare any CQL server with Apache Cassandra 5.0.4, byte by byte
    ///
    /// Plays some 2,000 probes, small programs of good, odd and broken messages whose answers were recorded from a real
    /// Cassandra, against a server, and prints with the bytes what it answers otherwise. Where Cassandra's answer is a
    /// defect, a server may answer better: such differences are deliberate, and listed with their reasons.
    Conformance(Conformance),

    /// Load any CQL server, and say what it and its requests took
    ///
    /// Makes a keyspace and tables of its own, loads the server from connections that cost little themselves, and drops
    /// what it made. With --compare it starts this command's servers on every runtime and loads them in turns; with
    /// --null-server it serves canned replies, to know what a server costs at the very least.
    Bench(Box<Bench>),

    /// Decode a capture of the protocol, and point at the byte where it breaks
    ///
    /// Both directions of a connection explain each other: what STARTUP agreed on, which request an answer is to, and what
    /// the values of prepared statements are.
    Inspect(Inspect),

    /// Ask a CQL server whether it answers, and wait until it does
    ///
    /// Sends OPTIONS, which needs no login, and prints what the server supports. For health checks, and for scripts that
    /// started a server.
    Ping(Ping),

    /// Stop, pause, part and delay the nodes of a cluster that `serve --nodes` runs
    ///
    /// Nodes are named by their numbers, from 1 in the order of their addresses, and may be several: `2 3`. It prints what
    /// each node is doing then.
    Cluster(Cluster),

    /// Make an authority and certificates that it signs, to try TLS out
    Cert(Cert),

    /// Write the completions of a shell to standard output
    Completions(Completions),

    /// Write the manual as man pages
    Man(Man),
}

/// The flags of `helenus serve`.
#[derive(Debug, Default, Clone, Args)]
pub(super) struct Serve {
    /// TOML file with these settings under the same names, and more
    #[arg(long, value_name = "FILE", env = "HELENUS_CONFIG")]
    pub(super) config: Option<PathBuf>,

    /// Address and port to listen on; port 0 takes a free one [default: 127.0.0.1:9042]
    #[arg(long, value_name = "ADDRESS:PORT", env = "HELENUS_LISTEN", value_parser = flag::<SocketAddr>)]
    pub(super) listen: Option<SocketAddr>,

    /// What drives connections: tokio, smol, async-std or threads [default: tokio]
    #[arg(long, value_name = "RUNTIME", env = "HELENUS_RUNTIME", value_parser = flag::<Runtime>)]
    pub(super) runtime: Option<Runtime>,

    /// Event loops to run; with threads, each connection has its own [default: one a core]
    #[arg(long, value_name = "N", env = "HELENUS_WORKERS", value_parser = flag::<Workers>)]
    pub(super) workers: Option<Workers>,

    /// How clients log in: none, password, certificate or certificate-or-password [default: none]
    #[arg(long, value_name = "METHOD", env = "HELENUS_AUTH", value_parser = flag::<Method>)]
    pub(super) auth: Option<Method>,

    /// What to log: off, error, warn, info, debug or trace [default: info]
    #[arg(long, value_name = "LEVEL", env = "HELENUS_LOG", value_parser = flag::<LogLevel>)]
    pub(super) log: Option<LogLevel>,

    /// Address and port to publish /metrics and /healthz on, by HTTP [default: off]
    #[arg(long, value_name = "ADDRESS:PORT", env = "HELENUS_METRICS", value_parser = flag::<SocketAddr>)]
    pub(super) metrics: Option<SocketAddr>,

    /// Nodes in each data centre of a cluster in this process, a test double [default: 1]
    ///
    /// The first listens on the address of --listen, the others on those that follow: 127.0.0.1, 127.0.0.2 and so on.
    #[arg(long, value_name = "N", env = "HELENUS_NODES", value_parser = flag::<NonZeroUsize>)]
    pub(super) nodes: Option<NonZeroUsize>,

    /// Data centres of the cluster [default: 1]
    #[arg(long, value_name = "N", env = "HELENUS_DATA_CENTRES", value_parser = flag::<NonZeroUsize>)]
    pub(super) data_centres: Option<NonZeroUsize>,

    /// Address and port at which `helenus cluster` reaches the cluster, by HTTP [default: off]
    #[arg(long, value_name = "ADDRESS:PORT", env = "HELENUS_ADMIN", value_parser = flag::<SocketAddr>)]
    pub(super) admin: Option<SocketAddr>,

    /// The server's certificate chain, a PEM file: clients speak TLS [default: off]
    #[arg(long, value_name = "FILE", env = "HELENUS_TLS_CERT")]
    pub(super) tls_cert: Option<PathBuf>,

    /// The private key of the certificate, a PEM file
    #[arg(long, value_name = "FILE", env = "HELENUS_TLS_KEY")]
    pub(super) tls_key: Option<PathBuf>,

    /// The authorities that sign the certificates of clients, a PEM file
    #[arg(long, value_name = "FILE", env = "HELENUS_TLS_CLIENT_CA")]
    pub(super) tls_client_ca: Option<PathBuf>,

    /// Whether clients are asked for certificates: none, optional or required [default: none]
    #[arg(long, value_name = "WHETHER", env = "HELENUS_TLS_CLIENT_AUTH", value_parser = flag::<ClientAuth>)]
    pub(super) tls_client_auth: Option<ClientAuth>,

    /// Set a key of the configuration file, as in `--set limits.idle_timeout=30s`; may be given again
    #[arg(long, value_name = "SECTION.KEY=VALUE")]
    pub(super) set: Vec<String>,

    /// List every key of the configuration file with its default, as a file, and exit
    #[arg(long)]
    pub(super) help_config: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
