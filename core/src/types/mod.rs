//! Type descriptors, their CQL and class-name forms, and the codec of values.
//! Answers to native protocol v5, sections 4.2.5.2 and 6.

mod descriptor;

pub use descriptor::{CqlType, UserType};
