//! Reading and writing the inside of serialized collections, tuples and user types (native protocol v5, section 6).

use bytes::BufMut;

/// The elements of a serialized list or set, or the keys and values of a map in turn; `None` is a null. Ends early
/// where the bytes do.
#[derive(Debug, Clone)]
pub(crate) struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Elements<'a> {
    /// The elements behind the count.
    pub(crate) fn new(value: &'a [u8]) -> Self {
        Self {
            rest: value.get(4..).unwrap_or_default(),
        }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        next_value(&mut self.rest)
    }
}

/// The entries of a serialized map.
#[derive(Debug, Clone)]
pub(crate) struct Pairs<'a>(Elements<'a>);

impl<'a> Pairs<'a> {
    /// The entries behind the count.
    pub(crate) fn new(value: &'a [u8]) -> Self {
        Self(Elements::new(value))
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = (&'a [u8], Option<&'a [u8]>);

    fn next(&mut self) -> Option<Self::Item> {
        let key = self.0.next()?.unwrap_or_default();
        Some((key, self.0.next()?))
    }
}

/// The fields of a serialized tuple or user type; fewer than the type has when it was written before a field was added.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of a value.
    pub(crate) fn new(value: &'a [u8]) -> Self {
        Self { rest: value }
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        next_value(&mut self.rest)
    }
}

fn next_value<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let (len, behind) = rest.split_first_chunk::<4>()?;
    let Ok(len) = usize::try_from(i32::from_be_bytes(*len)) else {
        *rest = behind;
        return Some(None);
    };
    let (value, behind) = behind.split_at_checked(len)?;
    *rest = behind;
    Some(Some(value))
}

/// Appends an element with its length; `None` is a null.
pub(crate) fn put_element(out: &mut impl BufMut, element: Option<&[u8]>) {
    match element {
        Some(bytes) => {
            // Values are parts of messages, whose lengths are 31-bit.
            out.put_i32(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
            out.put_slice(bytes);
        }
        None => out.put_i32(-1),
    }
}

/// Appends the count that opens a collection.
pub(crate) fn begin_count(out: &mut impl BufMut, count: usize) {
    out.put_i32(i32::try_from(count).unwrap_or(i32::MAX));
}
