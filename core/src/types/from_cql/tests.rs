use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use bytes::BytesMut;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::types::{
    Counter, Date, Decimal, Duration, Entries, Items, MaybeUnset, Record, RecordFields, Time,
    Timestamp, ToCql, UserType, Varint,
};

fn list(ty: CqlType) -> CqlType {
    CqlType::List(Arc::new(ty))
}

fn set(ty: CqlType) -> CqlType {
    CqlType::Set(Arc::new(ty))
}

fn map(key: CqlType, value: CqlType) -> CqlType {
    CqlType::Map(Arc::new((key, value)))
}

fn vector(ty: CqlType, dimension: u32) -> CqlType {
    CqlType::Vector(Arc::new(ty), dimension)
}

fn tuple(types: &[CqlType]) -> CqlType {
    CqlType::Tuple(types.into())
}

fn address() -> CqlType {
    CqlType::Udt(Arc::new(UserType {
        keyspace: "ks".into(),
        name: "address".into(),
        fields: vec![
            ("street".into(), CqlType::Text),
            ("zip".into(), CqlType::Int),
        ],
    }))
}

fn written<T: ToCql + ?Sized>(value: &T, ty: &CqlType) -> Result<Vec<u8>, ValueError> {
    let mut out = BytesMut::new();
    value.to_cql(Some(ty), &mut out)?;
    Ok(out.to_vec())
}

#[test]
fn types_are_strict() {
    assert!(i32::accepts(&CqlType::Int) && !i64::accepts(&CqlType::Int));
    assert!(!i64::accepts(&CqlType::Counter) && !i64::accepts(&CqlType::Timestamp));
    assert!(!String::accepts(&CqlType::Blob) && !Vec::<u8>::accepts(&CqlType::Text));
    assert!(!Vec::<i64>::accepts(&list(CqlType::Int)));
    assert!(!<[f32; 3]>::accepts(&vector(CqlType::Float, 2)));
    assert!(!BTreeSet::<i32>::accepts(&list(CqlType::Int)));
    assert!(!<(i32,)>::accepts(&tuple(&[CqlType::Int, CqlType::Int])));
    assert!(!<(String, i32)>::accepts(&address()));
    assert!(Vec::<i32>::accepts(&list(CqlType::Int).freeze()));
    for ty in [CqlType::BigInt, CqlType::Counter, list(CqlType::Int)] {
        assert_eq!(written(&7_i32, &ty), Err(ValueError::Mismatch(ty)));
    }
}

#[test]
fn a_type_that_was_not_accepted_is_an_error_where_its_bytes_do_not_fit() {
    let bytes = [0, 0, 0, 7];
    let mismatch = Err(ValueError::Mismatch(CqlType::Int));
    assert_eq!(i64::from_cql(&CqlType::Int, Some(&bytes)), mismatch);
    let mismatch = Err(ValueError::Mismatch(CqlType::Int));
    assert_eq!(<(i32,)>::from_cql(&CqlType::Int, Some(&bytes)), mismatch);
    let mismatch = Err(ValueError::Mismatch(CqlType::Int));
    assert_eq!(Vec::<i32>::from_cql(&CqlType::Int, Some(&bytes)), mismatch);
}

#[test]
fn a_tuple_that_ends_early_has_nulls_for_the_rest() {
    let ty = tuple(&[CqlType::Int, CqlType::Text]);
    type Both = (Option<i32>, Option<String>);
    assert_eq!(Both::from_cql(&ty, Some(&[])), Ok((None, None)));
    let short = [0, 0, 0, 4, 0, 0, 0, 7];
    assert_eq!(Both::from_cql(&ty, Some(&short)), Ok((Some(7), None)));
    assert_eq!(
        <(i32, &str)>::from_cql(&ty, Some(&short)),
        Err(ValueError::Null)
    );
    // One value fewer than the type has fields is written, one more isn't.
    assert_eq!(written(&(7,), &ty).unwrap(), short);
    assert_eq!(
        written(&(7, "x", 1), &ty),
        Err(ValueError::Mismatch(ty.clone()))
    );
    let long = [&short[..], &[0xFF; 8]].concat();
    assert_eq!(
        Both::from_cql(&ty, Some(&long)),
        Err(ValueError::TrailingFields("tuple"))
    );
}

#[test]
fn user_types_are_read_and_written_by_name() {
    let ty = address();
    let fields: [(&str, &dyn ToCql); 2] = [("zip", &7), ("street", &"Elm")];
    let bytes = written(&RecordFields(&fields), &ty).unwrap();
    let record = Record::from_cql(&ty, Some(&bytes)).unwrap();
    assert_eq!(record.get::<i32>("zip"), Ok(7));
    assert_eq!(record.get::<&str>(0), Ok("Elm"));
    assert_eq!(record.get::<i32>("zap"), Err(ValueError::NoField));
    assert_eq!(record.get::<i32>(2), Err(ValueError::NoField));
    assert_eq!(
        record.get::<i64>("zip"),
        Err(ValueError::Mismatch(CqlType::Int))
    );
    let types: Vec<_> = record
        .fields()
        .map(|(ty, bytes)| (ty, bytes.map(<[u8]>::len)))
        .collect();
    assert_eq!(types, [(&CqlType::Text, Some(3)), (&CqlType::Int, Some(4))]);
    // What isn't named is null; what the type doesn't have is refused.
    let bytes = written(&RecordFields(&fields[..1]), &ty).unwrap();
    let record = Record::from_cql(&ty, Some(&bytes)).unwrap();
    assert_eq!(record.get::<Option<&str>>("street"), Ok(None));
    let unknown: [(&str, &dyn ToCql); 1] = [("zap", &7)];
    assert_eq!(
        written(&RecordFields(&unknown), &ty),
        Err(ValueError::NoField)
    );
}

#[test]
fn nulls_stand_in_lists_and_nowhere_else() {
    let nulls = [Some(1), None];
    let bytes = written(&nulls, &list(CqlType::Int)).unwrap();
    assert_eq!(
        Vec::from_cql(&list(CqlType::Int), Some(&bytes)),
        Ok(nulls.to_vec())
    );
    assert_eq!(
        Vec::<i32>::from_cql(&list(CqlType::Int), Some(&bytes)),
        Err(ValueError::Null)
    );
    let ty = set(CqlType::Int);
    assert_eq!(written(&nulls, &ty), Err(ValueError::NullElement));
    assert_eq!(
        Vec::<Option<i32>>::from_cql(&ty, Some(&bytes)),
        Err(ValueError::NullElement)
    );
    let ty = vector(CqlType::Int, 2);
    assert_eq!(written(&nulls, &ty), Err(ValueError::NullElement));
    let unset = [MaybeUnset::Value(1), MaybeUnset::Unset];
    for ty in [list(CqlType::Int), ty] {
        assert_eq!(written(&unset, &ty), Err(ValueError::Unset));
    }
}

#[test]
fn counts_are_bounded_by_the_bytes() {
    let huge = [0x7F, 0xFF, 0xFF, 0xFF];
    let cut = Err(ValueError::Truncated("list"));
    assert_eq!(
        Vec::<[i64; 1]>::from_cql(&list(vector(CqlType::BigInt, 1)), Some(&huge)),
        cut
    );
    let cut = Err(ValueError::Truncated("map"));
    let ty = map(CqlType::Int, CqlType::Int);
    assert_eq!(HashMap::<i32, i32>::from_cql(&ty, Some(&huge)), cut);
    // A dimension whose size overflows.
    let ty = vector(vector(CqlType::Uuid, u32::MAX), u32::MAX);
    let error = Vec::<Vec<Uuid>>::from_cql(&ty, Some(&[0; 64])).unwrap_err();
    assert_eq!(error, ValueError::TruncatedVector(ty));
    let negative = Err(ValueError::NegativeCount("set"));
    let ty = set(CqlType::Int);
    assert_eq!(BTreeSet::<i32>::from_cql(&ty, Some(&[0xFF; 4])), negative);
}

#[test]
fn an_error_ends_a_lazy_collection_and_bytes_behind_it_are_one() {
    let bytes = [0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7, 9];
    let ty = list(CqlType::Int);
    let mut items = Items::<i32>::from_cql(&ty, Some(&bytes)).unwrap();
    assert_eq!(items.next(), Some(Ok(7)));
    assert_eq!(items.next(), Some(Err(ValueError::Trailing("list"))));
    assert_eq!(items.next(), None);
    let ty = map(CqlType::Int, CqlType::Int);
    let mut entries = Entries::<i32, i32>::from_cql(&ty, Some(&bytes[..12])).unwrap();
    assert_eq!(entries.next(), Some(Err(ValueError::Truncated("map"))));
    assert_eq!(entries.next(), None);
}

#[test]
fn the_value_of_no_bytes_is_read_as_what_may_be_empty_alone() {
    assert_eq!(
        i32::from_cql(&CqlType::Int, Some(&[])),
        Err(ValueError::Empty)
    );
    assert_eq!(
        MaybeEmpty::<i32>::from_cql(&CqlType::Int, Some(&[])),
        Ok(MaybeEmpty::Empty)
    );
    // An empty text is a text, and a smallint of no bytes nothing at all.
    assert_eq!(
        MaybeEmpty::<&str>::from_cql(&CqlType::Text, Some(&[])),
        Ok(MaybeEmpty::Value(""))
    );
    let error = MaybeEmpty::<i16>::from_cql(&CqlType::SmallInt, Some(&[])).unwrap_err();
    assert_eq!(error.to_string(), "Expected 2 bytes for a smallint (0)");
    let empty = MaybeEmpty::<i16>::Empty;
    assert_eq!(
        written(&empty, &CqlType::SmallInt),
        Err(ValueError::Mismatch(CqlType::SmallInt))
    );
    assert_eq!(
        written(&[MaybeEmpty::<i32>::Empty], &vector(CqlType::Int, 1)),
        Err(ValueError::Empty)
    );
}

#[test]
fn only_ascii_is_ascii_and_only_time_based_uuids_are_timeuuids() {
    let text = "é".as_bytes();
    assert_eq!(<&str>::from_cql(&CqlType::Text, Some(text)), Ok("é"));
    let refused = ValueError::InvalidAscii(0xC3);
    assert_eq!(
        <&str>::from_cql(&CqlType::Ascii, Some(text)),
        Err(refused.clone())
    );
    assert_eq!(written("é", &CqlType::Ascii), Err(refused));
    assert_eq!(
        <&str>::from_cql(&CqlType::Text, Some(&[0xC0, 0x80])),
        Err(ValueError::InvalidUtf8)
    );
    let random = Uuid::from_u128(0xAB << 120 | 0x4 << 76);
    let refused = ValueError::NotTimeBased(0xAB);
    assert_eq!(
        Uuid::from_cql(&CqlType::Timeuuid, Some(random.as_bytes())),
        Err(refused.clone())
    );
    assert_eq!(written(&random, &CqlType::Timeuuid), Err(refused));
    assert_eq!(
        Uuid::from_cql(&CqlType::Uuid, Some(random.as_bytes())),
        Ok(random)
    );
}

#[test]
fn elements_of_a_vector_that_are_not_of_fixed_size_stand_behind_their_lengths() {
    for length in [0, 1, 127, 128, 16_383, 16_384, 300_000] {
        let texts = ["x".repeat(length), "y".into()];
        let ty = vector(CqlType::Text, 2);
        let bytes = written(&texts, &ty).unwrap();
        assert_eq!(
            <[String; 2]>::from_cql(&ty, Some(&bytes)),
            Ok(texts.clone())
        );
        let values = texts.map(Value::Text).to_vec();
        assert_eq!(Value::decode(&ty, &bytes), Ok(Value::Vector(values)));
    }
    // The smallest of integers is none of fixed size to Cassandra.
    assert_eq!(
        written(&[1_i16, -1], &vector(CqlType::SmallInt, 2)).unwrap(),
        [2, 0, 1, 2, 0xFF, 0xFF]
    );
}

/// A value written, read as the same and as the dynamic value that is written alike.
fn comes_back<T>(value: &T, ty: &CqlType) -> Result<(), TestCaseError>
where
    T: for<'a> FromCql<'a> + ToCql + PartialEq + std::fmt::Debug,
{
    let bytes = written(value, ty).unwrap();
    prop_assert_eq!(&T::from_cql(ty, Some(&bytes)).unwrap(), value);
    let dynamic = Value::decode(ty, &bytes).unwrap();
    prop_assert_eq!(written(&dynamic, ty).unwrap(), bytes);
    Ok(())
}

/// What arbitrary bytes are to a Rust type, they are to the dynamic value.
fn judged_alike<'a, T: FromCql<'a>>(ty: &'a CqlType, bytes: &'a [u8]) -> Result<(), TestCaseError> {
    match (T::from_cql(ty, Some(bytes)), Value::decode(ty, bytes)) {
        (Ok(_), Ok(_)) | (Err(ValueError::Empty | ValueError::Null), Ok(_)) => Ok(()),
        (Err(typed), Err(dynamic)) => {
            // Both refuse, though the one may look no further than an empty or null part.
            prop_assert!(typed == dynamic || matches!(typed, ValueError::Empty | ValueError::Null));
            Ok(())
        }
        (typed, dynamic) => Err(TestCaseError::fail(format!(
            "{:?} {dynamic:?}",
            typed.err()
        ))),
    }
}

proptest! {
    #[test]
    fn values_come_back(
        (a, b, c, d, e) in any::<(i8, i16, i32, i64, bool)>(),
        (text, blob) in (".*", proptest::collection::vec(any::<u8>(), 0..40)),
        (f, g) in (proptest::num::f32::NORMAL, proptest::num::f64::NORMAL),
        (long, address, octets) in any::<(i128, u128, u32)>(),
        (months, days, nanoseconds) in (0..i32::MAX, 0..i32::MAX, 0..i64::MAX),
    ) {
        comes_back(&a, &CqlType::TinyInt)?;
        comes_back(&b, &CqlType::SmallInt)?;
        comes_back(&c, &CqlType::Int)?;
        comes_back(&d, &CqlType::BigInt)?;
        comes_back(&e, &CqlType::Boolean)?;
        comes_back(&f, &CqlType::Float)?;
        comes_back(&g, &CqlType::Double)?;
        comes_back(&text, &CqlType::Text)?;
        comes_back(&blob, &CqlType::Blob)?;
        comes_back(&Counter(d), &CqlType::Counter)?;
        comes_back(&Timestamp(d), &CqlType::Timestamp)?;
        comes_back(&Time(d), &CqlType::Time)?;
        comes_back(&Date::from_days(c), &CqlType::Date)?;
        comes_back(&Varint::from(long), &CqlType::Varint)?;
        comes_back(&Decimal { unscaled: long.into(), scale: c }, &CqlType::Decimal)?;
        comes_back(&Uuid::from_u128(address), &CqlType::Uuid)?;
        comes_back(&IpAddr::V4(octets.into()), &CqlType::Inet)?;
        comes_back(&IpAddr::V6(address.into()), &CqlType::Inet)?;
        let duration = Duration { months, days, nanoseconds };
        comes_back(&duration, &CqlType::Duration)?;
        let nested = tuple(&[list(CqlType::Duration), vector(CqlType::Text, 1), CqlType::Int]);
        comes_back(&(vec![duration], [text.clone()], None::<i32>), &nested)?;
        comes_back(&(Some(c), Some(text)), &tuple(&[CqlType::Int, CqlType::Text]))?;
    }

    #[test]
    fn collections_come_back(
        numbers in proptest::collection::vec(any::<i32>(), 0..20),
        texts in proptest::collection::btree_map(any::<i64>(), proptest::option::of(".*"), 0..8),
    ) {
        comes_back(&numbers, &list(CqlType::Int))?;
        comes_back(&numbers.iter().copied().collect::<HashSet<_>>(), &set(CqlType::Int))?;
        comes_back(&numbers.iter().copied().collect::<BTreeSet<_>>(), &set(CqlType::Int))?;
        let ty = map(CqlType::BigInt, CqlType::Text);
        comes_back(&texts, &ty)?;
        comes_back(&texts.into_iter().collect::<HashMap<_, _>>(), &ty)?;
    }

    #[test]
    fn arbitrary_bytes_are_to_rust_types_what_they_are_to_values(bytes in proptest::collection::vec(any::<u8>(), 0..48), small in proptest::collection::vec(0..5_u8, 0..48)) {
        for bytes in [&bytes[..], &small] {
            judged_alike::<i32>(&CqlType::Int, bytes)?;
            judged_alike::<&str>(&CqlType::Text, bytes)?;
            judged_alike::<&str>(&CqlType::Ascii, bytes)?;
            judged_alike::<Uuid>(&CqlType::Timeuuid, bytes)?;
            judged_alike::<IpAddr>(&CqlType::Inet, bytes)?;
            judged_alike::<Varint>(&CqlType::Varint, bytes)?;
            judged_alike::<Decimal>(&CqlType::Decimal, bytes)?;
            judged_alike::<Duration>(&CqlType::Duration, bytes)?;
            judged_alike::<Vec<Option<i16>>>(&list(CqlType::SmallInt), bytes)?;
            judged_alike::<BTreeSet<&str>>(&set(CqlType::Text), bytes)?;
            judged_alike::<BTreeMap<&str, Option<i8>>>(&map(CqlType::Text, CqlType::TinyInt), bytes)?;
            judged_alike::<Vec<&str>>(&vector(CqlType::Text, 3), bytes)?;
            judged_alike::<[f32; 2]>(&vector(CqlType::Float, 2), bytes)?;
            judged_alike::<(Option<i32>, Option<&str>)>(&tuple(&[CqlType::Int, CqlType::Text]), bytes)?;
        }
    }
}
