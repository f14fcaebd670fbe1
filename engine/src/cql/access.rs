//! Statements on roles, users, permissions and identities.

use std::sync::Arc;

use nom::Parser;
use nom::multi::separated_list1;
use nom::sequence::delimited;

use super::ast::{Access, Name, ResourceName, RoleOptions};
use super::collections::map_literal;
use super::ddl::{IF_EXISTS, IF_NOT_EXISTS};
use super::functions::argument_types;
use super::input::{Input, Parsed, clause, flag, key, keys, separator, token};
use super::keywords::Keyword;
use super::names::{folded, function, keyspace, table, unquote};
use super::token::Kind;
use crate::access::{Permission, PermissionSet};

/// `GRANT` of permissions or a role.
pub(super) fn grant(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, (granted, to)) = granted(input, Keyword::To)?;
    let statement = match granted {
        Granted::Role(role) => Access::GrantRole { role, to },
        Granted::Permissions(permissions, on) => Access::Grant {
            permissions,
            on,
            to,
        },
    };
    Ok((input, statement))
}

/// `REVOKE` of permissions or a role.
pub(super) fn revoke(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, (granted, from)) = granted(input, Keyword::From)?;
    let statement = match granted {
        Granted::Role(role) => Access::RevokeRole { role, from },
        Granted::Permissions(permissions, on) => Access::Revoke {
            permissions,
            on,
            from,
        },
    };
    Ok((input, statement))
}

/// What `GRANT` and `REVOKE` are about.
enum Granted {
    Role(Name),
    Permissions(PermissionSet, ResourceName),
}

/// From `GRANT` or `REVOKE` on: what, and to or from whom.
fn granted(input: Input<'_>, preposition: Keyword) -> Parsed<'_, (Granted, Name)> {
    let inside = input.advance();
    let kind = inside.kind();
    let (rest, granted) = match is_permission(kind) && !names_role(inside) {
        true => {
            if kind.is_identifier() && !follows_permission(kind, inside.peek(1)) {
                return input.no_viable(2);
            }
            let (rest, permissions) = permissions(inside)?;
            let (rest, _) = key(Keyword::On)(rest)?;
            let (rest, on) = resource(rest)?;
            let resource = on.unresolved();
            let applicable = permissions.and(resource.applicable());
            if applicable.is_empty() {
                return rest.refuse(format!(
                    "Resource type {} does not support any of the requested permissions",
                    resource.class()
                ));
            }
            (rest, Granted::Permissions(applicable, on))
        }
        false if kind.is_identifier() || matches!(kind, Kind::String | Kind::Question) => {
            let (rest, role) = role(inside)?;
            (rest, Granted::Role(role))
        }
        false => return input.no_viable(1),
    };
    let (rest, _) = key(preposition)(rest)?;
    let (rest, role) = role(rest)?;
    Ok((rest, (granted, role)))
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
    kind == Kind::Key(Keyword::All) || named_permission(kind).is_some()
}

fn named_permission(kind: Kind) -> Option<Permission> {
    Some(match kind {
        Kind::Key(Keyword::Create) => Permission::Create,
        Kind::Key(Keyword::Alter) => Permission::Alter,
        Kind::Key(Keyword::Drop) => Permission::Drop,
        Kind::Key(Keyword::Select) => Permission::Select,
        Kind::Key(Keyword::Modify) => Permission::Modify,
        Kind::Key(Keyword::Authorize) => Permission::Authorize,
        Kind::Key(Keyword::Describe) => Permission::Describe,
        Kind::Key(Keyword::Execute) => Permission::Execute,
        Kind::Key(Keyword::Unmask) => Permission::Unmask,
        Kind::Key(Keyword::SelectMasked) => Permission::SelectMasked,
        _ => return None,
    })
}

fn permissions(input: Input<'_>) -> Parsed<'_, PermissionSet> {
    if input.at(Keyword::All) {
        let (input, _) = flag(&[Keyword::Permissions])(input.advance())?;
        return Ok((input, PermissionSet::ALL));
    }
    let (input, named) = separated_list1(separator(Kind::Comma), permission).parse(input)?;
    Ok((input, named.into_iter().collect()))
}

fn permission(input: Input<'_>) -> Parsed<'_, Permission> {
    let Some(permission) = named_permission(input.kind()) else {
        return input.no_viable(0);
    };
    let (input, _) = flag(&[Keyword::Permission])(input.advance())?;
    Ok((input, permission))
}

fn resource(input: Input<'_>) -> Parsed<'_, ResourceName> {
    use Keyword::*;
    let behind = input.advance().advance();
    match (input.kind(), input.peek(1)) {
        (Kind::Key(All), Kind::Key(Keyspaces)) => Ok((behind, ResourceName::AllKeyspaces)),
        (Kind::Key(All), Kind::Key(Roles)) => Ok((behind, ResourceName::AllRoles)),
        (Kind::Key(All), Kind::Key(Mbeans)) => Ok((behind, ResourceName::AllMbeans)),
        (Kind::Key(All), Kind::Key(Tables)) => {
            let (input, ()) = keys(&[All, Tables, In, Keyspace])(input)?;
            let (input, name) = keyspace(input)?;
            Ok((input, ResourceName::AllTables(name)))
        }
        (Kind::Key(All), Kind::Key(Functions)) => {
            let (input, is_limited) = flag(&[In, Keyspace])(behind)?;
            if !is_limited {
                return Ok((input, ResourceName::AllFunctions));
            }
            let (input, name) = keyspace(input)?;
            Ok((input, ResourceName::FunctionsOf(name)))
        }
        (Kind::Key(Keyspace), _) => {
            let (input, name) = keyspace(input.advance())?;
            Ok((input, ResourceName::Keyspace(name)))
        }
        (Kind::Key(Role), next) if next.is_identifier() || next == Kind::String => {
            let (input, name) = role(input.advance())?;
            Ok((input, ResourceName::Role(name)))
        }
        (Kind::Key(Mbean | Mbeans), Kind::String) => mbean(input.advance()),
        (Kind::Key(Function), next) if next.is_function() => {
            let (input, name) = function(input.advance())?;
            let (input, arguments) = argument_types(input)?;
            Ok((input, ResourceName::Function(name, arguments)))
        }
        (Kind::Key(Table), _) => {
            let (input, name) = table(input.advance())?;
            Ok((input, ResourceName::Table(name)))
        }
        _ => {
            let (input, name) = table(input)?;
            Ok((input, ResourceName::Table(name)))
        }
    }
}

/// The name of an MBean: a domain, and properties or a pattern.
fn mbean(input: Input<'_>) -> Parsed<'_, ResourceName> {
    let name = text(input);
    let is_name = name
        .split_once(':')
        .is_some_and(|(_, properties)| properties.contains(['=', '*']));
    match is_name {
        true => Ok((input.advance(), ResourceName::Mbean(name))),
        false => input.refuse(format!("{name} is not a valid JMX object name")),
    }
}

/// What stands in a string.
fn text(input: Input<'_>) -> Arc<str> {
    Arc::from(&*unquote(input.text()))
}

fn string(input: Input<'_>) -> Parsed<'_, Arc<str>> {
    let (rest, _) = token(Kind::String)(input)?;
    Ok((rest, text(input)))
}

/// A role's name: in lower case, unless it is in quotes of some kind.
fn role(input: Input<'_>) -> Parsed<'_, Name> {
    match input.kind() {
        Kind::String => Ok((input.advance(), text(input))),
        Kind::Question => input.refuse("Bind variables cannot be used for role names"),
        kind if kind.is_identifier() => Ok((input.advance(), folded(input))),
        _ => input.no_viable(0),
    }
}

/// `LIST ROLES`, `LIST USERS` and `LIST … PERMISSIONS`.
pub(super) fn list(input: Input<'_>) -> Parsed<'_, Access> {
    let inside = input.advance();
    match inside.kind() {
        Kind::Key(Keyword::Users) => Ok((inside.advance(), Access::ListUsers)),
        Kind::Key(Keyword::Roles) => {
            let (rest, of) = clause(Keyword::Of, role)(inside.advance())?;
            let (rest, is_flat) = flag(&[Keyword::Norecursive])(rest)?;
            let recursive = !is_flat;
            Ok((rest, Access::ListRoles { of, recursive }))
        }
        kind if is_permission(kind) => {
            let (rest, permissions) = permissions(inside)?;
            let (rest, on) = clause(Keyword::On, resource)(rest)?;
            let (rest, of) = clause(Keyword::Of, role)(rest)?;
            let (rest, is_flat) = flag(&[Keyword::Norecursive])(rest)?;
            let statement = Access::ListPermissions {
                permissions,
                on,
                of,
                recursive: !is_flat,
            };
            Ok((rest, statement))
        }
        _ => input.no_viable(1),
    }
}

/// `CREATE ROLE`, from behind those words.
pub(super) fn create_role(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, name) = role(input)?;
    let (input, mut options) = role_options(input)?;
    options.login.get_or_insert(false);
    options.superuser.get_or_insert(false);
    let statement = Access::CreateRole {
        name,
        if_not_exists,
        options,
    };
    Ok((input, statement))
}

/// `ALTER ROLE`, from behind those words.
pub(super) fn alter_role(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = role(input)?;
    let (input, options) = role_options(input)?;
    let statement = Access::AlterRole {
        name,
        if_exists,
        options,
    };
    Ok((input, statement))
}

/// `DROP ROLE`, from behind those words.
pub(super) fn drop_role(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = role(input)?;
    Ok((input, Access::DropRole { name, if_exists }))
}

/// `WITH a AND b`, if it stands here.
fn role_options(input: Input<'_>) -> Parsed<'_, RoleOptions> {
    let mut options = RoleOptions::default();
    if !input.at(Keyword::With) {
        return Ok((input, options));
    }
    let mut rest = option(input.advance(), &mut options)?;
    while rest.at(Keyword::And) {
        rest = option(rest.advance(), &mut options)?;
    }
    if options.password.is_some() && options.hashed_password.is_some() {
        return rest.refuse("Options 'password' and 'hashed password' are mutually exclusive");
    }
    Ok((rest, options))
}

type Rest<'a> = Result<Input<'a>, nom::Err<super::error::Fault>>;

fn option<'a>(input: Input<'a>, options: &mut RoleOptions) -> Rest<'a> {
    use Keyword::*;
    let equals = token(Kind::Equal);
    let rest = input.advance();
    match input.kind() {
        Kind::Key(Password) => {
            let (rest, _) = equals(rest)?;
            let (rest, password) = string(rest)?;
            set(rest, "PASSWORD", &mut options.password, password)
        }
        Kind::Key(Hashed) => {
            let (rest, _) = key(Password)(rest)?;
            let (rest, _) = equals(rest)?;
            let (rest, hash) = string(rest)?;
            set(rest, "HASHED_PASSWORD", &mut options.hashed_password, hash)
        }
        Kind::Key(Options) => {
            let (rest, _) = equals(rest)?;
            let (rest, _) = map_literal(rest)?;
            let mut known = options.custom.then_some(true);
            let rest = set(rest, "OPTIONS", &mut known, true)?;
            options.custom = true;
            Ok(rest)
        }
        Kind::Key(Superuser) => {
            let (rest, _) = equals(rest)?;
            let (rest, value) = boolean(rest)?;
            set(rest, "SUPERUSER", &mut options.superuser, value)
        }
        Kind::Key(Login) => {
            let (rest, _) = equals(rest)?;
            let (rest, value) = boolean(rest)?;
            set(rest, "LOGIN", &mut options.login, value)
        }
        Kind::Key(Access) => access(input, options),
        _ => Ok(input.no_viable::<()>(0)?.0),
    }
}

/// Sets an option that may be set once.
fn set<'a, T>(input: Input<'a>, name: &str, option: &mut Option<T>, value: T) -> Rest<'a> {
    if option.is_some() {
        let message = format!("Multiple definition for property '{name}'");
        return Ok(input.refuse::<()>(message)?.0);
    }
    *option = Some(value);
    Ok(input)
}

fn boolean(input: Input<'_>) -> Parsed<'_, bool> {
    let (rest, text) = token(Kind::Boolean)(input)?;
    Ok((rest, text.eq_ignore_ascii_case("true")))
}

/// `ACCESS TO …DATACENTERS` and `ACCESS FROM …CIDRS`.
fn access<'a>(input: Input<'a>, options: &mut RoleOptions) -> Rest<'a> {
    use Keyword::*;
    let rest = input.advance();
    let (of, limit) = match rest.kind() {
        Kind::Key(From) => (Cidrs, &mut options.cidrs),
        Kind::Key(To) => (Datacenters, &mut options.datacenters),
        _ => return Ok(input.no_viable::<()>(1)?.0),
    };
    let rest = rest.advance();
    if !rest.at(All) && !rest.at(of) {
        return Ok(input.no_viable::<()>(2)?.0);
    }
    if rest.at(All) {
        *limit = Some(Vec::new());
        return Ok(key(of)(rest.advance())?.0);
    }
    let (rest, _) = key(of)(rest)?;
    let names = separated_list1(separator(Kind::Comma), string);
    let (open, close) = (token(Kind::OpenBrace), token(Kind::CloseBrace));
    let (rest, names) = delimited(open, names, close).parse(rest)?;
    limit.get_or_insert_default().extend(names);
    Ok(rest)
}

/// `CREATE USER`, from behind those words.
pub(super) fn create_user(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, (name, mut options)) = user(input)?;
    options.login = Some(true);
    options.superuser.get_or_insert(false);
    let statement = Access::CreateRole {
        name,
        if_not_exists,
        options,
    };
    Ok((input, statement))
}

/// `ALTER USER`, from behind those words.
pub(super) fn alter_user(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, (name, options)) = user(input)?;
    let statement = Access::AlterRole {
        name,
        if_exists,
        options,
    };
    Ok((input, statement))
}

/// `DROP USER`, from behind those words.
pub(super) fn drop_user(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = user_name(input)?;
    Ok((input, Access::DropRole { name, if_exists }))
}

/// A user's name and what follows it.
fn user(input: Input<'_>) -> Parsed<'_, (Name, RoleOptions)> {
    let (input, name) = user_name(input)?;
    let mut options = RoleOptions::default();
    let (input, _) = clause(Keyword::With, |input| {
        if !input.at(Keyword::Hashed) && !input.at(Keyword::Password) {
            return input.no_viable(0);
        }
        let (input, is_hashed) = flag(&[Keyword::Hashed])(input)?;
        let (input, _) = key(Keyword::Password)(input)?;
        let (input, password) = string(input)?;
        match is_hashed {
            true => options.hashed_password = Some(password),
            false => options.password = Some(password),
        }
        Ok((input, ()))
    })(input)?;
    options.superuser = match input.kind() {
        Kind::Key(Keyword::Superuser) => Some(true),
        Kind::Key(Keyword::Nosuperuser) => Some(false),
        _ => return Ok((input, (name, options))),
    };
    Ok((input.advance(), (name, options)))
}

/// A user's name, in the case in which it is written.
fn user_name(input: Input<'_>) -> Parsed<'_, Name> {
    match input.kind() {
        Kind::Ident | Kind::String => Ok((input.advance(), text(input))),
        Kind::QuotedName => input.refuse(
            "Quoted strings are are not supported for user names and USER is deprecated, please use ROLE",
        ),
        _ => input.no_viable(0),
    }
}

/// `ADD IDENTITY`, from behind the first word.
pub(super) fn add_identity(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, _) = key(Keyword::Identity)(input)?;
    let (input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    let (input, identity) = self::identity(input)?;
    let (input, ()) = keys(&[Keyword::To, Keyword::Role])(input)?;
    let (input, role) = self::identity(input)?;
    let statement = Access::AddIdentity {
        identity,
        if_not_exists,
        role,
    };
    Ok((input, statement))
}

/// `DROP IDENTITY`, from behind those words.
pub(super) fn drop_identity(input: Input<'_>) -> Parsed<'_, Access> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, identity) = identity(input)?;
    let statement = Access::DropIdentity {
        identity,
        if_exists,
    };
    Ok((input, statement))
}

fn identity(input: Input<'_>) -> Parsed<'_, Name> {
    match input.kind() {
        Kind::Ident | Kind::String => Ok((input.advance(), text(input))),
        Kind::QuotedName => input.refuse("Quoted strings are are not supported for identity"),
        _ => input.no_viable(0),
    }
}
