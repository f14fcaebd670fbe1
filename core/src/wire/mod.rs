//! The protocol's notations (\[short\], \[string\], \[bytes\], …): reading them from a slice without
//! copying, writing them to any buffer. Answers to native protocol v5, section 3.

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
