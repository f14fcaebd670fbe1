//! The protocol's composite notations as borrowed, lazily read items: a \[value\] and the lists and maps.
//! Answers to native protocol v5, section 3.

use super::reader::Reader;

/// A \[value\]: the bytes of a bound value, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RawValue<'a> {
    /// A null, which deletes.
    Null,
    /// Not set (from v4): leaves what is there.
    Unset,
    /// The value's serialized form, perhaps empty.
    Bytes(&'a [u8]),
}

impl<'a> RawValue<'a> {
    /// The bytes, if there are any.
    #[inline]
    #[must_use]
    pub const fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Null | Self::Unset => None,
        }
    }
}

impl<'a> From<Option<&'a [u8]>> for RawValue<'a> {
    #[inline]
    fn from(bytes: Option<&'a [u8]>) -> Self {
        bytes.map_or(Self::Null, Self::Bytes)
    }
}

/// Declares a counted notation whose bytes were checked when it was read, with its iterator.
macro_rules! counted {
    ($(#[$meta:meta])* $name:ident, $(#[$iter_meta:meta])* $iter:ident, $item:ty, |$reader:ident| $next:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name<'a> {
            bytes: &'a [u8],
            count: u16,
        }

        impl<'a> $name<'a> {
            #[inline]
            pub(crate) const fn checked(bytes: &'a [u8], count: u16) -> Self {
                Self { bytes, count }
            }

            /// How many entries there are.
            #[inline]
            #[must_use]
            pub const fn len(&self) -> usize {
                self.count as usize
            }

            /// Whether there is no entry.
            #[inline]
            #[must_use]
            pub const fn is_empty(&self) -> bool {
                self.count == 0
            }

            /// The entries as they stand on the wire, without their count.
            #[inline]
            #[must_use]
            pub const fn as_bytes(&self) -> &'a [u8] {
                self.bytes
            }

            /// The entries in order, doubles included.
            #[inline]
            #[must_use]
            pub const fn iter(&self) -> $iter<'a> {
                $iter { reader: Reader::new(self.bytes), left: self.count }
            }
        }

        impl<'a> IntoIterator for $name<'a> {
            type Item = $item;
            type IntoIter = $iter<'a>;

            fn into_iter(self) -> Self::IntoIter {
                self.iter()
            }
        }

        $(#[$iter_meta])*
        #[derive(Debug, Clone)]
        pub struct $iter<'a> {
            reader: Reader<'a>,
            left: u16,
        }

        impl<'a> Iterator for $iter<'a> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<Self::Item> {
                self.left = self.left.checked_sub(1)?;
                let $reader = &mut self.reader;
                $next
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (usize::from(self.left), Some(usize::from(self.left)))
            }
        }
    };
}

counted! {
    /// A \[string list\].
    StringList,
    /// The strings of a [`StringList`].
    StringListIter, &'a str, |reader| reader.string().ok()
}

counted! {
    /// A \[string map\].
    StringMap,
    /// The entries of a [`StringMap`].
    StringMapIter, (&'a str, &'a str), |reader| Some((reader.string().ok()?, reader.string().ok()?))
}

counted! {
    /// A \[string multimap\].
    StringMultimap,
    /// The entries of a [`StringMultimap`].
    StringMultimapIter, (&'a str, StringList<'a>),
    |reader| Some((reader.string().ok()?, reader.string_list().ok()?))
}

counted! {
    /// A \[bytes map\].
    BytesMap,
    /// The entries of a [`BytesMap`].
    BytesMapIter, (&'a str, Option<&'a [u8]>),
    |reader| Some((reader.string().ok()?, reader.bytes().ok()?))
}

impl<'a> StringMap<'a> {
    /// The value of this key; of several, the last one's.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.iter()
            .filter(|(name, _)| *name == key)
            .map(|(_, value)| value)
            .last()
    }
}
