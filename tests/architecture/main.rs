//! Holds the shape that ARCHITECTURE.md promises: which crate may know which, what the pure crates may not touch,
//! how long a file may grow. The rules are data at the top of each module; a broken one names the file and line.

mod graph;
mod purity;
mod size;
mod source;
mod workspace;
