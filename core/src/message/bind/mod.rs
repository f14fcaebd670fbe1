//! [`BindValues`]: Rust values bound to a statement's variables, or written as a row.
//! Answers to native protocol v5, section 4.1.4.

mod error;
mod named;
#[cfg(test)]
mod tests;

use bytes::BytesMut;

use super::result::ColumnSpec;
use crate::types::{ToCql, ValueError, Written};
use crate::wire::WireWrite;

pub use error::{BindError, InvalidValue};
pub use named::Named;

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
    variables: Option<&'a [ColumnSpec<'a>]>,
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
        variables: Option<&'a [ColumnSpec<'a>]>,
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
    pub const fn variables(&self) -> Option<&'a [ColumnSpec<'a>]> {
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
    // Inlined whatever it takes: out of line the binder lives in memory, and a cell takes half as long again.
    #[inline(always)]
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
        variable: Option<&ColumnSpec<'_>>,
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
