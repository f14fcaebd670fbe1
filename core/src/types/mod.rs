//! Type descriptors, their CQL and class-name forms, and the codec of values.
//! Answers to native protocol v5, sections 4.2.5.2 and 6.

mod class_name;
mod decode;
mod descriptor;
mod display;
pub mod elements;
mod encode;
mod error;
#[cfg(test)]
mod tests;
mod validate;
mod value;
mod wire;

pub use class_name::ClassNameError;
pub use descriptor::{CqlType, UserType};
pub use display::quoted;
pub use error::ValueError;
pub use validate::validate;
pub use value::{Decimal, Duration, Value, Varint};
pub use wire::{read_type, write_type};

/// How deep a type may nest, in its wire form and its class name alike. A value nests as deep as its type.
pub const MAX_TYPE_DEPTH: usize = 64;
