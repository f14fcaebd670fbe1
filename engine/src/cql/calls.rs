//! Terms that call functions, and what stands in parentheses: type hints and tuples.

use nom::Parser;
use nom::combinator::map;

use super::ast::{FunctionCall, Term, TypeName};
use super::collections::tuple;
use super::input::{Input, Parsed, key, nested, token};
use super::keywords::Keyword;
use super::names::function;
use super::terms::{begins_term, simple, terms};
use super::token::Kind;
use super::types::{comparator_type, native_type};

/// `(type) term` or a tuple.
pub(super) fn parenthesised(input: Input<'_>) -> Parsed<'_, Term> {
    match (input.peek(1), input.peek(2)) {
        (Kind::Key(collection), Kind::Less) if is_parameterised(collection) => {
            let (input, ty) = comparator_type(input.advance())?;
            let (input, _) = token(Kind::CloseParen)(input)?;
            let (input, hinted) = simple(input)?;
            return Ok((input, Term::Hint(ty, Box::new(hinted))));
        }
        (_, Kind::Dot | Kind::OpenParen | Kind::CloseParen) => {}
        (inside, _) if inside.is_identifier() => return input.no_viable(2),
        (inside, _) if !begins_term(inside) && inside != Kind::Key(Keyword::Set) => {
            return input.no_viable(1);
        }
        _ => {}
    }
    if let Some((input, ty)) = hint(input) {
        let (input, hinted) = simple(input)?;
        return Ok((input, Term::Hint(ty, Box::new(hinted))));
    }
    map(tuple, Term::Tuple).parse(input)
}

fn is_parameterised(keyword: Keyword) -> bool {
    use Keyword::*;
    matches!(keyword, List | Set | Map | Tuple | Vector | Frozen)
}

/// `(type)` when a term follows it.
fn hint(input: Input<'_>) -> Option<(Input<'_>, TypeName)> {
    let inside = input.advance();
    let next = inside.peek(1);
    let may_be_type = match inside.kind() {
        Kind::String => next == Kind::CloseParen,
        kind => kind.is_identifier() && matches!(next, Kind::CloseParen | Kind::Dot),
    };
    if !may_be_type {
        return None;
    }
    let (rest, ty) = comparator_type(inside).ok()?;
    let (rest, _) = token(Kind::CloseParen)(rest).ok()?;
    let begins = match rest.kind() {
        Kind::Question
        | Kind::Colon
        | Kind::OpenBracket
        | Kind::OpenBrace
        | Kind::OpenParen
        | Kind::Key(Keyword::Null) => true,
        kind if kind.is_constant() => true,
        kind if kind.is_function() || kind.is_identifier() => {
            matches!(rest.peek(1), Kind::OpenParen | Kind::Dot)
        }
        _ => false,
    };
    begins.then_some((rest, ty))
}

/// `cast(term AS type)`
pub(super) fn cast(input: Input<'_>) -> Parsed<'_, Term> {
    let (input, term) = simple(input.advance().advance())?;
    let (input, _) = key(Keyword::As)(input)?;
    let (input, ty) = native_type(input)?;
    let (input, _) = token(Kind::CloseParen)(input)?;
    Ok((input, Term::Cast(Box::new(term), ty)))
}

/// `function(arguments)`
pub(super) fn call(input: Input<'_>) -> Parsed<'_, Term> {
    let first = input.kind();
    let may_be_keyspace = first.is_identifier() || first == Kind::Question;
    let ahead = match may_be_keyspace && input.peek(1) == Kind::Dot {
        true if input.peek(2).is_function() => 2,
        true => return input.no_viable(2),
        false if first.is_function() => 0,
        false => return input.no_viable(usize::from(first.is_identifier())),
    };
    if input.peek(ahead + 1) != Kind::OpenParen {
        return input.no_viable(ahead + 1);
    }
    let (rest, name) = function(input)?;
    let rest = rest.advance();
    let (rest, arguments) = match rest.kind() {
        Kind::CloseParen => (rest, Vec::new()),
        kind if begins_term(kind) => nested(terms)(rest)?,
        _ => return input.no_viable(ahead + 2),
    };
    let (rest, _) = token(Kind::CloseParen)(rest)?;
    let call = FunctionCall {
        keyspace: name.keyspace,
        name: name.name,
        arguments,
    };
    Ok((rest, Term::Function(call)))
}
