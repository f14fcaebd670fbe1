//! What clients are told of a change, in Cassandra's order: what was dropped, then created, then altered.

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::message::{ChangeType, SchemaChange, SchemaTarget};
use helenus_core::types::UserType;

use crate::schema::{FunctionKey, Keyspace, Table, UserAggregate, UserFunction, View};

type ByName<T> = BTreeMap<Arc<str>, Arc<T>>;
type ByKey<T> = BTreeMap<FunctionKey, Arc<T>>;

static NO_TABLES: ByName<Table> = BTreeMap::new();
static NO_TYPES: ByName<UserType> = BTreeMap::new();
static NO_VIEWS: ByName<View> = BTreeMap::new();
static NO_FUNCTIONS: ByKey<UserFunction> = BTreeMap::new();
static NO_AGGREGATES: ByKey<UserAggregate> = BTreeMap::new();

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
    let function = |change, key: &FunctionKey| SchemaChange {
        change,
        target: SchemaTarget::Function {
            keyspace: keyspace(),
            name: Arc::clone(&key.0),
            arguments: key.1.clone(),
        },
    };
    let aggregate = |change, key: &FunctionKey| SchemaChange {
        change,
        target: SchemaTarget::Aggregate {
            keyspace: keyspace(),
            name: Arc::clone(&key.0),
            arguments: key.1.clone(),
        },
    };
    let (old_tables, old_types, old_views) = parts(old);
    let (new_tables, new_types, new_views) = parts(new);
    let (old_functions, old_aggregates) = callables(old);
    let (new_functions, new_aggregates) = callables(new);
    use ChangeType::{Created, Dropped, Updated};

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
    events.extend(missing(old_aggregates, new_aggregates).map(|key| aggregate(Dropped, key)));
    events.extend(missing(old_functions, new_functions).map(|key| function(Dropped, key)));
    events.extend(missing(old_views, new_views).map(|name| table(Dropped, name)));
    events.extend(missing(old_tables, new_tables).map(|name| table(Dropped, name)));
    events.extend(missing(old_types, new_types).map(|name| user_type(Dropped, name)));
    events.extend(missing(new_types, old_types).map(|name| user_type(Created, name)));
    events.extend(missing(new_tables, old_tables).map(|name| table(Created, name)));
    events.extend(missing(new_views, old_views).map(|name| table(Created, name)));
    events.extend(missing(new_functions, old_functions).map(|key| function(Created, key)));
    events.extend(missing(new_aggregates, old_aggregates).map(|key| aggregate(Created, key)));
    events.extend(altered(old_types, new_types).map(|name| user_type(Updated, name)));
    events.extend(altered(old_tables, new_tables).map(|name| table(Updated, name)));
    events.extend(altered(old_views, new_views).map(|name| table(Updated, name)));
    events.extend(altered(old_functions, new_functions).map(|key| function(Updated, key)));
    events.extend(altered(old_aggregates, new_aggregates).map(|key| aggregate(Updated, key)));
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

fn callables(keyspace: Option<&Keyspace>) -> (&ByKey<UserFunction>, &ByKey<UserAggregate>) {
    match keyspace {
        Some(keyspace) => (&keyspace.functions, &keyspace.aggregates),
        None => (&NO_FUNCTIONS, &NO_AGGREGATES),
    }
}

/// Keys of `first` that `second` doesn't have.
fn missing<'a, K: Ord, T>(
    first: &'a BTreeMap<K, Arc<T>>,
    second: &'a BTreeMap<K, Arc<T>>,
) -> impl Iterator<Item = &'a K> {
    first.keys().filter(|name| !second.contains_key(*name))
}

/// Keys in both whose content differs.
fn altered<'a, K: Ord, T: PartialEq>(
    old: &'a BTreeMap<K, Arc<T>>,
    new: &'a BTreeMap<K, Arc<T>>,
) -> impl Iterator<Item = &'a K> {
    let differs = |name: &K, old: &Arc<T>| {
        new.get(name)
            .is_some_and(|new| !Arc::ptr_eq(old, new) && **old != **new)
    };
    old.iter()
        .filter(move |(name, old)| differs(name, old))
        .map(|(name, _)| name)
}
