//! What carries messages between nodes: bytes and nothing else.

mod links;
mod memory;

use std::sync::Arc;

use bytes::Bytes;
use helenus_coordinator::NodeId;

pub(crate) use links::{Link, MILLION};
pub(crate) use memory::Memory;

/// Where messages for a node arrive.
pub(crate) trait Door: Send + Sync {
    /// Takes a message, on whichever thread delivers it: short work is done there.
    fn receive(self: Arc<Self>, from: NodeId, bytes: Bytes);
}
