//! Values bound by name: [`Named`], maps, and values that were serialized with their names.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasher, Hash};

use super::{BindError, BindValues, Binder};
use crate::message::values::Values;
use crate::types::ToCql;
use crate::wire::RawValue;

/// Values by name, in any order.
///
/// ```
/// use helenus_core::message::{Named, ValueList};
/// use helenus_core::types::ToCql;
///
/// let mut list = ValueList::new();
/// list.bind(&Named(&[("id", &7 as &dyn ToCql), ("name", &"seven")]), None)?;
/// assert!(list.as_values().is_named());
/// # Ok::<(), helenus_core::message::BindError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Named<'a, V>(pub &'a [(&'a str, V)]);

impl<V> fmt::Debug for Named<'_, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

impl<V: ToCql> BindValues for Named<'_, V> {
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        let find = |name: &str| self.0.iter().find(|(given, _)| *given == name);
        let entries = self.0.iter().map(|(name, value)| (*name, value));
        bind_named(binder, entries, |name| find(name).map(|(_, value)| value))
    }
}

impl<K, V, S> BindValues for HashMap<K, V, S>
where
    K: Borrow<str> + Eq + Hash,
    V: ToCql,
    S: BuildHasher,
{
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        let entries = self.iter().map(|(name, value)| (name.borrow(), value));
        bind_named(binder, entries, |name| self.get(name))
    }
}

impl<K: Borrow<str> + Ord, V: ToCql> BindValues for BTreeMap<K, V> {
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        let entries = self.iter().map(|(name, value)| (name.borrow(), value));
        bind_named(binder, entries, |name| self.get(name))
    }
}

fn bind_named<'v, V: ToCql + 'v>(
    binder: &mut Binder<'_>,
    mut entries: impl Iterator<Item = (&'v str, &'v V)>,
    find: impl Fn(&str) -> Option<&'v V>,
) -> Result<(), BindError> {
    let Some(variables) = binder.variables() else {
        return entries.try_for_each(|(name, value)| binder.push_named(name, value));
    };
    for variable in variables {
        let value = find(&variable.name);
        binder.push(value.ok_or_else(|| BindError::Missing(variable.name.to_shared()))?)?;
    }
    let unknown = |name: &str| !variables.iter().any(|variable| *variable.name == *name);
    match entries.find(|(name, _)| unknown(name)) {
        Some((name, _)) => Err(BindError::UnknownName(name.into())),
        None => Ok(()),
    }
}

/// Values that were serialized before are taken as they are, with their names if they carry any.
impl BindValues for Values<'_> {
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        if !self.is_named() {
            binder.expect(self.len())?;
            return self.iter().try_for_each(|(_, value)| binder.push(&value));
        }
        let entries: Vec<(&str, RawValue<'_>)> = self
            .iter()
            .map(|(name, value)| (name.unwrap_or_default(), value))
            .collect();
        Named(&entries).bind(binder)
    }
}
