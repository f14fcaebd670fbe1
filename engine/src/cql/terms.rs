//! Terms: constants, markers and arithmetic.

use std::sync::Arc;

use nom::Parser;
use nom::combinator::map;
use nom::multi::separated_list1;

use super::ast::{Literal, Operator, Term};
use super::calls::{call, cast, parenthesised};
use super::collections::{braced, list};
use super::error::Fault;
use super::input::{Input, Parsed, nested, separator};
use super::keywords::Keyword;
use super::names::{identifier, unquote};
use super::token::Kind;

/// A term.
pub(super) fn term(input: Input<'_>) -> Parsed<'_, Term> {
    nested(addition)(input)
}

/// Terms between commas, one at least.
pub(super) fn terms(input: Input<'_>) -> Parsed<'_, Vec<Term>> {
    separated_list1(separator(Kind::Comma), term).parse(input)
}

fn addition(input: Input<'_>) -> Parsed<'_, Term> {
    let (mut input, mut left) = multiplication(input)?;
    loop {
        let operator = match input.kind() {
            Kind::Plus if is_prepended(input)? => break,
            Kind::Plus => Operator::Add,
            Kind::Minus => Operator::Subtract,
            kind if follows_term(kind) => {
                // Cassandra's parser has seen the token behind it, which its messages show.
                input.peek(1);
                break;
            }
            _ => return input.no_viable(0),
        };
        let (rest, right) = multiplication(input.chained()?.advance())?;
        left = Term::Arithmetic(Box::new(left), operator, Box::new(right));
        input = rest;
    }
    Ok((input, left))
}

/// Whether a plus belongs to `c = term + c` of an `UPDATE` and not to the term.
fn is_prepended(input: Input<'_>) -> Result<bool, nom::Err<Fault>> {
    if !input.peek(1).is_column() {
        return Ok(false);
    }
    match input.peek(2) {
        Kind::OpenParen | Kind::Dot => Ok(false),
        Kind::Comma | Kind::Key(Keyword::Where) => Ok(true),
        _ => input.no_viable(2).map(|(_, ahead): (_, bool)| ahead),
    }
}

fn multiplication(input: Input<'_>) -> Parsed<'_, Term> {
    let (mut input, mut left) = group(input)?;
    while let Some(operator) = multiplicative(input.kind()) {
        let (rest, right) = group(input.chained()?.advance())?;
        left = Term::Arithmetic(Box::new(left), operator, Box::new(right));
        input = rest;
    }
    Ok((input, left))
}

/// The operator of a token, of those that bind more closely.
pub(super) fn multiplicative(kind: Kind) -> Option<Operator> {
    match kind {
        Kind::Star => Some(Operator::Multiply),
        Kind::Slash => Some(Operator::Divide),
        Kind::Percent => Some(Operator::Remainder),
        _ => None,
    }
}

fn group(input: Input<'_>) -> Parsed<'_, Term> {
    if input.kind() == Kind::Minus {
        let negation = |term| Term::Negation(Box::new(term));
        return map(simple, negation).parse(input.advance());
    }
    simple(input)
}

/// A term without arithmetic.
pub(super) fn simple(input: Input<'_>) -> Parsed<'_, Term> {
    match input.kind() {
        kind if kind.is_constant() => map(constant, Term::Literal).parse(input),
        Kind::Question => anonymous(input),
        Kind::Colon => marker(input),
        Kind::OpenBracket => nested(list)(input),
        Kind::OpenBrace => nested(braced)(input),
        Kind::OpenParen => nested(parenthesised)(input),
        Kind::Key(Keyword::Null) => Ok((input.advance(), Term::Null)),
        Kind::Key(Keyword::Cast) if input.peek(1) == Kind::OpenParen => nested(cast)(input),
        _ => call(input),
    }
}

/// A constant.
pub(super) fn constant(input: Input<'_>) -> Parsed<'_, Literal> {
    let text = input.text();
    let literal = match input.kind() {
        Kind::String => Literal::String(Arc::from(&*unquote(text))),
        Kind::Integer => Literal::Integer(Arc::from(text)),
        // Java finds no digits in what became infinite.
        Kind::Float if text.parse().is_ok_and(f64::is_infinite) => {
            return input.failed(
                "Character I is neither a decimal digit number, decimal point, nor \"e\" notation exponential mark.",
            );
        }
        Kind::Float => Literal::Float(Arc::from(text)),
        Kind::Nan => Literal::Float(Arc::from("NaN")),
        Kind::Infinity => Literal::Float(Arc::from("Infinity")),
        Kind::NegativeInfinity => Literal::Float(Arc::from("-Infinity")),
        Kind::Boolean => Literal::Boolean(text.eq_ignore_ascii_case("true")),
        Kind::Uuid => Literal::Uuid(Arc::from(text)),
        Kind::Hex => Literal::Blob(Arc::from(text.get(2..).unwrap_or_default())),
        Kind::Duration => Literal::Duration(Arc::from(text)),
        _ => return input.no_viable(0),
    };
    Ok((input.advance(), literal))
}

/// `?` or `:name`.
pub(super) fn marker(input: Input<'_>) -> Parsed<'_, Term> {
    let index = input.markers as usize;
    let (mut input, name) = match input.kind() {
        Kind::Question => (input.advance(), None),
        Kind::Colon => map(identifier, Some).parse(input.advance())?,
        _ => return input.no_viable(0),
    };
    input.markers = input.markers.saturating_add(1);
    Ok((input, Term::Marker { index, name }))
}

/// `?` where a term stands, which may also be meant for a function's keyspace.
fn anonymous(input: Input<'_>) -> Parsed<'_, Term> {
    match input.peek(1) {
        Kind::Dot => call(input),
        Kind::Plus | Kind::Minus => marker(input),
        next if follows_term(next) || multiplicative(next).is_some() || is_word(next) => {
            marker(input)
        }
        _ => input.no_viable(1),
    }
}

/// Whether a keyword may stand behind a term that is no whole term of the grammar.
fn is_word(kind: Kind) -> bool {
    matches!(kind, Kind::Key(Keyword::As | Keyword::Using))
}

/// An integer or a marker.
pub(super) fn integer(input: Input<'_>) -> Parsed<'_, Term> {
    match input.kind() {
        Kind::Integer => map(constant, Term::Literal).parse(input),
        _ => marker(input),
    }
}

/// Whether a term can begin with that token.
pub(super) fn begins_term(kind: Kind) -> bool {
    kind.is_constant()
        || kind.is_function()
        || kind.is_identifier()
        || matches!(
            kind,
            Kind::Question
                | Kind::Colon
                | Kind::OpenBracket
                | Kind::OpenBrace
                | Kind::OpenParen
                | Kind::Minus
                | Kind::Key(Keyword::Null)
        )
}

/// Whether a token may stand behind a term in some statement.
fn follows_term(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof
        | Kind::Semicolon
        | Kind::Comma
        | Kind::Colon
        | Kind::CloseParen
        | Kind::CloseBracket
        | Kind::CloseBrace
        | Kind::Range => true,
        Kind::Key(keyword) => matches!(
            keyword,
            And | Where
                | Group
                | Order
                | Per
                | Limit
                | Allow
                | If
                | Asc
                | Desc
                | Apply
                | Insert
                | Update
                | Delete
                | Primary
        ),
        _ => false,
    }
}
