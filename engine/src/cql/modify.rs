//! `INSERT`, `UPDATE`, `DELETE` and `BATCH`.

use nom::Parser;
use nom::combinator::map;
use nom::multi::separated_list1;
use nom::sequence::delimited;

use super::assignments::assignments;
use super::ast::{
    Batch, BatchKind, Delete, DeleteTarget, Insert, InsertSource, Statement, Term, Update, Using,
};
use super::input::{Input, Parsed, clause, flag, key, keys, separator, token};
use super::keywords::Keyword;
use super::names::{column, identifier, table};
use super::relations::{conditions, relations};
use super::terms::{integer, marker, term, terms};
use super::token::Kind;

/// A whole `INSERT`.
pub(super) fn insert(input: Input<'_>) -> Parsed<'_, Insert> {
    let (input, ()) = keys(&[Keyword::Insert, Keyword::Into])(input)?;
    let (input, table) = table(input)?;
    let (input, source) = match input.kind() {
        Kind::OpenParen => values(input)?,
        Kind::Key(Keyword::Json) => json(input.advance())?,
        _ => return input.no_viable(0),
    };
    let (input, if_not_exists) = flag(&[Keyword::If, Keyword::Not, Keyword::Exists])(input)?;
    let (input, using) = using(input)?;
    let insert = Insert {
        table,
        source,
        if_not_exists,
        using,
    };
    Ok((input, insert))
}

fn values(input: Input<'_>) -> Parsed<'_, InsertSource> {
    let names = separated_list1(separator(Kind::Comma), column);
    let (open, close) = (token(Kind::OpenParen), token(Kind::CloseParen));
    let (input, names) = delimited(&open, names, &close).parse(input)?;
    let (input, _) = key(Keyword::Values)(input)?;
    let (input, values) = delimited(&open, terms, &close).parse(input)?;
    Ok((input, InsertSource::Values(names, values)))
}

fn json(input: Input<'_>) -> Parsed<'_, InsertSource> {
    let (input, value) = match input.kind() {
        Kind::String => map(super::terms::constant, Term::Literal).parse(input)?,
        _ => marker(input)?,
    };
    let (input, default_unset) = clause(Keyword::Default, |input| match input.kind() {
        Kind::Key(keyword @ (Keyword::Null | Keyword::Unset)) => {
            Ok((input.advance(), keyword == Keyword::Unset))
        }
        _ => input.no_viable(0),
    })(input)?;
    let source = InsertSource::Json {
        document: value,
        default_unset: default_unset == Some(true),
    };
    Ok((input, source))
}

/// `USING TIMESTAMP … AND TTL …`; of the same entry given twice the last counts.
fn using(input: Input<'_>) -> Parsed<'_, Using> {
    let mut using = Using::default();
    if !input.at(Keyword::Using) {
        return Ok((input, using));
    }
    let mut input = input.advance();
    loop {
        let (rest, value) = match input.kind() {
            Kind::Key(Keyword::Timestamp | Keyword::Ttl) => integer(input.advance())?,
            _ => return input.no_viable(0),
        };
        match input.at(Keyword::Ttl) {
            true => using.ttl = Some(value),
            false => using.timestamp = Some(value),
        }
        if !rest.at(Keyword::And) {
            return Ok((rest, using));
        }
        input = rest.advance();
    }
}

/// A whole `UPDATE`.
pub(super) fn update(input: Input<'_>) -> Parsed<'_, Update> {
    let (input, _) = key(Keyword::Update)(input)?;
    let (input, table) = table(input)?;
    let (input, using) = using(input)?;
    let (input, _) = key(Keyword::Set)(input)?;
    let (input, assignments) = assignments(input)?;
    let (input, _) = key(Keyword::Where)(input)?;
    let (input, restrictions) = relations(input)?;
    let (input, condition) = conditions(input)?;
    let update = Update {
        table,
        using,
        assignments,
        restrictions,
        condition,
    };
    Ok((input, update))
}

/// A whole `DELETE`.
pub(super) fn delete(input: Input<'_>) -> Parsed<'_, Delete> {
    let (input, _) = key(Keyword::Delete)(input)?;
    let (input, targets) = match input.kind() {
        kind if kind.is_column() => separated_list1(separator(Kind::Comma), target).parse(input)?,
        _ => (input, Vec::new()),
    };
    let (input, _) = key(Keyword::From)(input)?;
    let (input, table) = table(input)?;
    let (input, timestamp) = clause(Keyword::Using, |input| {
        let (input, _) = key(Keyword::Timestamp)(input)?;
        integer(input)
    })(input)?;
    let (input, _) = key(Keyword::Where)(input)?;
    let (input, restrictions) = relations(input)?;
    let (input, condition) = conditions(input)?;
    let delete = Delete {
        targets,
        table,
        using: Using {
            timestamp,
            ttl: None,
        },
        restrictions,
        condition,
    };
    Ok((input, delete))
}

fn target(input: Input<'_>) -> Parsed<'_, DeleteTarget> {
    let next = match input.kind().is_column() {
        true => input.peek(1),
        false => return input.no_viable(0),
    };
    let (rest, name) = column(input)?;
    match next {
        Kind::OpenBracket => {
            let (rest, element) = term(rest.advance())?;
            let (rest, _) = token(Kind::CloseBracket)(rest)?;
            Ok((rest, DeleteTarget::Element(name, element)))
        }
        Kind::Dot => {
            let (rest, field) = identifier(rest.advance())?;
            Ok((rest, DeleteTarget::Field(name, field)))
        }
        Kind::Comma | Kind::Key(Keyword::From) => Ok((rest, DeleteTarget::Column(name))),
        _ => input.no_viable(1),
    }
}

/// A whole `BEGIN … APPLY BATCH`.
pub(super) fn batch(input: Input<'_>) -> Parsed<'_, Batch> {
    let (input, _) = key(Keyword::Begin)(input)?;
    let (input, kind) = match input.kind() {
        Kind::Key(Keyword::Unlogged) => (input.advance(), BatchKind::Unlogged),
        Kind::Key(Keyword::Counter) => (input.advance(), BatchKind::Counter),
        _ => (input, BatchKind::Logged),
    };
    let (input, _) = key(Keyword::Batch)(input)?;
    let (mut input, using) = using(input)?;
    let mut statements = Vec::new();
    loop {
        let (rest, statement) = match input.kind() {
            Kind::Key(Keyword::Insert) => {
                map(insert, |insert| Statement::Insert(Box::new(insert))).parse(input)?
            }
            Kind::Key(Keyword::Update) => {
                map(update, |update| Statement::Update(Box::new(update))).parse(input)?
            }
            Kind::Key(Keyword::Delete) => {
                map(delete, |delete| Statement::Delete(Box::new(delete))).parse(input)?
            }
            _ => break,
        };
        statements.push(statement);
        input = match rest.kind() {
            Kind::Semicolon => rest.advance(),
            _ => rest,
        };
    }
    let (input, ()) = keys(&[Keyword::Apply, Keyword::Batch])(input)?;
    let batch = Batch {
        kind,
        using,
        statements,
    };
    Ok((input, batch))
}
