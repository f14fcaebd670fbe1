//! What a node knows as a replica of rounds that are agreed on: of conditional writes, and of batches that others see
//! through.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use helenus_coordinator::{Acceptor, BatchLog};
use helenus_engine::schema::TableId;
use helenus_engine::storage::Mutation;
use parking_lot::Mutex;

use super::model::{EngineModel, Partition};

/// The rounds about each partition that was ever written to conditionally, and the batches under way.
#[derive(Debug, Default)]
pub(crate) struct Acceptors {
    partitions: Mutex<HashMap<(TableId, Bytes), Acceptor<EngineModel>>>,
    pub(crate) batches: Mutex<BatchLog<Arc<Mutation>>>,
}

impl Acceptors {
    /// Does something about the rounds of a partition, one at a time.
    pub(crate) fn with<T>(
        &self,
        partition: &Partition,
        step: impl FnOnce(&mut Acceptor<EngineModel>) -> T,
    ) -> T {
        let key = (partition.table, partition.key.clone());
        step(self.partitions.lock().entry(key).or_default())
    }
}
