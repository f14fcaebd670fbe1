//! [`Input`]: the bytes of one execution, taken apart into choices and content. Running out of bytes is no
//! end: choices are zero then.

use helenus_core::ProtocolVersion;
use helenus_core::compression::Compression;
use helenus_core::testing::Cuts;

/// The bytes of one execution.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a> {
    rest: &'a [u8],
}

impl<'a> Input<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// One byte.
    pub(crate) fn byte(&mut self) -> u8 {
        match self.rest.split_first() {
            Some((first, rest)) => {
                self.rest = rest;
                *first
            }
            None => 0,
        }
    }

    /// Two bytes as a number.
    pub(crate) fn short(&mut self) -> u16 {
        u16::from_be_bytes([self.byte(), self.byte()])
    }

    /// A version.
    pub(crate) fn version(&mut self) -> ProtocolVersion {
        match self.byte() % 3 {
            0 => ProtocolVersion::V5,
            1 => ProtocolVersion::V4,
            _ => ProtocolVersion::V3,
        }
    }

    /// A compression, or none.
    pub(crate) fn compression(&mut self) -> Option<Compression> {
        match self.byte() % 3 {
            0 => None,
            1 => Some(Compression::Lz4),
            _ => Some(Compression::Snappy),
        }
    }

    /// A way to cut bytes.
    pub(crate) fn cuts(&mut self) -> Cuts {
        let (kind, seed) = (self.byte(), self.byte());
        match kind % 4 {
            0 => Cuts::BYTES,
            1 => Cuts::Every(usize::from(seed)),
            _ => Cuts::Random {
                seed: u64::from(seed),
                longest: usize::from(kind),
            },
        }
    }

    /// A piece of at most this many bytes.
    pub(crate) fn take(&mut self, most: usize) -> &'a [u8] {
        let (piece, rest) = self.rest.split_at(most.min(self.rest.len()));
        self.rest = rest;
        piece
    }

    /// What is left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(self) -> bool {
        self.rest.is_empty()
    }
}
