//! The CQL server of helenus on blocking threads.
