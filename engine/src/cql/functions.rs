//! `CREATE` and `DROP` of functions and aggregates.

use std::sync::Arc;

use nom::Parser;
use nom::multi::separated_list1;

use super::ast::{CreateAggregate, CreateFunction, Ddl, DropFunction, Existing, Name, TypeName};
use super::ddl::{IF_EXISTS, IF_NOT_EXISTS};
use super::input::{Input, Parsed, clause, flag, key, keys, separator, token};
use super::keywords::Keyword;
use super::names::{folded, function, identifier, unquote};
use super::terms::term;
use super::token::Kind;
use super::types::comparator_type;

/// `CREATE [OR REPLACE] FUNCTION`, from behind those words.
pub(super) fn create_function(input: Input<'_>, or_replace: bool) -> Parsed<'_, Ddl> {
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, name) = function(input)?;
    let (mut input, _) = token(Kind::OpenParen)(input)?;
    let mut arguments = Vec::new();
    if input.kind().is_identifier() {
        let argument = |input| {
            let (input, name) = identifier(input)?;
            let (input, ty) = comparator_type(input)?;
            Ok((input, (name, ty)))
        };
        (input, arguments) = separated_list1(separator(Kind::Comma), argument).parse(input)?;
    }
    let (input, _) = token(Kind::CloseParen)(input)?;
    let called_on_null = input.at(Keyword::Called);
    let (input, ()) = match input.kind() {
        Kind::Key(Keyword::Returns) => keys(&[Keyword::Returns, Keyword::Null])(input)?,
        Kind::Key(Keyword::Called) => (input.advance(), ()),
        _ => return input.no_viable(0),
    };
    let (input, ()) = keys(&[Keyword::On, Keyword::Null, Keyword::Input, Keyword::Returns])(input)?;
    let (input, returns) = comparator_type(input)?;
    let (input, _) = key(Keyword::Language)(input)?;
    let (input, language) = token(Kind::Ident)(input)?;
    let (input, _) = key(Keyword::As)(input)?;
    let (input, body) = token(Kind::String)(input)?;
    let create = CreateFunction {
        name,
        existing: Existing {
            or_replace,
            if_not_exists,
        },
        arguments,
        called_on_null,
        returns,
        language: language.to_ascii_lowercase().into(),
        body: Arc::from(&*unquote(body)),
    };
    Ok((input, Ddl::CreateFunction(Box::new(create))))
}

/// `CREATE [OR REPLACE] AGGREGATE`, from behind those words.
pub(super) fn create_aggregate(input: Input<'_>, or_replace: bool) -> Parsed<'_, Ddl> {
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, name) = function(input)?;
    let (input, arguments) = argument_types(input)?;
    let (input, _) = key(Keyword::Sfunc)(input)?;
    let (input, state_function) = function_itself(input)?;
    let (input, _) = key(Keyword::Stype)(input)?;
    let (input, state_type) = comparator_type(input)?;
    let (input, final_function) = clause(Keyword::Finalfunc, function_itself)(input)?;
    let (input, initial) = clause(Keyword::Initcond, term)(input)?;
    let create = CreateAggregate {
        name,
        existing: Existing {
            or_replace,
            if_not_exists,
        },
        arguments,
        state_function,
        state_type,
        final_function,
        initial,
    };
    Ok((input, Ddl::CreateAggregate(Box::new(create))))
}

fn function_itself(input: Input<'_>) -> Parsed<'_, Name> {
    match input.kind().is_function() {
        true => Ok((input.advance(), folded(input))),
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
pub(super) fn drop_function(input: Input<'_>) -> Parsed<'_, DropFunction> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = function(input)?;
    let (input, arguments) = match input.kind() {
        Kind::OpenParen => {
            let (input, arguments) = argument_types(input)?;
            (input, Some(arguments))
        }
        _ => (input, None),
    };
    let dropped = DropFunction {
        name,
        if_exists,
        arguments,
    };
    Ok((input, dropped))
}
