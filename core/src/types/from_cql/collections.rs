//! [`FromCql`] for the standard library's collections.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, Hash};

use super::FromCql;
use crate::types::{CqlType, Entries, Items, ValueError};

impl<'a, T: FromCql<'a>> FromCql<'a> for Vec<T> {
    fn accepts(ty: &CqlType) -> bool {
        Items::<T>::accepts(ty)
    }

    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let items = Items::<T>::from_cql(ty, bytes)?;
        let mut all = Self::with_capacity(items.room());
        for item in items {
            all.push(item?);
        }
        Ok(all)
    }
}

impl<'a, T: FromCql<'a> + Default, const N: usize> FromCql<'a> for [T; N] {
    fn accepts(ty: &CqlType) -> bool {
        match ty.strip_frozen() {
            CqlType::Vector(element, dimension) => {
                usize::try_from(*dimension) == Ok(N) && T::accepts(element)
            }
            _ => false,
        }
    }

    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let mut items = Items::<T>::from_cql(ty, bytes)?;
        let mut all = std::array::from_fn(|_| T::default());
        let other_length = || ValueError::Mismatch(ty.clone());
        for slot in &mut all {
            *slot = items.next().ok_or_else(other_length)??;
        }
        match items.next() {
            None => Ok(all),
            Some(item) => Err(item.err().unwrap_or_else(other_length)),
        }
    }
}

/// Sets, which collect themselves from [`Items`].
macro_rules! set {
    ($set:ident, $($bound:path),* $(; $state:ident: $($state_bound:path),*)?) => {
        impl<'a, T: FromCql<'a> $(+ $bound)* $(, $state: $($state_bound +)*)?> FromCql<'a> for $set<T $(, $state)?> {
            fn accepts(ty: &CqlType) -> bool {
                matches!(ty.strip_frozen(), CqlType::Set(element) if T::accepts(element))
            }

            fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
                Items::<T>::from_cql(ty, bytes)?.collect()
            }
        }
    };
}

set!(HashSet, Eq, Hash; S: BuildHasher, Default);
set!(BTreeSet, Ord);

/// Maps, which collect themselves from [`Entries`].
macro_rules! map {
    ($map:ident, $($bound:path),* $(; $state:ident: $($state_bound:path),*)?) => {
        impl<'a, K: FromCql<'a> $(+ $bound)*, V: FromCql<'a> $(, $state: $($state_bound +)*)?> FromCql<'a>
            for $map<K, V $(, $state)?>
        {
            fn accepts(ty: &CqlType) -> bool {
                Entries::<K, V>::accepts(ty)
            }

            fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
                Entries::<K, V>::from_cql(ty, bytes)?.collect()
            }
        }
    };
}

map!(HashMap, Eq, Hash; S: BuildHasher, Default);
map!(BTreeMap, Ord);
