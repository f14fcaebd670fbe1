//! Identifiers and the names made of them.

use std::borrow::Cow;
use std::sync::Arc;

use super::ast::{Name, TableName};
use super::input::{Input, Parsed, token};
use super::keywords::Keyword;
use super::token::Kind;

/// The contents of a string, quoted name or `$$` string: without quotes, doubled ones made single.
pub(super) fn unquote(raw: &str) -> Cow<'_, str> {
    if let Some(body) = raw.strip_prefix("$$") {
        return Cow::Borrowed(body.strip_suffix("$$").unwrap_or(body));
    }
    let Some(quote) = raw.chars().next().filter(|&c| c == '\'' || c == '"') else {
        return Cow::Borrowed(raw);
    };
    let body = raw.get(1..).unwrap_or_default();
    let body = body.strip_suffix(quote).unwrap_or(body);
    if !body.contains(quote) {
        return Cow::Borrowed(body);
    }
    let (double, single) = if quote == '"' {
        ("\"\"", "\"")
    } else {
        ("''", "'")
    };
    Cow::Owned(body.replace(double, single))
}

/// The name an identifier token stands for.
pub(super) fn folded(input: Input<'_>) -> Name {
    let text = input.text();
    if matches!(input.kind(), Kind::QuotedName | Kind::EmptyQuotedName) {
        return Arc::from(&*unquote(text));
    }
    match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => Arc::from(text.to_ascii_lowercase()),
        false => Arc::from(text),
    }
}

/// An identifier.
pub(super) fn identifier(input: Input<'_>) -> Parsed<'_, Name> {
    if input.kind().is_identifier() {
        return Ok((input.advance(), folded(input)));
    }
    input.no_viable(0)
}

/// A column's name, which may be empty.
pub(super) fn column(input: Input<'_>) -> Parsed<'_, Name> {
    if input.kind().is_column() {
        return Ok((input.advance(), folded(input)));
    }
    input.no_viable(0)
}

/// A keyspace's name.
pub(super) fn keyspace(input: Input<'_>) -> Parsed<'_, Name> {
    if input.kind() == Kind::Question {
        return input.refuse("Bind variables cannot be used for keyspace names");
    }
    identifier(input)
}

/// A table's name, with its keyspace or without.
pub(super) fn table(input: Input<'_>) -> Parsed<'_, TableName> {
    qualified(input, "table", follows_table)
}

/// An index's name behind a keyspace or without.
pub(super) fn index(input: Input<'_>) -> Parsed<'_, TableName> {
    qualified(input, "index", |kind| {
        matches!(kind, Kind::Eof | Kind::Semicolon)
    })
}

fn qualified<'a>(input: Input<'a>, what: &str, follows: fn(Kind) -> bool) -> Parsed<'a, TableName> {
    let first = input.kind();
    if !first.is_identifier() && first != Kind::Question {
        return input.no_viable(0);
    }
    let (rest, keyspace) = match input.peek(1) {
        Kind::Dot => {
            let (rest, name) = keyspace(input)?;
            (rest.advance(), Some(name))
        }
        next if follows(next) => (input, None),
        _ => return input.no_viable(1),
    };
    if rest.kind() == Kind::Question {
        return rest.refuse(format!("Bind variables cannot be used for {what} names"));
    }
    let (rest, name) = identifier(rest)?;
    Ok((rest, TableName { keyspace, name }))
}

/// Whether a token may stand behind a table's name in some statement.
fn follows_table(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof | Kind::Semicolon | Kind::OpenParen => true,
        Kind::Key(keyword) => matches!(
            keyword,
            Where
                | Group
                | Order
                | Per
                | Limit
                | Allow
                | Json
                | Using
                | Set
                | With
                | As
                | To
                | From
                | Of
                | Norecursive
                | Primary
                | Drop
                | Alter
                | Add
                | Rename
        ),
        _ => false,
    }
}

/// Type names that CQL keeps for itself, written just so.
const RESERVED_TYPES: [&str; 7] = [
    "byte",
    "complex",
    "enum",
    "date",
    "interval",
    "macaddr",
    "bitstring",
];

/// A user type's name, with its keyspace or without.
pub(super) fn user_type(input: Input<'_>) -> Parsed<'_, TableName> {
    let first = input.kind();
    let qualified = first.is_identifier() && (!first.is_user_type() || input.peek(1) == Kind::Dot);
    let (rest, keyspace) = match qualified {
        true => {
            let (rest, name) = identifier(input)?;
            let (rest, _) = token(Kind::Dot)(rest)?;
            (rest, Some(name))
        }
        false => (input, None),
    };
    if !rest.kind().is_user_type() {
        return rest.no_viable(0);
    }
    if rest.kind() == Kind::Ident && RESERVED_TYPES.contains(&rest.text()) {
        return rest.refuse(format!("Invalid (reserved) user type name {}", rest.text()));
    }
    let name = folded(rest);
    Ok((rest.advance(), TableName { keyspace, name }))
}

/// A function's name, with its keyspace or without.
pub(super) fn function(input: Input<'_>) -> Parsed<'_, TableName> {
    let first = input.kind();
    if first == Kind::Question {
        return input.refuse("Bind variables cannot be used for keyspace names");
    }
    if !first.is_identifier() && !first.is_function() {
        return input.no_viable(0);
    }
    let (rest, keyspace) = match input.peek(1) {
        Kind::Dot if first.is_identifier() => (input.advance().advance(), Some(folded(input))),
        _ if !first.is_function() => return input.advance().mismatched(Kind::Dot),
        Kind::OpenParen | Kind::Eof | Kind::Semicolon | Kind::Key(Keyword::With) => (input, None),
        _ => return input.no_viable(1),
    };
    if !rest.kind().is_function() {
        return rest.no_viable(0);
    }
    let name = folded(rest);
    Ok((rest.advance(), TableName { keyspace, name }))
}
