//! The flags of `helenus conformance`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use crate::command::address::parse_server;
use crate::command::tls::TlsFlags;

/// The flags of `helenus conformance`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "\
Exit status: 0 if nothing differs but deliberately, 1 if something does or wasn't played, 2 if it can't be run.

Examples:
  helenus conformance 127.0.0.1:9042
  helenus conformance 127.0.0.1:9042 --group framing --group segment
  helenus conformance 127.0.0.1:9042 --only v4.query.cut --json
  helenus conformance 127.0.0.1:9042 --profile auth=127.0.0.1:9043
  helenus conformance 127.0.0.1:9042 --tls --tls-ca ca.pem --group handshake

The probes create keyspaces whose names begin with \"probe\", and leave some of them behind.")]
pub(in crate::command) struct Conformance {
    /// The server, with the settings of the profile `plain`: Cassandra's defaults, no login, and user functions,
    /// materialized views and SASI indexes enabled
    #[arg(value_name = "HOST:PORT", value_parser = parse_server, required_unless_present = "list")]
    pub(super) server: Option<SocketAddr>,

    /// Play only this part: query, framing, segment, … (may be repeated)
    #[arg(long = "group", value_name = "GROUP")]
    pub(super) groups: Vec<String>,

    /// Play only the probes of this protocol version
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(3..=5))]
    pub(super) version: Option<u8>,

    /// Play only probes with this text in their names
    #[arg(long, value_name = "TEXT")]
    pub(super) only: Option<String>,

    /// Leave out the probes of what looks like a defect of Cassandra
    #[arg(long)]
    pub(super) no_quirks: bool,

    /// A server with the settings of another profile (auth, limits, slow, strict); may be repeated
    #[arg(long = "profile", value_name = "NAME=HOST:PORT", value_parser = parse_profile)]
    pub(super) profiles: Vec<(String, SocketAddr)>,

    #[command(flatten)]
    pub(super) tls: TlsFlags,

    /// One JSON object a probe, and one for the whole, on standard output
    #[arg(long)]
    pub(super) json: bool,

    /// Say of each probe how it came out, not only of those that differ
    #[arg(long, short)]
    pub(super) verbose: bool,

    /// Play the probes of this file instead of those that the command carries
    #[arg(long, value_name = "FILE")]
    pub(super) probes: Option<PathBuf>,

    /// Write the probes into this file with the server's replies for those expected: how new probes are made
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "list"])]
    pub(super) record: Option<PathBuf>,

    /// List the probes that are asked for, and play none
    #[arg(long)]
    pub(super) list: bool,

    /// How long a reply may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(super) timeout: u64,

    /// How long all of it may take; probes that aren't begun by then aren't played
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub(super) limit: u64,
}

fn parse_profile(text: &str) -> Result<(String, SocketAddr), String> {
    match text.split_once('=') {
        Some((name @ ("auth" | "limits" | "slow" | "strict"), server)) => {
            Ok((name.to_owned(), parse_server(server)?))
        }
        _ => Err(format!(
            "{text:?} is no NAME=HOST:PORT with one of the profiles auth, limits, slow, strict"
        )),
    }
}
