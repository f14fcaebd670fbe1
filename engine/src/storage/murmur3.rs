//! MurmurHash3 x64-128 with seed 0, in Cassandra's variant, which sign-extends the bytes of the tail: of a key as a whole,
//! and of bytes as they come.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// Takes in 16 bytes.
pub(super) fn block((mut h1, mut h2): (u64, u64), block: &[u8; 16]) -> (u64, u64) {
    let (k1, k2) = halves(block);
    h1 ^= mix1(k1);
    h1 = h1.rotate_left(27).wrapping_add(h2);
    h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
    h2 ^= mix2(k2);
    h2 = h2.rotate_left(31).wrapping_add(h1);
    h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    (h1, h2)
}

/// Takes in the tail of less than 16 bytes, and how many bytes there were in all.
pub(super) fn finish((mut h1, mut h2): (u64, u64), tail: &[u8], len: u64) -> (u64, u64) {
    let (low, high) = tail.split_at(tail.len().min(8));
    h2 ^= mix2(signed_tail(high));
    h1 ^= mix1(signed_tail(low));
    h1 ^= len;
    h2 ^= len;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = avalanche(h1);
    h2 = avalanche(h2);
    h1 = h1.wrapping_add(h2);
    (h1, h2.wrapping_add(h1))
}

fn halves(block: &[u8; 16]) -> (u64, u64) {
    let whole = u128::from_le_bytes(*block);
    (whole as u64, (whole >> 64) as u64)
}

fn mix1(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn mix2(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

/// Up to eight bytes, little endian, each sign-extended before it is shifted into place.
fn signed_tail(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |k, &byte| {
        (k << 8) ^ i64::from(byte.cast_signed()).cast_unsigned()
    })
}

fn avalanche(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

/// A hash under way: of the bytes as they come, however they are cut.
#[derive(Debug, Default)]
pub(crate) struct Hasher128 {
    state: (u64, u64),
    /// What doesn't make a block yet, in front.
    tail: [u8; 16],
    len: u64,
}

impl Hasher128 {
    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        let held = self.held();
        self.len = self.len.wrapping_add(bytes.len() as u64);
        if held > 0 {
            let (now, rest) = bytes.split_at(bytes.len().min(16 - held));
            if let Some(place) = self.tail.get_mut(held..held + now.len()) {
                place.copy_from_slice(now);
            }
            if held + now.len() < 16 {
                return;
            }
            self.state = block(self.state, &self.tail);
            bytes = rest;
        }
        let (blocks, tail) = bytes.as_chunks::<16>();
        for bytes in blocks {
            self.state = block(self.state, bytes);
        }
        if let Some(place) = self.tail.get_mut(..tail.len()) {
            place.copy_from_slice(tail);
        }
    }

    pub(crate) fn finish(self) -> u128 {
        let tail = self.tail.get(..self.held()).unwrap_or_default();
        let (h1, h2) = finish(self.state, tail, self.len);
        u128::from(h1) << 64 | u128::from(h2)
    }

    /// How many bytes of the tail are taken.
    fn held(&self) -> usize {
        (self.len % 16) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_same_however_its_bytes_are_cut() {
        let bytes: Vec<u8> = (0..100).map(|i| (i * 37 + 200) as u8).collect();
        let (blocks, tail) = bytes.as_chunks::<16>();
        let state = blocks.iter().fold((0, 0), block);
        let (h1, h2) = finish(state, tail, 100);
        // The first half is the token that Apache Cassandra computes.
        assert_eq!(h1.cast_signed(), 3564141452560397839);
        for step in 1..=bytes.len() {
            let mut hasher = Hasher128::default();
            bytes.chunks(step).for_each(|chunk| hasher.update(chunk));
            assert_eq!(hasher.finish(), u128::from(h1) << 64 | u128::from(h2));
        }
    }
}
