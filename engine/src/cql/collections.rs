//! Terms made of terms: lists, sets, maps, user types and tuples.

use nom::Parser;
use nom::combinator::map;
use nom::multi::separated_list1;
use nom::sequence::{delimited, separated_pair};

use super::ast::Term;
use super::error::Fault;
use super::input::{Input, Parsed, nested, separator, token};
use super::names::identifier;
use super::terms::{begins_term, term, terms};
use super::token::Kind;

pub(super) fn list(input: Input<'_>) -> Parsed<'_, Term> {
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
pub(super) fn braced(input: Input<'_>) -> Parsed<'_, Term> {
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
    rule: impl Parser<Input<'a>, Output = O, Error = Fault>,
) -> impl Parser<Input<'a>, Output = O, Error = Fault> {
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

/// `(a, b)`
pub(super) fn tuple(input: Input<'_>) -> Parsed<'_, Vec<Term>> {
    delimited(token(Kind::OpenParen), terms, token(Kind::CloseParen)).parse(input)
}
