//! Which statement a text is, by its first words.

use nom::Parser;
use nom::combinator::map;

use super::access::{self, RoleCondition};
use super::ast::{Ddl, Statement};
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
        Keyword::Grant => map(access::grant, Statement::Unsupported).parse(input),
        Keyword::Revoke => map(access::revoke, Statement::Unsupported).parse(input),
        Keyword::List => map(access::list, Statement::Unsupported).parse(input),
        Keyword::Add => map(access::add_identity, Statement::Unsupported).parse(input.advance()),
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

fn refused(name: &'static str) -> impl Fn(()) -> Statement {
    move |()| Statement::Unsupported(name)
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
        Role => {
            let (rest, ()) = access::role_with_options(rest, RoleCondition::NotExists)?;
            Ok((rest, Statement::Unsupported("CREATE ROLE")))
        }
        User => {
            let (rest, ()) = access::user(rest, RoleCondition::NotExists)?;
            Ok((rest, Statement::Unsupported("CREATE USER")))
        }
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
        Role => {
            let (rest, ()) = access::role_with_options(rest, RoleCondition::Exists)?;
            Ok((rest, Statement::Unsupported("ALTER ROLE")))
        }
        User => {
            let (rest, ()) = access::user(rest, RoleCondition::Exists)?;
            Ok((rest, Statement::Unsupported("ALTER USER")))
        }
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
        Role => map(access::drop_role, refused("DROP ROLE")).parse(rest),
        User => map(access::drop_user, refused("DROP USER")).parse(rest),
        Identity => map(access::drop_identity, Statement::Unsupported).parse(rest),
        _ => input.no_viable(1),
    }
}
