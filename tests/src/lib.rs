//! The cross-crate tests of helenus are the targets in `Cargo.toml`; they share nothing yet but that package.
