//! The token of a partition key: Cassandra's `Murmur3Partitioner`.

use super::Token;
use super::murmur3::{block, finish};

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
    let mut state = (0, 0);
    for bytes in blocks {
        state = block(state, bytes);
    }
    finish(state, tail, key.len() as u64).0.cast_signed()
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
