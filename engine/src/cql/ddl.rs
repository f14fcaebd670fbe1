//! `CREATE`, `ALTER` and `DROP` of keyspaces and types, and `DROP TABLE`.

use nom::Parser;
use nom::multi::separated_list1;
use nom::sequence::separated_pair;

use super::ast::{AlterType, Ddl, Name, TypeName};
use super::error::Fault;
use super::input::{Input, Parsed, flag, key, separator, token};
use super::keywords::Keyword;
use super::names::{identifier, keyspace, table, user_type};
use super::properties::with_properties;
use super::token::Kind;
use super::types::comparator_type;

/// `IF NOT EXISTS`
pub(super) const IF_NOT_EXISTS: &[Keyword] = &[Keyword::If, Keyword::Not, Keyword::Exists];
/// `IF EXISTS`
pub(super) const IF_EXISTS: &[Keyword] = &[Keyword::If, Keyword::Exists];

/// `CREATE KEYSPACE`, from behind those words.
pub(super) fn create_keyspace(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, name) = keyspace(input)?;
    let (input, properties) = with_properties(input)?;
    let ddl = Ddl::CreateKeyspace {
        name,
        if_not_exists,
        properties,
    };
    Ok((input, ddl))
}

/// `ALTER KEYSPACE`, from behind those words.
pub(super) fn alter_keyspace(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = keyspace(input)?;
    let (input, properties) = with_properties(input)?;
    let ddl = Ddl::AlterKeyspace {
        name,
        if_exists,
        properties,
    };
    Ok((input, ddl))
}

/// `DROP KEYSPACE`, from behind those words.
pub(super) fn drop_keyspace(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = keyspace(input)?;
    Ok((input, Ddl::DropKeyspace { name, if_exists }))
}

/// `DROP TABLE`, from behind those words.
pub(super) fn drop_table(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, table) = table(input)?;
    Ok((input, Ddl::DropTable { table, if_exists }))
}

/// `DROP TYPE`, from behind those words.
pub(super) fn drop_type(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = user_type(input)?;
    Ok((input, Ddl::DropType { name, if_exists }))
}

/// `CREATE TYPE`, from behind those words.
pub(super) fn create_type(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, name) = user_type(input)?;
    let (input, _) = token(Kind::OpenParen)(input)?;
    let mut fields = Vec::new();
    let input = elements(input, |input, first| {
        if !first && !input.kind().is_identifier() {
            return Ok((input, ()));
        }
        let (input, name) = identifier(input)?;
        let (input, ty) = comparator_type(input)?;
        fields.push((name, ty));
        Ok((input, ()))
    })?;
    let ddl = Ddl::CreateType {
        name,
        if_not_exists,
        fields,
    };
    Ok((input, ddl))
}

/// Elements between commas up to a closing parenthesis; all but the first may be missing.
pub(super) fn elements<'a>(
    mut input: Input<'a>,
    mut element: impl FnMut(Input<'a>, bool) -> Parsed<'a, ()>,
) -> Result<Input<'a>, nom::Err<Fault>> {
    let mut first = true;
    loop {
        input = element(input, first)?.0;
        if input.kind() != Kind::Comma {
            return Ok(token(Kind::CloseParen)(input)?.0);
        }
        input = input.advance();
        first = false;
    }
}

/// `ALTER TYPE`, from behind those words.
pub(super) fn alter_type(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = user_type(input)?;
    let (input, change) = match input.kind() {
        Kind::Key(Keyword::Add) => {
            let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input.advance())?;
            let (input, (field, ty)) = field(input)?;
            let change = AlterType::Add {
                if_not_exists,
                field,
                ty,
            };
            (input, change)
        }
        Kind::Key(Keyword::Rename) => {
            let (input, if_exists) = flag(IF_EXISTS)(input.advance())?;
            let (input, fields) = renames(input)?;
            (input, AlterType::Rename { if_exists, fields })
        }
        Kind::Key(Keyword::Alter) => {
            let (input, name) = identifier(input.advance())?;
            let (input, _) = key(Keyword::Type)(input)?;
            let (input, ty) = comparator_type(input)?;
            (input, AlterType::Type(name, ty))
        }
        _ => return input.no_viable(0),
    };
    let ddl = Ddl::AlterType {
        name,
        if_exists,
        change,
    };
    Ok((input, ddl))
}

/// `a TO b AND c TO d`
pub(super) fn renames(input: Input<'_>) -> Parsed<'_, Vec<(Name, Name)>> {
    let rename = separated_pair(identifier, key(Keyword::To), identifier);
    separated_list1(separator(Kind::Key(Keyword::And)), rename).parse(input)
}

fn field(input: Input<'_>) -> Parsed<'_, (Name, TypeName)> {
    let (input, name) = identifier(input)?;
    let (input, ty) = comparator_type(input)?;
    Ok((input, (name, ty)))
}
