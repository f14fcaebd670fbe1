//! [`BindValues`]: Rust values bound to a statement's variables, or written as a row.
//! Answers to native protocol v5, section 4.1.4.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use bytes::BytesMut;

use super::result::ColumnSpec;
use super::values::Values;
use crate::types::{CqlType, ToCql, ValueError, Written};
use crate::wire::{RawValue, WireWrite};

/// The values of a statement's variables or of a row: tuples of up to 16, slices, arrays and vectors of one type, and by
/// name [`Named`] and maps.
///
/// Bound to variables that are known, names are resolved here and every variable needs a value; values that are to stay
/// unset say so themselves ([`MaybeUnset`](crate::types::MaybeUnset)).
///
/// ```
/// use helenus_core::message::{BindError, BindValues, Binder, ValueList};
///
/// struct Point {
///     x: i32,
///     y: i32,
/// }
///
/// impl BindValues for Point {
///     fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
///         binder.push(&self.x)?;
///         binder.push(&self.y)
///     }
/// }
///
/// let mut list = ValueList::new();
/// list.bind(&Point { x: 1, y: 2 }, None)?;
/// let mut same = ValueList::new();
/// same.bind(&(1, 2), None)?;
/// assert_eq!(list.as_values(), same.as_values());
/// # Ok::<(), BindError>(())
/// ```
pub trait BindValues {
    /// Hands over the values in the order of the variables, or with their names.
    ///
    /// # Errors
    /// When they don't fit the variables.
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError>;
}

/// Takes the values of a [`BindValues`] and writes them into their place.
#[derive(Debug)]
pub struct Binder<'a> {
    out: &'a mut BytesMut,
    variables: Option<&'a [ColumnSpec]>,
    count: usize,
    named: bool,
    unset: Unset,
}

/// Whether values may be left unset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unset {
    Allowed,
    Refused,
}

impl<'a> Binder<'a> {
    #[inline]
    pub(crate) const fn new(
        out: &'a mut BytesMut,
        variables: Option<&'a [ColumnSpec]>,
        unset: Unset,
    ) -> Self {
        Self {
            out,
            variables,
            count: 0,
            named: false,
            unset,
        }
    }

    /// The variables, or a row's columns, if they are known.
    #[inline]
    #[must_use]
    pub const fn variables(&self) -> Option<&'a [ColumnSpec]> {
        self.variables
    }

    /// Says how many values will come.
    ///
    /// # Errors
    /// [`BindError::Count`] if there are not so many variables.
    #[inline]
    pub fn expect(&self, values: usize) -> Result<(), BindError> {
        match self.variables {
            Some(variables) if variables.len() != values => Err(BindError::Count {
                values,
                variables: variables.len(),
            }),
            _ => Ok(()),
        }
    }

    /// Writes the value of the next variable.
    ///
    /// # Errors
    /// [`BindError::Count`] if there is no further variable, and [`BindError::Value`].
    #[inline]
    pub fn push<T: ToCql + ?Sized>(&mut self, value: &T) -> Result<(), BindError> {
        let variable = match self.variables {
            Some(variables) => match variables.get(self.count) {
                Some(variable) => Some(variable),
                None => return self.expect(self.count + 1),
            },
            None => None,
        };
        self.put(variable, self.count, value)?;
        self.count += 1;
        Ok(())
    }

    #[inline(always)]
    fn put<T: ToCql + ?Sized>(
        &mut self,
        variable: Option<&ColumnSpec>,
        index: usize,
        value: &T,
    ) -> Result<(), BindError> {
        match value.to_value(variable.map(|variable| &variable.ty), self.out) {
            Ok(Written::Unset) if self.unset == Unset::Refused => {
                Err(BindError::value::<T>(variable, index, ValueError::Unset))
            }
            Ok(_) => Ok(()),
            Err(error) => Err(BindError::value::<T>(variable, index, error)),
        }
    }

    /// Writes a value with its name, which the server finds the variable by. Where the variables are known the name is
    /// ignored: values come in their order then.
    ///
    /// # Errors
    /// As [`push`](Self::push), and [`BindError::Unnamed`] if values without names came before.
    pub fn push_named<T: ToCql + ?Sized>(
        &mut self,
        name: &str,
        value: &T,
    ) -> Result<(), BindError> {
        if self.variables.is_none() {
            if self.count > 0 && !self.named {
                return Err(BindError::Unnamed);
            }
            self.named = true;
            self.out.put_string(name);
        }
        self.push(value)
    }

    /// How many values were written, and whether they carry names.
    #[inline]
    pub(crate) fn finish(self) -> Result<(usize, bool), BindError> {
        self.expect(self.count)?;
        Ok((self.count, self.named))
    }
}

/// Why values can't be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// There are more or fewer values than variables.
    Count {
        /// How many values.
        values: usize,
        /// How many variables.
        variables: usize,
    },
    /// More than 65,535 values.
    TooMany,
    /// Some values carry names and some don't.
    Unnamed,
    /// No variable has the name of this value.
    UnknownName(Box<str>),
    /// This variable has no value.
    Missing(Arc<str>),
    /// A value isn't of its variable's type.
    Value(Box<InvalidValue>),
}

/// A value isn't of its variable's type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InvalidValue {
    /// The place of the value, from 0.
    pub index: usize,
    /// The variable's name, or the column's, and its type, if they are known.
    pub variable: Option<(Arc<str>, CqlType)>,
    /// The name of the Rust type.
    pub rust: &'static str,
    /// What is wrong.
    pub error: ValueError,
}

impl BindError {
    #[cold]
    fn value<T: ?Sized>(variable: Option<&ColumnSpec>, index: usize, error: ValueError) -> Self {
        Self::Value(Box::new(InvalidValue {
            index,
            variable: variable.map(|variable| (variable.name.clone(), variable.ty.clone())),
            rust: std::any::type_name::<T>(),
            error,
        }))
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { values, variables } => {
                write!(f, "There are {values} values for {variables} variables")
            }
            Self::TooMany => f.write_str("There are more than 65,535 values"),
            Self::Unnamed => f.write_str("Some values carry names and some don't"),
            Self::UnknownName(name) => write!(f, "There is no variable {name}"),
            Self::Missing(name) => write!(f, "There is no value for variable {name}"),
            Self::Value(value) => match &value.variable {
                Some((name, ty)) => write!(
                    f,
                    "{name} is of type {ty} and can't be written from {}: {}",
                    value.rust, value.error
                ),
                None => write!(
                    f,
                    "Value {} of {}, counted from 0, can't be written: {}",
                    value.index, value.rust, value.error
                ),
            },
        }
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Value(value) => Some(&value.error),
            _ => None,
        }
    }
}

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
        binder.push(value.ok_or_else(|| BindError::Missing(variable.name.clone()))?)?;
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

impl BindValues for () {
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        binder.expect(0)
    }
}

impl<V: BindValues + ?Sized> BindValues for &V {
    #[inline]
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        (**self).bind(binder)
    }
}

impl<V: ToCql> BindValues for [V] {
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        binder.expect(self.len())?;
        self.iter().try_for_each(|value| binder.push(value))
    }
}

impl<V: ToCql> BindValues for Vec<V> {
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        self[..].bind(binder)
    }
}

impl<V: ToCql, const N: usize> BindValues for [V; N] {
    #[inline]
    fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
        self[..].bind(binder)
    }
}

macro_rules! tuple {
    ($count:literal: $($part:ident $value:ident $index:tt),+) => {
        impl<$($part: ToCql),+> BindValues for ($($part,)+) {
            // As `push` would do it, with the variables counted once.
            #[inline]
            fn bind(&self, binder: &mut Binder<'_>) -> Result<(), BindError> {
                match binder.variables {
                    Some(variables) => {
                        let [$($value),+] = variables else {
                            return binder.expect($count);
                        };
                        $(binder.put(Some($value), $index, &self.$index)?;)+
                    }
                    None => {
                        $(binder.put(None, $index, &self.$index)?;)+
                    }
                }
                binder.count += $count;
                Ok(())
            }
        }
    };
}

tuple!(1: A a 0);
tuple!(2: A a 0, B b 1);
tuple!(3: A a 0, B b 1, C c 2);
tuple!(4: A a 0, B b 1, C c 2, D d 3);
tuple!(5: A a 0, B b 1, C c 2, D d 3, E e 4);
tuple!(6: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5);
tuple!(7: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6);
tuple!(8: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7);
tuple!(9: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8);
tuple!(10: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9);
tuple!(11: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10);
tuple!(12: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11);
tuple!(13: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11, M m 12);
tuple!(14: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11, M m 12, N n 13);
tuple!(15: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11, M m 12, N n 13, O o 14);
tuple!(16: A a 0, B b 1, C c 2, D d 3, E e 4, F f 5, G g 6, H h 7, I i 8, J j 9, K k 10, L l 11, M m 12, N n 13, O o 14, P p 15);
