//! A connection that can be made to send anything, and that reads whatever comes: bare envelopes of any version and
//! segments of either format, told apart by which header's checksum fits.

use std::io::{self, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use bytes::{Buf, BytesMut};
use helenus_core::compression::{Compression, decompress_segment};
use helenus_core::segment::{SegmentFormat, SegmentHeader, TRAILER, check_payload};

use super::reply::{Framing, Reply};
use crate::command::socket::{Endpoint, Socket};

/// How long the server may take to accept a connection, and to take what is sent.
const PATIENCE: Duration = Duration::from_secs(15);

/// A reply longer than this is none.
const MAX_REPLY: usize = 300 << 20;

/// Why no reply was read.
#[derive(Debug)]
pub(super) enum NoReply {
    /// The time ran out.
    Quiet,
    /// The server closed the connection.
    Closed,
    /// What came is no reply.
    Garbled(&'static str),
}

/// One connection to the server.
#[derive(Debug)]
pub(super) struct Connection {
    /// `None` when it was closed as soon as it was opened.
    socket: Option<Socket>,
    compression: Option<Compression>,
    received: BytesMut,
    /// What segments carried and no envelope was made of yet.
    payload: BytesMut,
    framing: Framing,
}

impl Connection {
    /// Opens a connection whose envelopes may be compressed so.
    pub(super) fn open(server: &Endpoint, compression: Option<Compression>) -> io::Result<Self> {
        let socket = match server.connect(PATIENCE) {
            Ok(socket) => Some(socket),
            Err(error) if is_closed(&error) => None,
            Err(error) => return Err(error),
        };
        Ok(Self {
            socket,
            compression,
            received: BytesMut::new(),
            payload: BytesMut::new(),
            framing: Framing::Plain,
        })
    }

    /// Sends bytes, at once or in chunks with gaps between them. That the server closed is found out when it is read.
    pub(super) fn send(
        &mut self,
        bytes: &[u8],
        chunk: Option<usize>,
        gap: Duration,
    ) -> io::Result<()> {
        let Some(socket) = &mut self.socket else {
            return Ok(());
        };
        for piece in bytes.chunks(chunk.unwrap_or(usize::MAX).max(1)) {
            match socket.write_all(piece) {
                Err(error) if is_closed(&error) => return Ok(()),
                written => written?,
            }
            if !gap.is_zero() {
                thread::sleep(gap);
            }
        }
        Ok(())
    }

    /// Sends no more.
    pub(super) fn shutdown_write(&mut self) {
        if let Some(socket) = &mut self.socket {
            // A server that has closed already has nothing to learn from it.
            let _ = socket.shutdown_write();
        }
    }

    /// Bytes that came and are part of no reply that was read.
    pub(super) fn stray(&self) -> &[u8] {
        &self.received
    }

    /// The next reply.
    pub(super) fn read(&mut self, deadline: Instant) -> Result<Reply, NoReply> {
        if self.payload.is_empty() {
            self.need(1, deadline)?;
            let is_old = matches!(self.received.first(), Some(0x81 | 0x82));
            if !self.open_segment(deadline)? {
                let header = if is_old { 8 } else { 9 };
                self.need(header, deadline)?;
                let length = body_length(&self.received, header)?;
                self.need(header + length, deadline)?;
                let raw = self.received.split_to(header + length);
                return Ok(Reply::new(&raw, header, Framing::Plain, self.compression));
            }
        }
        // A version that has no segments may still be answered within one.
        let is_old = matches!(self.payload.first(), Some(0x81 | 0x82));
        let header = if is_old { 8 } else { 9 };
        loop {
            if self.payload.len() >= header {
                let length = body_length(&self.payload, header)?;
                if self.payload.len() >= header + length {
                    let raw = self.payload.split_to(header + length);
                    return Ok(Reply::new(&raw, header, self.framing, None));
                }
            }
            if !self.open_segment(deadline)? {
                return Err(NoReply::Garbled(
                    "bare bytes amidst an envelope of several segments",
                ));
            }
        }
    }

    /// Takes a segment's payload off what was received; `false` if what comes next is no segment.
    fn open_segment(&mut self, deadline: Instant) -> Result<bool, NoReply> {
        for (format, framing) in [
            (SegmentFormat::Plain, Framing::Segment),
            (SegmentFormat::Lz4, Framing::SegmentLz4),
        ] {
            self.need(format.header_len(), deadline)?;
            let Some(Ok(header)) = SegmentHeader::decode(format, &self.received) else {
                continue;
            };
            let length = header.payload as usize;
            self.need(format.header_len() + length + TRAILER, deadline)?;
            self.received.advance(format.header_len());
            if check_payload(&self.received, length) != Some(Ok(())) {
                return Err(NoReply::Garbled("the CRC of a segment's payload is wrong"));
            }
            let payload = self.received.split_to(length);
            self.received.advance(TRAILER);
            self.framing = framing;
            if header.uncompressed == 0 {
                self.payload.extend_from_slice(&payload);
            } else if decompress_segment(&payload, header.uncompressed as usize, &mut self.payload)
                .is_err()
            {
                return Err(NoReply::Garbled("a segment's payload doesn't decompress"));
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// Reads until so many bytes are there.
    fn need(&mut self, length: usize, deadline: Instant) -> Result<(), NoReply> {
        let mut scratch = [0; 16 << 10];
        while self.received.len() < length {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(NoReply::Quiet);
            }
            let socket = self.socket.as_mut().ok_or(NoReply::Closed)?;
            if socket.set_read_timeout(left).is_err() {
                return Err(NoReply::Closed);
            }
            match socket.read(&mut scratch) {
                Ok(0) => return Err(NoReply::Closed),
                Ok(count) => self
                    .received
                    .extend_from_slice(scratch.get(..count).unwrap_or_default()),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                        return Err(NoReply::Quiet);
                    }
                    io::ErrorKind::Interrupted => {}
                    _ => return Err(NoReply::Closed),
                },
            }
        }
        Ok(())
    }
}

/// The length of the body behind a header of so many bytes.
fn body_length(bytes: &[u8], header: usize) -> Result<usize, NoReply> {
    let field = bytes
        .get(header - 4..)
        .and_then(|bytes| bytes.first_chunk::<4>());
    let length = field.map_or(-1, |field| i32::from_be_bytes(*field));
    match usize::try_from(length) {
        Ok(length) if length <= MAX_REPLY => Ok(length),
        _ => Err(NoReply::Garbled(
            "what came is neither an envelope nor a segment",
        )),
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::BrokenPipe
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::UnexpectedEof
    )
}
