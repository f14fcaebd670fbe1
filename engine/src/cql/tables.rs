//! `CREATE TABLE` and `ALTER TABLE`.

use nom::Parser;
use nom::multi::separated_list1;
use nom::sequence::delimited;

use super::ast::{AlterTable, ColumnDefinition, CreateTable, Ddl, Name, Properties};
use super::ddl::{IF_EXISTS, IF_NOT_EXISTS, elements, renames};
use super::error::Fault;
use super::input::{Input, Parsed, clause, flag, key, keys, separator, token};
use super::keywords::Keyword;
use super::names::{column, identifier, table};
use super::properties::{Collected, with_properties};
use super::terms::terms;
use super::token::Kind;
use super::types::comparator_type;

/// `CREATE TABLE`, from behind those words.
pub(super) fn create_table(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, table) = table(input)?;
    let mut create = CreateTable {
        table,
        if_not_exists,
        columns: Vec::new(),
        primary_key: None,
        clustering_order: Vec::new(),
        compact_storage: false,
        properties: Properties::new(),
    };
    let (input, _) = token(Kind::OpenParen)(input)?;
    let mut input = elements(input, |input, first| match input.kind() {
        Kind::Key(Keyword::Primary) => {
            let (rest, key) = primary_key(input)?;
            if create.primary_key.replace(key).is_some() {
                return Err(multiple_keys(&create));
            }
            Ok((rest, ()))
        }
        kind if first || kind.is_identifier() => {
            let (input, column) = table_column(input)?;
            create.columns.push(column);
            Ok((input, ()))
        }
        _ => Ok((input, ())),
    })?;
    let mut properties = Collected::default();
    if input.at(Keyword::With) {
        loop {
            input = table_property(input.advance(), &mut create, &mut properties)?.0;
            if !input.at(Keyword::And) {
                break;
            }
        }
    }
    create.properties = properties.entries;
    Ok((input, Ddl::CreateTable(create)))
}

fn multiple_keys(create: &CreateTable) -> nom::Err<Fault> {
    let keyspace = create.table.keyspace.as_deref();
    let dotted = keyspace.map_or_else(String::new, |keyspace| format!("{keyspace}."));
    nom::Err::Failure(Fault::Invalid(format!(
        "Multiple PRIMARY KEY specified for table '{dotted}{}' (exactly one required)",
        create.table.name
    )))
}

/// A column with its type, `STATIC`, mask and `PRIMARY KEY`.
fn table_column(input: Input<'_>) -> Parsed<'_, ColumnDefinition> {
    let (input, mut column) = added_column(input)?;
    let (input, is_primary_key) = flag(&[Keyword::Primary, Keyword::Key])(input)?;
    column.is_primary_key = is_primary_key;
    Ok((input, column))
}

/// A column as `ALTER TABLE … ADD` takes it.
fn added_column(input: Input<'_>) -> Parsed<'_, ColumnDefinition> {
    let (input, name) = identifier(input)?;
    let (input, ty) = comparator_type(input)?;
    let (input, is_static) = flag(&[Keyword::Static])(input)?;
    let (input, _) = mask(input)?;
    let column = ColumnDefinition {
        name,
        ty,
        is_static,
        is_primary_key: false,
    };
    Ok((input, column))
}

/// `MASKED WITH …`: parsed, refused as a whole.
fn mask(input: Input<'_>) -> Parsed<'_, bool> {
    let (mut input, is_masked) = flag(&[Keyword::Masked, Keyword::With])(input)?;
    if !is_masked {
        return Ok((input, false));
    }
    input.unsupported = Some("dynamic data masking");
    if input.at(Keyword::Default) {
        return Ok((input.advance(), true));
    }
    let (input, _) = super::names::function(input)?;
    let (input, _) = token(Kind::OpenParen)(input)?;
    if input.kind() == Kind::CloseParen {
        return Ok((input.advance(), true));
    }
    let (input, _) = terms(input)?;
    let (input, _) = token(Kind::CloseParen)(input)?;
    Ok((input, true))
}

/// `PRIMARY KEY ((a, b), c)`: partition key and clustering columns.
pub(super) fn primary_key(input: Input<'_>) -> Parsed<'_, (Vec<Name>, Vec<Name>)> {
    let (input, ()) = keys(&[Keyword::Primary, Keyword::Key])(input)?;
    let (input, _) = token(Kind::OpenParen)(input)?;
    let (input, partition) = match input.kind() {
        Kind::OpenParen => names_in_parentheses(input)?,
        _ => {
            let (input, name) = identifier(input)?;
            (input, vec![name])
        }
    };
    let mut clustering = Vec::new();
    let mut input = input;
    while input.kind() == Kind::Comma {
        let (rest, name) = identifier(input.advance())?;
        clustering.push(name);
        input = rest;
    }
    let (input, _) = token(Kind::CloseParen)(input)?;
    Ok((input, (partition, clustering)))
}

fn names_in_parentheses(input: Input<'_>) -> Parsed<'_, Vec<Name>> {
    let names = separated_list1(separator(Kind::Comma), identifier);
    delimited(token(Kind::OpenParen), names, token(Kind::CloseParen)).parse(input)
}

fn table_property<'a>(
    input: Input<'a>,
    create: &mut CreateTable,
    properties: &mut Collected,
) -> Parsed<'a, ()> {
    if !matches!(
        input.kind(),
        Kind::Key(Keyword::Compact | Keyword::Clustering)
    ) {
        return properties.property(input);
    }
    match (input.kind(), input.peek(1)) {
        (Kind::Key(Keyword::Compact), Kind::Key(Keyword::Storage)) => {
            create.compact_storage = true;
            Ok((input.advance().advance(), ()))
        }
        (Kind::Key(Keyword::Clustering), Kind::Key(Keyword::Order)) => {
            let (input, order) = clustering_order(input)?;
            create.clustering_order.extend(order);
            Ok((input, ()))
        }
        (_, Kind::Equal) => properties.property(input),
        _ => input.no_viable(1),
    }
}

/// `CLUSTERING ORDER BY (a ASC, b DESC)`
pub(super) fn clustering_order(input: Input<'_>) -> Parsed<'_, Vec<(Name, bool)>> {
    let (input, ()) = keys(&[Keyword::Clustering, Keyword::Order, Keyword::By])(input)?;
    let order = |input| {
        let (input, name) = identifier(input)?;
        match input.kind() {
            Kind::Key(Keyword::Asc) => Ok((input.advance(), (name, false))),
            Kind::Key(Keyword::Desc) => Ok((input.advance(), (name, true))),
            _ => input.no_viable(0),
        }
    };
    let orders = separated_list1(separator(Kind::Comma), order);
    delimited(token(Kind::OpenParen), orders, token(Kind::CloseParen)).parse(input)
}

/// `ALTER TABLE`, from behind those words.
pub(super) fn alter_table(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, table) = table(input)?;
    let (input, change) = match input.kind() {
        Kind::Key(Keyword::Add) => add_columns(input.advance())?,
        Kind::Key(Keyword::Drop) => drop_columns(input)?,
        Kind::Key(Keyword::Rename) => {
            let (input, if_exists) = flag(IF_EXISTS)(input.advance())?;
            let (input, columns) = renames(input)?;
            (input, AlterTable::Rename { if_exists, columns })
        }
        Kind::Key(Keyword::Alter) => alter_column(input.advance())?,
        Kind::Key(Keyword::With) => {
            let (input, properties) = with_properties(input)?;
            (input, AlterTable::Properties(properties))
        }
        _ => return input.no_viable(0),
    };
    let ddl = Ddl::AlterTable {
        table,
        if_exists,
        change,
    };
    Ok((input, ddl))
}

fn add_columns(input: Input<'_>) -> Parsed<'_, AlterTable> {
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, columns) = match input.kind() {
        Kind::OpenParen => {
            let columns = separated_list1(separator(Kind::Comma), added_column);
            delimited(token(Kind::OpenParen), columns, token(Kind::CloseParen)).parse(input)?
        }
        _ => {
            let (input, column) = added_column(input)?;
            (input, vec![column])
        }
    };
    let change = AlterTable::Add {
        if_not_exists,
        columns,
    };
    Ok((input, change))
}

fn drop_columns(input: Input<'_>) -> Parsed<'_, AlterTable> {
    let mut rest = input.advance();
    if rest.at(Keyword::Compact) && rest.peek(1) == Kind::Key(Keyword::Storage) {
        rest.unsupported = Some("ALTER TABLE … DROP COMPACT STORAGE");
        let none = AlterTable::Properties(Properties::new());
        return Ok((rest.advance().advance(), none));
    }
    let kind = rest.kind();
    if !kind.is_identifier() && !matches!(kind, Kind::OpenParen | Kind::Key(Keyword::If)) {
        return input.no_viable(1);
    }
    let (input, if_exists) = flag(IF_EXISTS)(rest)?;
    let (input, columns) = match input.kind() {
        Kind::OpenParen => names_in_parentheses(input)?,
        _ => {
            let (input, name) = identifier(input)?;
            (input, vec![name])
        }
    };
    let (input, timestamp) = clause(Keyword::Using, |input| {
        let (input, _) = key(Keyword::Timestamp)(input)?;
        let (rest, digits) = token(Kind::Integer)(input)?;
        match digits.parse::<i64>() {
            Ok(timestamp) => Ok((rest, timestamp)),
            Err(_) => input.not_a_number(digits),
        }
    })(input)?;
    let change = AlterTable::Drop {
        if_exists,
        columns,
        timestamp,
    };
    Ok((input, change))
}

fn alter_column(input: Input<'_>) -> Parsed<'_, AlterTable> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (mut input, name) = column(input)?;
    match input.kind() {
        Kind::Key(Keyword::Type) if !if_exists => {
            let (input, ty) = comparator_type(input.advance())?;
            return Ok((input, AlterTable::Type(name, ty)));
        }
        Kind::Key(Keyword::Masked) => (input, _) = mask(input)?,
        Kind::Key(Keyword::Drop) => {
            (input, _) = keys(&[Keyword::Drop, Keyword::Masked])(input)?;
            input.unsupported = Some("dynamic data masking");
        }
        _ => return input.no_viable(0),
    }
    Ok((input, AlterTable::Properties(Properties::new())))
}
