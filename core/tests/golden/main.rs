//! The codec against golden data: bytes that independent implementations wrote, with what they say.
//! `tests/vectors/README.md` describes the files.

mod compressed;
mod cuts;
mod forward;
mod listed;
mod probes;
mod requests;
mod responses;
mod typed;
mod types;
mod values;
mod vectors;
