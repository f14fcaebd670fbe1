//! The schema version: a digest of everything a client may see of the schema.

use std::collections::BTreeMap;
use std::sync::Arc;

use helenus_core::types::UserType;
use md5::{Digest, Md5};
use uuid::Uuid;

use super::{
    Keyspace, OptionMap, Table, UserAggregate, UserFunction, View, is_local_system,
    is_replicated_system,
};

/// The sum of the digests of all parts of a schema: keyspaces by themselves, types, tables, functions. As a sum it follows a change
/// by the parts that changed, however many there are, and comes out the same by whatever way the content came about.
/// Virtual keyspaces and the tables of system keyspaces are the same for all of one release and don't count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Content(u128);

impl Content {
    pub(super) fn of(keyspaces: &BTreeMap<Arc<str>, Arc<Keyspace>>) -> Self {
        let add = |content: Self, new: &Arc<Keyspace>| content.with(None, Some(new));
        keyspaces.values().fold(Self::default(), add)
    }

    /// The content with one keyspace in the place of another.
    pub(super) fn with(self, old: Option<&Keyspace>, new: Option<&Keyspace>) -> Self {
        let (gone, come) = (parts(old, new), parts(new, old));
        Self(self.0.wrapping_sub(gone).wrapping_add(come))
    }

    /// The version that stands for this content: a UUID of version 3.
    pub(super) fn version(self) -> Uuid {
        uuid::Builder::from_md5_bytes(self.0.to_be_bytes()).into_uuid()
    }
}

/// The sum over the parts of one state of a keyspace that the other doesn't share.
fn parts(keyspace: Option<&Keyspace>, other: Option<&Keyspace>) -> u128 {
    let Some(keyspace) = keyspace.filter(|keyspace| !keyspace.is_virtual) else {
        return 0;
    };
    let own = Part::new("keyspace", keyspace).keyspace(keyspace);
    if is_local_system(&keyspace.name) || is_replicated_system(&keyspace.name) {
        return own;
    }
    let types = unshared(&keyspace.types, other.map(|other| &other.types));
    let types = types.map(|ty| Part::new("type", keyspace).user_type(ty));
    let tables = unshared(&keyspace.tables, other.map(|other| &other.tables));
    let tables = tables.map(|table| Part::new("table", keyspace).table(table));
    let views = unshared(&keyspace.views, other.map(|other| &other.views));
    let views = views.map(|view| Part::new("view", keyspace).view(view));
    let functions = unshared(&keyspace.functions, other.map(|other| &other.functions));
    let functions = functions.map(|function| Part::new("function", keyspace).function(function));
    let aggregates = unshared(&keyspace.aggregates, other.map(|other| &other.aggregates));
    let aggregates =
        aggregates.map(|aggregate| Part::new("aggregate", keyspace).aggregate(aggregate));
    let parts = types
        .chain(tables)
        .chain(views)
        .chain(functions)
        .chain(aggregates);
    parts.fold(own, u128::wrapping_add)
}

fn unshared<'a, K: Ord, T>(
    these: &'a BTreeMap<K, Arc<T>>,
    others: Option<&'a BTreeMap<K, Arc<T>>>,
) -> impl Iterator<Item = &'a Arc<T>> {
    let shared = move |name: &K, this: &Arc<T>| {
        others
            .and_then(|others| others.get(name))
            .is_some_and(|other| Arc::ptr_eq(this, other))
    };
    these
        .iter()
        .filter(move |(name, this)| !shared(name, this))
        .map(|(_, this)| this)
}

/// The digest of one part. Every text goes in behind its length, every sequence behind its count, so that different
/// content never runs together into the same bytes.
struct Part(Md5);

impl Part {
    fn new(kind: &str, keyspace: &Keyspace) -> Self {
        let mut part = Self(Md5::new());
        part.text(kind);
        part.text(&keyspace.name);
        part
    }

    fn finish(self) -> u128 {
        u128::from_be_bytes(self.0.finalize().into())
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.update(text);
    }

    fn map(&mut self, map: &OptionMap) {
        self.number(map.len() as u64);
        for (key, value) in map {
            self.text(key);
            self.text(value);
        }
    }

    fn keyspace(mut self, keyspace: &Keyspace) -> u128 {
        self.map(keyspace.replication.options());
        self.number(keyspace.durable_writes.into());
        self.finish()
    }

    fn user_type(mut self, ty: &UserType) -> u128 {
        self.text(&ty.name);
        self.number(ty.fields.len() as u64);
        for (name, field) in &ty.fields {
            self.text(name);
            self.text(&field.to_string());
        }
        self.finish()
    }

    fn view(mut self, view: &View) -> u128 {
        self.text(&view.base);
        self.number(view.includes_all.into());
        self.text(&view.where_clause());
        self.table(&view.table)
    }

    fn function(mut self, function: &UserFunction) -> u128 {
        self.text(&function.name);
        self.number(function.argument_types.len() as u64);
        for (name, ty) in function.argument_names.iter().zip(&function.argument_types) {
            self.text(name);
            self.text(&ty.to_string());
        }
        self.text(&function.returns.to_string());
        self.number(function.called_on_null.into());
        self.text(&function.language);
        self.text(&function.body);
        self.finish()
    }

    fn aggregate(mut self, aggregate: &UserAggregate) -> u128 {
        self.text(&aggregate.name);
        self.number(aggregate.argument_types.len() as u64);
        for ty in &aggregate.argument_types {
            self.text(&ty.to_string());
        }
        self.text(&aggregate.state_function);
        self.text(&aggregate.state_type.to_string());
        for part in [&aggregate.final_function, &aggregate.initial_text] {
            self.number(part.is_some().into());
            self.text(part.as_deref().unwrap_or_default());
        }
        self.finish()
    }

    fn table(mut self, table: &Table) -> u128 {
        self.text(&table.name);
        self.0.update(table.id.as_bytes());
        self.number(table.columns.len() as u64);
        for column in &table.columns {
            self.text(&column.name);
            self.text(&column.ty.to_string());
            self.text(column.kind.as_str());
            self.number(column.descending.into());
        }
        for (_, value) in table.properties() {
            self.text(&value.to_string());
        }
        self.number(table.dropped.len() as u64);
        for column in &table.dropped {
            self.text(&column.name);
            self.text(&column.ty.to_string());
            self.number(column.dropped_at as u64);
            self.number(column.is_static.into());
        }
        self.number(table.indexes.len() as u64);
        for index in &table.indexes {
            self.text(&index.name);
            self.map(&index.options);
        }
        self.finish()
    }
}
