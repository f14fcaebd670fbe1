//! Statements on materialized views.

use super::ast::{CreateView, Ddl, Properties};
use super::ddl::{IF_EXISTS, IF_NOT_EXISTS};
use super::input::{Input, Parsed, clause, flag, key, keys};
use super::keywords::Keyword;
use super::names::table;
use super::properties::{Collected, with_properties};
use super::relations::relations;
use super::selection::selectors;
use super::tables::{clustering_order, primary_key};
use super::token::Kind;

/// `CREATE MATERIALIZED VIEW`, from behind the first word.
pub(super) fn create_view(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, ()) = keys(&[Keyword::Materialized, Keyword::View])(input)?;
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, name) = table(input)?;
    let (input, ()) = keys(&[Keyword::As, Keyword::Select])(input)?;
    let (input, selectors) = selectors(input)?;
    let (input, _) = key(Keyword::From)(input)?;
    let (input, base) = table(input)?;
    let (input, restrictions) = clause(Keyword::Where, relations)(input)?;
    let (mut input, (partition_key, clustering)) = primary_key(input)?;
    let mut create = CreateView {
        name,
        if_not_exists,
        selectors,
        base,
        restrictions: restrictions.unwrap_or_default(),
        partition_key,
        clustering,
        clustering_order: Vec::new(),
        properties: Properties::new(),
    };
    let mut properties = Collected::default();
    if input.at(Keyword::With) {
        loop {
            input = property(input.advance(), &mut create, &mut properties)?.0;
            if !input.at(Keyword::And) {
                break;
            }
        }
    }
    create.properties = properties.entries;
    Ok((input, Ddl::CreateView(create)))
}

fn property<'a>(
    input: Input<'a>,
    create: &mut CreateView,
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
            input.refuse("COMPACT STORAGE tables are not allowed starting with version 4.0")
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

/// `ALTER MATERIALIZED VIEW`, from behind the first word.
pub(super) fn alter_view(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, ()) = keys(&[Keyword::Materialized, Keyword::View])(input)?;
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = table(input)?;
    let (input, properties) = with_properties(input)?;
    let ddl = Ddl::AlterView {
        name,
        if_exists,
        properties,
    };
    Ok((input, ddl))
}

/// `DROP MATERIALIZED VIEW`, from behind the first word.
pub(super) fn drop_view(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, ()) = keys(&[Keyword::Materialized, Keyword::View])(input)?;
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = table(input)?;
    Ok((input, Ddl::DropView { name, if_exists }))
}
