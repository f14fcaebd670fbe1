//! The CQL server of helenus on tokio.
