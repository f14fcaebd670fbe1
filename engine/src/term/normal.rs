//! The form in which Cassandra keeps a bound collection: sets and maps in order and without doubles, elements that stand for
//! nothing as null.

use bytes::{BufMut, Bytes, BytesMut};
use helenus_core::types::CqlType;

use super::elements::{Elements, Fields, Pairs, begin_count, put_element};
use crate::types::compare;

/// The normal form of a valid value of the type; `None` if it is in that form already.
pub(crate) fn form(ty: &CqlType, value: &[u8]) -> Option<Bytes> {
    if !holds_collection(ty) {
        return None;
    }
    let mut out = BytesMut::with_capacity(value.len());
    write(ty, value, &mut out);
    (out[..] != *value).then(|| out.freeze())
}

fn holds_collection(ty: &CqlType) -> bool {
    match ty {
        CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) => true,
        CqlType::Frozen(inner) => holds_collection(inner),
        _ => false,
    }
}

fn write(ty: &CqlType, value: &[u8], out: &mut BytesMut) {
    match ty {
        CqlType::Frozen(inner) => write(inner, value, out),
        CqlType::List(element) => {
            let elements: Vec<_> = Elements::new(value)
                .map(|item| normal(element, item))
                .collect();
            begin_count(out, elements.len());
            elements
                .iter()
                .for_each(|item| put_element(out, item.as_deref()));
        }
        CqlType::Set(element) => {
            let elements: Vec<_> = Elements::new(value)
                .map(|item| normal(element, item))
                .collect();
            put_set(out, element, elements);
        }
        CqlType::Map(types) => {
            let entries = Pairs::new(value)
                .map(|(key, item)| {
                    (
                        normal(&types.0, Some(key)).unwrap_or_default(),
                        normal(&types.1, item),
                    )
                })
                .collect();
            put_map(out, &types.0, entries);
        }
        CqlType::Tuple(_) | CqlType::Udt(_) => {
            Fields::new(value).for_each(|field| put_element(out, field));
        }
        _ => out.put_slice(value),
    }
}

/// Appends a set: sorted, doubles dropped.
pub(crate) fn put_set(out: &mut impl BufMut, ty: &CqlType, mut elements: Vec<Option<Bytes>>) {
    let order = |element: &Option<Bytes>| element.clone().unwrap_or_default();
    elements.sort_by(|a, b| compare(ty, &order(a), &order(b)));
    elements.dedup_by(|a, b| compare(ty, &order(a), &order(b)).is_eq());
    begin_count(out, elements.len());
    elements
        .iter()
        .for_each(|element| put_element(out, element.as_deref()));
}

/// Appends a map: sorted by key, of doubles the last.
pub(crate) fn put_map(
    out: &mut impl BufMut,
    ty: &CqlType,
    mut entries: Vec<(Bytes, Option<Bytes>)>,
) {
    entries.sort_by(|a, b| compare(ty, &a.0, &b.0));
    entries.dedup_by(|later, kept| {
        let double = compare(ty, &later.0, &kept.0).is_eq();
        if double {
            kept.1 = later.1.take();
        }
        double
    });
    begin_count(out, entries.len());
    for (key, value) in &entries {
        put_element(out, Some(key));
        put_element(out, value.as_deref());
    }
}

/// One element, itself in normal form. Types whose empty value means nothing give null.
fn normal(ty: &CqlType, value: Option<&[u8]>) -> Option<Bytes> {
    let value = value?;
    if value.is_empty() && !keeps_empty(ty) {
        return None;
    }
    if !holds_collection(ty) {
        return Some(Bytes::copy_from_slice(value));
    }
    let mut out = BytesMut::with_capacity(value.len());
    write(ty, value, &mut out);
    Some(out.freeze())
}

fn keeps_empty(ty: &CqlType) -> bool {
    match ty {
        CqlType::Ascii
        | CqlType::Text
        | CqlType::Blob
        | CqlType::Custom(_)
        | CqlType::Tuple(_)
        | CqlType::Udt(_) => true,
        CqlType::Frozen(inner) => keeps_empty(inner),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(items: &[Option<i32>]) -> Vec<u8> {
        let mut out = BytesMut::new();
        begin_count(&mut out, items.len());
        for item in items {
            put_element(
                &mut out,
                item.map(i32::to_be_bytes).as_ref().map(|bytes| &bytes[..]),
            );
        }
        out.to_vec()
    }

    #[test]
    fn sets_are_sorted_without_doubles() {
        let ty = CqlType::Frozen(CqlType::Set(CqlType::Int.into()).into());
        let normal = form(&ty, &ints(&[Some(3), Some(-1), Some(3)]));
        assert_eq!(normal.as_deref(), Some(&ints(&[Some(-1), Some(3)])[..]));
        assert_eq!(form(&ty, &ints(&[Some(1), Some(2)])), None);
    }

    #[test]
    fn of_double_keys_the_last_value_stays() {
        let ty = CqlType::Map((CqlType::Int, CqlType::Int).into());
        let mut written = ints(&[Some(1), Some(7), Some(0), Some(8), Some(1), Some(9)]);
        written[..4].copy_from_slice(&3i32.to_be_bytes());
        let mut expected = ints(&[Some(0), Some(8), Some(1), Some(9)]);
        expected[..4].copy_from_slice(&2i32.to_be_bytes());
        assert_eq!(form(&ty, &written).as_deref(), Some(&expected[..]));
    }

    #[test]
    fn elements_that_stand_for_nothing_become_null() {
        let ty = CqlType::List(CqlType::Int.into());
        let empty = [&1i32.to_be_bytes()[..], &0i32.to_be_bytes()].concat();
        assert_eq!(form(&ty, &empty).as_deref(), Some(&ints(&[None])[..]));
        let texts = CqlType::List(CqlType::Text.into());
        assert_eq!(form(&texts, &empty), None);
    }
}
