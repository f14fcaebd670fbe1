//! Which nodes replicate what of a keyspace.

use std::collections::HashMap;
use std::sync::Arc;

use helenus_coordinator::{Placement, Replication, Ring};
use helenus_engine::schema::{self, Schema, Table};
use parking_lot::RwLock;

/// The placement of each keyspace that was asked for, with the replication that it follows from.
#[derive(Debug, Default)]
pub(crate) struct Placements {
    known: RwLock<HashMap<Arc<str>, Known>>,
}

type Known = (schema::Replication, Arc<Placement>);

impl Placements {
    /// The placement of a table's rows; `None` if the schema doesn't know its keyspace.
    pub(crate) fn of(&self, ring: &Ring, schema: &Schema, table: &Table) -> Option<Arc<Placement>> {
        let keyspace = schema.keyspaces.get(&table.keyspace)?;
        let known = self.known.read();
        if let Some((replication, placement)) = known.get(&table.keyspace)
            && *replication == keyspace.replication
        {
            return Some(Arc::clone(placement));
        }
        drop(known);
        let replication = replication(ring, &table.keyspace, &keyspace.replication);
        let placement = Arc::new(ring.place(&replication));
        let entry = (keyspace.replication.clone(), Arc::clone(&placement));
        self.known.write().insert(Arc::clone(&keyspace.name), entry);
        Some(placement)
    }
}

/// A keyspace's replication in the ring's terms. Every node has what is known of roles, so that it can let users in
/// whoever else is alive.
fn replication(ring: &Ring, keyspace: &str, replication: &schema::Replication) -> Replication {
    let options = replication.options();
    let class = options.get("class").map_or("", |class| class);
    let factor = |text: &str| text.parse().unwrap_or(u16::MAX);
    if keyspace == "system_auth" || class.ends_with("EverywhereStrategy") {
        return Replication::Everywhere;
    }
    if class.ends_with("NetworkTopologyStrategy") {
        let factors = options
            .iter()
            .filter_map(|(name, text)| Some((ring.data_centre_named(name)?, factor(text))));
        return Replication::NetworkTopology {
            factors: factors.collect(),
        };
    }
    Replication::Simple {
        factor: options
            .get("replication_factor")
            .map_or(1, |text| factor(text)),
    }
}
