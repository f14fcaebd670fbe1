//! Relations of a `WHERE` clause and conditions of an `IF`.

use nom::Parser;
use nom::combinator::map;
use nom::multi::separated_list1;
use nom::sequence::delimited;

use super::ast::{
    Comparison, Condition, ConditionSubject, ConditionTest, Conditions, InValues, Name, Relation,
    Term,
};
use super::collections::tuple;
use super::input::{Input, Parsed, key, keys, nested, separator, token};
use super::keywords::Keyword;
use super::names::{column, identifier};
use super::terms::{begins_term, marker, term, terms};
use super::token::Kind;

/// The relations of a `WHERE` clause.
pub(super) fn relations(input: Input<'_>) -> Parsed<'_, Vec<Relation>> {
    separated_list1(separator(Kind::Key(Keyword::And)), relation).parse(input)
}

fn relation(input: Input<'_>) -> Parsed<'_, Relation> {
    match input.kind() {
        Kind::Expr => expression(input),
        _ => plain(input),
    }
}

/// `expr(index, term)`
fn expression(input: Input<'_>) -> Parsed<'_, Relation> {
    let input = input.advance();
    if input.kind() == Kind::Question {
        return input.refuse("Bind variables cannot be used for index names");
    }
    let (input, index) = identifier(input)?;
    let (input, _) = token(Kind::Comma)(input)?;
    let (input, value) = term(input)?;
    let (input, _) = token(Kind::CloseParen)(input)?;
    Ok((input, Relation::Expression(index, value)))
}

fn plain(input: Input<'_>) -> Parsed<'_, Relation> {
    match input.kind() {
        Kind::Key(Keyword::Token) => on_token(input.advance()),
        Kind::OpenParen => parenthesised(input),
        kind if kind.is_column() => on_column(input),
        _ => input.no_viable(0),
    }
}

fn on_token(input: Input<'_>) -> Parsed<'_, Relation> {
    let (input, columns) = columns(input)?;
    let (input, operator) = comparison(input)?;
    let (input, value) = term(input)?;
    Ok((input, Relation::Token(columns, operator, value)))
}

/// `(a, b) …`, or a relation in parentheses.
fn parenthesised(input: Input<'_>) -> Parsed<'_, Relation> {
    match input.peek(1) {
        Kind::OpenParen | Kind::Key(Keyword::Token) => {}
        kind if kind.is_column() => match input.peek(2) {
            Kind::Comma | Kind::CloseParen => return on_columns(input),
            next if comparison_of(next).is_some() || begins_test(next) => {}
            _ => return input.no_viable(2),
        },
        _ => return input.no_viable(1),
    }
    nested(|input| delimited(token(Kind::OpenParen), plain, token(Kind::CloseParen)).parse(input))(
        input,
    )
}

fn on_column(input: Input<'_>) -> Parsed<'_, Relation> {
    let next = input.peek(1);
    if comparison_of(next).is_none() && !begins_test(next) {
        return input.no_viable(1);
    }
    let (rest, name) = column(input)?;
    match next {
        Kind::OpenBracket => {
            let (rest, element) = term(rest.advance())?;
            let (rest, _) = token(Kind::CloseBracket)(rest)?;
            let (rest, operator) = comparison(rest)?;
            let (rest, value) = term(rest)?;
            Ok((rest, Relation::Element(name, element, operator, value)))
        }
        Kind::Key(Keyword::Like) => {
            map(term, |value| Relation::Like(name.clone(), value)).parse(rest.advance())
        }
        Kind::Key(Keyword::Is) => {
            let (rest, ()) = keys(&[Keyword::Is, Keyword::Not, Keyword::Null])(rest)?;
            Ok((rest, Relation::IsNotNull(name)))
        }
        Kind::Key(Keyword::In) => {
            if !matches!(
                input.peek(2),
                Kind::OpenParen | Kind::Question | Kind::Colon
            ) {
                return input.no_viable(2);
            }
            let (rest, values) = in_values(rest.advance())?;
            Ok((rest, Relation::In(name, values)))
        }
        Kind::Key(Keyword::Contains) => {
            let (rest, (of_key, value)) = contained(rest)?;
            let relation = match of_key {
                true => Relation::ContainsKey(name, value),
                false => Relation::Contains(name, value),
            };
            Ok((rest, relation))
        }
        _ => {
            let (rest, operator) = comparison(rest)?;
            let (rest, value) = term(rest)?;
            Ok((rest, Relation::Column(name, operator, value)))
        }
    }
}

fn on_columns(input: Input<'_>) -> Parsed<'_, Relation> {
    let (input, columns) = columns(input)?;
    match input.kind() {
        Kind::Key(Keyword::In) => {
            let (input, values) = multi_in_values(input.advance())?;
            Ok((input, Relation::ColumnsIn(columns, values)))
        }
        kind if comparison_of(kind).is_some() => {
            let (rest, operator) = comparison(input)?;
            let (rest, value) = match rest.kind() {
                Kind::OpenParen => map(nested(tuple), Term::Tuple).parse(rest)?,
                Kind::Question | Kind::Colon => marker(rest)?,
                _ => return input.no_viable(1),
            };
            Ok((rest, Relation::Columns(columns, operator, value)))
        }
        _ => input.no_viable(0),
    }
}

/// `()`, a marker, tuples or markers for tuples.
fn multi_in_values(input: Input<'_>) -> Parsed<'_, InValues> {
    let inside = input.advance();
    match input.kind() {
        Kind::Question | Kind::Colon => return map(marker, InValues::Marker).parse(input),
        Kind::OpenParen => {}
        _ => return input.no_viable(0),
    }
    let comma = separator(Kind::Comma);
    let (inside, values) = match inside.kind() {
        Kind::CloseParen => (inside, Vec::new()),
        Kind::OpenParen => {
            let tuple = |input| map(nested(tuple), Term::Tuple).parse(input);
            separated_list1(comma, tuple).parse(inside)?
        }
        Kind::Question | Kind::Colon => separated_list1(comma, marker).parse(inside)?,
        _ => return input.no_viable(1),
    };
    let (inside, _) = token(Kind::CloseParen)(inside)?;
    Ok((inside, InValues::List(values)))
}

/// What stands behind `column IN`.
fn in_values(input: Input<'_>) -> Parsed<'_, InValues> {
    match input.kind() {
        Kind::Question | Kind::Colon => map(marker, InValues::Marker).parse(input),
        Kind::OpenParen if input.peek(1) == Kind::CloseParen => {
            Ok((input.advance().advance(), InValues::List(Vec::new())))
        }
        Kind::OpenParen if begins_term(input.peek(1)) => {
            let (input, values) = terms(input.advance())?;
            let (input, _) = token(Kind::CloseParen)(input)?;
            Ok((input, InValues::List(values)))
        }
        Kind::OpenParen => input.advance().mismatched(Kind::CloseParen),
        _ => input.no_viable(0),
    }
}

/// `CONTAINS [KEY] term`: whether it is about keys.
fn contained(input: Input<'_>) -> Parsed<'_, (bool, Term)> {
    let (mut input, _) = key(Keyword::Contains)(input)?;
    let of_key = input.at(Keyword::Key);
    if of_key {
        input = input.advance();
    }
    let (input, value) = term(input)?;
    Ok((input, (of_key, value)))
}

/// `(a, b)` as column names.
fn columns(input: Input<'_>) -> Parsed<'_, Vec<Name>> {
    let names = separated_list1(separator(Kind::Comma), column);
    delimited(token(Kind::OpenParen), names, token(Kind::CloseParen)).parse(input)
}

fn comparison(input: Input<'_>) -> Parsed<'_, Comparison> {
    match comparison_of(input.kind()) {
        Some(operator) => Ok((input.advance(), operator)),
        None => input.no_viable(0),
    }
}

fn comparison_of(kind: Kind) -> Option<Comparison> {
    Some(match kind {
        Kind::Equal => Comparison::Equal,
        Kind::NotEqual => Comparison::NotEqual,
        Kind::Less => Comparison::Less,
        Kind::LessOrEqual => Comparison::LessOrEqual,
        Kind::Greater => Comparison::Greater,
        Kind::GreaterOrEqual => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

/// Whether a token behind a column begins a relation other than a comparison.
fn begins_test(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::OpenBracket => true,
        Kind::Key(keyword) => matches!(keyword, Like | Is | In | Contains),
        _ => false,
    }
}

/// What stands behind `IF` in `UPDATE` and `DELETE`; nothing if there is no `IF`.
pub(super) fn conditions(input: Input<'_>) -> Parsed<'_, Conditions> {
    if !input.at(Keyword::If) {
        return Ok((input, Conditions::None));
    }
    let input = input.advance();
    // EXISTS may be a column's name too.
    if input.at(Keyword::Exists) && ends_modification(input.peek(1)) {
        return Ok((input.advance(), Conditions::Exists));
    }
    let all = separated_list1(separator(Kind::Key(Keyword::And)), condition);
    map(all, Conditions::If).parse(input)
}

/// Whether a token may stand behind a whole `UPDATE` or `DELETE`.
fn ends_modification(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof | Kind::Semicolon => true,
        Kind::Key(keyword) => matches!(keyword, Apply | Insert | Update | Delete),
        _ => false,
    }
}

fn condition(input: Input<'_>) -> Parsed<'_, Condition> {
    let (input, name) = column(input)?;
    let (input, subject) = match input.kind() {
        Kind::OpenBracket => {
            let (input, element) = term(input.advance())?;
            let (input, _) = token(Kind::CloseBracket)(input)?;
            (input, ConditionSubject::Element(name, element))
        }
        Kind::Dot => {
            let (input, field) = identifier(input.advance())?;
            (input, ConditionSubject::Field(name, field))
        }
        _ => (input, ConditionSubject::Column(name)),
    };
    let (input, test) = match input.kind() {
        Kind::Key(Keyword::In) => map(in_values, ConditionTest::In).parse(input.advance())?,
        Kind::Key(Keyword::Contains) if matches!(subject, ConditionSubject::Column(_)) => {
            let (input, (of_key, value)) = contained(input)?;
            let test = match of_key {
                true => ConditionTest::ContainsKey(value),
                false => ConditionTest::Contains(value),
            };
            (input, test)
        }
        _ => {
            let (input, operator) = comparison(input)?;
            let (input, value) = term(input)?;
            (input, ConditionTest::Compare(operator, value))
        }
    };
    Ok((input, Condition { subject, test }))
}
