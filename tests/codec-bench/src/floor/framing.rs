//! Envelopes off a stream of bytes, bare and in segments.

use super::int;

/// The reader of bare envelopes.
#[derive(Default)]
pub struct Bare {
    buffer: Vec<u8>,
    /// Bytes up to the end of the envelope, once its header is there.
    need: usize,
}

impl Bare {
    /// Takes received bytes.
    #[inline]
    pub fn read(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The body of the envelope, if it is there as a whole.
    #[inline]
    pub fn body(&mut self) -> Option<&[u8]> {
        if self.need == 0 {
            let mut length = self.buffer.get(5..9)?;
            self.need = 9 + int(&mut length)? as usize;
        }
        self.buffer.get(9..self.need)
    }

    /// Lets go of it.
    #[inline]
    pub fn consume(&mut self) {
        self.buffer.drain(..self.need);
        self.need = 0;
    }

    /// The bodies that come with these bytes, received `piece` of them at a time.
    #[inline]
    pub fn each(&mut self, bytes: &[u8], piece: usize, mut body: impl FnMut(&[u8])) {
        for piece in bytes.chunks(piece) {
            self.read(piece);
            while let Some(whole) = self.body() {
                body(whole);
                self.consume();
            }
        }
    }
}

/// CRC24, by table.
const CRC24: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u32) << 16;
        let mut bit = 0;
        while bit < 8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= 0x0197_4F0B;
            }
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
};

#[inline(always)]
fn crc24(bytes: [u8; 3]) -> u32 {
    bytes.iter().fold(0x0087_5060, |crc: u32, byte| {
        (crc << 8) & 0x00FF_FFFF ^ CRC24[(((crc >> 16) as u8) ^ byte) as usize]
    })
}

#[inline(always)]
fn crc32(bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(0x4477_7ED3);
    hasher.update(bytes);
    hasher.finalize()
}

/// The reader of envelopes in uncompressed segments.
#[derive(Default)]
pub struct Segments {
    buffer: Vec<u8>,
    /// The envelope that is put together from several segments.
    message: Vec<u8>,
    /// Bytes up to the end of the segment, once its header is there.
    need: usize,
}

impl Segments {
    /// The bodies that come with these bytes, received `piece` of them at a time.
    #[inline]
    pub fn each(&mut self, bytes: &[u8], piece: usize, mut body: impl FnMut(&[u8])) -> Option<()> {
        for piece in bytes.chunks(piece) {
            self.buffer.extend_from_slice(piece);
            if self.buffer.len() >= self.need {
                self.whole(&mut body)?;
            }
        }
        Some(())
    }

    /// Hands each body over that is there as a whole.
    #[inline]
    fn whole(&mut self, mut body: impl FnMut(&[u8])) -> Option<()> {
        let mut at = 0;
        while let Some(rest) = self.buffer.get(at..) {
            if self.need == 0 {
                let Some(&[a, b, c, x, y, z]) = rest.first_chunk() else {
                    break;
                };
                if crc24([a, b, c]) != u32::from_le_bytes([x, y, z, 0]) {
                    return None;
                }
                let length = u32::from_le_bytes([a, b, c & 1, 0]) as usize;
                self.need = 6 + length + 4;
            }
            let Some(segment) = rest.get(..self.need) else {
                break;
            };
            let (front, crc) = segment.split_last_chunk::<4>()?;
            let payload = &front[6..];
            if crc32(payload) != u32::from_le_bytes(*crc) {
                return None;
            }
            if front[2] & 2 != 0 {
                envelopes(payload, &mut body)?;
            } else {
                self.message.extend_from_slice(payload);
                let mut length = self.message.get(5..9)?;
                let end = 9 + int(&mut length)? as usize;
                if let Some(whole) = self.message.get(9..end) {
                    body(whole);
                    self.message.clear();
                }
            }
            at += self.need;
            self.need = 0;
        }
        self.buffer.drain(..at);
        Some(())
    }
}

#[inline(always)]
fn envelopes(mut payload: &[u8], body: &mut impl FnMut(&[u8])) -> Option<()> {
    while !payload.is_empty() {
        let mut length = payload.get(5..9)?;
        let end = 9 + int(&mut length)? as usize;
        body(payload.get(9..end)?);
        payload = &payload[end..];
    }
    Some(())
}
