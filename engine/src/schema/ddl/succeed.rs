//! What it takes to have one schema in the place of another.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{SchemaUpdate, events};
use crate::Context;
use crate::schema::{Keyspace, Schema, Table};
use crate::system;

impl Schema {
    /// What it takes to have `next` in this schema's place, whichever statements led to either: for a node that learns
    /// of changes that others made meanwhile.
    pub fn turn_into(&self, next: &Arc<Self>, context: &Context) -> SchemaUpdate {
        let names: BTreeSet<_> = self.keyspaces.keys().chain(next.keyspaces.keys()).collect();
        let pairs = names.into_iter().map(|name| {
            let keyspace = |schema: &'_ Self| schema.keyspaces.get(name).map(Arc::as_ptr);
            (
                keyspace(self) != keyspace(next),
                self.keyspaces.get(name).map(|old| &**old),
                next.keyspaces.get(name).map(|new| &**new),
            )
        });
        let pairs = pairs.filter(|(differs, ..)| *differs);
        let pairs = pairs.map(|(_, old, new)| (old, new));
        self.succeeded_by(Arc::clone(next), pairs, context)
    }

    /// The update to `next`, which differs in these keyspaces, each as it was and as it shall be.
    pub(super) fn succeeded_by<'k>(
        &self,
        next: Arc<Self>,
        keyspaces: impl IntoIterator<Item = (Option<&'k Keyspace>, Option<&'k Keyspace>)>,
        context: &Context,
    ) -> SchemaUpdate {
        let (mut mutations, mut dropped, mut told) = (Vec::new(), Vec::new(), Vec::new());
        for (old, new) in keyspaces {
            mutations.extend(system::catalog::changes(self, old, new, context.timestamp));
            let kept = |table: &&Arc<Table>| {
                new.and_then(|new| new.tables.get(&table.name))
                    .is_some_and(|new| new.id == table.id)
            };
            let tables = old.into_iter().flat_map(|old| old.tables.values());
            dropped.extend(tables.filter(|table| !kept(table)).map(|table| table.id));
            told.extend(events::between(old, new));
        }
        mutations.extend(system::node::set_schema_version(
            self,
            next.version,
            context.timestamp,
        ));
        SchemaUpdate {
            schema: next,
            change: None,
            events: told,
            mutations,
            dropped,
            warnings: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use helenus_core::ProtocolVersion;

    use super::*;
    use crate::schema::testing::World;

    #[test]
    fn a_schema_that_came_about_elsewhere_brings_its_rows_and_events() {
        let mut here = World::new();
        let mut there = World::new();
        here.ok("CREATE TABLE gone (a int PRIMARY KEY)");
        let gone = here.schema.table("ks", "gone").unwrap().id;
        there.ok("CREATE TABLE come (a int PRIMARY KEY)");
        there.ok("CREATE KEYSPACE k2 WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
        let context = Context {
            timestamp: 1_800_000_000_000_000,
            now_seconds: 1_800_000_000,
            now_millis: 1_800_000_000_000,
            random: [0; 16],
            version: ProtocolVersion::V5,
        };
        let update = here.schema.turn_into(&there.schema, &context);
        assert_eq!(update.schema.version, there.schema.version);
        assert_eq!(update.dropped, [gone]);
        let told: Vec<String> = update
            .events
            .iter()
            .map(|event| format!("{event:?}"))
            .collect();
        assert_eq!(told.len(), 3, "{told:?}");
        let tables = update
            .mutations
            .iter()
            .map(|mutation| &*mutation.table.name);
        let tables: BTreeSet<_> = tables.collect();
        assert_eq!(
            tables.into_iter().collect::<Vec<_>>(),
            ["columns", "keyspaces", "local", "tables"]
        );

        let same = there.schema.turn_into(&there.schema, &context);
        assert!(same.events.is_empty() && same.dropped.is_empty());
    }
}
