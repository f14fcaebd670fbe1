//! The token of a partition key: Cassandra's `Murmur3Partitioner`.

use super::Token;

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

impl Token {
    /// The token of a serialized partition key: the first half of MurmurHash3 x64-128 with seed 0, in Cassandra's
    /// variant, which sign-extends the bytes of the tail. Never `i64::MIN`, which Cassandra maps to `i64::MAX`.
    ///
    /// Cassandra gives the empty key `i64::MIN`; no table can hold it, so that it is hashed like any other here.
    ///
    /// ```
    /// use helenus_engine::storage::Token;
    ///
    /// assert_eq!(Token::of(b"hello world"), Token(5998619086395760910));
    /// ```
    ///
    /// The empty key, which only a view can have, has the least token.
    pub fn of(key: &[u8]) -> Self {
        if key.is_empty() {
            return Self(i64::MIN);
        }
        let hash = murmur3(key);
        Self(if hash == i64::MIN { i64::MAX } else { hash })
    }
}

fn murmur3(key: &[u8]) -> i64 {
    let (blocks, tail) = key.as_chunks::<16>();
    let (mut h1, mut h2) = (0_u64, 0_u64);
    for block in blocks {
        let (k1, k2) = halves(block);
        h1 ^= mix1(k1);
        h1 = h1.rotate_left(27).wrapping_add(h2);
        h1 = h1.wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 ^= mix2(k2);
        h2 = h2.rotate_left(31).wrapping_add(h1);
        h2 = h2.wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    let (low, high) = tail.split_at(tail.len().min(8));
    h2 ^= mix2(signed_tail(high));
    h1 ^= mix1(signed_tail(low));

    let len = key.len() as u64;
    h1 ^= len;
    h2 ^= len;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1.wrapping_add(h2).cast_signed()
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

fn finish(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `token()` of Apache Cassandra 5.0.4 says of blobs.
    #[test]
    fn tokens_are_cassandras() {
        let every_block: Vec<u8> = (0..100).map(|i| (i * 37 + 200) as u8).collect();
        let cases: [(&[u8], i64); 9] = [
            (b"a", -8839064797231613815),
            (b"hello world", 5998619086395760910),
            (b"\x00", 5048724184180415669),
            (b"\xff", -4442228696663692417),
            (b"\x80\x81\xfe\xff\x00\x7f\x80", 9086849971307962848),
            (
                b"\xfa\xfb\xfc\xfd\xfe\xff\0\x01\x02\x03\x04\x05\x06\x07\x08",
                -6304863892500134365,
            ),
            (
                b"xyz{|}~\x7f\x80\x81\x82\x83\x84\x85\x86\x87",
                -7401734793636492071,
            ),
            (
                b"\xf0\xf1\xf2\xf3\xf4\xf5\xf6\xf7\xf8\xf9\xfa\xfb\xfc\xfd\xfe\xff\xf0",
                -8643975058035977670,
            ),
            (&every_block, 3564141452560397839),
        ];
        for (key, token) in cases {
            assert_eq!(Token::of(key), Token(token), "{key:x?}");
        }
    }
}
