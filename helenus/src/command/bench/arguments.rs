//! The flags of `helenus bench`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{ArgGroup, Args, ValueEnum};
use helenus_core::ProtocolVersion;
use helenus_core::compression::Compression;

use super::null::Loop;
use super::workload::Workload;
use crate::command::address::parse_server;
use crate::command::config::flag;
use crate::command::tls::TlsFlags;

/// The flags of `helenus bench`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(group = ArgGroup::new("mode").required(true).args(["target", "compare", "null_server"]))]
#[command(after_help = "\
Without --rate each connection keeps --depth requests in flight, and sends the next when an answer comes. With it,
requests start on a schedule whatever the server does, and latency counts from when a request was to start: one that had
to wait for room counts its waiting too.

Connections, depths and workloads may be lists: every combination is run, and they are shown as one table.

Exit status: 0 if it ran, 1 if requests were answered with errors that weren't asked for, 2 if it can't be run. Ctrl-C ends
it after what it made was dropped, in ten seconds at most; the second one, at once.

Examples:
  helenus bench --target 127.0.0.1:9042 --workload read
  helenus bench --target 127.0.0.1:9042 --workload mixed --rate 20000 --protocol 5 --compression lz4 --json
  helenus bench --compare --workload read,options --connections 1,8,64,1000 --depth 1,32,256 --seconds 2
  helenus bench --compare --beside cassandra=127.0.0.1:9042 --connections 8 --depth 1,32
  helenus bench --null-server 127.0.0.1:9043")]
pub(in crate::command) struct Bench {
    /// The server to load
    #[arg(long, value_name = "HOST:PORT", value_parser = parse_server)]
    pub(super) target: Option<SocketAddr>,

    /// Start servers and load them in turns: the null server, canned replies and the engine on every runtime
    #[arg(long, conflicts_with = "tls")]
    pub(super) compare: bool,

    /// Serve canned replies with the least parsing, until a signal ends it: the floor of what a server costs
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = flag::<SocketAddr>, conflicts_with = "tls")]
    pub(super) null_server: Option<SocketAddr>,

    /// With --null-server: what serves the canned replies
    #[arg(
        long = "loop",
        value_name = "LOOP",
        value_enum,
        default_value = "bare",
        requires = "null_server"
    )]
    pub(super) event_loop: Loop,

    /// With --null-server and --compare: event loops to run [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), conflicts_with = "target")]
    pub(super) workers: Option<u16>,

    /// With --compare: another server that is running already; may be repeated
    #[arg(long, value_name = "NAME=HOST:PORT", value_parser = parse_beside, requires = "compare")]
    pub(super) beside: Vec<(String, SocketAddr)>,

    /// With --compare: only servers with this text in their names; may be repeated
    #[arg(long, value_name = "TEXT", requires = "compare")]
    pub(super) only: Vec<String>,

    /// What to ask for
    #[arg(long, value_enum, value_delimiter = ',', default_value = "read")]
    pub(super) workload: Vec<Workload>,

    /// Connections
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "8", value_parser = clap::value_parser!(u32).range(1..=60_000))]
    pub(super) connections: Vec<u32>,

    /// Requests in flight on a connection
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "32", value_parser = clap::value_parser!(u16).range(1..=32_767))]
    pub(super) depth: Vec<u16>,

    /// Protocol version
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(3..=5))]
    protocol: u8,

    /// Compression of what is sent and received
    #[arg(long, value_enum, default_value = "none")]
    compression: CompressionName,

    /// How long to measure
    #[arg(long, value_name = "N", default_value = "5", value_parser = parse_seconds)]
    pub(super) seconds: Duration,

    /// How long to load before measuring [default: as long, at most 5]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    warm_up: Option<Duration>,

    /// Requests to start a second, by schedule, over all connections
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(super) rate: Option<u64>,

    /// Threads that make the load [default: half of the cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,

    /// Keys that are read and written
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) keys: u32,

    /// Rows of ten columns that a page of the workload `rows` has
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) rows: u32,

    /// The keyspace to make tables in; made, and dropped again, unless it is there [default: one of its own]
    #[arg(long, value_name = "NAME", value_parser = parse_keyspace)]
    pub(super) keyspace: Option<String>,

    /// Leave the keyspace and the tables behind
    #[arg(long)]
    pub(super) keep: bool,

    /// Who logs in, where the server asks
    #[arg(long, value_name = "NAME", requires = "password")]
    user: Option<String>,

    /// With which password
    #[arg(
        long,
        value_name = "PASSWORD",
        requires = "user",
        env = "HELENUS_BENCH_PASSWORD",
        hide_env_values = true
    )]
    password: Option<String>,

    #[command(flatten)]
    pub(super) tls: TlsFlags,

    /// The server's process, whose CPU time is counted [default: who listens, if it is on this machine]
    #[arg(long, value_name = "PID", conflicts_with_all = ["compare", "null_server"])]
    pub(super) pid: Option<u32>,

    /// One JSON object a run, on standard output
    #[arg(long)]
    pub(super) json: bool,
}

/// The compressions by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompressionName {
    None,
    Lz4,
    Snappy,
}

impl Bench {
    /// The protocol version.
    pub(super) fn version(&self) -> ProtocolVersion {
        ProtocolVersion::from_u8(self.protocol).unwrap_or(ProtocolVersion::LATEST)
    }

    /// The compression, if there is to be one.
    pub(super) const fn compression(&self) -> Option<Compression> {
        match self.compression {
            CompressionName::None => None,
            CompressionName::Lz4 => Some(Compression::Lz4),
            CompressionName::Snappy => Some(Compression::Snappy),
        }
    }

    /// How long to load before measuring.
    pub(super) fn warm_up(&self) -> Duration {
        let most = Duration::from_secs(5);
        self.warm_up.unwrap_or_else(|| self.seconds.min(most))
    }

    /// How many threads make the load.
    pub(super) fn threads(&self) -> usize {
        match self.threads {
            Some(threads) => threads.into(),
            None => (cores() / 2).max(1),
        }
    }

    /// How many event loops a server has.
    pub(super) fn workers(&self) -> usize {
        self.workers.map_or_else(cores, usize::from)
    }

    /// Who logs in, and with which password.
    pub(super) fn login(&self) -> Option<(&str, &str)> {
        self.user.as_deref().zip(self.password.as_deref())
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

fn parse_beside(text: &str) -> Result<(String, SocketAddr), String> {
    let (name, server) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is no NAME=HOST:PORT"))?;
    Ok((name.to_owned(), parse_server(server)?))
}

/// Seconds, with decimals if need be; a day at most.
fn parse_seconds(text: &str) -> Result<Duration, String> {
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let seconds = text.parse().ok();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|duration| *duration <= DAY)
        .ok_or_else(|| format!("{text:?} is no number of seconds from 0 to 86,400"))
}

/// A name that needs no quotes.
fn parse_keyspace(text: &str) -> Result<String, String> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let begins = text
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_lowercase());
    if begins && text.len() <= 48 && text.bytes().all(is_plain) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "{text:?} is no keyspace's name of at most 48 small letters, digits and underscores, a letter first"
    ))
}
