//! The bytes of one direction of one connection, as they are.

use std::io::Read;

use bytes::Bytes;
use helenus_core::Direction;

use super::{CaptureError, Content, Piece};

/// Bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// Reads a stream.
#[derive(Debug)]
pub(in crate::command::inspect) struct RawStream<R> {
    reader: R,
    direction: Direction,
}

impl<R: Read> RawStream<R> {
    /// A stream of this direction.
    pub(in crate::command::inspect) const fn new(reader: R, direction: Direction) -> Self {
        Self { reader, direction }
    }
}

impl<R: Read> Iterator for RawStream<R> {
    type Item = Result<Piece, CaptureError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut chunk = vec![0; CHUNK];
        loop {
            match self.reader.read(&mut chunk) {
                Ok(0) => return None,
                Ok(length) => {
                    chunk.truncate(length);
                    let content = Content::Bytes(self.direction, Bytes::from(chunk));
                    return Some(Ok(Piece {
                        connection: 1,
                        time: None,
                        content,
                    }));
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Some(Err(error.into())),
            }
        }
    }
}
