//! Round trips, corrupt blocks and the bounds on what a block may claim.

use super::*;

const LIMIT: usize = 1 << 20;

fn text() -> Vec<u8> {
    b"SELECT v FROM probe.kv WHERE k = 1; "
        .iter()
        .copied()
        .cycle()
        .take(4000)
        .collect()
}

#[test]
fn a_body_comes_back_from_either_compression() {
    for &compression in Compression::SUPPORTED {
        let mut compressor = Compressor::default();
        let block = compressor.body(compression, &text()).unwrap().to_vec();
        let mut out = BytesMut::from(&b"before"[..]);
        decompress_body(compression, &block, LIMIT, &mut out).unwrap();
        assert_eq!(out[..6], *b"before");
        assert_eq!(out[6..], text());
    }
}

#[test]
fn a_segment_payload_comes_back() {
    let mut compressor = Compressor::default();
    let block = compressor.segment(&text()).unwrap().to_vec();
    let mut out = BytesMut::new();
    decompress_segment(&block, 4000, &mut out).unwrap();
    assert_eq!(out, text());
    for wrong in [0, 1, 3999, 4001, crate::segment::MAX_PAYLOAD] {
        assert!(decompress_segment(&block, wrong, &mut out).is_err());
    }
    assert_eq!(out, text(), "a failure leaves the output as it was");
}

#[test]
fn bytes_that_do_not_shrink_are_not_compressed() {
    let mut compressor = Compressor::default();
    assert_eq!(compressor.body(Compression::Lz4, b"abcdefgh"), None);
    assert_eq!(compressor.body(Compression::Snappy, b"abcdefgh"), None);
}

#[test]
fn names_ignore_case() {
    assert_eq!(Compression::from_name("LZ4"), Some(Compression::Lz4));
    assert_eq!(Compression::from_name("Snappy"), Some(Compression::Snappy));
    assert_eq!(Compression::from_name("none"), None);
}

#[test]
fn a_claim_beyond_the_limit_or_the_block_is_refused_before_memory_is_taken() {
    let mut out = BytesMut::new();
    let bomb = [&u32::MAX.to_be_bytes()[..], &[0; 16]].concat();
    assert_eq!(
        decompress_body(Compression::Lz4, &bomb, LIMIT, &mut out),
        Err(CompressionError::TooLong {
            claimed: u32::MAX,
            available: 16 * 255,
        })
    );
    let huge = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0];
    assert_eq!(
        decompress_body(Compression::Snappy, &huge, LIMIT, &mut out),
        Err(CompressionError::Corrupt(Compression::Snappy))
    );
    assert_eq!(out.capacity(), 0);
}

#[test]
fn corrupt_and_cut_blocks_are_refused() {
    for &compression in Compression::SUPPORTED {
        let mut compressor = Compressor::default();
        let block = compressor.body(compression, &text()).unwrap().to_vec();
        let mut out = BytesMut::new();
        for cut in 0..block.len() {
            assert!(decompress_body(compression, &block[..cut], LIMIT, &mut out).is_err());
        }
        let longer = [&block[..], &[1, 2, 3, 4, 5]].concat();
        assert!(decompress_body(compression, &longer, LIMIT, &mut out).is_err());
        assert!(out.is_empty());
    }
}

#[test]
fn an_empty_body_may_be_compressed() {
    let mut out = BytesMut::new();
    decompress_body(Compression::Lz4, &[0, 0, 0, 0, 0], LIMIT, &mut out).unwrap();
    decompress_body(Compression::Snappy, &[0], LIMIT, &mut out).unwrap();
    assert!(out.is_empty());
}
