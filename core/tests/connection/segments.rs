//! Every golden segment decodes to its payload; where there is one way to write it, it is written so.

use std::path::Path;

use bytes::BytesMut;
use helenus_core::compression::decompress_segment;
use helenus_core::segment::{SegmentFormat, SegmentHeader, TRAILER, check_payload};
use serde_json::Value;

use crate::client::{segment, unhex};

#[test]
fn golden_segments_decode_and_encode() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/segments.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut rewritten = 0;
    for line in text.lines() {
        let golden: Value = serde_json::from_str(line).unwrap();
        let id = &golden["id"];
        let format = match golden["compression"].as_str().unwrap() {
            "lz4" => SegmentFormat::Lz4,
            _ => SegmentFormat::Plain,
        };
        let bytes = unhex(golden["hex"].as_str().unwrap());
        let payload = unhex(golden["payload_hex"].as_str().unwrap());
        let header = SegmentHeader::decode(format, &bytes).unwrap().unwrap();
        assert_eq!(header.self_contained, golden["self_contained"], "{id}");
        let behind = &bytes[format.header_len()..];
        let length = header.payload as usize;
        assert_eq!(behind.len(), length + TRAILER, "{id}");
        assert_eq!(check_payload(behind, length), Some(Ok(())), "{id}");
        if header.uncompressed == 0 {
            assert_eq!(behind[..length], payload, "{id}");
            let written = segment(format, header.self_contained, &payload);
            assert_eq!(written, bytes, "{id}");
            rewritten += 1;
        } else {
            let mut plain = BytesMut::new();
            let uncompressed = header.uncompressed as usize;
            decompress_segment(&behind[..length], uncompressed, &mut plain).unwrap();
            assert_eq!(plain, payload, "{id}");
        }
    }
    assert_eq!((text.lines().count(), rewritten), (118, 66));
}
