//! `CREATE INDEX` and `DROP INDEX`. Answers to Cassandra's `CreateIndexStatement`, and to `validateOptions` of its
//! storage-attached indexes.

use std::collections::BTreeSet;
use std::sync::Arc;

use helenus_core::message::{ChangeType, ErrorResponse};
use helenus_core::types::{CqlType, quoted};

use super::{Alteration, Outcome, access};
use crate::cql::ast::{CreateIndex, IndexTarget, TargetKind};
use crate::schema::options::PropertyReader;
use crate::schema::types::contains;
use crate::schema::{
    Column, ColumnKind, Index, IndexKind, Keyspace, OptionMap, Schema, Similarity, Table,
};

/// What `USING` says for the kind that needs no `CUSTOM`.
const COMPOSITES: &str = "legacy_local_table";
/// The longest name of a column that a custom index takes.
const NAME_LENGTH: usize = 48;

/// What a client is told that makes an index on a vector.
const VECTOR_WARNING: &str = "SAI ANN indexes on vector columns are experimental and are not recommended for production use.\n\
They don't yet support SELECT queries with:\n * Consistency level higher than ONE/LOCAL_ONE.\n * Paging.\n \
* No LIMIT clauses.\n * PER PARTITION LIMIT clauses.\n * GROUP BY clauses.\n * Aggregation functions.\n \
* Filters on columns without a SAI index.";

impl Schema {
    pub(super) fn create_index(
        &self,
        keyspace: &str,
        statement: &CreateIndex,
        warnings: &mut Vec<String>,
    ) -> Outcome {
        let class = class(statement);
        let mut options = own_options(statement, class)?;
        let keyspace = self.existing(keyspace)?;
        let table_name = &statement.table.name;
        let Some(table) = keyspace.table_or_view(table_name) else {
            return Err(invalid(format!("Table '{table_name}' doesn't exist")));
        };
        let taken = |name: &str| keyspace.index(name).is_some();
        if let Some(name) = statement.name.as_deref().filter(|name| taken(name)) {
            return match statement.if_not_exists {
                true => Ok(None),
                false => Err(invalid(format!("Index '{name}' already exists"))),
            };
        }
        if table.is_counter {
            return Err(invalid(
                "Secondary indexes on counter tables aren't supported",
            ));
        }
        if table.is_view {
            return Err(invalid(
                "Secondary indexes on materialized views aren't supported",
            ));
        }
        let target = target(table, statement, class.is_some())?;
        let name = match &statement.name {
            Some(name) => Arc::clone(name),
            None => generated(table, target.as_ref(), &taken),
        };
        let Some((column, part)) = target else {
            return Err(no_single_target(table, statement, class));
        };
        options.insert("target".into(), target_text(column, part).into());
        if let Some(class) = class {
            options.insert("class_name".into(), class.into());
        }
        let mut index = Index {
            name,
            column: column.id,
            part,
            kind: IndexKind::Composites,
            options,
        };
        if let Some(other) = table
            .indexes
            .iter()
            .find(|other| other.is_duplicate(&index))
        {
            return match statement.if_not_exists {
                true => Ok(None),
                false => Err(invalid(format!(
                    "Index {} is a duplicate of existing index {}",
                    index.name, other.name
                ))),
            };
        }
        if !access::is_word(&index.name) {
            return Err(ErrorResponse::config(format!(
                "Illegal index name {}",
                index.name
            )));
        }
        if let Some(class) = class {
            index.kind = storage_attached(table, column, &index, class, warnings)?;
        }
        let mut table = Table::clone(table);
        let place = table
            .indexes
            .partition_point(|other| other.name < index.name);
        table.indexes.insert(place, index);
        let mut keyspace = Keyspace::clone(keyspace);
        keyspace
            .tables
            .insert(Arc::clone(table_name), Arc::new(table));
        Ok(Some(Alteration::table(
            keyspace,
            ChangeType::Updated,
            table_name,
        )))
    }

    pub(super) fn drop_index(&self, keyspace: &str, name: &str, if_exists: bool) -> Outcome {
        let found = self
            .keyspaces
            .get(keyspace)
            .and_then(|keyspace| Some((keyspace, keyspace.index(name)?.0)));
        let Some((keyspace, table)) = found else {
            return match if_exists {
                true => Ok(None),
                // The last quote is Cassandra's.
                false => Err(invalid(format!("Index '{keyspace}.{name}' doesn't exist'"))),
            };
        };
        let mut changed = Table::clone(table);
        changed.indexes.retain(|index| &*index.name != name);
        let mut keyspace = Keyspace::clone(keyspace);
        keyspace
            .tables
            .insert(Arc::clone(&table.name), Arc::new(changed));
        Ok(Some(Alteration::table(
            keyspace,
            ChangeType::Updated,
            &table.name,
        )))
    }
}

/// The class of a custom index; `USING` makes one even without the word `CUSTOM`.
fn class(statement: &CreateIndex) -> Option<&str> {
    match statement.class.as_deref() {
        Some(COMPOSITES) if !statement.is_custom => None,
        None if statement.is_custom => Some(COMPOSITES),
        class => class,
    }
}

/// What `WITH OPTIONS` says.
fn own_options(statement: &CreateIndex, class: Option<&str>) -> Result<OptionMap, ErrorResponse> {
    let reader = PropertyReader::new(&statement.properties, &["options"])?;
    if class.is_none() {
        return match reader.contains("options") {
            true => Err(invalid("Cannot specify options for a non-CUSTOM index")),
            false => Ok(OptionMap::new()),
        };
    }
    let options = reader.map("options")?.unwrap_or_default();
    match ["class_name", "target"]
        .iter()
        .find(|name| options.contains_key(**name))
    {
        Some(name) => Err(invalid(format!("Cannot specify {name} as a CUSTOM option"))),
        None => Ok(options),
    }
}

type Target<'t> = (&'t Column, TargetKind);

/// The one column an index is on; `None` if the statement names none or several.
fn target<'t>(
    table: &'t Table,
    statement: &CreateIndex,
    is_custom: bool,
) -> Result<Option<Target<'t>>, ErrorResponse> {
    let mut targets = Vec::with_capacity(statement.targets.len());
    for IndexTarget { kind, column: name } in &statement.targets {
        let Some(column) = table.column(name) else {
            return Err(invalid(format!(
                "Undefined column name {} in table {}.{}",
                quoted(name),
                quoted(&table.keyspace),
                quoted(&table.name)
            )));
        };
        let is_collection = matches!(
            column.ty.strip_frozen(),
            CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_)
        );
        let kind = match kind {
            TargetKind::Simple if is_collection => TargetKind::Values,
            kind => *kind,
        };
        targets.push((column, kind));
    }
    if !is_custom {
        match targets.len() {
            0 => {
                return Err(invalid(
                    "Only CUSTOM indexes can be created without specifying a target column",
                ));
            }
            1 => {}
            _ => return Err(invalid("Only CUSTOM indexes support multiple columns")),
        }
    }
    let mut names = BTreeSet::new();
    if let Some((column, _)) = targets
        .iter()
        .find(|(column, _)| !names.insert(&column.name))
    {
        return Err(invalid(format!(
            "Duplicate column '{}' in index target list",
            column.name
        )));
    }
    for (column, kind) in &targets {
        check_target(table, column, *kind, is_custom)?;
    }
    Ok(match targets.as_slice() {
        [only] => Some(*only),
        _ => None,
    })
}

fn check_target(
    table: &Table,
    column: &Column,
    kind: TargetKind,
    is_custom: bool,
) -> Result<(), ErrorResponse> {
    let name = &column.name;
    if is_custom && (name.len() > NAME_LENGTH || !access::is_word(name)) {
        return Err(invalid(format!(
            "Column '{name}' is longer than the permissible name length of {NAME_LENGTH} characters or contains \
             non-alphanumeric-underscore characters"
        )));
    }
    if contains(&column.ty, &|part| *part == CqlType::Duration) {
        let what = match column.ty.strip_frozen() {
            CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_) => {
                "collections containing durations"
            }
            CqlType::Tuple(_) => "tuples containing durations",
            CqlType::Udt(_) => "UDTs containing durations",
            _ => "duration columns",
        };
        return Err(invalid(format!(
            "Secondary indexes are not supported on {what}"
        )));
    }
    if column.kind == ColumnKind::PartitionKey && table.partition_key_len == 1 {
        return Err(invalid(format!(
            "Cannot create secondary index on the only partition key column {}",
            quoted(name)
        )));
    }
    let is_frozen = matches!(column.ty, CqlType::Frozen(_));
    let is_collection = matches!(
        column.ty.strip_frozen(),
        CqlType::List(_) | CqlType::Set(_) | CqlType::Map(_)
    );
    let word = kind.word().unwrap_or_default();
    if is_frozen && is_collection && kind != TargetKind::Full {
        let name = quoted(name);
        return Err(invalid(format!(
            "Cannot create {word}() index on frozen column {name}. Frozen collections are immutable and must be fully \
             indexed by using the 'full({name})' modifier"
        )));
    }
    if kind == TargetKind::Full && !(is_frozen && is_collection) {
        return Err(invalid(
            "full() indexes can only be created on frozen collections",
        ));
    }
    if !is_collection && kind != TargetKind::Simple {
        return Err(invalid(format!(
            "Cannot create {word}() index on {}. Non-collection columns only support simple indexes",
            quoted(name)
        )));
    }
    if matches!(kind, TargetKind::Keys | TargetKind::Entries)
        && !matches!(column.ty, CqlType::Map(_))
    {
        return Err(invalid(format!(
            "Cannot create index on {word} of column {} with non-map type",
            quoted(name)
        )));
    }
    if matches!(column.ty, CqlType::Udt(_)) {
        return Err(invalid(format!(
            "Cannot create index on non-frozen UDT column {}",
            quoted(name)
        )));
    }
    Ok(())
}

/// `values(column)`
fn target_text(column: &Column, part: TargetKind) -> String {
    let name = quoted(&column.name);
    match part.word() {
        Some(word) => format!("{word}({name})"),
        None => name.into_owned(),
    }
}

/// A name that no index of the keyspace has: made of the table's and the column's.
fn generated(
    table: &Table,
    target: Option<&Target<'_>>,
    taken: &impl Fn(&str) -> bool,
) -> Arc<str> {
    let mut base = table.name.to_string();
    if let Some((column, _)) = target {
        base.push('_');
        base.extend(
            column
                .name
                .chars()
                .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '_'),
        );
    }
    base.push_str("_idx");
    let mut name = base.clone();
    let mut number = 0;
    while taken(&name) {
        number += 1;
        name = format!("{base}_{number}");
    }
    name.into()
}

/// The error of a custom index on no or several columns, which no class here takes.
fn no_single_target(table: &Table, statement: &CreateIndex, class: Option<&str>) -> ErrorResponse {
    if let Some(class) = class.filter(|class| !is_storage_attached(class)) {
        return unknown_class(class);
    }
    let names: Vec<_> = statement
        .targets
        .iter()
        .filter_map(|target| table.column(&target.column))
        .map(|column| quoted(&column.name))
        .collect();
    invalid(match names.is_empty() {
        true => "Failed to retrieve target column for: ".to_owned(),
        false => format!(
            "A storage-attached index cannot be created over multiple columns: {}",
            names.join(", ")
        ),
    })
}

fn is_storage_attached(class: &str) -> bool {
    class.eq_ignore_ascii_case("sai")
        || class.eq_ignore_ascii_case("storageattachedindex")
        || class == "org.apache.cassandra.index.sai.StorageAttachedIndex"
}

fn unknown_class(class: &str) -> ErrorResponse {
    if class == "org.apache.cassandra.index.sasi.SASIIndex" {
        return invalid("SASI indexes are disabled. Enable in cassandra.yaml to use.");
    }
    ErrorResponse::config(format!("Unable to find custom indexer class '{class}'"))
}

/// What a custom index is, its options held to the rules of its class.
fn storage_attached(
    table: &Table,
    column: &Column,
    index: &Index,
    class: &str,
    warnings: &mut Vec<String>,
) -> Result<IndexKind, ErrorResponse> {
    const ANALYZERS: [&str; 3] = ["case_sensitive", "normalize", "ascii"];
    if !is_storage_attached(class) {
        return Err(unknown_class(class));
    }
    let known = |name: &str| {
        ["class_name", "target", "similarity_function"].contains(&name) || ANALYZERS.contains(&name)
    };
    let unknown: Vec<_> = index
        .options
        .keys()
        .filter(|name| !known(name))
        .map(|name| &**name)
        .collect();
    if !unknown.is_empty() {
        return Err(ErrorResponse::config(format!(
            "Properties specified [{}] are not understood by StorageAttachedIndex",
            unknown.join(", ")
        )));
    }
    let is_taken = table.indexes.iter().any(|other| {
        matches!(other.kind, IndexKind::StorageAttached(_))
            && (other.column, other.part) == (column.id, index.part)
    });
    if is_taken {
        return Err(invalid(format!(
            "Cannot create more than one storage-attached index on the same column: {}",
            quoted(&column.name)
        )));
    }
    check_analyzer(&column.ty, index, &ANALYZERS)?;
    let similarity = similarity(&column.ty, index)?;
    check_type(&column.ty, index.part, similarity)?;
    if matches!(column.ty, CqlType::Vector(..)) {
        warnings.push(VECTOR_WARNING.to_owned());
    }
    Ok(IndexKind::StorageAttached(similarity))
}

fn check_analyzer(ty: &CqlType, index: &Index, analyzers: &[&str]) -> Result<(), ErrorResponse> {
    let written = analyzers
        .iter()
        .filter_map(|name| Some((*name, index.options.get(*name)?)));
    for (name, value) in written {
        if !matches!(ty, CqlType::Text | CqlType::Ascii) {
            return Err(invalid(format!("CQL type {ty} cannot be analyzed.")));
        }
        let is_on = match value.to_ascii_lowercase().as_str() {
            "true" => true,
            "false" => false,
            _ => {
                return Err(invalid(format!(
                    "Illegal value for boolean option '{name}': {value}"
                )));
            }
        };
        if is_on != (name == "case_sensitive") {
            return Err(invalid(format!(
                "The option '{name}': '{value}' of an index is not supported by this server"
            )));
        }
    }
    Ok(())
}

fn similarity(ty: &CqlType, index: &Index) -> Result<Similarity, ErrorResponse> {
    let Some(written) = index.options.get("similarity_function") else {
        return Ok(Similarity::default());
    };
    if !matches!(ty, CqlType::Vector(..)) {
        return Err(invalid(format!("CQL type {ty} cannot have vector options")));
    }
    Similarity::named(written).ok_or_else(|| {
        invalid(format!(
            "Similarity function {} was not recognized for index {}. Valid values are: EUCLIDEAN, DOT_PRODUCT, COSINE",
            written.to_ascii_uppercase(),
            index.name
        ))
    })
}

fn check_type(ty: &CqlType, part: TargetKind, similarity: Similarity) -> Result<(), ErrorResponse> {
    let check = |ty: &CqlType| match ty {
        CqlType::Blob | CqlType::Counter | CqlType::Duration | CqlType::Custom(_) => {
            Err(invalid(format!("Unsupported type: {ty}")))
        }
        _ => Ok(()),
    };
    match (ty, part) {
        (CqlType::Vector(element, _), _) if **element != CqlType::Float => Err(invalid(
            "SAI ANN indexes are only allowed on vector columns with float elements",
        )),
        (CqlType::Vector(_, 1), _) if similarity == Similarity::Cosine => Err(invalid(
            "Cosine similarity is not supported for single-dimension vectors",
        )),
        (CqlType::List(element) | CqlType::Set(element), _) => check(element),
        (CqlType::Map(types), TargetKind::Keys) => check(&types.0),
        (CqlType::Map(types), TargetKind::Values) => check(&types.1),
        (CqlType::Map(types), _) => check(&types.0).and_then(|()| check(&types.1)),
        (ty, _) => check(ty),
    }
}

fn invalid(message: impl Into<std::borrow::Cow<'static, str>>) -> ErrorResponse {
    ErrorResponse::invalid(message)
}
