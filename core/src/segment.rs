//! The header of a v5 segment: lengths, the self-contained flag and their CRC24.
//! Answers to native protocol v5, sections 2.1 and 2.2.

use crate::crc::{crc24, crc32};

/// The longest payload of a segment, in bytes: its length has 17 bits.
pub const MAX_PAYLOAD: usize = 0x1_FFFF;

/// The bytes of the CRC32 behind a segment's payload.
pub const TRAILER: usize = 4;

/// How segments are laid out, which the compression of the connection decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SegmentFormat {
    /// No compression: a header of six bytes with one length.
    Plain,
    /// lz4: a header of eight bytes with the lengths before and after compression.
    Lz4,
}

impl SegmentFormat {
    /// The length of a segment's header in bytes, its CRC24 included.
    #[inline]
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            SegmentFormat::Plain => 6,
            SegmentFormat::Lz4 => 8,
        }
    }
}

/// A segment's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SegmentHeader {
    /// The length of the payload as it stands on the wire, at most [`MAX_PAYLOAD`].
    pub payload: u32,
    /// The length of the payload before compression; zero if it is stored uncompressed, and always zero
    /// in [`SegmentFormat::Plain`].
    pub uncompressed: u32,
    /// Whether the payload is a run of whole envelopes, rather than a part of one.
    pub self_contained: bool,
}

/// A checksum that doesn't fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CrcMismatch {
    /// The checksum that came with the bytes.
    pub read: u32,
    /// The checksum of the bytes.
    pub computed: u32,
}

impl SegmentHeader {
    /// Reads a header off the front of `bytes`, which must hold [`SegmentFormat::header_len`] bytes;
    /// `None` if it holds fewer.
    ///
    /// # Errors
    ///
    /// [`CrcMismatch`] if the header is damaged, or isn't one.
    #[inline]
    pub fn decode(
        format: SegmentFormat,
        bytes: &[u8],
    ) -> Option<Result<SegmentHeader, CrcMismatch>> {
        let (bits, length, read) = match format {
            SegmentFormat::Plain => {
                let &[a, b, c, x, y, z] = bytes.first_chunk::<6>()?;
                let bits = u64::from(u32::from_le_bytes([a, b, c, 0]));
                (bits, 3, u32::from_le_bytes([x, y, z, 0]))
            }
            SegmentFormat::Lz4 => {
                let &[a, b, c, d, e, x, y, z] = bytes.first_chunk::<8>()?;
                let bits = u64::from_le_bytes([a, b, c, d, e, 0, 0, 0]);
                (bits, 5, u32::from_le_bytes([x, y, z, 0]))
            }
        };
        let computed = crc24(bits, length);
        if read != computed {
            return Some(Err(CrcMismatch { read, computed }));
        }
        Some(Ok(match format {
            SegmentFormat::Plain => SegmentHeader {
                payload: (bits as u32) & MAX_PAYLOAD as u32,
                uncompressed: 0,
                self_contained: bits & 1 << 17 != 0,
            },
            SegmentFormat::Lz4 => SegmentHeader {
                payload: (bits as u32) & MAX_PAYLOAD as u32,
                uncompressed: ((bits >> 17) as u32) & MAX_PAYLOAD as u32,
                self_contained: bits & 1 << 34 != 0,
            },
        }))
    }

    /// The header's bytes, CRC24 included; the first [`SegmentFormat::header_len`] of them count.
    ///
    /// Lengths above [`MAX_PAYLOAD`] lose their high bits.
    #[inline]
    #[must_use]
    pub fn encode(self, format: SegmentFormat) -> [u8; 8] {
        let mask = MAX_PAYLOAD as u64;
        let flag = u64::from(self.self_contained);
        let payload = u64::from(self.payload) & mask;
        match format {
            SegmentFormat::Plain => {
                let bits = payload | flag << 17;
                (bits | u64::from(crc24(bits, 3)) << 24).to_le_bytes()
            }
            SegmentFormat::Lz4 => {
                let bits = payload | (u64::from(self.uncompressed) & mask) << 17 | flag << 34;
                (bits | u64::from(crc24(bits, 5)) << 40).to_le_bytes()
            }
        }
    }
}

/// Checks a payload against the CRC32 in the four bytes behind it. `None` if `bytes` ends before them.
///
/// # Errors
///
/// [`CrcMismatch`] if the payload is damaged.
#[inline]
pub fn check_payload(bytes: &[u8], payload: usize) -> Option<Result<(), CrcMismatch>> {
    let (payload, trailer) = bytes.split_at_checked(payload)?;
    let read = u32::from_le_bytes(*trailer.first_chunk::<TRAILER>()?);
    let computed = crc32(payload);
    Some(if read == computed {
        Ok(())
    } else {
        Err(CrcMismatch { read, computed })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_header_takes_six_bytes() {
        let header = SegmentHeader {
            payload: 9,
            uncompressed: 0,
            self_contained: true,
        };
        let bytes = [0x09, 0x00, 0x02, 0xa4, 0xc8, 0xc1];
        assert_eq!(header.encode(SegmentFormat::Plain)[..6], bytes);
        assert_eq!(
            SegmentHeader::decode(SegmentFormat::Plain, &bytes),
            Some(Ok(header))
        );
        assert_eq!(
            SegmentHeader::decode(SegmentFormat::Plain, &bytes[..5]),
            None
        );
    }

    #[test]
    fn an_lz4_header_takes_eight_bytes_and_two_lengths() {
        let header = SegmentHeader {
            payload: 0x37,
            uncompressed: 0x35,
            self_contained: true,
        };
        let bytes = [0x37, 0x00, 0x6a, 0x00, 0x04, 0x1e, 0x62, 0x38];
        assert_eq!(header.encode(SegmentFormat::Lz4), bytes);
        assert_eq!(
            SegmentHeader::decode(SegmentFormat::Lz4, &bytes),
            Some(Ok(header))
        );
    }

    #[test]
    fn a_flipped_bit_is_a_mismatch() {
        let good = [0x35, 0x00, 0x02, 0xe6, 0x90, 0x60];
        for bit in 0..48 {
            let mut bytes = good;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(
                SegmentHeader::decode(SegmentFormat::Plain, &bytes),
                Some(Err(_))
            ));
        }
    }
}
