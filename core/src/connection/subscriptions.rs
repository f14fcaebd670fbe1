//! The event types a peer has registered for.

use crate::message::{EventType, ServerEvent};

/// A set of event types.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Subscriptions {
    topology: bool,
    status: bool,
    schema: bool,
}

impl Subscriptions {
    /// Adds a type; one that is never sent is taken and forgotten.
    pub(crate) fn insert(&mut self, event: EventType) {
        match event {
            EventType::TopologyChange => self.topology = true,
            EventType::StatusChange => self.status = true,
            EventType::SchemaChange => self.schema = true,
            EventType::TraceComplete => {}
        }
    }

    /// Whether such events are wanted.
    pub(crate) fn contains(&self, event: &ServerEvent) -> bool {
        match event.event_type() {
            EventType::TopologyChange => self.topology,
            EventType::StatusChange => self.status,
            EventType::SchemaChange => self.schema,
            EventType::TraceComplete => false,
        }
    }
}
