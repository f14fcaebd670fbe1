use std::net::SocketAddr;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::codes::{Consistency, ErrorCode, ProtocolVersion};

#[test]
fn an_error_fits_twelve_bytes_and_answers_with_a_protocol_error() {
    assert_eq!(size_of::<DecodeError>(), 12);
    let error = Reader::new(&[0]).short().unwrap_err();
    assert_eq!(error, DecodeError::new(DecodeErrorKind::UnexpectedEnd, 0));
    assert_eq!(error.code(), ErrorCode::PROTOCOL_ERROR);
}

#[test]
fn a_cut_string_is_named_by_its_length_field() {
    let cut = |error: DecodeError| (error.kind, error.offset);
    assert_eq!(
        cut(Reader::new(&[0, 2, b'a']).string().unwrap_err()),
        (DecodeErrorKind::CutString, 2)
    );
    assert_eq!(
        cut(Reader::new(&[0]).string().unwrap_err()),
        (DecodeErrorKind::CutString, 0)
    );
    let negative = [0xFF, 0xFF, 0xFF, 0xFF, b'a'];
    assert_eq!(
        cut(Reader::new(&negative).long_string().unwrap_err()),
        (DecodeErrorKind::CutLongString, 4)
    );
    assert_eq!(
        cut(Reader::new(&[0, 3, 1]).short_bytes().unwrap_err()),
        (DecodeErrorKind::CutShortBytes, 2)
    );
    assert_eq!(
        cut(Reader::new(&[0, 2, b'a', 0xFF]).string().unwrap_err()),
        (DecodeErrorKind::InvalidUtf8, 2)
    );
}

#[test]
fn a_value_below_unset_is_refused_from_v4_and_a_null_before() {
    fn read(length: i32, version: ProtocolVersion) -> Result<RawValue<'static>, DecodeErrorKind> {
        let bytes = length.to_be_bytes().to_vec().leak();
        Reader::new(bytes)
            .value(version)
            .map_err(|error| error.kind)
    }
    assert_eq!(read(-1, ProtocolVersion::V4), Ok(RawValue::Null));
    assert_eq!(read(-2, ProtocolVersion::V4), Ok(RawValue::Unset));
    assert_eq!(read(-2, ProtocolVersion::V3), Ok(RawValue::Null));
    assert_eq!(read(-3, ProtocolVersion::V3), Ok(RawValue::Null));
    let error = read(-3, ProtocolVersion::V5).unwrap_err();
    assert_eq!(error.to_string(), "Invalid ByteBuf length -3");
}

#[test]
fn an_unknown_consistency_names_its_code() {
    let error = Reader::new(&[0xFF, 0xFF]).consistency().unwrap_err();
    assert_eq!(
        error.kind,
        DecodeErrorKind::UnknownConsistency(Consistency(0xFFFF))
    );
    assert_eq!(
        error.kind.to_string(),
        "Unknown code 65535 for a consistency level"
    );
}

#[test]
fn vints_have_the_lengths_of_cassandra() {
    let encoded = |value: u64| {
        let mut out = Vec::new();
        out.put_unsigned_vint(value);
        out
    };
    assert_eq!(encoded(0), [0]);
    assert_eq!(encoded(127), [0x7F]);
    assert_eq!(encoded(128), [0x80, 0x80]);
    assert_eq!(encoded(16383), [0xBF, 0xFF]);
    assert_eq!(encoded(16384), [0xC0, 0x40, 0x00]);
    assert_eq!(
        encoded((1 << 56) - 1),
        [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]
    );
    assert_eq!(encoded(1 << 56), [0xFF, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(encoded(u64::MAX), [0xFF; 9]);
}

#[test]
fn an_oversized_string_is_cut_at_a_whole_character() {
    let text = "é".repeat(40_000);
    let mut out = Vec::new();
    out.put_string(&text);
    let mut reader = Reader::new(&out);
    assert_eq!(reader.string().unwrap().len(), 65_534);
    assert!(reader.is_empty());
}

#[test]
fn of_doubled_keys_the_last_one_counts() {
    let mut out = Vec::new();
    out.put_string_map(&[("A", "1"), ("B", "2"), ("A", "3")]);
    let map = Reader::new(&out).string_map().unwrap();
    assert_eq!(
        (map.get("A"), map.get("B"), map.get("C")),
        (Some("3"), Some("2"), None)
    );
}

proptest! {
    #[test]
    fn vints_come_back(value: i64) {
        let mut out = Vec::new();
        out.put_vint(value);
        out.put_unsigned_vint(value.cast_unsigned());
        let mut reader = Reader::new(&out);
        prop_assert_eq!(reader.vint().unwrap(), value);
        prop_assert_eq!(reader.unsigned_vint().unwrap(), value.cast_unsigned());
        prop_assert!(reader.is_empty());
    }

    #[test]
    fn maps_and_addresses_come_back_and_every_cut_fails(
        entries in vec((".{0,9}", vec(".{0,9}", 0..4)), 0..4),
        payload in vec((".{0,9}", option::of(vec(any::<u8>(), 0..9))), 0..4),
        address in any::<SocketAddr>(),
    ) {
        let mut out = Vec::new();
        out.put_string_multimap(&entries);
        out.put_bytes_map(&payload);
        // An [inet] has no flow label and no scope.
        let address = SocketAddr::new(address.ip(), address.port());
        out.put_inet(address);
        let read = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes);
            let map: Vec<(String, Vec<String>)> = reader
                .string_multimap()?
                .iter()
                .map(|(key, values)| (key.to_owned(), values.iter().map(str::to_owned).collect()))
                .collect();
            let payload: Vec<(String, Option<Vec<u8>>)> = reader
                .bytes_map()?
                .iter()
                .map(|(key, value)| (key.to_owned(), value.map(<[u8]>::to_vec)))
                .collect();
            Ok::<_, DecodeError>((map, payload, reader.inet()?, reader.position()))
        };
        prop_assert_eq!(read(&out).unwrap(), (entries, payload, address, out.len()));
        for length in 0..out.len() {
            prop_assert!(read(&out[..length]).is_err());
        }
    }
}
