//! The protocol's notations (\[short\], \[string\], \[bytes\], …): reading them from a slice without
//! copying, writing them to any buffer. Answers to native protocol v5, section 3.
//!
//! ```
//! use helenus_core::wire::{DecodeErrorKind, Reader, WireWrite};
//!
//! let mut out = Vec::new();
//! out.put_string("key");
//! out.put_bytes_field(None);
//! let mut reader = Reader::new(&out);
//! assert_eq!(reader.string()?, "key");
//! assert_eq!(reader.bytes()?, None);
//! assert_eq!(reader.short().unwrap_err().kind, DecodeErrorKind::UnexpectedEnd);
//! # Ok::<(), helenus_core::DecodeError>(())
//! ```

mod error;
mod primitives;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use error::{DecodeError, DecodeErrorKind};
pub use primitives::{
    BytesMap, BytesMapIter, RawValue, StringList, StringListIter, StringMap, StringMapIter,
    StringMultimap, StringMultimapIter,
};
pub use reader::Reader;
pub use writer::WireWrite;
pub(crate) use writer::put_displayed;
