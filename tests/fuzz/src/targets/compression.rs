//! Segments and compressed bodies: bounded, and the same on the way back.

use bytes::BytesMut;
use helenus_core::compression::{Compression, decompress_body, decompress_segment};
use helenus_core::segment::{MAX_PAYLOAD, SegmentFormat, SegmentHeader, check_payload};

use crate::input::Input;
use crate::wire;

/// A body or segment that decompresses, or doesn't; and then one that must.
pub(super) fn decompression(data: &[u8]) {
    let mut input = Input::new(data);
    let (limit, claimed) = (usize::from(input.short()), usize::from(input.short()));
    let bytes = input.rest();
    for compression in [Compression::Lz4, Compression::Snappy] {
        let mut out = BytesMut::from(&b"kept"[..]);
        let outcome = decompress_body(compression, bytes, limit, &mut out);
        assert!(out.starts_with(b"kept"));
        match outcome {
            Ok(()) => assert!(out.len() - 4 <= limit),
            Err(_) => assert_eq!(out.len(), 4),
        }
    }
    let mut out = BytesMut::new();
    match decompress_segment(bytes, claimed, &mut out) {
        Ok(()) => assert_eq!(out.len(), claimed),
        Err(_) => assert!(out.is_empty()),
    }

    let mut body = (bytes.len() as u32).to_be_bytes().to_vec();
    let block = lz4_flex::block::compress(bytes);
    body.extend_from_slice(&block);
    let mut out = BytesMut::new();
    decompress_body(Compression::Lz4, &body, bytes.len(), &mut out).expect("a good lz4 body");
    assert_eq!(out, bytes);
    out.clear();
    decompress_segment(&block, bytes.len(), &mut out).expect("a good lz4 segment");
    assert_eq!(out, bytes);
    out.clear();
    let block = snap::raw::Encoder::new().compress_vec(bytes);
    let block = block.expect("short enough");
    decompress_body(Compression::Snappy, &block, bytes.len(), &mut out).expect("good snappy");
    assert_eq!(out, bytes);
}

/// Any bytes as a segment, and any payload in one: a damaged bit is found, wherever it is.
pub(super) fn segments(data: &[u8]) {
    let mut input = Input::new(data);
    let format = match input.byte() % 2 {
        0 => SegmentFormat::Plain,
        _ => SegmentFormat::Lz4,
    };
    let (flag, damaged) = (input.byte().is_multiple_of(2), usize::from(input.short()));
    let bytes = input.rest();
    if let Some(Ok(header)) = SegmentHeader::decode(format, bytes) {
        let length = format.header_len();
        assert_eq!(header.encode(format)[..length - 3], bytes[..length - 3]);
        assert!(header.payload as usize <= MAX_PAYLOAD);
        // Good or not, it returns.
        let _ = check_payload(&bytes[length..], header.payload as usize);
    }
    let mut segment = wire::segment(format, flag, bytes);
    let read = |segment: &[u8]| {
        let header = SegmentHeader::decode(format, segment)?.ok()?;
        check_payload(segment.get(format.header_len()..)?, header.payload as usize)?.ok()?;
        Some(header)
    };
    let header = read(&segment).expect("a good segment");
    assert_eq!(
        (header.self_contained, header.payload as usize),
        (flag, bytes.len())
    );
    let bit = damaged % (segment.len() * 8);
    segment[bit / 8] ^= 1 << (bit % 8);
    // In the header of the uncompressed format six bits mean nothing, but the checksum covers them.
    assert_eq!(read(&segment), None, "bit {bit}");
}
