//! The expressions of a `SELECT` clause.

mod functions;
mod literals;

use nom::Parser;
use nom::combinator::map;
use nom::multi::separated_list1;

use super::ast::{Name, Operator, Selectable, Selector, Term};
use super::input::{Input, Parsed, clause, nested, separator, token};
use super::keywords::Keyword;
use super::names::{column, identifier};
use super::terms::{constant, marker, multiplicative, term};
use super::token::Kind;
use functions::{call, cast, cell};
use literals::{braced, list, parenthesised};

/// The selectors of a statement: none for `*`.
pub(super) fn selectors(input: Input<'_>) -> Parsed<'_, Vec<Selector>> {
    if input.kind() == Kind::Star {
        return Ok((input.advance(), Vec::new()));
    }
    separated_list1(separator(Kind::Comma), selector).parse(input)
}

fn selector(input: Input<'_>) -> Parsed<'_, Selector> {
    let (input, expression) = selectable(input)?;
    let (input, alias) = clause(Keyword::As, identifier)(input)?;
    Ok((input, Selector { expression, alias }))
}

/// One expression.
pub(super) fn selectable(input: Input<'_>) -> Parsed<'_, Selectable> {
    nested(addition)(input)
}

fn selectables(input: Input<'_>) -> Parsed<'_, Vec<Selectable>> {
    separated_list1(separator(Kind::Comma), selectable).parse(input)
}

fn addition(input: Input<'_>) -> Parsed<'_, Selectable> {
    let (mut input, mut left) = multiplication(input)?;
    loop {
        let operator = match input.kind() {
            Kind::Plus => Operator::Add,
            Kind::Minus => Operator::Subtract,
            _ => break,
        };
        let (rest, right) = multiplication(input.chained()?.advance())?;
        left = Selectable::Arithmetic(Box::new(left), operator, Box::new(right));
        input = rest;
    }
    // Cassandra's parser has seen one token more, which its messages show.
    input.peek(1);
    Ok((input, left))
}

fn multiplication(input: Input<'_>) -> Parsed<'_, Selectable> {
    let (mut input, mut left) = group(input)?;
    while let Some(operator) = multiplicative(input.kind()) {
        let (rest, right) = group(input.chained()?.advance())?;
        left = Selectable::Arithmetic(Box::new(left), operator, Box::new(right));
        input = rest;
    }
    Ok((input, left))
}

fn group(input: Input<'_>) -> Parsed<'_, Selectable> {
    if input.kind() == Kind::Minus {
        let negation = |of| Selectable::Negation(Box::new(of));
        return map(nested(group), negation).parse(input.advance());
    }
    let (bare, receiver) = primary(input)?;
    if !matches!(bare.kind(), Kind::Dot | Kind::OpenBracket) {
        return Ok((bare, receiver));
    }
    // Modifiers that go wrong are not part of the expression.
    match modifiers(bare) {
        Ok((input, modifiers)) if follows_modifiers(input.kind()) => {
            Ok((input, modified(receiver, modifiers)))
        }
        _ => Ok((bare, receiver)),
    }
}

/// What can stand behind an expression.
enum Modifier {
    /// `.field`
    Field(Name),
    /// `[key]`
    Element(Term),
    /// `[from..to]`
    Slice(Option<Term>, Option<Term>),
}

fn modifiers(mut input: Input<'_>) -> Parsed<'_, Vec<Modifier>> {
    let mut modifiers = Vec::new();
    loop {
        let (rest, modifier) = match input.kind() {
            Kind::Dot => map(identifier, Modifier::Field).parse(input.chained()?.advance())?,
            Kind::OpenBracket => element(input.chained()?.advance())?,
            _ => return Ok((input, modifiers)),
        };
        modifiers.push(modifier);
        input = rest;
    }
}

/// An expression with its modifiers, the first innermost.
fn modified(receiver: Selectable, modifiers: Vec<Modifier>) -> Selectable {
    modifiers.into_iter().fold(receiver, |receiver, modifier| {
        let receiver = Box::new(receiver);
        match modifier {
            Modifier::Field(name) => Selectable::Field(receiver, name),
            Modifier::Element(key) => Selectable::Element(receiver, key),
            Modifier::Slice(from, to) => Selectable::Slice(receiver, from, to),
        }
    })
}

fn element(input: Input<'_>) -> Parsed<'_, Modifier> {
    let (input, from) = match input.kind() {
        Kind::Range => (input, None),
        _ => map(term, Some).parse(input)?,
    };
    let (input, modifier) = match (input.kind(), from) {
        (Kind::Range, from) => {
            let rest = input.advance();
            let open = from.is_some() && rest.kind() == Kind::CloseBracket;
            let (rest, to) = match open {
                true => (rest, None),
                false => map(term, Some).parse(rest)?,
            };
            (rest, Modifier::Slice(from, to))
        }
        (_, Some(key)) => (input, Modifier::Element(key)),
        (_, None) => return input.no_viable(0),
    };
    let (input, _) = token(Kind::CloseBracket)(input)?;
    Ok((input, modifier))
}

/// An expression without modifiers and operators.
fn primary(input: Input<'_>) -> Parsed<'_, Selectable> {
    let kind = input.kind();
    match kind {
        _ if kind.is_constant() => {
            map(constant, |literal| Selectable::Term(Term::Literal(literal))).parse(input)
        }
        Kind::Key(Keyword::Null) => Ok((input.advance(), Selectable::Term(Term::Null))),
        Kind::Question => anonymous(input),
        Kind::Colon => map(marker, Selectable::Term).parse(input),
        Kind::OpenParen => nested(parenthesised)(input),
        Kind::OpenBracket => nested(list)(input),
        Kind::OpenBrace => nested(braced)(input),
        _ if kind.is_identifier() || kind.is_function() => named(input),
        _ => input.no_viable(0),
    }
}

/// `?`, which may also be meant for a function's keyspace.
fn anonymous(input: Input<'_>) -> Parsed<'_, Selectable> {
    match input.peek(1) {
        Kind::Dot if input.peek(2).is_function() && input.peek(3) == Kind::OpenParen => call(input),
        Kind::Dot => input.no_viable(2),
        next if follows_selectable(next) => map(marker, Selectable::Term).parse(input),
        _ => input.no_viable(1),
    }
}

/// A column or the call of a function.
fn named(input: Input<'_>) -> Parsed<'_, Selectable> {
    match (input.kind(), input.peek(1)) {
        (Kind::Key(keyword), Kind::OpenParen) => match keyword {
            Keyword::Count
                if !begins_selectable(input.peek(2))
                    && !matches!(input.peek(2), Kind::Star | Kind::CloseParen) =>
            {
                return input.no_viable(2);
            }
            Keyword::Count if input.peek(2) == Kind::Star => {
                let rest = input.advance().advance().advance();
                let (rest, _) = token(Kind::CloseParen)(rest)?;
                return Ok((rest, Selectable::CountAll));
            }
            Keyword::Writetime | Keyword::Maxwritetime | Keyword::Ttl => {
                return cell(input, keyword);
            }
            Keyword::Cast => return nested(cast)(input),
            _ if input.kind().is_function() => return call(input),
            _ => return input.no_viable(1),
        },
        (kind, Kind::OpenParen) if kind.is_function() => return call(input),
        (kind, Kind::Dot) if kind.is_identifier() => {
            let member = input.peek(2);
            if member.is_function() && input.peek(3) == Kind::OpenParen {
                return call(input);
            }
            if !member.is_identifier() {
                return input.no_viable(2);
            }
            let next = input.peek(3);
            if !follows_selectable(next) && !matches!(next, Kind::Dot | Kind::OpenParen) {
                return input.no_viable(3);
            }
        }
        (kind, next) if kind.is_identifier() && follows_selectable(next) => {}
        _ => return input.no_viable(1),
    }
    map(column, Selectable::Column).parse(input)
}

/// Whether an expression can begin with that token.
fn begins_selectable(kind: Kind) -> bool {
    super::terms::begins_term(kind)
}

/// Whether a token may stand behind an expression in some statement.
fn follows_selectable(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof
        | Kind::Semicolon
        | Kind::Comma
        | Kind::Colon
        | Kind::CloseParen
        | Kind::CloseBracket
        | Kind::CloseBrace
        | Kind::OpenBracket
        | Kind::Plus
        | Kind::Minus => true,
        Kind::Key(keyword) => matches!(keyword, As | From | Order | Per | Limit | Allow),
        other => multiplicative(other).is_some(),
    }
}

/// Whether a token may stand behind modifiers: all but the semicolon, which Cassandra's grammar leaves out.
fn follows_modifiers(kind: Kind) -> bool {
    kind != Kind::Semicolon && follows_selectable(kind)
}
