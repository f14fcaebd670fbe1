use std::cmp::Ordering;
use std::sync::Arc;

use helenus_core::types::CqlType;
use num_bigint::BigInt;
use proptest::prelude::*;

use super::encode;
use crate::types::compare;

fn form(ty: &CqlType, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode(ty, value, false, &mut out);
    out
}

/// Holds `a` and `b` to an order in every form of comparison.
fn assert_order(ty: &CqlType, a: &[u8], b: &[u8], order: Ordering) {
    assert_eq!(form(ty, a).cmp(&form(ty, b)), order, "{ty:?} {a:x?} {b:x?}");
    assert_eq!(compare(ty, a, b), order, "{ty:?} {a:x?} {b:x?}");
    assert_eq!(compare(ty, b, a), order.reverse(), "{ty:?} {b:x?} {a:x?}");
    let (mut left, mut right) = (Vec::new(), Vec::new());
    encode(ty, a, true, &mut left);
    encode(ty, b, true, &mut right);
    assert_eq!(right.cmp(&left), order, "descending {ty:?} {a:x?} {b:x?}");
}

fn assert_ascending(ty: &CqlType, values: &[&[u8]]) {
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate() {
            assert_order(ty, a, b, i.cmp(&j));
        }
    }
}

fn decimal(unscaled: i64, scale: i32) -> Vec<u8> {
    let mut out = scale.to_be_bytes().to_vec();
    out.extend(BigInt::from(unscaled).to_signed_bytes_be());
    out
}

fn uuid(text: &str) -> [u8; 16] {
    *uuid::Uuid::parse_str(text).unwrap().as_bytes()
}

/// Elements as `[bytes]`, `None` as null.
fn cells(elements: &[Option<&[u8]>]) -> Vec<u8> {
    let mut out = Vec::new();
    for element in elements {
        match element {
            Some(value) => {
                out.extend((value.len() as i32).to_be_bytes());
                out.extend_from_slice(value);
            }
            None => out.extend((-1_i32).to_be_bytes()),
        }
    }
    out
}

fn list(elements: &[&[u8]]) -> Vec<u8> {
    let mut out = (elements.len() as i32).to_be_bytes().to_vec();
    out.extend(cells(
        &elements.iter().copied().map(Some).collect::<Vec<_>>(),
    ));
    out
}

#[test]
fn an_empty_value_sorts_before_all_others() {
    assert_ascending(
        &CqlType::Int,
        &[
            &[],
            &i32::MIN.to_be_bytes(),
            &(-1_i32).to_be_bytes(),
            &[0; 4],
        ],
    );
    assert_ascending(&CqlType::Boolean, &[&[], &[0], &[1]]);
    assert_ascending(
        &CqlType::Text,
        &[b"", b"\0", b"\0\0", b"\0\x01", b"\x01", b"a", b"a\0", b"ab"],
    );
    assert_ascending(&CqlType::Uuid, &[&[], &[0; 16]]);
    assert_ascending(
        &CqlType::Decimal,
        &[&[], &decimal(-5, 0), &decimal(0, 3), &decimal(5, 0)],
    );
}

#[test]
fn malformed_values_sort_last_and_by_their_bytes() {
    assert_ascending(
        &CqlType::Int,
        &[
            &[],
            &i32::MAX.to_be_bytes(),
            &[1],
            &[1, 2, 3, 4, 5],
            &[2, 0],
        ],
    );
}

#[test]
fn floats_follow_javas_total_order() {
    let floats = [
        f32::NEG_INFINITY,
        -1.5,
        -0.0,
        0.0,
        f32::MIN_POSITIVE,
        1.5,
        f32::INFINITY,
        f32::NAN,
    ];
    let bytes: Vec<[u8; 4]> = floats.iter().map(|float| float.to_be_bytes()).collect();
    assert_ascending(
        &CqlType::Float,
        &bytes.iter().map(|b| &b[..]).collect::<Vec<_>>(),
    );
    assert_order(
        &CqlType::Float,
        &f32::NAN.to_be_bytes(),
        &(-f32::NAN).to_be_bytes(),
        Ordering::Equal,
    );
    assert_order(
        &CqlType::Double,
        &f64::NAN.to_be_bytes(),
        &(-f64::NAN).to_be_bytes(),
        Ordering::Equal,
    );
    assert_order(
        &CqlType::Double,
        &(-0.0_f64).to_be_bytes(),
        &0.0_f64.to_be_bytes(),
        Ordering::Less,
    );
}

#[test]
fn dates_are_unsigned() {
    assert_ascending(
        &CqlType::Date,
        &[
            &[0; 4],
            &[0x7F, 0xFF, 0xFF, 0xFF],
            &[0x80, 0, 0, 0],
            &[0xFF; 4],
        ],
    );
}

#[test]
fn uuids_compare_by_version_first_and_version_1_by_time() {
    let values = [
        uuid("00000000-0000-0000-0000-000000000000"),
        uuid("ffffffff-ffff-1000-8000-000000000000"),
        uuid("00000000-0000-1001-8000-000000000000"),
        uuid("00000000-0000-1001-ff00-000000000000"),
        uuid("00000000-0000-3000-8000-000000000000"),
        uuid("00000000-0000-4000-8000-000000000000"),
        uuid("00000001-0000-4000-0000-000000000000"),
        uuid("ffffffff-ffff-4fff-ffff-ffffffffffff"),
    ];
    assert_ascending(
        &CqlType::Uuid,
        &values.iter().map(|v| &v[..]).collect::<Vec<_>>(),
    );
}

#[test]
fn timeuuids_compare_by_time_then_by_signed_bytes() {
    let values = [
        uuid("ffffffff-ffff-1000-7fff-ffffffffffff"),
        uuid("00000000-0000-1001-8080-808080808080"),
        uuid("00000000-0000-1001-8081-000000000000"),
        uuid("00000000-0000-1001-80ff-000000000000"),
        uuid("00000000-0000-1001-8000-000000000000"),
        uuid("00000000-0000-1001-7f7f-7f7f7f7f7f7f"),
        uuid("00000001-0000-1001-8080-808080808080"),
    ];
    assert_ascending(
        &CqlType::Timeuuid,
        &values.iter().map(|v| &v[..]).collect::<Vec<_>>(),
    );
}

#[test]
fn decimals_compare_as_numbers() {
    let ascending = [
        decimal(-1, i32::MIN),
        decimal(-100, 0),
        decimal(-99, 0),
        decimal(-1, 1),
        decimal(-1, i32::MAX),
        decimal(0, 7),
        decimal(1, i32::MAX),
        decimal(9, 2),
        decimal(1, 1),
        decimal(11, 2),
        decimal(1, 0),
        decimal(10, -1),
        decimal(1, i32::MIN),
    ];
    assert_ascending(
        &CqlType::Decimal,
        &ascending.iter().map(|v| &v[..]).collect::<Vec<_>>(),
    );
    assert_order(
        &CqlType::Decimal,
        &decimal(10, 1),
        &decimal(100, 2),
        Ordering::Equal,
    );
    assert_order(
        &CqlType::Decimal,
        &decimal(0, 1),
        &decimal(0, -5),
        Ordering::Equal,
    );
}

#[test]
fn superfluous_sign_bytes_of_a_varint_do_not_count() {
    assert_order(&CqlType::Varint, &[0, 0, 1], &[1], Ordering::Equal);
    assert_order(&CqlType::Varint, &[0xFF, 0xFF], &[0xFF], Ordering::Equal);
    assert_order(&CqlType::Varint, &[0xFF, 0x7F], &[0x80], Ordering::Less);
    let (mut long, mut longer) = (vec![1; 255], vec![1; 300]);
    assert_order(&CqlType::Varint, &long, &longer, Ordering::Less);
    long[0] = 0x80;
    longer[0] = 0x80;
    assert_order(&CqlType::Varint, &longer, &long, Ordering::Less);
    assert_order(
        &CqlType::Varint,
        &vec![0x80; 254],
        &[0x80; 253],
        Ordering::Less,
    );
}

#[test]
fn a_tuple_compares_element_wise_with_null_first_and_missing_as_null() {
    let ty = CqlType::Tuple(Arc::from([CqlType::Int, CqlType::Text]));
    let (one, two) = (1_i32.to_be_bytes(), 2_i32.to_be_bytes());
    assert_ascending(
        &ty,
        &[
            &cells(&[None, None]),
            &cells(&[None, Some(b"")]),
            &cells(&[Some(b""), None]),
            &cells(&[Some(&one), None]),
            &cells(&[Some(&one), Some(b"")]),
            &cells(&[Some(&one), Some(b"a")]),
            &cells(&[Some(&two)]),
        ],
    );
    assert_order(&ty, &[], &cells(&[None]), Ordering::Equal);
    assert_order(
        &ty,
        &cells(&[Some(&one)]),
        &cells(&[Some(&one), None]),
        Ordering::Equal,
    );
}

#[test]
fn a_collection_compares_element_wise_then_by_length() {
    let text = CqlType::Frozen(Arc::new(CqlType::List(Arc::new(CqlType::Text))));
    assert_ascending(
        &text,
        &[
            &[],
            &list(&[]),
            &list(&[b""]),
            &list(&[b"", b"a"]),
            &list(&[b"a"]),
            &list(&[b"a", b"b"]),
            &list(&[b"aa"]),
        ],
    );
    let map = CqlType::Map(Arc::new((CqlType::Int, CqlType::Text)));
    let one = 1_i32.to_be_bytes();
    let pair =
        |value: &[u8]| [&1_i32.to_be_bytes()[..], &cells(&[Some(&one), Some(value)])].concat();
    assert_ascending(&map, &[&list(&[]), &pair(b"a"), &pair(b"b")]);
}

#[test]
fn vectors_compare_element_wise() {
    let fixed = CqlType::Vector(Arc::new(CqlType::Float), 2);
    let of = |a: f32, b: f32| [a.to_be_bytes(), b.to_be_bytes()].concat();
    assert_ascending(
        &fixed,
        &[&of(-1.0, 5.0), &of(0.0, -1.0), &of(0.0, 1.0), &[0; 7]],
    );
    let variable = CqlType::Vector(Arc::new(CqlType::SmallInt), 2);
    assert_ascending(
        &variable,
        &[
            &[2, 0xFF, 0xFF, 2, 0, 1],
            &[2, 0, 1, 2, 0xFF, 0],
            &[2, 0, 1, 2, 0, 0],
        ],
    );
}

#[test]
fn hostile_counts_are_malformed_not_trusted() {
    let list = CqlType::List(Arc::new(CqlType::Int));
    for bytes in [
        &[0x7F, 0xFF, 0xFF, 0xFF][..],
        &[0xFF; 4],
        &[0, 0, 0, 1, 0x7F, 0xFF, 0xFF, 0xFF],
        &[1],
    ] {
        assert_eq!(form(&list, bytes)[0], super::MALFORMED, "{bytes:x?}");
    }
    let vector = CqlType::Vector(Arc::new(CqlType::Text), u32::MAX);
    assert_eq!(form(&vector, &[0xFF; 9])[0], super::MALFORMED);
    let deep = CqlType::Vector(
        Arc::new(CqlType::Vector(Arc::new(CqlType::Uuid), u32::MAX)),
        u32::MAX,
    );
    assert_eq!(form(&deep, &[1; 16])[0], super::MALFORMED);
}

fn any_type() -> impl Strategy<Value = CqlType> {
    let leaf = prop::sample::select(vec![
        CqlType::Ascii,
        CqlType::BigInt,
        CqlType::Blob,
        CqlType::Boolean,
        CqlType::Decimal,
        CqlType::Double,
        CqlType::Float,
        CqlType::Int,
        CqlType::Timestamp,
        CqlType::Uuid,
        CqlType::Text,
        CqlType::Varint,
        CqlType::Timeuuid,
        CqlType::Inet,
        CqlType::Date,
        CqlType::Time,
        CqlType::SmallInt,
        CqlType::TinyInt,
        CqlType::Duration,
    ]);
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|ty| CqlType::List(Arc::new(ty))),
            (inner.clone(), inner.clone()).prop_map(|pair| CqlType::Map(Arc::new(pair))),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|types| CqlType::Tuple(types.into())),
            (inner, 1_u32..3).prop_map(|(ty, dimension)| CqlType::Vector(Arc::new(ty), dimension)),
        ]
    })
}

/// Bytes that often are a value of `ty`.
fn any_value(ty: &CqlType) -> BoxedStrategy<Vec<u8>> {
    let joined = |parts: Vec<Vec<u8>>| parts.concat();
    let sized = |ty: &CqlType| {
        any_value(ty)
            .prop_map(|value| [&(value.len() as i32).to_be_bytes()[..], &value].concat())
            .boxed()
    };
    let exact = |len: usize| {
        prop_oneof![
            9 => prop::collection::vec(prop::sample::select(vec![0, 1, 0x10, 0x7F, 0x80, 0xFF]), len),
            1 => prop::collection::vec(any::<u8>(), 0..3),
        ]
        .boxed()
    };
    match ty {
        CqlType::Boolean | CqlType::TinyInt => exact(1),
        CqlType::SmallInt => exact(2),
        CqlType::Int | CqlType::Float | CqlType::Date => exact(4),
        CqlType::BigInt | CqlType::Double | CqlType::Timestamp | CqlType::Time => exact(8),
        CqlType::Uuid | CqlType::Timeuuid => exact(16),
        CqlType::Decimal => (any::<i64>(), -3_i32..3)
            .prop_map(|(n, scale)| decimal(n, scale))
            .boxed(),
        CqlType::List(element) => prop::collection::vec(sized(element), 0..3)
            .prop_map(move |parts| {
                [&(parts.len() as i32).to_be_bytes()[..], &parts.concat()].concat()
            })
            .boxed(),
        CqlType::Map(pair) => prop::collection::vec((sized(&pair.0), sized(&pair.1)), 0..3)
            .prop_map(|pairs| {
                let mut out = (pairs.len() as i32).to_be_bytes().to_vec();
                pairs
                    .iter()
                    .for_each(|(key, value)| out.extend([&key[..], value].concat()));
                out
            })
            .boxed(),
        CqlType::Tuple(types) => types
            .iter()
            .map(sized)
            .collect::<Vec<_>>()
            .prop_map(joined)
            .boxed(),
        _ => exact(3),
    }
}

fn any_pair() -> impl Strategy<Value = (CqlType, Vec<u8>, Vec<u8>)> {
    any_type().prop_flat_map(|ty| {
        let (a, b) = (any_value(&ty), any_value(&ty));
        (Just(ty), a, b)
    })
}

proptest! {
    #[test]
    fn comparison_and_form_agree_and_no_form_is_a_prefix((ty, a, b) in any_pair()) {
        let (left, right) = (form(&ty, &a), form(&ty, &b));
        prop_assert_eq!(compare(&ty, &a, &b), left.cmp(&right));
        prop_assert_eq!(left == right, left.starts_with(&right) || right.starts_with(&left));
        let mut descending = Vec::new();
        encode(&ty, &a, true, &mut descending);
        prop_assert!(descending.iter().zip(&left).all(|(a, b)| *a == !*b));
    }

    #[test]
    fn integers_keep_their_order(a: i64, b: i64) {
        assert_order(&CqlType::BigInt, &a.to_be_bytes(), &b.to_be_bytes(), a.cmp(&b));
        let (c, d) = (a as i16, b as i16);
        assert_order(&CqlType::SmallInt, &c.to_be_bytes(), &d.to_be_bytes(), c.cmp(&d));
    }

    #[test]
    fn varints_keep_their_order(a: i128, shift_a in 0_u32..120, b: i128, shift_b in 0_u32..120) {
        let (a, b) = (BigInt::from(a >> shift_a), BigInt::from(b >> shift_b));
        assert_order(&CqlType::Varint, &a.to_signed_bytes_be(), &b.to_signed_bytes_be(), a.cmp(&b));
    }

    #[test]
    fn decimals_keep_their_order(a in -2000_i64..2000, b in -2000_i64..2000, s in 0_i32..4, t in 0_i32..4) {
        let order = (a * 10_i64.pow(t as u32)).cmp(&(b * 10_i64.pow(s as u32)));
        assert_order(&CqlType::Decimal, &decimal(a, s), &decimal(b, t), order);
    }

    #[test]
    fn doubles_keep_their_order(a: f64, b: f64) {
        assert_order(&CqlType::Double, &a.to_be_bytes(), &b.to_be_bytes(), a.total_cmp(&b));
    }

    #[test]
    fn blobs_keep_their_order(a in "[\0\x01\u{7f}a]{0,4}", b in "[\0\x01\u{7f}a]{0,4}") {
        assert_order(&CqlType::Text, a.as_bytes(), b.as_bytes(), a.as_bytes().cmp(b.as_bytes()));
    }
}
