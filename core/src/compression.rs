//! lz4 and snappy: whole bodies in v3 and v4, segment payloads in v5 (lz4 alone).
//! Answers to native protocol v4, section 5, and v5, section 2.2.

use bytes::BytesMut;

/// A compression a connection may agree on in STARTUP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// lz4 blocks; a body's begins with its uncompressed length in four bytes.
    Lz4,
    /// snappy blocks, which know their own length; not in v5.
    Snappy,
}

impl Compression {
    /// The compressions this build can do, in Cassandra's order.
    pub const SUPPORTED: &'static [Compression] = &[
        #[cfg(feature = "snappy")]
        Compression::Snappy,
        #[cfg(feature = "lz4")]
        Compression::Lz4,
    ];

    /// The name used in STARTUP and SUPPORTED.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Compression::Lz4 => "lz4",
            Compression::Snappy => "snappy",
        }
    }

    /// The compression of this name, whatever its case, if this build can do it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Compression> {
        Compression::SUPPORTED
            .iter()
            .copied()
            .find(|compression| compression.name().eq_ignore_ascii_case(name))
    }
}

/// Why bytes don't decompress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum CompressionError {
    /// The bytes are no valid block, or don't give as many bytes as they claim.
    #[error("Provided frame does not appear to be {} compressed", title(.0))]
    Corrupt(Compression),
    /// The claimed length is more than the limit, or than these bytes could hold.
    #[error("Uncompressed length {claimed} exceeds what {available} bytes may hold")]
    TooLong {
        /// The uncompressed length that the bytes claim.
        claimed: u32,
        /// The longest that was acceptable.
        available: u32,
    },
    /// This build lacks the compression.
    #[error("{} compression is not available", title(.0))]
    Unavailable(Compression),
}

fn title(compression: &Compression) -> &'static str {
    match compression {
        Compression::Lz4 => "LZ4",
        Compression::Snappy => "Snappy",
    }
}

/// A byte of an lz4 or snappy block gives at most this many.
const MAX_RATIO: usize = 255;

/// The lengths `claimed` may have: what `compressed` bytes can hold, and at most `limit`.
fn check_length(claimed: usize, compressed: usize, limit: usize) -> Result<(), CompressionError> {
    let available = compressed.saturating_mul(MAX_RATIO).min(limit);
    if claimed <= available {
        return Ok(());
    }
    Err(CompressionError::TooLong {
        claimed: u32::try_from(claimed).unwrap_or(u32::MAX),
        available: u32::try_from(available).unwrap_or(u32::MAX),
    })
}

/// Appends a decompressed v3 or v4 body to `out`.
///
/// Allocates at most min(claimed length, 255 × compressed length, `limit`) bytes. `out` is as before on
/// an error.
///
/// # Errors
///
/// [`CompressionError`], whatever the bytes.
pub fn decompress_body(
    compression: Compression,
    body: &[u8],
    limit: usize,
    out: &mut BytesMut,
) -> Result<(), CompressionError> {
    match compression {
        Compression::Lz4 => {
            let Some((length, block)) = body.split_first_chunk::<4>() else {
                return Err(CompressionError::Corrupt(compression));
            };
            let claimed = u32::from_be_bytes(*length) as usize;
            check_length(claimed, block.len(), limit)?;
            decompress_lz4(block, claimed, out)
        }
        Compression::Snappy => decompress_snappy(body, limit, out),
    }
}

/// Appends a decompressed v5 segment payload of `uncompressed` bytes to `out`.
///
/// `out` is as before on an error.
///
/// # Errors
///
/// [`CompressionError`], whatever the bytes.
pub fn decompress_segment(
    payload: &[u8],
    uncompressed: usize,
    out: &mut BytesMut,
) -> Result<(), CompressionError> {
    check_length(uncompressed, payload.len(), crate::segment::MAX_PAYLOAD)?;
    decompress_lz4(payload, uncompressed, out)
}

#[cfg(feature = "lz4")]
fn decompress_lz4(block: &[u8], length: usize, out: &mut BytesMut) -> Result<(), CompressionError> {
    append(out, length, |target| {
        lz4_flex::block::decompress_into(block, target).ok()
    })
    .ok_or(CompressionError::Corrupt(Compression::Lz4))
}

#[cfg(not(feature = "lz4"))]
fn decompress_lz4(_: &[u8], _: usize, _: &mut BytesMut) -> Result<(), CompressionError> {
    Err(CompressionError::Unavailable(Compression::Lz4))
}

#[cfg(feature = "snappy")]
fn decompress_snappy(
    body: &[u8],
    limit: usize,
    out: &mut BytesMut,
) -> Result<(), CompressionError> {
    let corrupt = CompressionError::Corrupt(Compression::Snappy);
    if body.is_empty() {
        return Err(corrupt);
    }
    let claimed = snap::raw::decompress_len(body).map_err(|_| corrupt)?;
    check_length(claimed, body.len(), limit).map_err(|_| corrupt)?;
    append(out, claimed, |target| {
        snap::raw::Decoder::new().decompress(body, target).ok()
    })
    .ok_or(corrupt)
}

#[cfg(not(feature = "snappy"))]
fn decompress_snappy(_: &[u8], _: usize, _: &mut BytesMut) -> Result<(), CompressionError> {
    Err(CompressionError::Unavailable(Compression::Snappy))
}

/// Appends exactly `length` bytes that `fill` writes; takes them off again, and says `None`, if it
/// failed or wrote fewer.
#[cfg(any(feature = "lz4", feature = "snappy"))]
fn append(
    out: &mut BytesMut,
    length: usize,
    fill: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> Option<()> {
    let start = out.len();
    out.resize(start + length, 0);
    let written = out.get_mut(start..).and_then(fill);
    if written == Some(length) {
        return Some(());
    }
    out.truncate(start);
    None
}

/// What compressing needs to keep: tables and room, made on first use and used again.
#[derive(Default)]
pub(crate) struct Compressor {
    #[cfg(feature = "lz4")]
    lz4: Option<lz4_flex::block::CompressTable>,
    #[cfg(feature = "snappy")]
    snappy: Option<snap::raw::Encoder>,
    /// The last block.
    block: Vec<u8>,
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compressor").finish_non_exhaustive()
    }
}

impl Compressor {
    /// Compresses a v3 or v4 body; `None` if that wouldn't make it shorter.
    pub(crate) fn body(&mut self, compression: Compression, body: &[u8]) -> Option<&[u8]> {
        match compression {
            Compression::Lz4 => {
                let length = u32::try_from(body.len()).ok()?;
                self.lz4(body, &length.to_be_bytes())
            }
            Compression::Snappy => self.snappy(body),
        }
    }

    /// Compresses a v5 segment's payload; `None` if that wouldn't make it shorter.
    pub(crate) fn segment(&mut self, payload: &[u8]) -> Option<&[u8]> {
        self.lz4(payload, &[])
    }

    #[cfg(feature = "lz4")]
    fn lz4(&mut self, input: &[u8], prefix: &[u8]) -> Option<&[u8]> {
        let room = lz4_flex::block::get_maximum_output_size(input.len());
        self.block.clear();
        self.block.extend_from_slice(prefix);
        self.block.resize(prefix.len() + room, 0);
        let target = self.block.get_mut(prefix.len()..)?;
        let table = self.lz4.get_or_insert_default();
        let written = lz4_flex::block::compress_into_with_table(input, target, table).ok()?;
        self.shorter(prefix.len() + written, input.len())
    }

    #[cfg(not(feature = "lz4"))]
    fn lz4(&mut self, _: &[u8], _: &[u8]) -> Option<&[u8]> {
        None
    }

    #[cfg(feature = "snappy")]
    fn snappy(&mut self, input: &[u8]) -> Option<&[u8]> {
        let room = snap::raw::max_compress_len(input.len());
        self.block.clear();
        self.block.resize(room, 0);
        let encoder = self.snappy.get_or_insert_with(snap::raw::Encoder::new);
        let written = encoder.compress(input, &mut self.block).ok()?;
        self.shorter(written, input.len())
    }

    #[cfg(not(feature = "snappy"))]
    fn snappy(&mut self, _: &[u8]) -> Option<&[u8]> {
        None
    }

    #[cfg(any(feature = "lz4", feature = "snappy"))]
    fn shorter(&self, written: usize, than: usize) -> Option<&[u8]> {
        self.block.get(..written).filter(|block| block.len() < than)
    }

    /// Gives back room that a large body needed.
    pub(crate) fn shrink(&mut self, keep: usize) {
        if self.block.capacity() > keep {
            self.block = Vec::new();
        }
    }
}

#[cfg(all(test, feature = "lz4", feature = "snappy"))]
mod tests;
