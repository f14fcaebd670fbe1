//! The checksums of v5 segments: CRC24 over a segment's header, CRC32 over its payload.
//! Answers to native protocol v5, section 2.1, and to Cassandra's `net/Crc.java`.

/// What a CRC24 register holds before the first byte.
const CRC24_INITIAL: u32 = 0x0087_5060;
/// The generator polynomial of CRC24, its leading bit included.
const CRC24_POLYNOMIAL: u32 = 0x0197_4F0B;
/// The CRC32 of the four bytes `FA 2D 55 CA`, which a payload's checksum begins with: without them a
/// payload of zeros would have a checksum of zeros.
const CRC32_SEED: u32 = 0x4477_7ED3;

/// The CRC24 of each byte value, shifted to the top of the register.
const CRC24_TABLE: [u32; 256] = {
    let mut table = [0_u32; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 16;
        let mut bit = 0;
        while bit < 8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= CRC24_POLYNOMIAL;
            }
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

/// The CRC24 of a segment header's first `bytes` bytes, given as a little-endian number.
///
/// Only the low 24 bits of the result are used. At most eight bytes are read.
#[inline]
#[must_use]
pub fn crc24(mut header: u64, bytes: u32) -> u32 {
    let mut crc = CRC24_INITIAL;
    for _ in 0..bytes.min(8) {
        let index = ((crc >> 16) as u8) ^ (header as u8);
        crc = (crc << 8) & 0x00FF_FFFF ^ CRC24_TABLE[index as usize];
        header >>= 8;
    }
    crc
}

/// The CRC32 of a segment's payload, as it stands on the wire (compressed, if it is).
#[inline]
#[must_use]
pub fn crc32(payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(CRC32_SEED);
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crc24_of_a_captured_header() {
        // 9 bytes of payload, self-contained: 09 00 02, then a4 c8 c1.
        assert_eq!(crc24(0x02_0009, 3), 0xC1_C8A4);
    }

    #[test]
    fn crc24_of_a_captured_lz4_header() {
        // 09 00 00 00 04, then c2 b8 95.
        assert_eq!(crc24(0x04_0000_0009, 5), 0x95_B8C2);
    }

    #[test]
    fn crc32_is_seeded() {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&[0xFA, 0x2D, 0x55, 0xCA]);
        assert_eq!(hasher.finalize(), CRC32_SEED);
        assert_eq!(crc32(&[]), CRC32_SEED);
    }

    #[test]
    fn crc32_of_a_captured_payload() {
        // OPTIONS on stream 85, then 54 1f 6b 11.
        assert_eq!(crc32(&[5, 0, 0, 0x55, 5, 0, 0, 0, 0]), 0x116B_1F54);
    }
}
