//! Type descriptors, class names and values.

use std::collections::{BTreeMap, BTreeSet};

use bytes::BytesMut;
use helenus_core::CqlType;
use helenus_core::types::{
    Counter, Date, Decimal, Duration, FromCql, Record, Time, Timestamp, ToCql, Value, Varint,
    read_type, validate, write_type,
};
use helenus_core::wire::Reader;

use crate::input::Input;

/// A class name: what it means is named, and means the same.
pub(super) fn class_names(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(ty) = CqlType::parse_class(text) else {
        return;
    };
    drop(ty.to_string());
    let name = ty.class_name();
    // Not the same type: what can't be anything but frozen isn't said to be.
    let again = CqlType::parse_class(&name).expect("what was named is a type");
    assert_eq!(again.class_name(), name);
}

/// A type's descriptor and then a value of it: what decodes is encoded, and decodes to the same again.
pub(super) fn values(data: &[u8]) {
    let mut input = Input::new(data);
    let version = input.version();
    let mut reader = Reader::new(input.rest());
    let Ok(ty) = read_type(&mut reader) else {
        return;
    };
    let mut described = BytesMut::new();
    write_type(&mut described, &ty, version);
    read_type(&mut Reader::new(&described)).expect("what was described is a type");

    let bytes = reader.remaining();
    let is_valid = validate(&ty, bytes).is_ok();
    let decoded = Value::decode(&ty, bytes);
    typed(&ty, bytes, decoded.is_ok());
    let Ok(value) = decoded else {
        return;
    };
    assert!(is_valid || has_parts(&ty), "{ty}");
    let mut encoded = Vec::new();
    value.encode(&ty, &mut encoded).expect("of its type");
    let again = Value::decode(&ty, &encoded).expect("what was encoded decodes");
    let mut twice = Vec::new();
    again.encode(&ty, &mut twice).expect("of its type");
    assert_eq!(encoded, twice, "{ty}");
}

/// The value as the Rust types that it may be read as: none takes what isn't a value, and each is written again.
fn typed(ty: &CqlType, bytes: &[u8], is_value: bool) {
    macro_rules! read {
        ($($rust:ty),*) => {$(
            if <$rust>::accepts(ty) && let Ok(value) = <$rust>::from_cql(ty, Some(bytes)) {
                assert!(is_value, "{ty}");
                let mut out = BytesMut::new();
                value.to_cql(Some(ty), &mut out).expect("of its type");
            }
        )*};
    }
    read!(
        i8, i16, i32, i64, f32, f64, bool, &str, &[u8], Counter, Timestamp, Date, Time, Varint, Decimal, Duration,
        Vec<Option<Value>>, BTreeMap<&str, Option<Value>>, BTreeSet<i32>, (Option<Value>, Option<Value>), [f32; 3]
    );
    if let Ok(record) = Record::from_cql(ty, Some(bytes)) {
        for (ty, field) in record.fields() {
            drop(Option::<Value>::from_cql(ty, field));
        }
    }
}

/// Whether validation looks deeper than decoding, or less deep.
fn has_parts(ty: &CqlType) -> bool {
    ty.is_collection()
        || matches!(
            ty.strip_frozen(),
            CqlType::Tuple(_) | CqlType::Udt(_) | CqlType::Vector(..) | CqlType::Custom(_)
        )
}
