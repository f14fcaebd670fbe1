//! What clients are told of a change, in Cassandra's order: what was dropped, then created, then altered.

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::message::{ChangeType, SchemaChange, SchemaTarget};
use helenus_core::types::UserType;

use crate::schema::{Keyspace, Table, View};

type ByName<T> = BTreeMap<Arc<str>, Arc<T>>;

static NO_TABLES: ByName<Table> = BTreeMap::new();
static NO_TYPES: ByName<UserType> = BTreeMap::new();
static NO_VIEWS: ByName<View> = BTreeMap::new();

/// Every difference between two states of a keyspace.
pub(super) fn between(old: Option<&Keyspace>, new: Option<&Keyspace>) -> Vec<SchemaChange> {
    let Some(either) = new.or(old) else {
        return Vec::new();
    };
    let keyspace = || Arc::clone(&either.name);
    let whole = |change| SchemaChange {
        change,
        target: SchemaTarget::Keyspace {
            keyspace: keyspace(),
        },
    };
    let table = |change, name: &Arc<str>| SchemaChange {
        change,
        target: SchemaTarget::Table {
            keyspace: keyspace(),
            name: Arc::clone(name),
        },
    };
    let user_type = |change, name: &Arc<str>| SchemaChange {
        change,
        target: SchemaTarget::Type {
            keyspace: keyspace(),
            name: Arc::clone(name),
        },
    };
    let (old_tables, old_types, old_views) = parts(old);
    let (new_tables, new_types, new_views) = parts(new);

    let mut events = Vec::new();
    match (old, new) {
        (None, _) => events.push(whole(ChangeType::Created)),
        (Some(old), Some(new))
            if old.replication != new.replication || old.durable_writes != new.durable_writes =>
        {
            events.push(whole(ChangeType::Updated));
        }
        _ => {}
    }
    events.extend(missing(old_views, new_views).map(|name| table(ChangeType::Dropped, name)));
    events.extend(missing(old_tables, new_tables).map(|name| table(ChangeType::Dropped, name)));
    events.extend(missing(old_types, new_types).map(|name| user_type(ChangeType::Dropped, name)));
    events.extend(missing(new_types, old_types).map(|name| user_type(ChangeType::Created, name)));
    events.extend(missing(new_tables, old_tables).map(|name| table(ChangeType::Created, name)));
    events.extend(missing(new_views, old_views).map(|name| table(ChangeType::Created, name)));
    events.extend(altered(old_types, new_types).map(|name| user_type(ChangeType::Updated, name)));
    events.extend(altered(old_tables, new_tables).map(|name| table(ChangeType::Updated, name)));
    events.extend(altered(old_views, new_views).map(|name| table(ChangeType::Updated, name)));
    if new.is_none() {
        events.push(whole(ChangeType::Dropped));
    }
    events
}

fn parts(keyspace: Option<&Keyspace>) -> (&ByName<Table>, &ByName<UserType>, &ByName<View>) {
    match keyspace {
        Some(keyspace) => (&keyspace.tables, &keyspace.types, &keyspace.views),
        None => (&NO_TABLES, &NO_TYPES, &NO_VIEWS),
    }
}

/// Names of `first` that `second` doesn't have.
fn missing<'a, T>(
    first: &'a ByName<T>,
    second: &'a ByName<T>,
) -> impl Iterator<Item = &'a Arc<str>> {
    first.keys().filter(|name| !second.contains_key(*name))
}

/// Names in both whose content differs.
fn altered<'a, T: PartialEq>(
    old: &'a ByName<T>,
    new: &'a ByName<T>,
) -> impl Iterator<Item = &'a Arc<str>> {
    let differs = |name: &Arc<str>, old: &Arc<T>| {
        new.get(name)
            .is_some_and(|new| !Arc::ptr_eq(old, new) && **old != **new)
    };
    old.iter()
        .filter(move |(name, old)| differs(name, old))
        .map(|(name, _)| name)
}
