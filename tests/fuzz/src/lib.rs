//! Fuzz targets as plain functions of bytes, with seeds and seeded mutation, so that they run on any
//! toolchain; `libfuzzer/` puts the same functions under libFuzzer.

mod corpus;
mod input;
mod mutate;
mod peer;
mod rig;
mod seeds;
mod send;
mod targets;
mod wire;

pub use corpus::{export, from_hex, import, to_hex};
pub use mutate::{LONGEST, mutate};
pub use seeds::seeds;
pub use send::{send, sent_bytes};
pub use targets::{TARGETS, Target, target};
