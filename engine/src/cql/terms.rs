//! Terms: literals, markers, function calls and arithmetic.

use std::sync::Arc;

use nom::Parser;
use nom::combinator::map;
use nom::multi::separated_list1;
use nom::sequence::{delimited, separated_pair};

use super::ast::{FunctionCall, Literal, Operator, Term, TypeName};
use super::input::{Input, Parsed, key, nested, separator, token};
use super::keywords::Keyword;
use super::names::{function, identifier, unquote};
use super::token::Kind;
use super::types::{comparator_type, native_type};

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
fn is_prepended(input: Input<'_>) -> Result<bool, nom::Err<super::error::Fault>> {
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
fn simple(input: Input<'_>) -> Parsed<'_, Term> {
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

fn list(input: Input<'_>) -> Parsed<'_, Term> {
    let input = input.advance();
    if input.kind() == Kind::CloseBracket {
        return Ok((input.advance(), Term::List(Vec::new())));
    }
    if !begins_term(input.kind()) {
        return input.mismatched(Kind::CloseBracket);
    }
    let (input, elements) = terms(input)?;
    let (input, _) = token(Kind::CloseBracket)(input)?;
    Ok((input, Term::List(elements)))
}

/// `{…}`: a set, map or user type.
fn braced(input: Input<'_>) -> Parsed<'_, Term> {
    let inside = input.advance();
    match inside.kind() {
        Kind::CloseBrace => return Ok((inside.advance(), Term::Set(Vec::new()))),
        kind if kind.is_identifier() && inside.peek(1) == Kind::Colon => {
            let field = separated_pair(identifier, token(Kind::Colon), term);
            let fields = separated_list1(separator(Kind::Comma), field);
            return map(closed(fields), Term::UserType).parse(inside);
        }
        kind if kind.is_identifier() && !matches!(inside.peek(1), Kind::Dot | Kind::OpenParen) => {
            return input.no_viable(2);
        }
        kind if !begins_term(kind) => return input.no_viable(1),
        _ => {}
    }
    let (rest, first) = term(inside)?;
    match rest.kind() {
        Kind::Colon => {
            let (mut rest, value) = term(rest.advance())?;
            let mut entries = vec![(first, value)];
            if rest.kind() == Kind::Comma {
                let (behind, others) = self::entries(rest.advance())?;
                entries.extend(others);
                rest = behind;
            }
            let (rest, _) = token(Kind::CloseBrace)(rest)?;
            Ok((rest, Term::Map(entries)))
        }
        Kind::CloseBrace => Ok((rest.advance(), Term::Set(vec![first]))),
        Kind::Comma => {
            let (rest, others) = closed(terms).parse(rest.advance())?;
            let elements = std::iter::once(first).chain(others).collect();
            Ok((rest, Term::Set(elements)))
        }
        _ => rest.no_viable(0),
    }
}

fn closed<'a, O>(
    rule: impl Parser<Input<'a>, Output = O, Error = super::error::Fault>,
) -> impl Parser<Input<'a>, Output = O, Error = super::error::Fault> {
    nom::sequence::terminated(rule, token(Kind::CloseBrace))
}

fn entries(input: Input<'_>) -> Parsed<'_, Vec<(Term, Term)>> {
    let entry = separated_pair(term, token(Kind::Colon), term);
    separated_list1(separator(Kind::Comma), entry).parse(input)
}

/// `{a: b, …}` with any terms for keys, or `{}`.
pub(super) fn map_literal(input: Input<'_>) -> Parsed<'_, Vec<(Term, Term)>> {
    let (input, _) = token(Kind::OpenBrace)(input)?;
    if input.kind() == Kind::CloseBrace {
        return Ok((input.advance(), Vec::new()));
    }
    if !begins_term(input.kind()) {
        return input.mismatched(Kind::CloseBrace);
    }
    nested(|input| closed(entries).parse(input))(input)
}

/// `(type) term` or a tuple.
fn parenthesised(input: Input<'_>) -> Parsed<'_, Term> {
    match (input.peek(1), input.peek(2)) {
        (Kind::Key(collection), Kind::Less) if is_parameterised(collection) => {
            let (input, ty) = comparator_type(input.advance())?;
            let (input, _) = token(Kind::CloseParen)(input)?;
            let (input, hinted) = simple(input)?;
            return Ok((input, Term::Hint(ty, Box::new(hinted))));
        }
        (_, Kind::Dot | Kind::OpenParen | Kind::CloseParen) => {}
        (inside, _) if inside.is_identifier() => return input.no_viable(2),
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

/// `(a, b)`
pub(super) fn tuple(input: Input<'_>) -> Parsed<'_, Vec<Term>> {
    delimited(token(Kind::OpenParen), terms, token(Kind::CloseParen)).parse(input)
}

/// `cast(term AS type)`
fn cast(input: Input<'_>) -> Parsed<'_, Term> {
    let (input, term) = simple(input.advance().advance())?;
    let (input, _) = key(Keyword::As)(input)?;
    let (input, ty) = native_type(input)?;
    let (input, _) = token(Kind::CloseParen)(input)?;
    Ok((input, Term::Cast(Box::new(term), ty)))
}

/// `function(arguments)`
fn call(input: Input<'_>) -> Parsed<'_, Term> {
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
