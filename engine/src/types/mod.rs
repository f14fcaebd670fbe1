//! The order of values: a form whose bytes compare as the type does, and comparison of serialized values.

pub mod comparable;
mod compare;
mod decimal;
mod similarity;

pub use compare::compare;
pub(crate) use similarity::similarity;
