//! The statements that make a keyspace, a type, a table, a function or an aggregate, as Cassandra writes them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use helenus_core::types::{CqlType, UserType, quoted};

use crate::schema::{
    Column, DroppedColumn, Index, Keyspace, OptionMap, PropertyText, Table, UserAggregate,
    UserFunction, View,
};

/// Writes to a string, which can't fail.
macro_rules! put {
    ($out:expr, $($argument:tt)*) => {{
        let _ = write!($out, $($argument)*);
    }};
}

/// What is said of something that no statement can make, for it is virtual or native.
fn warning(kind: &str, name: &str, nature: &str, structure: &str) -> String {
    let lower = kind.to_ascii_lowercase();
    format!(
        "/*\nWarning: {kind} {name} is a {nature} {lower} and cannot be recreated with CQL.\n\
         Structure, for reference:\n{structure}\n*/"
    )
}

/// `CREATE KEYSPACE`
pub(super) fn keyspace(keyspace: &Keyspace) -> String {
    let name = quoted(&keyspace.name);
    if keyspace.is_virtual {
        return warning(
            "Keyspace",
            &name,
            "virtual",
            &format!("VIRTUAL KEYSPACE {name};"),
        );
    }
    let options = keyspace.replication.options();
    let class = options.get("class").map_or("", |class| class);
    let class = class.rsplit('.').next().unwrap_or_default();
    let mut out = format!(
        "CREATE KEYSPACE {name} WITH replication = {{'class': {}",
        PropertyText::Text(class)
    );
    for (option, value) in options.iter().filter(|(option, _)| &***option != "class") {
        let (option, value) = (PropertyText::Text(option), PropertyText::Text(value));
        put!(out, ", {option}: {value}");
    }
    put!(out, "}}  AND durable_writes = {};", keyspace.durable_writes);
    out
}

/// `CREATE TYPE`
pub(super) fn user_type(ty: &UserType) -> String {
    let fields = ty
        .fields
        .iter()
        .map(|(name, ty)| format!("\n    {} {ty}", quoted(name)));
    let fields = fields.collect::<Vec<_>>().join(",");
    format!("CREATE TYPE {ty} ({fields}\n);")
}

/// A function's or aggregate's name with the types of its arguments.
pub(super) fn signature(name: &str, types: &[CqlType]) -> String {
    let types: Vec<_> = types.iter().map(argument).collect();
    format!("{}({})", quoted(name), types.join(", "))
}

/// The type of an argument, which is frozen without saying so.
fn argument(ty: &CqlType) -> String {
    ty.strip_frozen().to_string()
}

/// `CREATE FUNCTION`; of a native one what it would be, as a comment.
pub(super) fn function(function: &UserFunction) -> String {
    if function.is_native() {
        let name = signature(&function.name, &function.argument_types);
        let structure = format!("{};", function_head(function));
        return warning(
            "Function",
            &format!("{}.{name}", quoted(&function.keyspace)),
            "native",
            &structure,
        );
    }
    format!("{}\n    AS $${}$$;", function_head(function), function.body)
}

/// All of a `CREATE FUNCTION` but its body.
fn function_head(function: &UserFunction) -> String {
    let arguments = function.argument_names.iter().zip(&function.argument_types);
    let arguments = arguments.map(|(name, ty)| format!("{} {}", quoted(name), argument(ty)));
    let on_null = match function.called_on_null {
        true => "CALLED",
        false => "RETURNS NULL",
    };
    format!(
        "CREATE FUNCTION {}.{}({})\n    {on_null} ON NULL INPUT\n    RETURNS {}\n    LANGUAGE {}",
        quoted(&function.keyspace),
        quoted(&function.name),
        arguments.collect::<Vec<_>>().join(", "),
        argument(&function.returns),
        function.language,
    )
}

/// `CREATE AGGREGATE`; of a native one what there is to tell, as a comment.
pub(super) fn aggregate(aggregate: &UserAggregate) -> String {
    if aggregate.is_native() {
        let name = signature(&aggregate.name, &aggregate.argument_types);
        let name = format!("{}.{name}", quoted(&aggregate.keyspace));
        let returns = argument(&aggregate.returns);
        let structure =
            format!("CREATE AGGREGATE {name}\n    RETURNS {returns}\n    LANGUAGE native;");
        return warning("Aggregate", &name, "native", &structure);
    }
    let mut out = format!(
        "CREATE AGGREGATE {}.{}\n    SFUNC {}\n    STYPE {}",
        quoted(&aggregate.keyspace),
        signature(&aggregate.name, &aggregate.argument_types),
        quoted(&aggregate.state_function),
        argument(&aggregate.state_type),
    );
    if let Some(last) = &aggregate.final_function {
        put!(out, "\n    FINALFUNC {}", quoted(last));
    }
    if let Some(initial) = &aggregate.initial_text {
        put!(out, "\n    INITCOND {initial}");
    }
    out.push(';');
    out
}

/// A keyspace's types by name, but each behind those that it is made of.
pub(super) fn types_in_order(keyspace: &Keyspace) -> Vec<&Arc<UserType>> {
    let mut order = TypeOrder {
        keyspace,
        seen: BTreeSet::new(),
        types: Vec::with_capacity(keyspace.types.len()),
    };
    for name in keyspace.types.keys() {
        order.add(name);
    }
    order.types
}

struct TypeOrder<'a> {
    keyspace: &'a Keyspace,
    seen: BTreeSet<&'a str>,
    types: Vec<&'a Arc<UserType>>,
}

impl<'a> TypeOrder<'a> {
    fn add(&mut self, name: &str) {
        let Some((name, ty)) = self.keyspace.types.get_key_value(name) else {
            return;
        };
        if self.seen.insert(name) {
            for (_, field) in &ty.fields {
                self.add_parts(field);
            }
            self.types.push(ty);
        }
    }

    fn add_parts(&mut self, ty: &CqlType) {
        match ty {
            CqlType::Udt(ty) => self.add(&ty.name),
            CqlType::List(inner)
            | CqlType::Set(inner)
            | CqlType::Frozen(inner)
            | CqlType::Vector(inner, _) => self.add_parts(inner),
            CqlType::Map(entry) => {
                self.add_parts(&entry.0);
                self.add_parts(&entry.1);
            }
            CqlType::Tuple(elements) => elements.iter().for_each(|inner| self.add_parts(inner)),
            _ => {}
        }
    }
}

/// `CREATE TABLE`; with internals its id and the history of dropped columns.
pub(super) fn table(table: &Table, is_virtual: bool, internals: bool) -> String {
    let name = format!("{}.{}", quoted(&table.keyspace), quoted(&table.name));
    let dropped: &[DroppedColumn] = if internals { &table.dropped } else { &[] };
    let kind = if is_virtual { "VIRTUAL" } else { "CREATE" };
    let mut out = format!("{kind} TABLE {name} (");
    columns(&mut out, table, dropped);
    out.push_str("\n) WITH ");
    if internals {
        put!(out, "ID = {}\n    AND ", table.id);
    }
    options(&mut out, table, |name| !is_virtual || name == "comment");
    for dropped in dropped {
        history(&mut out, table, &name, dropped);
    }
    match is_virtual {
        true => warning("Table", &name, "virtual", &out),
        false => out,
    }
}

/// `CREATE INDEX`
pub(super) fn index(table: &Table, index: &Index) -> String {
    let custom = if index.class().is_some() {
        "CUSTOM "
    } else {
        ""
    };
    let mut out = format!(
        "CREATE {custom}INDEX {} ON {}.{} ({})",
        quoted(&index.name),
        quoted(&table.keyspace),
        quoted(&table.name),
        index.target()
    );
    if let Some(class) = index.class() {
        put!(out, " USING {}", PropertyText::Text(class));
    }
    let own = |name: &str| name != "target" && name != "class_name";
    let options: OptionMap = index
        .options
        .iter()
        .filter(|(name, _)| own(name))
        .map(|(name, value)| (Arc::clone(name), Arc::clone(value)))
        .collect();
    if !options.is_empty() {
        put!(out, " WITH OPTIONS = {}", PropertyText::Map(&options));
    }
    out.push(';');
    out
}

/// `CREATE MATERIALIZED VIEW`
pub(super) fn view(view: &View, internals: bool) -> String {
    let table = &view.table;
    let columns = match view.includes_all {
        true => "*".to_owned(),
        false => {
            let names = table.columns.iter().map(|column| quoted(&column.name));
            names.collect::<Vec<_>>().join(", ")
        }
    };
    let keyspace = quoted(&table.keyspace);
    let mut out = format!(
        "CREATE MATERIALIZED VIEW {keyspace}.{} AS\n    SELECT {columns}\n    FROM {keyspace}.{}\n    WHERE {}\n    {}\n WITH ",
        quoted(&table.name),
        quoted(&view.base),
        view.where_clause(),
        primary_key(table)
    );
    if internals {
        put!(out, "ID = {}\n    AND ", table.id);
    }
    options(&mut out, table, |name| name != "default_time_to_live");
    out
}

/// The clustering order and the properties that are wanted, behind `WITH`.
fn options(out: &mut String, table: &Table, is_wanted: impl Fn(&str) -> bool) {
    if table.clustering_len > 0 {
        let order = |column: &Column| {
            let direction = if column.descending { "DESC" } else { "ASC" };
            format!("{} {direction}", quoted(&column.name))
        };
        let orders = clustering(table).iter().map(order).collect::<Vec<_>>();
        put!(out, "CLUSTERING ORDER BY ({})\n    AND ", orders.join(", "));
    }
    let properties = table.properties();
    let properties = properties
        .iter()
        .filter(|(name, _)| is_wanted(name))
        .map(|(name, value)| format!("{name} = {value}"));
    put!(
        out,
        "{};",
        properties.collect::<Vec<_>>().join("\n    AND ")
    );
}

/// The columns, each on its line, and the primary key.
fn columns(out: &mut String, table: &Table, dropped: &[DroppedColumn]) {
    let is_dropped = |name: &str| dropped.iter().any(|dropped| &*dropped.name == name);
    let has_simple_key = table.partition_key_len == 1 && table.clustering_len == 0;
    let keys = table.partition_key_len + table.clustering_len;
    let (primary, rest) = table.columns.split_at_checked(keys).unwrap_or_default();
    let (statics, regulars) = rest.split_at_checked(table.static_len).unwrap_or_default();
    let mut lines = Vec::with_capacity(table.columns.len() + dropped.len() + 1);
    for column in primary
        .iter()
        .chain(&simple_first(statics))
        .chain(&simple_first(regulars))
    {
        if is_dropped(&column.name) {
            continue;
        }
        let mut line = definition(&column.name, &column.ty, column.is_static());
        if has_simple_key && lines.is_empty() {
            line.push_str(" PRIMARY KEY");
        }
        lines.push(line);
    }
    for dropped in dropped {
        lines.push(definition(&dropped.name, &dropped.ty, dropped.is_static));
    }
    if !has_simple_key {
        lines.push(primary_key(table));
    }
    put!(out, "\n    {}", lines.join(",\n    "));
}

fn definition(name: &str, ty: &CqlType, is_static: bool) -> String {
    let suffix = if is_static { " static" } else { "" };
    format!("{} {ty}{suffix}", quoted(name))
}

/// The columns of one cell before those of several, each by name.
fn simple_first(columns: &[Column]) -> Vec<Column> {
    let mut columns = columns.to_vec();
    columns.sort_by_key(Column::is_complex);
    columns
}

fn clustering(table: &Table) -> &[Column] {
    let rest = table
        .columns
        .get(table.partition_key_len..)
        .unwrap_or_default();
    rest.get(..table.clustering_len).unwrap_or_default()
}

fn primary_key(table: &Table) -> String {
    let names = |columns: &[Column]| {
        let names = columns.iter().map(|column| quoted(&column.name));
        names.collect::<Vec<_>>().join(", ")
    };
    let partition = table
        .columns
        .get(..table.partition_key_len)
        .unwrap_or_default();
    let mut key = names(partition);
    if table.partition_key_len > 1 {
        key = format!("({key})");
    }
    if table.clustering_len > 0 {
        put!(key, ", {}", names(clustering(table)));
    }
    format!("PRIMARY KEY ({key})")
}

/// The statement that drops a column, and that which adds it again if it is there.
fn history(out: &mut String, table: &Table, name: &str, dropped: &DroppedColumn) {
    put!(
        out,
        "\nALTER TABLE {name} DROP {} USING TIMESTAMP {};",
        quoted(&dropped.name),
        dropped.dropped_at
    );
    if let Some(column) = table.column(&dropped.name) {
        let definition = definition(&column.name, &column.ty, column.is_static());
        put!(out, "\nALTER TABLE {name} ADD {definition};");
    }
}
