//! The flags of `helenus inspect`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use helenus_core::compression::Compression;
use helenus_core::{Direction, ProtocolVersion};

use super::capture::Format;

/// The flags of `helenus inspect`.
#[derive(Debug, Args)]
#[command(disable_version_flag = true)]
#[command(after_help = "\
Captures are
  packets        pcap or pcapng, of tcpdump or Wireshark: tcpdump -i lo -w capture.pcap port 9042
  hex lines      a write a line, behind its direction and, if there are several, its connection:
                   > 0400000001000000160001000b43514c5f56455253494f4e0005332e302e30
                   < 840000000200000000
  raw bytes      of one direction, as they went over the connection

Exit status: 0 if everything decodes, 1 if something doesn't, 2 if the capture can't be read.

Statements and their values are shown; tokens of authentication only with --hex, and where they break.")]
pub(in crate::command) struct Inspect {
    /// The capture; - reads standard input
    #[arg(value_name = "FILE")]
    pub(super) file: PathBuf,

    /// One JSON object a message, on standard output
    #[arg(long)]
    pub(super) json: bool,

    /// How the capture is written [default: told from its first bytes]
    #[arg(long, value_name = "FORMAT")]
    pub(super) format: Option<Format>,

    /// The direction of raw bytes, and of hex lines that don't say theirs [default: told from the version byte]
    #[arg(long, value_name = "FROM")]
    pub(super) direction: Option<Sender>,

    /// The server's port in a capture of packets
    #[arg(long, value_name = "PORT", default_value_t = 9042)]
    pub(super) port: u16,

    /// The capture begins behind the handshake of a connection; of packets, that of connections whose beginning isn't there
    #[arg(long, requires = "version")]
    pub(super) after_startup: bool,

    /// The protocol version that was agreed on in that handshake
    #[arg(long, value_name = "N", value_parser = parse_version)]
    pub(super) version: Option<ProtocolVersion>,

    /// The compression that was agreed on in that handshake, or in one direction that isn't there
    #[arg(long, value_name = "lz4|snappy", value_parser = parse_compression)]
    pub(super) compression: Option<Compression>,

    /// How many rows of each result are shown
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) rows: usize,

    /// Show the bytes of each message too
    #[arg(long)]
    pub(super) hex: bool,
}

/// Whose bytes they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Sender {
    /// Requests
    Client,
    /// Responses and events
    Server,
}

impl From<Sender> for Direction {
    fn from(sender: Sender) -> Self {
        match sender {
            Sender::Client => Self::Request,
            Sender::Server => Self::Response,
        }
    }
}

fn parse_version(text: &str) -> Result<ProtocolVersion, String> {
    let number = text.trim_start_matches('v').parse().ok();
    let version = number.and_then(ProtocolVersion::from_u8);
    version.ok_or_else(|| format!("{text:?} is no protocol version; expected 3, 4 or 5"))
}

fn parse_compression(text: &str) -> Result<Compression, String> {
    Compression::from_name(text)
        .ok_or_else(|| format!("{text:?} is no compression; expected lz4 or snappy"))
}
