//! Statements on roles, users, permissions and identities: parsed, and refused as a whole.

use nom::Parser;
use nom::multi::separated_list1;
use nom::sequence::delimited;

use super::collections::map_literal;
use super::ddl::{IF_EXISTS, IF_NOT_EXISTS};
use super::functions::argument_types;
use super::input::{Input, Parsed, clause, flag, key, keys, separator, token};
use super::keywords::Keyword;
use super::names::{function, keyspace, table};
use super::token::Kind;

/// `GRANT` of permissions or a role.
pub(super) fn grant(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, ()) = granted(input, Keyword::To)?;
    Ok((input, "GRANT"))
}

/// `REVOKE` of permissions or a role.
pub(super) fn revoke(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, ()) = granted(input, Keyword::From)?;
    Ok((input, "REVOKE"))
}

/// From `GRANT` or `REVOKE` on.
fn granted(input: Input<'_>, preposition: Keyword) -> Parsed<'_, ()> {
    let inside = input.advance();
    let kind = inside.kind();
    let rest = match is_permission(kind) && !names_role(inside) {
        true => {
            if kind.is_identifier() && !follows_permission(kind, inside.peek(1)) {
                return input.no_viable(2);
            }
            let (rest, ()) = permissions(inside)?;
            let (rest, _) = key(Keyword::On)(rest)?;
            resource(rest)?.0
        }
        false if kind.is_identifier() || matches!(kind, Kind::String | Kind::Question) => {
            role(inside)?.0
        }
        false => return input.no_viable(1),
    };
    let (rest, _) = key(preposition)(rest)?;
    role(rest)
}

/// Whether the next token, which could name a permission, names a role.
fn names_role(input: Input<'_>) -> bool {
    let preposition =
        Kind::Key(Keyword::To) == input.peek(1) || Kind::Key(Keyword::From) == input.peek(1);
    input.kind().is_identifier() && preposition
}

fn follows_permission(permission: Kind, kind: Kind) -> bool {
    use Keyword::*;
    match permission {
        Kind::Key(All) => matches!(kind, Kind::Key(Permissions | On)),
        _ => kind == Kind::Comma || matches!(kind, Kind::Key(Permission | On)),
    }
}

/// Whether a token names a permission, or all of them.
fn is_permission(kind: Kind) -> bool {
    use Keyword::*;
    matches!(
        kind,
        Kind::Key(
            Create
                | Alter
                | Drop
                | Select
                | Modify
                | Authorize
                | Describe
                | Execute
                | All
                | Unmask
                | SelectMasked
        )
    )
}

fn permissions(input: Input<'_>) -> Parsed<'_, ()> {
    if input.at(Keyword::All) {
        let (input, _) = flag(&[Keyword::Permissions])(input.advance())?;
        return Ok((input, ()));
    }
    let (input, _) = separated_list1(separator(Kind::Comma), permission).parse(input)?;
    Ok((input, ()))
}

fn permission(input: Input<'_>) -> Parsed<'_, bool> {
    if !is_permission(input.kind()) || input.at(Keyword::All) {
        return input.no_viable(0);
    }
    flag(&[Keyword::Permission])(input.advance())
}

fn resource(input: Input<'_>) -> Parsed<'_, ()> {
    use Keyword::*;
    match (input.kind(), input.peek(1)) {
        (Kind::Key(All), Kind::Key(Keyspaces | Roles | Mbeans)) => {
            Ok((input.advance().advance(), ()))
        }
        (Kind::Key(All), Kind::Key(Tables)) => {
            let (input, ()) = keys(&[All, Tables, In, Keyspace])(input)?;
            let (input, _) = keyspace(input)?;
            Ok((input, ()))
        }
        (Kind::Key(All), Kind::Key(Functions)) => {
            let (input, is_limited) = flag(&[In, Keyspace])(input.advance().advance())?;
            if !is_limited {
                return Ok((input, ()));
            }
            let (input, _) = keyspace(input)?;
            Ok((input, ()))
        }
        (Kind::Key(Keyspace), _) => {
            let (input, _) = keyspace(input.advance())?;
            Ok((input, ()))
        }
        (Kind::Key(Role), next) if next.is_identifier() || next == Kind::String => {
            role(input.advance())
        }
        (Kind::Key(Mbean | Mbeans), Kind::String) => Ok((input.advance().advance(), ())),
        (Kind::Key(Function), next) if next.is_function() => {
            let (input, _) = function(input.advance())?;
            let (input, _) = argument_types(input)?;
            Ok((input, ()))
        }
        (Kind::Key(Table), _) => {
            let (input, _) = table(input.advance())?;
            Ok((input, ()))
        }
        _ => {
            let (input, _) = table(input)?;
            Ok((input, ()))
        }
    }
}

/// A role's name.
fn role(input: Input<'_>) -> Parsed<'_, ()> {
    match input.kind() {
        Kind::String => Ok((input.advance(), ())),
        Kind::Question => input.refuse("Bind variables cannot be used for role names"),
        kind if kind.is_identifier() => Ok((input.advance(), ())),
        _ => input.no_viable(0),
    }
}

/// `LIST ROLES`, `LIST USERS` and `LIST … PERMISSIONS`.
pub(super) fn list(input: Input<'_>) -> Parsed<'_, &'static str> {
    let inside = input.advance();
    let (rest, name) = match inside.kind() {
        Kind::Key(Keyword::Users) => return Ok((inside.advance(), "LIST USERS")),
        Kind::Key(Keyword::Roles) => (inside.advance(), "LIST ROLES"),
        kind if is_permission(kind) => {
            let (rest, ()) = permissions(inside)?;
            let (rest, _) = clause(Keyword::On, resource)(rest)?;
            (rest, "LIST PERMISSIONS")
        }
        _ => return input.no_viable(1),
    };
    let (rest, _) = clause(Keyword::Of, role)(rest)?;
    let (rest, _) = flag(&[Keyword::Norecursive])(rest)?;
    Ok((rest, name))
}

/// `CREATE ROLE` and `ALTER ROLE`, from behind those words.
pub(super) fn role_with_options<'a>(input: Input<'a>, condition: RoleCondition) -> Parsed<'a, ()> {
    let (input, _) = condition.parse(input)?;
    let (input, ()) = role(input)?;
    let options = separated_list1(separator(Kind::Key(Keyword::And)), option);
    let mut options = options;
    let (input, _) = clause(Keyword::With, |input| options.parse(input))(input)?;
    Ok((input, ()))
}

/// What may stand before the name.
#[derive(Clone, Copy)]
pub(super) enum RoleCondition {
    /// `IF NOT EXISTS`
    NotExists,
    /// `IF EXISTS`
    Exists,
}

impl RoleCondition {
    fn parse(self, input: Input<'_>) -> Parsed<'_, bool> {
        match self {
            Self::NotExists => flag(IF_NOT_EXISTS)(input),
            Self::Exists => flag(IF_EXISTS)(input),
        }
    }
}

/// `DROP ROLE`, from behind those words.
pub(super) fn drop_role(input: Input<'_>) -> Parsed<'_, ()> {
    let (input, _) = flag(IF_EXISTS)(input)?;
    role(input)
}

fn option(input: Input<'_>) -> Parsed<'_, ()> {
    use Keyword::*;
    let equals = token(Kind::Equal);
    let rest = input.advance();
    match input.kind() {
        Kind::Key(Password) => {
            let (rest, _) = equals(rest)?;
            let (rest, _) = token(Kind::String)(rest)?;
            Ok((rest, ()))
        }
        Kind::Key(Hashed) => {
            let (rest, _) = key(Password)(rest)?;
            let (rest, _) = equals(rest)?;
            let (rest, _) = token(Kind::String)(rest)?;
            Ok((rest, ()))
        }
        Kind::Key(Options) => {
            let (rest, _) = equals(rest)?;
            let (rest, _) = map_literal(rest)?;
            Ok((rest, ()))
        }
        Kind::Key(Superuser | Login) => {
            let (rest, _) = equals(rest)?;
            let (rest, _) = token(Kind::Boolean)(rest)?;
            Ok((rest, ()))
        }
        Kind::Key(Access) => {
            let of = match rest.kind() {
                Kind::Key(From) => Cidrs,
                Kind::Key(To) => Datacenters,
                _ => return input.no_viable(1),
            };
            let rest = rest.advance();
            if !rest.at(All) && !rest.at(of) {
                return input.no_viable(2);
            }
            if rest.at(All) {
                let (rest, _) = key(of)(rest.advance())?;
                return Ok((rest, ()));
            }
            let (rest, _) = key(of)(rest)?;
            let names = separated_list1(separator(Kind::Comma), token(Kind::String));
            let (open, close) = (token(Kind::OpenBrace), token(Kind::CloseBrace));
            let (rest, _) = delimited(open, names, close).parse(rest)?;
            Ok((rest, ()))
        }
        _ => input.no_viable(0),
    }
}

/// `CREATE USER` and `ALTER USER`, from behind those words.
pub(super) fn user<'a>(input: Input<'a>, condition: RoleCondition) -> Parsed<'a, ()> {
    let (input, _) = condition.parse(input)?;
    let (input, ()) = user_name(input)?;
    let (input, _) = clause(Keyword::With, |input| {
        if !input.at(Keyword::Hashed) && !input.at(Keyword::Password) {
            return input.no_viable(0);
        }
        let (input, _) = flag(&[Keyword::Hashed])(input)?;
        let (input, _) = key(Keyword::Password)(input)?;
        token(Kind::String)(input)
    })(input)?;
    match input.kind() {
        Kind::Key(Keyword::Superuser | Keyword::Nosuperuser) => Ok((input.advance(), ())),
        _ => Ok((input, ())),
    }
}

/// `DROP USER`, from behind those words.
pub(super) fn drop_user(input: Input<'_>) -> Parsed<'_, ()> {
    let (input, _) = flag(IF_EXISTS)(input)?;
    user_name(input)
}

fn user_name(input: Input<'_>) -> Parsed<'_, ()> {
    match input.kind() {
        Kind::Ident | Kind::String => Ok((input.advance(), ())),
        Kind::QuotedName => input.refuse(
            "Quoted strings are are not supported for user names and USER is deprecated, please use ROLE",
        ),
        _ => input.no_viable(0),
    }
}

/// `ADD IDENTITY`, from behind the first word.
pub(super) fn add_identity(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, _) = key(Keyword::Identity)(input)?;
    let (input, _) = flag(IF_NOT_EXISTS)(input)?;
    let (input, ()) = identity(input)?;
    let (input, ()) = keys(&[Keyword::To, Keyword::Role])(input)?;
    let (input, ()) = identity(input)?;
    Ok((input, "ADD IDENTITY"))
}

/// `DROP IDENTITY`, from behind those words.
pub(super) fn drop_identity(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, _) = flag(IF_EXISTS)(input)?;
    let (input, ()) = identity(input)?;
    Ok((input, "DROP IDENTITY"))
}

fn identity(input: Input<'_>) -> Parsed<'_, ()> {
    match input.kind() {
        Kind::Ident | Kind::String => Ok((input.advance(), ())),
        Kind::QuotedName => input.refuse("Quoted strings are are not supported for identity"),
        _ => input.no_viable(0),
    }
}
