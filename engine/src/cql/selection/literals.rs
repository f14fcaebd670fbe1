//! Selected values made of others: hints, tuples, lists, sets and maps.

use super::super::ast::Selectable;
use super::super::error::Fault;
use super::super::input::{Input, Parsed, token};
use super::super::token::Kind;
use super::super::types::comparator_type;
use super::{begins_selectable, follows_selectable, primary, selectable, selectables};

/// `(type) expression`, or a tuple.
pub(super) fn parenthesised(input: Input<'_>) -> Parsed<'_, Selectable> {
    if let Ok((rest, hinted)) = hint(input)
        && (follows_selectable(rest.kind()) || rest.kind() == Kind::Dot)
    {
        return Ok((rest, hinted));
    }
    let (input, elements) = selectables(input.advance())?;
    let (input, _) = token(Kind::CloseParen)(input)?;
    Ok((input, Selectable::Tuple(elements)))
}

fn hint(input: Input<'_>) -> Parsed<'_, Selectable> {
    let (input, ty) = comparator_type(input.advance())?;
    let (input, _) = token(Kind::CloseParen)(input)?;
    let (input, of) = primary(input)?;
    Ok((input, Selectable::Hint(ty, Box::new(of))))
}

pub(super) fn list(input: Input<'_>) -> Parsed<'_, Selectable> {
    let input = input.advance();
    let (input, elements) = match input.kind() {
        kind if begins_selectable(kind) => selectables(input)?,
        _ => (input, Vec::new()),
    };
    let (input, _) = token(Kind::CloseBracket)(input)?;
    Ok((input, Selectable::List(elements)))
}

/// A map or set; a user type looks like a map.
pub(super) fn braced(input: Input<'_>) -> Parsed<'_, Selectable> {
    if !begins_selectable(input.peek(1)) && input.peek(1) != Kind::CloseBrace {
        return input.no_viable(1);
    }
    let input = input.advance();
    if input.kind() == Kind::CloseBrace {
        return Ok((input.advance(), Selectable::Set(Vec::new())));
    }
    let (input, first) = selectable(input)?;
    let (input, selected) = match input.kind() {
        Kind::Colon => {
            let (input, value) = selectable(input.advance())?;
            let mut entries = vec![(first, value)];
            let input = more(input, entry, &mut entries)?;
            (input, Selectable::Map(entries))
        }
        Kind::Comma | Kind::CloseBrace => {
            let mut elements = vec![first];
            let input = more(input, selectable, &mut elements)?;
            (input, Selectable::Set(elements))
        }
        _ => return input.no_viable(0),
    };
    let (input, _) = token(Kind::CloseBrace)(input)?;
    Ok((input, selected))
}

fn entry(input: Input<'_>) -> Parsed<'_, (Selectable, Selectable)> {
    let (input, key) = selectable(input)?;
    let (input, _) = token(Kind::Colon)(input)?;
    let (input, value) = selectable(input)?;
    Ok((input, (key, value)))
}

/// Further elements, each behind a comma.
fn more<'a, O>(
    mut input: Input<'a>,
    rule: fn(Input<'a>) -> Parsed<'a, O>,
    elements: &mut Vec<O>,
) -> Result<Input<'a>, nom::Err<Fault>> {
    while input.kind() == Kind::Comma {
        let (rest, element) = rule(input.advance())?;
        elements.push(element);
        input = rest;
    }
    Ok(input)
}
