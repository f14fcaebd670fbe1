//! Statements on functions, aggregates and triggers: parsed, so that wrong ones are told, and refused
//! as a whole.

use nom::Parser;
use nom::multi::separated_list1;

use super::ast::TypeName;
use super::ddl::{IF_EXISTS, IF_NOT_EXISTS};
use super::input::{Input, Parsed, clause, flag, key, keys, separator, token};
use super::keywords::Keyword;
use super::names::{function, identifier, table};
use super::terms::term;
use super::token::Kind;
use super::types::comparator_type;

/// `CREATE TRIGGER`, from behind those words.
pub(super) fn create_trigger(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, _) = flag(IF_NOT_EXISTS)(input)?;
    let (input, _) = identifier(input)?;
    let (input, _) = key(Keyword::On)(input)?;
    let (input, _) = table(input)?;
    let (input, _) = key(Keyword::Using)(input)?;
    let (input, _) = token(Kind::String)(input)?;
    Ok((input, "CREATE TRIGGER"))
}

/// `DROP TRIGGER`, from behind those words.
pub(super) fn drop_trigger(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, _) = flag(IF_EXISTS)(input)?;
    let (input, _) = identifier(input)?;
    let (input, _) = key(Keyword::On)(input)?;
    let (input, _) = table(input)?;
    Ok((input, "DROP TRIGGER"))
}

/// `CREATE FUNCTION`, from behind those words.
pub(super) fn create_function(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, _) = flag(IF_NOT_EXISTS)(input)?;
    let (input, _) = function(input)?;
    let (mut input, _) = token(Kind::OpenParen)(input)?;
    if input.kind().is_identifier() {
        let argument = |input| {
            let (input, _) = identifier(input)?;
            comparator_type(input)
        };
        (input, _) = separated_list1(separator(Kind::Comma), argument).parse(input)?;
    }
    let (input, _) = token(Kind::CloseParen)(input)?;
    let (input, ()) = match input.kind() {
        Kind::Key(Keyword::Returns) => keys(&[Keyword::Returns, Keyword::Null])(input)?,
        Kind::Key(Keyword::Called) => (input.advance(), ()),
        _ => return input.no_viable(0),
    };
    let (input, ()) = keys(&[Keyword::On, Keyword::Null, Keyword::Input, Keyword::Returns])(input)?;
    let (input, _) = comparator_type(input)?;
    let (input, _) = key(Keyword::Language)(input)?;
    let (input, _) = token(Kind::Ident)(input)?;
    let (input, _) = key(Keyword::As)(input)?;
    let (input, _) = token(Kind::String)(input)?;
    Ok((input, "CREATE FUNCTION"))
}

/// `CREATE AGGREGATE`, from behind those words.
pub(super) fn create_aggregate(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, _) = flag(IF_NOT_EXISTS)(input)?;
    let (input, _) = function(input)?;
    let (input, _) = argument_types(input)?;
    let (input, _) = key(Keyword::Sfunc)(input)?;
    let (input, _) = function_itself(input)?;
    let (input, _) = key(Keyword::Stype)(input)?;
    let (input, _) = comparator_type(input)?;
    let (input, _) = clause(Keyword::Finalfunc, function_itself)(input)?;
    let (input, _) = clause(Keyword::Initcond, term)(input)?;
    Ok((input, "CREATE AGGREGATE"))
}

fn function_itself(input: Input<'_>) -> Parsed<'_, ()> {
    match input.kind().is_function() {
        true => Ok((input.advance(), ())),
        false => input.no_viable(0),
    }
}

/// `(type, type)`
pub(super) fn argument_types(input: Input<'_>) -> Parsed<'_, Vec<TypeName>> {
    let (input, _) = token(Kind::OpenParen)(input)?;
    let kind = input.kind();
    if !kind.is_identifier() && !matches!(kind, Kind::String | Kind::Key(Keyword::Set)) {
        let (input, _) = token(Kind::CloseParen)(input)?;
        return Ok((input, Vec::new()));
    }
    let (input, types) = separated_list1(separator(Kind::Comma), comparator_type).parse(input)?;
    let (input, _) = token(Kind::CloseParen)(input)?;
    Ok((input, types))
}

/// `DROP FUNCTION` and `DROP AGGREGATE`, from behind those words.
pub(super) fn drop_function(input: Input<'_>) -> Parsed<'_, ()> {
    let (input, _) = flag(IF_EXISTS)(input)?;
    let (input, _) = function(input)?;
    if input.kind() != Kind::OpenParen {
        return Ok((input, ()));
    }
    let (input, _) = argument_types(input)?;
    Ok((input, ()))
}
