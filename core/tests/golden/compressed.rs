//! Envelopes as connections of v3 and v4 carried them: compressed by other implementations, and not one byte of their bodies
//! is lost. What isn't canonical is written differently here, and only its reading is compared:
//!
//! * a compressed body or segment: where a block's matches are taken from is the compressor's choice;
//! * whether a body or segment that hardly shrinks is compressed at all: likewise;
//! * the order of the entries in a map (STARTUP's and SUPPORTED's options, payloads): they are encoded as they stood.
//!
//! All other golden bytes are written as they were read, in both directions: `requests`, `responses` and `values` assert it.

use bytes::BytesMut;
use helenus_core::compression::{Compression, decompress_body};
use helenus_core::{Flags, Header};

use crate::vectors::{self, hex};

#[test]
fn compressed_envelopes_hold_the_bodies_that_they_were_made_of() {
    let (mut compressed, mut stored) = (0, 0);
    for line in vectors::lines("envelopes.jsonl") {
        let Some(compression) = line["compression"]
            .as_str()
            .and_then(Compression::from_name)
        else {
            continue;
        };
        let id = line["id"].as_str().unwrap();
        let (plain, wire) = (hex(&line["hex"]), hex(&line["wire_hex"]));
        let (head, body) = wire.split_first_chunk::<{ Header::SIZE }>().unwrap();
        let header = Header::decode(head);
        assert_eq!(header.length as usize, body.len(), "{id}");
        if !header.flags.contains(Flags::COMPRESSION) {
            assert_eq!(wire, plain, "{id}");
            stored += 1;
            continue;
        }
        let mut out = BytesMut::new();
        let header = Header {
            flags: header.flags.without(Flags::COMPRESSION),
            length: (plain.len() - Header::SIZE) as u32,
            ..header
        };
        out.extend_from_slice(&header.encode());
        decompress_body(compression, body, plain.len(), &mut out).expect(id);
        assert_eq!(out, plain, "{id}");
        compressed += 1;
        // A limit of one byte less is one that the body doesn't keep to.
        let length = plain.len() - Header::SIZE;
        if length > 0 {
            let short = decompress_body(compression, body, length - 1, &mut BytesMut::new());
            assert!(short.is_err(), "{id}");
        }
    }
    assert_eq!((compressed, stored), (313, 0));
}
