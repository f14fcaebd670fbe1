//! Types and values by the rules they hold. The golden vectors are tested in `tests/golden`.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::codes::ProtocolVersion;
use crate::wire::{DecodeErrorKind, Reader};

fn list(ty: CqlType) -> CqlType {
    CqlType::List(Arc::new(ty))
}

fn vector(ty: CqlType, dimension: u32) -> CqlType {
    CqlType::Vector(Arc::new(ty), dimension)
}

fn udt() -> CqlType {
    CqlType::Udt(Arc::new(UserType {
        keyspace: "ks".into(),
        name: "My type".into(),
        fields: vec![
            ("a".into(), CqlType::Int),
            ("b".into(), list(CqlType::Text).freeze()),
        ],
    }))
}

fn nested() -> CqlType {
    CqlType::Map(Arc::new((
        CqlType::Tuple([CqlType::Int, CqlType::Duration].into()).freeze(),
        vector(CqlType::Set(Arc::new(udt().freeze())).freeze(), 3),
    )))
}

#[test]
fn types_display_as_cql_writes_them() {
    assert_eq!(
        nested().to_string(),
        "map<frozen<tuple<int, duration>>, vector<frozen<set<frozen<\"My type\">>>, 3>>"
    );
}

#[test]
fn identifiers_are_quoted_where_cql_needs_it() {
    for (name, text) in [
        ("plain_1", "plain_1"),
        ("Upper", "\"Upper\""),
        ("1st", "\"1st\""),
        ("_x", "\"_x\""),
        ("select", "\"select\""),
        ("a\"b", "\"a\"\"b\""),
        ("", "\"\""),
        ("type", "type"),
    ] {
        assert_eq!(quoted(name), text);
    }
}

#[test]
fn class_names_name_every_type_and_parse_back() {
    assert_eq!(
        vector(CqlType::Float, 3).class_name(),
        "org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 3)"
    );
    assert_eq!(
        CqlType::parse_class("ReversedType( UTF8Type )"),
        Ok(CqlType::Text)
    );
    assert_eq!(
        CqlType::parse_class("com.example.Opaque(a => (b), c)"),
        Ok(CqlType::Custom("com.example.Opaque(a => (b), c)".into()))
    );
}

#[test]
fn what_is_frozen_within_a_frozen_type_or_a_tuple_is_not_said_to_be() {
    // As Cassandra 5.0 describes columns of these types.
    for (ty, short) in [
        (
            vector(list(list(CqlType::Int).freeze()).freeze(), 2),
            "VectorType(FrozenType(ListType(ListType(Int32Type))) , 2)",
        ),
        (
            vector(
                CqlType::Tuple([CqlType::Int, list(CqlType::Int).freeze()].into()).freeze(),
                2,
            ),
            "VectorType(TupleType(Int32Type,ListType(Int32Type)) , 2)",
        ),
        (
            vector(list(CqlType::Int), 2),
            "VectorType(ListType(Int32Type) , 2)",
        ),
        (
            vector(udt().freeze(), 1),
            "VectorType(FrozenType(UserType(ks,4d792074797065,61:Int32Type,62:ListType(UTF8Type))) , 1)",
        ),
        (
            vector(udt(), 1),
            "VectorType(UserType(ks,4d792074797065,61:Int32Type,62:FrozenType(ListType(UTF8Type))) , 1)",
        ),
        (
            vector(vector(CqlType::Int, 2).freeze(), 2),
            "VectorType(VectorType(Int32Type , 2) , 2)",
        ),
    ] {
        let name = ty.class_name();
        assert_eq!(name.replace("org.apache.cassandra.db.marshal.", ""), short);
        assert_eq!(CqlType::parse_class(&name).unwrap().class_name(), name);
        assert_eq!(CqlType::parse_class(short), CqlType::parse_class(&name));
    }
}

#[test]
fn class_names_that_do_not_parse_are_refused_with_their_offset() {
    for (name, offset) in [
        ("ListType(Int32Type", 18),
        ("MapType(Int32Type)", 17),
        ("Int32Type)", 9),
        ("VectorType(Int32Type , 0)", 24),
    ] {
        assert_eq!(
            CqlType::parse_class(name),
            Err(ClassNameError { offset }),
            "{name}"
        );
    }
    let deep = "ListType(".repeat(100_000);
    assert!(CqlType::parse_class(&deep).is_err());
}

#[test]
fn types_that_came_later_are_custom_in_older_versions() {
    let wire = |ty: &CqlType, version| {
        let mut out = Vec::new();
        write_type(&mut out, ty, version);
        out
    };
    assert_eq!(wire(&CqlType::SmallInt, ProtocolVersion::V4), [0x00, 0x13]);
    let mut custom = vec![0, 0, 0, 41];
    custom.extend(b"org.apache.cassandra.db.marshal.ShortType");
    assert_eq!(wire(&CqlType::SmallInt, ProtocolVersion::V3), custom);
    assert_eq!(wire(&CqlType::Duration, ProtocolVersion::V5), [0x00, 0x15]);
    assert_eq!(wire(&CqlType::Duration, ProtocolVersion::V4)[..2], [0, 0]);
}

#[test]
fn types_read_back_as_written_but_for_frozen() {
    for version in ProtocolVersion::ALL {
        let ty = CqlType::Tuple([list(CqlType::Date), udt(), vector(CqlType::Text, 2)].into());
        let mut out = Vec::new();
        write_type(&mut out, &ty, version);
        let read = read_type(&mut Reader::new(&out)).unwrap();
        let CqlType::Tuple(parts) = &read else {
            panic!("{read:?}")
        };
        assert_eq!(parts[0], list(CqlType::Date));
        assert_eq!(parts[2], vector(CqlType::Text, 2));
        for cut in 0..out.len() {
            assert!(
                read_type(&mut Reader::new(&out[..cut])).is_err(),
                "cut at {cut}"
            );
        }
    }
}

#[test]
fn types_nested_too_deep_are_refused() {
    let bytes = [0x00, 0x20].repeat(100_000);
    let error = read_type(&mut Reader::new(&bytes)).unwrap_err();
    assert_eq!(error.kind, DecodeErrorKind::NestedTooDeep);
}

#[test]
fn empty_values_are_refused_where_cassandra_does() {
    for ty in [
        CqlType::SmallInt,
        CqlType::TinyInt,
        CqlType::Date,
        CqlType::Time,
        CqlType::Duration,
        vector(CqlType::Float, 3),
    ] {
        assert!(validate(&ty, &[]).is_err(), "{ty}");
    }
    for ty in [
        CqlType::Int,
        CqlType::BigInt,
        CqlType::Boolean,
        CqlType::Uuid,
        CqlType::Decimal,
        CqlType::Varint,
        CqlType::Inet,
    ] {
        assert_eq!(validate(&ty, &[]), Ok(()), "{ty}");
        assert_eq!(Value::decode(&ty, &[]), Ok(Value::Empty), "{ty}");
    }
}

#[test]
fn invalid_values_are_refused_in_cassandras_words() {
    let text = |ty: &CqlType, bytes: &[u8]| validate(ty, bytes).unwrap_err().to_string();
    assert_eq!(text(&CqlType::Int, &[0; 3]), "Expected 4 or 0 byte int (3)");
    assert_eq!(
        text(&CqlType::Text, &[0xFF, 0xFE]),
        "String didn't validate."
    );
    assert_eq!(
        text(&CqlType::Inet, &[1; 5]),
        "Expected 4 or 16 byte inetaddress; got 0101010101"
    );
    assert_eq!(
        text(&CqlType::Duration, &[1, 4, 6]),
        "The duration months, days and nanoseconds must be all of the same sign (-1, 2, 3)"
    );
    assert_eq!(
        text(&list(CqlType::Int), &[0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 1]),
        "Not enough bytes to read a list"
    );
    assert_eq!(
        text(&list(CqlType::Int), &[0xFF; 4]),
        "The data cannot be deserialized as a list"
    );
    assert_eq!(
        text(&vector(CqlType::Float, 3), &[0; 16]),
        "Unexpected 4 extraneous bytes after vector<float, 3> value"
    );
    let tuple = CqlType::Tuple([CqlType::Int, CqlType::Text].into());
    assert_eq!(
        text(&tuple, &[0, 0, 0, 4, 0, 0, 0, 1, 0, 0]),
        "Not enough bytes to read size of 1th component"
    );
}

#[test]
fn text_may_be_what_java_takes_for_utf8() {
    for bytes in [&[0xC0, 0x80][..], &[b'a', 0xED, 0xA0, 0x80, b'b']] {
        assert_eq!(validate(&CqlType::Text, bytes), Ok(()));
        assert_eq!(
            Value::decode(&CqlType::Text, bytes),
            Err(ValueError::InvalidUtf8)
        );
    }
    assert_eq!(
        validate(&CqlType::Text, &[b'a', 0xC3]),
        Err(ValueError::InvalidUtf8)
    );
}

#[test]
fn integers_become_varints_of_the_fewest_bytes() {
    for (value, bytes) in [
        (0, &[0][..]),
        (127, &[127]),
        (128, &[0, 128]),
        (-1, &[255]),
        (-128, &[128]),
        (-129, &[255, 127]),
        (i64::MAX, &[127, 255, 255, 255, 255, 255, 255, 255]),
    ] {
        assert_eq!(Varint::from(value).as_bytes(), bytes, "{value}");
    }
}

#[test]
fn a_value_of_another_type_is_refused() {
    let mut out = Vec::new();
    assert_eq!(
        Value::Int(1).encode(&CqlType::BigInt, &mut out),
        Err(ValueError::Mismatch(CqlType::BigInt))
    );
    assert_eq!(
        Value::Vector(vec![Value::Float(1.0)]).encode(&vector(CqlType::Float, 2), &mut out),
        Err(ValueError::Mismatch(vector(CqlType::Float, 2)))
    );
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_and_valid_ones_encode_back(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        for ty in [nested(), udt(), list(CqlType::Int), vector(CqlType::Text, 2), CqlType::Duration, CqlType::Decimal] {
            if let Ok(value) = Value::decode(&ty, &bytes) {
                prop_assert_eq!(validate(&ty, &bytes), Ok(()));
                let mut out = Vec::new();
                value.encode(&ty, &mut out).unwrap();
                prop_assert_eq!(Value::decode(&ty, &out), Ok(value));
            }
        }
    }
}
