//! `DESCRIBE`.

use nom::Parser;
use nom::combinator::map;

use super::ast::{Describe, DescribeTarget, TableName};
use super::input::{Input, Parsed, flag, key};
use super::keywords::{Class, Keyword};
use super::names::{function, identifier, keyspace, table, user_type};
use super::token::Kind;

/// A whole `DESCRIBE`.
pub(super) fn describe(input: Input<'_>) -> Parsed<'_, Describe> {
    let (input, target) = target(input.advance())?;
    let (input, internals) = flag(&[Keyword::With, Keyword::Internals])(input)?;
    Ok((input, Describe { target, internals }))
}

fn target(input: Input<'_>) -> Parsed<'_, DescribeTarget> {
    use Keyword::*;
    let Kind::Key(keyword) = input.kind() else {
        return anything(input);
    };
    let rest = input.advance();
    if keyword.class() == Class::Reserved
        && !matches!(
            keyword,
            Full | Schema | Keyspace | Table | Index | Materialized
        )
    {
        return input.no_viable(0);
    }
    let next = input.peek(1);
    let named = next.is_identifier() || next == Kind::Question;
    match keyword {
        Cluster if ends(next) => Ok((rest, DescribeTarget::Cluster)),
        Full | Schema => {
            let (input, full) = flag(&[Full])(input)?;
            let (input, _) = key(Schema)(input)?;
            Ok((input, DescribeTarget::Schema { full }))
        }
        Keyspaces if ends(next) => Ok((rest, DescribeTarget::Keyspaces)),
        Only if next == Kind::Key(Keyspace) => described_keyspace(rest, true),
        Keyspace => described_keyspace(input, false),
        Tables if ends(next) => Ok((rest, DescribeTarget::Tables)),
        Table => map(table, DescribeTarget::Table).parse(rest),
        Index => map(table, DescribeTarget::Index).parse(rest),
        Materialized => {
            let (rest, _) = key(View)(rest)?;
            map(table, DescribeTarget::View).parse(rest)
        }
        Types if ends(next) => Ok((rest, DescribeTarget::Types)),
        Type if named => map(user_type, DescribeTarget::Type).parse(rest),
        Functions if ends(next) => Ok((rest, DescribeTarget::Functions)),
        Function if named => map(function, DescribeTarget::Function).parse(rest),
        Aggregates if ends(next) => Ok((rest, DescribeTarget::Aggregates)),
        Aggregate if named => map(function, DescribeTarget::Aggregate).parse(rest),
        _ => anything(input),
    }
}

/// Whether what is described may end before that token.
fn ends(kind: Kind) -> bool {
    matches!(kind, Kind::Eof | Kind::Semicolon | Kind::Key(Keyword::With))
}

fn described_keyspace(input: Input<'_>, only: bool) -> Parsed<'_, DescribeTarget> {
    let (input, _) = key(Keyword::Keyspace)(input)?;
    let (input, name) = match input.kind() {
        kind if kind.is_identifier() || kind == Kind::Question => {
            map(keyspace, Some).parse(input)?
        }
        _ => (input, None),
    };
    Ok((input, DescribeTarget::Keyspace { only, name }))
}

/// A name without a word before it.
fn anything(input: Input<'_>) -> Parsed<'_, DescribeTarget> {
    if !input.kind().is_identifier() {
        return input.no_viable(0);
    }
    let (keyspace, rest) = match input.peek(1) {
        Kind::Dot => {
            let (rest, keyspace) = identifier(input)?;
            (Some(keyspace), rest.advance())
        }
        next if ends(next) => (None, input),
        _ => return input.no_viable(1),
    };
    let (rest, name) = identifier(rest)?;
    let target = DescribeTarget::Anything(TableName { keyspace, name });
    Ok((rest, target))
}
