//! `helenus-core`.

pub mod framing;
pub mod requests;
pub mod rows;
