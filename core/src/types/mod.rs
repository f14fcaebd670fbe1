//! Type descriptors, their CQL and class-name forms, and the codec of values.
//! Answers to native protocol v5, sections 4.2.5.2 and 6.

mod descriptor;

/// How deep a type may nest, in its wire form, its class name and its values alike.
pub const MAX_TYPE_DEPTH: usize = 64;

pub use descriptor::{CqlType, UserType};
