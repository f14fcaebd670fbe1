//! Collections, tuples and user types read part by part, borrowed: [`Items`], [`Entries`] and [`Record`].

use std::iter;
use std::marker::PhantomData;

use super::elements::{self, Elements, VectorElements};
use super::{CqlType, FromCql, ValueError};

/// The elements of a `list`, `set` or `vector`, read as `T` one at a time. An error ends the iteration.
///
/// ```
/// use helenus_core::CqlType;
/// use helenus_core::types::{FromCql, Items};
///
/// let ty = CqlType::parse_class("VectorType(FloatType,2)")?;
/// let items = Items::<f32>::from_cql(&ty, Some(&[0x3F, 0x80, 0, 0, 0, 0, 0, 0]))?;
/// assert_eq!(items.collect::<Result<Vec<_>, _>>()?, [1.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Items<'a, T> {
    source: Source<'a>,
    element: &'a CqlType,
    read_as: PhantomData<fn() -> T>,
}

#[derive(Debug, Clone)]
enum Source<'a> {
    List(Elements<'a>),
    Set(Elements<'a>),
    Vector(VectorElements<'a>),
    Ended,
}

impl<'a, T: FromCql<'a>> Items<'a, T> {
    /// How many elements are worth room beforehand: no more than the bytes can hold, nor much more memory than they take.
    pub(super) fn room(&self) -> usize {
        let count = match &self.source {
            Source::List(elements) | Source::Set(elements) => elements.capacity(),
            Source::Vector(elements) => elements.capacity(),
            Source::Ended => 0,
        };
        // An element may be larger than its bytes: room for all is made beforehand only where it is little.
        count.min((16 << 10) / size_of::<T>().max(1))
    }
}

impl<'a, T: FromCql<'a>> FromCql<'a> for Items<'a, T> {
    fn accepts(ty: &CqlType) -> bool {
        match ty.strip_frozen() {
            CqlType::List(element) | CqlType::Set(element) | CqlType::Vector(element, _) => {
                T::accepts(element)
            }
            _ => false,
        }
    }

    #[inline]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let bytes = bytes.ok_or(ValueError::Null)?;
        let ty = ty.strip_frozen();
        let (element, source) = match ty {
            CqlType::List(element) => (element, Source::List(elements::list(bytes)?)),
            CqlType::Set(element) => (element, Source::Set(elements::set(bytes)?)),
            CqlType::Vector(element, dimension) => {
                let vector = elements::vector(bytes, ty, element, *dimension)?;
                (element, Source::Vector(vector))
            }
            _ => return Err(ValueError::Mismatch(ty.clone())),
        };
        Ok(Self {
            source,
            element,
            read_as: PhantomData,
        })
    }
}

impl<'a, T: FromCql<'a>> Iterator for Items<'a, T> {
    type Item = Result<T, ValueError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let element = match &mut self.source {
            Source::List(elements) => elements.next(),
            Source::Set(elements) => elements
                .next()
                .map(|element| element?.ok_or(ValueError::NullElement).map(Some)),
            Source::Vector(elements) => elements.next().map(|element| element.map(Some)),
            Source::Ended => return None,
        };
        let item = match element {
            Some(element) => element.and_then(|bytes| T::from_cql(self.element, bytes)),
            None => match std::mem::replace(&mut self.source, Source::Ended) {
                Source::List(elements) | Source::Set(elements) => Err(elements.finish().err()?),
                Source::Vector(elements) => Err(elements.finish().err()?),
                Source::Ended => return None,
            },
        };
        if item.is_err() {
            self.source = Source::Ended;
        }
        Some(item)
    }
}

/// The entries of a `map`, read as `K` and `V` one at a time. An error ends the iteration.
///
/// ```
/// use helenus_core::CqlType;
/// use helenus_core::types::{Entries, FromCql};
///
/// let ty = CqlType::parse_class("MapType(UTF8Type,Int32Type)")?;
/// let bytes = b"\0\0\0\x01\0\0\0\x01a\0\0\0\x04\0\0\0\x07";
/// let mut entries = Entries::<&str, i32>::from_cql(&ty, Some(bytes))?;
/// assert_eq!(entries.next(), Some(Ok(("a", 7))));
/// assert_eq!(entries.next(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Entries<'a, K, V> {
    // `None` once it ended.
    elements: Option<Elements<'a>>,
    types: &'a (CqlType, CqlType),
    read_as: PhantomData<fn() -> (K, V)>,
}

impl<'a, K: FromCql<'a>, V: FromCql<'a>> Entries<'a, K, V> {
    fn entry(&mut self) -> Result<Option<(K, V)>, ValueError> {
        let Some(elements) = &mut self.elements else {
            return Ok(None);
        };
        let Some(key) = elements.next() else {
            return match self.elements.take() {
                Some(elements) => elements.finish().map(|()| None),
                None => Ok(None),
            };
        };
        let key = K::from_cql(&self.types.0, Some(key?.ok_or(ValueError::NullElement)?))?;
        let value = elements
            .next()
            .unwrap_or(Err(ValueError::Truncated("map")))?;
        Ok(Some((key, V::from_cql(&self.types.1, value)?)))
    }
}

impl<'a, K: FromCql<'a>, V: FromCql<'a>> FromCql<'a> for Entries<'a, K, V> {
    fn accepts(ty: &CqlType) -> bool {
        match ty.strip_frozen() {
            CqlType::Map(types) => K::accepts(&types.0) && V::accepts(&types.1),
            _ => false,
        }
    }

    #[inline]
    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let bytes = bytes.ok_or(ValueError::Null)?;
        match ty.strip_frozen() {
            CqlType::Map(types) => Ok(Self {
                elements: Some(elements::map(bytes)?),
                types,
                read_as: PhantomData,
            }),
            ty => Err(ValueError::Mismatch(ty.clone())),
        }
    }
}

impl<'a, K: FromCql<'a>, V: FromCql<'a>> Iterator for Entries<'a, K, V> {
    type Item = Result<(K, V), ValueError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.entry().transpose();
        if matches!(entry, Some(Err(_))) {
            self.elements = None;
        }
        entry
    }
}

/// What a column or field is found by: a `&str` or a `usize` becomes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NameOrIndex<'n> {
    /// Its name, as the server writes it; of equal ones the first is found.
    Name(&'n str),
    /// Its place, from 0.
    Index(usize),
}

impl NameOrIndex<'_> {
    /// The place among these names; an index is taken as it is.
    #[inline]
    pub(crate) fn find<'s>(self, mut names: impl Iterator<Item = &'s str>) -> Option<usize> {
        match self {
            Self::Name(name) => names.position(|other| other == name),
            Self::Index(index) => Some(index),
        }
    }
}

impl<'n> From<&'n str> for NameOrIndex<'n> {
    #[inline]
    fn from(name: &'n str) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for NameOrIndex<'_> {
    #[inline]
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

/// A value of a user type or a tuple, its fields read by name or place. Its bytes are taken apart once when it is read.
///
/// [`FromCql`] shows how a Rust type for a user type is made with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    ty: &'a CqlType,
    bytes: &'a [u8],
}

impl<'a> Record<'a> {
    /// Whether `ty` is a user type or tuple with this field, of a type that can be read as `T`.
    pub fn has<'t, T: FromCql<'t>>(ty: &CqlType, field: impl Into<NameOrIndex<'t>>) -> bool {
        field_type(ty, field.into()).is_some_and(|(_, ty)| T::accepts(ty))
    }

    /// The field of this name or place, which is null where the value ends before it.
    ///
    /// # Errors
    /// [`ValueError::NoField`], [`ValueError::Mismatch`] when its type can't be read as `T`, and what is wrong with its
    /// value.
    pub fn get<'n, T: FromCql<'a>>(
        &self,
        field: impl Into<NameOrIndex<'n>>,
    ) -> Result<T, ValueError> {
        let (index, ty) = field_type(self.ty, field.into()).ok_or(ValueError::NoField)?;
        if !T::accepts(ty) {
            return Err(ValueError::Mismatch(ty.clone()));
        }
        let field = elements::fields(self.bytes).nth(index);
        T::from_cql(ty, field.transpose()?.flatten())
    }

    /// The fields that the type has, with their types; those are null where the value ends before them.
    pub fn fields(&self) -> impl Iterator<Item = (&'a CqlType, Option<&'a [u8]>)> + use<'a> {
        let mut fields = elements::fields(self.bytes);
        let ty = self.ty;
        (0..).map_while(move |index: usize| {
            let (_, ty) = field_type(ty, index.into())?;
            // Their bytes were checked.
            Some((ty, fields.next().and_then(Result::ok).flatten()))
        })
    }
}

impl<'a> FromCql<'a> for Record<'a> {
    fn accepts(ty: &CqlType) -> bool {
        matches!(ty.strip_frozen(), CqlType::Tuple(_) | CqlType::Udt(_))
    }

    fn from_cql(ty: &'a CqlType, bytes: Option<&'a [u8]>) -> Result<Self, ValueError> {
        let bytes = bytes.ok_or(ValueError::Null)?;
        let (fields, kind) = match ty.strip_frozen() {
            CqlType::Tuple(types) => (types.len(), "tuple"),
            CqlType::Udt(udt) => (udt.fields.len(), "UDT"),
            ty => return Err(ValueError::Mismatch(ty.clone())),
        };
        let mut parts = elements::fields(bytes);
        parts
            .by_ref()
            .take(fields)
            .try_for_each(|part| part.map(drop))?;
        match parts.is_empty() {
            true => Ok(Self { ty, bytes }),
            false => Err(ValueError::TrailingFields(kind)),
        }
    }
}

/// The place of a tuple's or user type's field, and its type.
fn field_type<'t>(ty: &'t CqlType, field: NameOrIndex<'_>) -> Option<(usize, &'t CqlType)> {
    match ty.strip_frozen() {
        CqlType::Tuple(types) => {
            let index = field.find(iter::empty())?;
            Some((index, types.get(index)?))
        }
        CqlType::Udt(udt) => {
            let index = field.find(udt.fields.iter().map(|(name, _)| &**name))?;
            Some((index, &udt.fields.get(index)?.1))
        }
        _ => None,
    }
}
