//! Type descriptors, their CQL and class-name forms, and the codec of values: dynamic ([`Value`]), as Rust types
//! ([`FromCql`], [`ToCql`]), and part by part ([`elements`]).
//! Answers to native protocol v5, sections 4.2.5.2 and 6.
//!
//! ```
//! use helenus_core::CqlType;
//! use helenus_core::types::{Value, validate};
//!
//! let ty = CqlType::parse_class("MapType(UTF8Type,Int32Type)")?;
//! assert_eq!(ty.to_string(), "map<text, int>");
//! let value = Value::Map(vec![(Value::Text("a".into()), Some(Value::Int(1)))]);
//! let mut bytes = Vec::new();
//! value.encode(&ty, &mut bytes)?;
//! assert_eq!(Value::decode(&ty, &bytes)?, value);
//! let error = validate(&CqlType::Int, &[0; 3]).unwrap_err();
//! assert_eq!(error.to_string(), "Expected 4 or 0 byte int (3)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod class_name;
mod decode;
mod descriptor;
mod display;
pub mod elements;
mod encode;
mod error;
mod external;
mod from_cql;
mod lazy;
mod scalar;
#[cfg(test)]
mod tests;
mod to_cql;
mod validate;
mod value;
mod varint;
mod wire;

pub use class_name::ClassNameError;
pub use descriptor::{CqlType, UserType};
pub use display::quoted;
pub use error::ValueError;
pub use from_cql::FromCql;
pub use lazy::{Entries, Items, NameOrIndex, Record};
pub use scalar::{Counter, Date, MaybeEmpty, MaybeUnset, Time, Timestamp};
pub use to_cql::{RecordFields, ToCql, Written};
pub use validate::validate;
pub use value::{Decimal, Duration, Value};
pub use varint::{Varint, VarintOutOfRange};
pub(crate) use wire::skip_type;
pub use wire::{read_type, write_type};

/// How deep a type may nest, in its wire form and its class name alike. A value nests as deep as its type.
pub const MAX_TYPE_DEPTH: usize = 64;
