//! What a capture is: pieces of the two directions of one or many connections, in the order in which they were seen.

pub(super) mod hex_lines;
pub(super) mod packets;
pub(super) mod raw;
pub(super) mod tcp;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use helenus_core::Direction;
use thiserror::Error;

/// Something that a capture shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Which connection, counted from 1.
    pub(super) connection: u32,
    /// When it was captured, from 1970 on; `None` if the capture doesn't say.
    pub(super) time: Option<Duration>,
    /// What.
    pub(super) content: Content,
}

/// What a piece is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Content {
    /// A connection between these two.
    Opened {
        client: SocketAddr,
        server: SocketAddr,
        /// Whether its first bytes were captured.
        from_start: bool,
    },
    /// The next bytes of a direction.
    Bytes(Direction, Bytes),
    /// So many bytes of a direction weren't captured.
    Lost(Direction, u64),
    /// The connection is over.
    Closed,
}

/// Why a capture can't be read on.
#[derive(Debug, Error)]
pub(in crate::command) enum CaptureError {
    /// The system doesn't give it.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// A line has no hex digits.
    #[error("line {0}: {1}")]
    Line(usize, String),
    /// A capture of packets is damaged or cut.
    #[error("the capture of packets is damaged: {0}")]
    Packets(String),
}

/// The ways in which a capture may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Format {
    /// Lines of hex digits, each with the direction in front
    Hex,
    /// The bytes of one direction as they are
    Raw,
    /// Packets, as tcpdump and Wireshark write them: pcap or pcapng
    Pcap,
}

impl Format {
    /// The format that a capture beginning with these bytes has.
    pub(super) fn of(start: &[u8]) -> Self {
        const PACKETS: [[u8; 4]; 5] = [
            [0xA1, 0xB2, 0xC3, 0xD4],
            [0xD4, 0xC3, 0xB2, 0xA1],
            [0xA1, 0xB2, 0x3C, 0x4D],
            [0x4D, 0x3C, 0xB2, 0xA1],
            [0x0A, 0x0D, 0x0D, 0x0A],
        ];
        let is_text = |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace();
        match start.first_chunk::<4>() {
            Some(magic) if PACKETS.contains(magic) => Self::Pcap,
            // An envelope has a zero among its first bytes, a segment soon; no text has one.
            _ if start.iter().all(is_text) => Self::Hex,
            _ => Self::Raw,
        }
    }
}
