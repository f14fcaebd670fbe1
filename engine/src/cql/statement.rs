//! Which statement a text is, by its first words.

use nom::Parser;
use nom::combinator::map;

use super::access;
use super::ast::{Access, Ddl, Statement};
use super::ddl;
use super::describe::describe;
use super::functions;
use super::indexes;
use super::input::{Input, Parsed, token};
use super::keywords::Keyword;
use super::modify::{batch, delete, insert, update};
use super::names::{keyspace, table};
use super::select::select;
use super::tables;
use super::token::Kind;
use super::unsupported;
use super::views;

/// A statement, perhaps with semicolons behind it, and nothing else.
pub(super) fn query(input: Input<'_>) -> Parsed<'_, Statement> {
    let (mut input, statement) = statement(input)?;
    while input.kind() == Kind::Semicolon {
        input = input.advance();
    }
    let (input, _) = token(Kind::Eof)(input)?;
    let statement = match input.unsupported {
        Some(what) => Statement::Unsupported(what),
        None => statement,
    };
    Ok((input, statement))
}

fn statement(input: Input<'_>) -> Parsed<'_, Statement> {
    let Kind::Key(keyword) = input.kind() else {
        return input.no_viable(0);
    };
    match keyword {
        Keyword::Select => map(select, |select| Statement::Select(Box::new(select))).parse(input),
        Keyword::Insert => map(insert, |insert| Statement::Insert(Box::new(insert))).parse(input),
        Keyword::Update => map(update, |update| Statement::Update(Box::new(update))).parse(input),
        Keyword::Delete => map(delete, |delete| Statement::Delete(Box::new(delete))).parse(input),
        Keyword::Begin => map(batch, |batch| Statement::Batch(Box::new(batch))).parse(input),
        Keyword::Use => map(keyspace, Statement::Use).parse(input.advance()),
        Keyword::Truncate => truncate(input.advance()),
        Keyword::Create => create(input),
        Keyword::Alter => alter(input),
        Keyword::Drop => drop(input),
        Keyword::Describe | Keyword::Desc => map(describe, Statement::Describe).parse(input),
        Keyword::Grant => map(access::grant, permit).parse(input),
        Keyword::Revoke => map(access::revoke, permit).parse(input),
        Keyword::List => map(access::list, permit).parse(input),
        Keyword::Add => map(access::add_identity, permit).parse(input.advance()),
        _ => input.no_viable(0),
    }
}

fn truncate(input: Input<'_>) -> Parsed<'_, Statement> {
    let input = match input.kind() {
        Kind::Key(Keyword::Table) => input.advance(),
        _ => input,
    };
    map(table, Statement::Truncate).parse(input)
}

fn ddl(change: Ddl) -> Statement {
    Statement::Ddl(Box::new(change))
}

fn permit(statement: Access) -> Statement {
    Statement::Access(Box::new(statement))
}

fn create(input: Input<'_>) -> Parsed<'_, Statement> {
    use Keyword::*;
    let Kind::Key(what) = input.peek(1) else {
        return input.no_viable(1);
    };
    let rest = input.advance().advance();
    match what {
        Keyspace => map(ddl::create_keyspace, ddl).parse(rest),
        Table => map(tables::create_table, ddl).parse(rest),
        Type => map(ddl::create_type, ddl).parse(rest),
        Index => map(|input| indexes::create_index(input, false), ddl).parse(rest),
        Custom => {
            let (rest, _) = super::input::key(Index)(rest)?;
            map(|input| indexes::create_index(input, true), ddl).parse(rest)
        }
        Materialized => map(views::create_view, ddl).parse(input.advance()),
        Trigger => map(unsupported::create_trigger, Statement::Unsupported).parse(rest),
        Function => map(|rest| functions::create_function(rest, false), ddl).parse(rest),
        Aggregate => map(|rest| functions::create_aggregate(rest, false), ddl).parse(rest),
        Or if input.peek(2) != Kind::Key(Replace) => input.no_viable(2),
        Or => create_or_replace(input),
        Role => map(access::create_role, permit).parse(rest),
        User => map(access::create_user, permit).parse(rest),
        _ => input.no_viable(1),
    }
}

fn create_or_replace(input: Input<'_>) -> Parsed<'_, Statement> {
    let rest = input.advance().advance().advance().advance();
    match input.peek(3) {
        Kind::Key(Keyword::Function) => {
            map(|rest| functions::create_function(rest, true), ddl).parse(rest)
        }
        Kind::Key(Keyword::Aggregate) => {
            map(|rest| functions::create_aggregate(rest, true), ddl).parse(rest)
        }
        _ => input.no_viable(3),
    }
}

fn alter(input: Input<'_>) -> Parsed<'_, Statement> {
    use Keyword::*;
    let Kind::Key(what) = input.peek(1) else {
        return input.no_viable(1);
    };
    let rest = input.advance().advance();
    match what {
        Keyspace => map(ddl::alter_keyspace, ddl).parse(rest),
        Table => map(tables::alter_table, ddl).parse(rest),
        Type => map(ddl::alter_type, ddl).parse(rest),
        Materialized => map(views::alter_view, ddl).parse(input.advance()),
        Role => map(access::alter_role, permit).parse(rest),
        User => map(access::alter_user, permit).parse(rest),
        _ => input.no_viable(1),
    }
}

fn drop(input: Input<'_>) -> Parsed<'_, Statement> {
    use Keyword::*;
    let Kind::Key(what) = input.peek(1) else {
        return input.no_viable(1);
    };
    let rest = input.advance().advance();
    match what {
        Keyspace => map(ddl::drop_keyspace, ddl).parse(rest),
        Table => map(ddl::drop_table, ddl).parse(rest),
        Type => map(ddl::drop_type, ddl).parse(rest),
        Index => map(indexes::drop_index, ddl).parse(rest),
        Materialized => map(views::drop_view, ddl).parse(input.advance()),
        Trigger => map(unsupported::drop_trigger, Statement::Unsupported).parse(rest),
        Function => map(map(functions::drop_function, Ddl::DropFunction), ddl).parse(rest),
        Aggregate => map(map(functions::drop_function, Ddl::DropAggregate), ddl).parse(rest),
        Role => map(access::drop_role, permit).parse(rest),
        User => map(access::drop_user, permit).parse(rest),
        Identity => map(access::drop_identity, permit).parse(rest),
        _ => input.no_viable(1),
    }
}
