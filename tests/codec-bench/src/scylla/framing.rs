//! Envelopes off a stream of bytes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use scylla_cql::frame::frame_errors::FrameHeaderParseError;
use scylla_cql::frame::read_response_frame;
use tokio::io::{AsyncRead, ReadBuf};

use super::now;

/// A socket that has these bytes, and gives `piece` of them at a time.
pub struct Pieces<'a> {
    bytes: &'a [u8],
    piece: usize,
}

impl AsyncRead for Pieces<'_> {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = self.piece.min(self.bytes.len()).min(buffer.remaining());
        let (piece, rest) = self.bytes.split_at(length);
        buffer.put_slice(piece);
        self.bytes = rest;
        Poll::Ready(Ok(()))
    }
}

/// The body of the next envelope.
///
/// # Errors
///
/// As the stream ends within it, or it is no response.
#[inline]
pub fn body(bytes: &[u8], piece: usize) -> Result<Bytes, FrameHeaderParseError> {
    let (_, _, body) = now(read_response_frame(&mut Pieces { bytes, piece }))?;
    Ok(body)
}
