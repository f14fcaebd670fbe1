//! [`ToCql`] for the standard library's collections.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bytes::BytesMut;

use super::{ToCql, Written, mismatch, put_count, put_vector_element};
use crate::types::{CqlType, ValueError};

/// Sequences; one that is written without a type is a list.
macro_rules! sequence {
    ($($sequence:ty $(, $state:ident)?;)*) => {$(
        impl<T: ToCql $(, $state)?> ToCql for $sequence {
            fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                put_sequence(self.iter(), self.len(), ty, out)
            }
        }
    )*};
}

sequence! {
    [T];
    Vec<T>;
}

impl<T: ToCql, const N: usize> ToCql for [T; N] {
    fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
        if ty.is_some() {
            return put_sequence(self.iter(), N, ty, out);
        }
        for item in self {
            put_in_vector(item, None, item.own_size(), out)?;
        }
        Ok(Written::Value)
    }

    fn own_size(&self) -> Option<usize> {
        self.first()?.own_size()?.checked_mul(N)
    }
}

/// Writes elements as a list, a set or a vector.
fn put_sequence<'v, T: ToCql + 'v>(
    items: impl Iterator<Item = &'v T>,
    count: usize,
    ty: Option<&CqlType>,
    out: &mut BytesMut,
) -> Result<Written, ValueError> {
    let ty = ty.map(CqlType::strip_frozen);
    match ty {
        None => put_list(items, count, None, out),
        Some(CqlType::List(element)) => put_list(items, count, Some(element), out),
        Some(CqlType::Set(element)) => put_set(items, count, Some(element), out),
        Some(CqlType::Vector(element, dimension)) if usize::try_from(*dimension) == Ok(count) => {
            let fixed = element.fixed_size();
            for item in items {
                put_in_vector(item, Some(element), fixed, out)?;
            }
            Ok(Written::Value)
        }
        Some(ty) => Err(mismatch(ty)),
    }
}

fn put_list<'v, T: ToCql + 'v>(
    items: impl Iterator<Item = &'v T>,
    count: usize,
    element: Option<&CqlType>,
    out: &mut BytesMut,
) -> Result<Written, ValueError> {
    put_count(count, out)?;
    for item in items {
        if item.to_value(element, out)? == Written::Unset {
            return Err(ValueError::Unset);
        }
    }
    Ok(Written::Value)
}

fn put_set<'v, T: ToCql + 'v>(
    items: impl Iterator<Item = &'v T>,
    count: usize,
    element: Option<&CqlType>,
    out: &mut BytesMut,
) -> Result<Written, ValueError> {
    put_count(count, out)?;
    for item in items {
        not_null(item.to_value(element, out)?)?;
    }
    Ok(Written::Value)
}

fn put_in_vector<T: ToCql>(
    item: &T,
    element: Option<&CqlType>,
    fixed: Option<usize>,
    out: &mut BytesMut,
) -> Result<(), ValueError> {
    put_vector_element(out, fixed, |out| not_null(item.to_cql(element, out)?))
}

fn not_null(written: Written) -> Result<(), ValueError> {
    match written {
        Written::Value => Ok(()),
        Written::Null => Err(ValueError::NullElement),
        Written::Unset => Err(ValueError::Unset),
    }
}

/// Sets. Cassandra sorts what it is sent.
macro_rules! set {
    ($($set:ty $(, $state:ident)?;)*) => {$(
        impl<T: ToCql $(, $state)?> ToCql for $set {
            fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                match ty.map(CqlType::strip_frozen) {
                    None => put_set(self.iter(), self.len(), None, out),
                    Some(CqlType::Set(element)) => {
                        put_set(self.iter(), self.len(), Some(element), out)
                    }
                    Some(ty) => Err(mismatch(ty)),
                }
            }
        }
    )*};
}

set! {
    HashSet<T, S>, S;
    BTreeSet<T>;
}

/// Maps. Cassandra sorts what it is sent.
macro_rules! map {
    ($($map:ty $(, $state:ident)?;)*) => {$(
        impl<K: ToCql, V: ToCql $(, $state)?> ToCql for $map {
            fn to_cql(&self, ty: Option<&CqlType>, out: &mut BytesMut) -> Result<Written, ValueError> {
                let types = match ty.map(CqlType::strip_frozen) {
                    None => None,
                    Some(CqlType::Map(types)) => Some(&**types),
                    Some(ty) => return Err(mismatch(ty)),
                };
                put_count(self.len(), out)?;
                for (key, value) in self {
                    not_null(key.to_value(types.map(|types| &types.0), out)?)?;
                    if value.to_value(types.map(|types| &types.1), out)? == Written::Unset {
                        return Err(ValueError::Unset);
                    }
                }
                Ok(Written::Value)
            }
        }
    )*};
}

map! {
    HashMap<K, V, S>, S;
    BTreeMap<K, V>;
}
