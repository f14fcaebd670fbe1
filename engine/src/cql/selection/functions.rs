//! Selected functions: casts, cell attributes and calls.

use super::super::ast::Selectable;
use super::super::input::{Input, Parsed, key, nested, token};
use super::super::keywords::Keyword;
use super::super::names::{function, identifier};
use super::super::token::Kind;
use super::super::types::native_type;
use super::{begins_selectable, follows_modifiers, modified, modifiers, selectable, selectables};

/// `writetime(column)` and its like; the column may have modifiers.
pub(super) fn cell(input: Input<'_>, keyword: Keyword) -> Parsed<'_, Selectable> {
    let (input, name) = identifier(input.advance().advance())?;
    let (input, modifiers) = modifiers(input)?;
    if !follows_modifiers(input.kind()) {
        return input.no_viable(0);
    }
    let of = modified(Selectable::Column(name), modifiers);
    let (input, _) = token(Kind::CloseParen)(input)?;
    let of = Box::new(of);
    let selected = match keyword {
        Keyword::Writetime => Selectable::WriteTime(of),
        Keyword::Maxwritetime => Selectable::MaxWriteTime(of),
        _ => Selectable::Ttl(of),
    };
    Ok((input, selected))
}

/// `cast(expression AS type)`
pub(super) fn cast(input: Input<'_>) -> Parsed<'_, Selectable> {
    let (input, of) = selectable(input.advance().advance())?;
    let (input, _) = key(Keyword::As)(input)?;
    let (input, ty) = native_type(input)?;
    let (input, _) = token(Kind::CloseParen)(input)?;
    Ok((input, Selectable::Cast(Box::new(of), ty)))
}

/// `function(arguments)`
pub(super) fn call(input: Input<'_>) -> Parsed<'_, Selectable> {
    let (input, name) = function(input)?;
    let (input, _) = token(Kind::OpenParen)(input)?;
    let (input, arguments) = match input.kind() {
        kind if begins_selectable(kind) => nested(selectables)(input)?,
        _ => (input, Vec::new()),
    };
    let (input, _) = token(Kind::CloseParen)(input)?;
    let call = Selectable::Function {
        keyspace: name.keyspace,
        name: name.name,
        arguments,
    };
    Ok((input, call))
}
