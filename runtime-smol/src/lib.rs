//! The CQL server of helenus on smol and async-std.
