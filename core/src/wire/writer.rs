//! [`WireWrite`]: the protocol's notations, written to any buffer.
//! Answers to native protocol v5, section 3.

use std::fmt::{self, Write};
use std::net::{IpAddr, SocketAddr};

use bytes::{BufMut, BytesMut};
use uuid::Uuid;

use super::primitives::RawValue;
use crate::codes::Consistency;

/// Writes the protocol's notations.
///
/// Nothing here fails: what is longer than its length field can say is cut to what it can (65,535 bytes,
/// or `i32::MAX`), strings at the last whole character. Lists and maps with more than 65,535 entries lose
/// the rest.
pub trait WireWrite: BufMut {
    /// A \[string\].
    #[inline]
    fn put_string(&mut self, text: &str) {
        let text = cut(text, usize::from(u16::MAX));
        self.put_u16(text.len() as u16);
        self.put_slice(text.as_bytes());
    }

    /// A \[long string\].
    #[inline]
    fn put_long_string(&mut self, text: &str) {
        let text = cut(text, i32::MAX as usize);
        self.put_i32(text.len() as i32);
        self.put_slice(text.as_bytes());
    }

    /// A \[bytes\]: a length of -1 for `None`.
    #[inline]
    fn put_bytes_field(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => {
                let bytes = bytes.get(..i32::MAX as usize).unwrap_or(bytes);
                self.put_i32(bytes.len() as i32);
                self.put_slice(bytes);
            }
            None => self.put_i32(-1),
        }
    }

    /// A \[value\]: a length of -1 for a null, -2 for unset.
    #[inline]
    fn put_value(&mut self, value: RawValue<'_>) {
        match value {
            RawValue::Bytes(bytes) => self.put_bytes_field(Some(bytes)),
            RawValue::Null => self.put_i32(-1),
            RawValue::Unset => self.put_i32(-2),
        }
    }

    /// A \[short bytes\].
    #[inline]
    fn put_short_bytes(&mut self, bytes: &[u8]) {
        let bytes = bytes.get(..usize::from(u16::MAX)).unwrap_or(bytes);
        self.put_u16(bytes.len() as u16);
        self.put_slice(bytes);
    }

    /// A \[consistency\].
    #[inline]
    fn put_consistency(&mut self, consistency: Consistency) {
        self.put_u16(consistency.0);
    }

    /// A \[uuid\].
    #[inline]
    fn put_uuid(&mut self, uuid: &Uuid) {
        self.put_slice(uuid.as_bytes());
    }

    /// A \[string list\].
    fn put_string_list<S: AsRef<str>>(&mut self, strings: &[S]) {
        let strings = strings.get(..usize::from(u16::MAX)).unwrap_or(strings);
        self.put_u16(strings.len() as u16);
        for string in strings {
            self.put_string(string.as_ref());
        }
    }

    /// A \[string map\].
    fn put_string_map<K: AsRef<str>, V: AsRef<str>>(&mut self, entries: &[(K, V)]) {
        let entries = entries.get(..usize::from(u16::MAX)).unwrap_or(entries);
        self.put_u16(entries.len() as u16);
        for (key, value) in entries {
            self.put_string(key.as_ref());
            self.put_string(value.as_ref());
        }
    }

    /// A \[string multimap\].
    fn put_string_multimap<K: AsRef<str>, V: AsRef<str>>(&mut self, entries: &[(K, Vec<V>)]) {
        let entries = entries.get(..usize::from(u16::MAX)).unwrap_or(entries);
        self.put_u16(entries.len() as u16);
        for (key, values) in entries {
            self.put_string(key.as_ref());
            self.put_string_list(values);
        }
    }

    /// A \[bytes map\].
    fn put_bytes_map<K: AsRef<str>, V: AsRef<[u8]>>(&mut self, entries: &[(K, Option<V>)]) {
        let entries = entries.get(..usize::from(u16::MAX)).unwrap_or(entries);
        self.put_u16(entries.len() as u16);
        for (key, value) in entries {
            self.put_string(key.as_ref());
            self.put_bytes_field(value.as_ref().map(AsRef::as_ref));
        }
    }

    /// An \[inetaddr\].
    fn put_inet_addr(&mut self, address: IpAddr) {
        match address {
            IpAddr::V4(address) => {
                self.put_u8(4);
                self.put_slice(&address.octets());
            }
            IpAddr::V6(address) => {
                self.put_u8(16);
                self.put_slice(&address.octets());
            }
        }
    }

    /// An \[inet\].
    fn put_inet(&mut self, address: SocketAddr) {
        self.put_inet_addr(address.ip());
        self.put_i32(i32::from(address.port()));
    }

    /// An \[unsigned vint\], in as few bytes as it takes.
    fn put_unsigned_vint(&mut self, value: u64) {
        // Seven bits fit a byte alone, and each further byte adds seven until the ninth adds eight.
        let bits = 64 - (value | 1).leading_zeros();
        let extra = (bits - 1) / 7;
        if extra >= 8 {
            self.put_u8(0xFF);
            self.put_u64(value);
            return;
        }
        let marker = !(0xFF_u8 >> extra);
        let shift = extra * 8;
        self.put_u8(marker | (value >> shift) as u8);
        self.put_uint(value & !(u64::MAX << shift), extra as usize);
    }

    /// A \[vint\], zig-zag encoded.
    fn put_vint(&mut self, value: i64) {
        self.put_unsigned_vint(((value << 1) ^ (value >> 63)).cast_unsigned());
    }
}

impl<B: BufMut + ?Sized> WireWrite for B {}

/// A \[string\] of what `text` displays, made in place: no string in between. What is longer than a length
/// can say is cut at the last whole character.
pub(crate) fn put_displayed(out: &mut BytesMut, text: &dyn fmt::Display) {
    let start = out.len();
    out.put_u16(0);
    let mut displayed = Displayed {
        out,
        left: usize::from(u16::MAX),
    };
    // It fails when the rest is to be left out.
    let _ = write!(displayed, "{text}");
    let length = usize::from(u16::MAX) - displayed.left;
    if let Some(field) = out.get_mut(start..start + 2) {
        field.copy_from_slice(&(length as u16).to_be_bytes());
    }
}

struct Displayed<'a> {
    out: &'a mut BytesMut,
    /// Bytes that still fit.
    left: usize,
}

impl fmt::Write for Displayed<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = cut(text, self.left);
        self.out.put_slice(fits.as_bytes());
        self.left -= fits.len();
        if fits.len() < text.len() {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

/// The longest prefix of whole characters that isn't longer than `limit` bytes.
#[inline(always)]
fn cut(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    cut_long(text, limit)
}

#[cold]
fn cut_long(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit))
        .unwrap_or_default()
}
