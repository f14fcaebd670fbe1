//! The `SET` of an `UPDATE`.

use nom::Parser;
use nom::multi::separated_list1;

use super::ast::{Assignment, Name, Term};
use super::input::{Input, Parsed, separator, token};
use super::names::{column, identifier};
use super::terms::{constant, term};
use super::token::Kind;

/// The entries of `SET`.
pub(super) fn assignments(input: Input<'_>) -> Parsed<'_, Vec<Assignment>> {
    let (rest, assignments) = separated_list1(separator(Kind::Comma), assignment).parse(input)?;
    if let Some(name) = incompatible(&assignments) {
        return rest.refuse(format!("Multiple incompatible setting of column {name}"));
    }
    Ok((rest, assignments))
}

/// A column that is set as a whole and otherwise too, or one field of which is set twice.
fn incompatible(assignments: &[Assignment]) -> Option<&Name> {
    if assignments.len() < 2 {
        return None;
    }
    let mut sorted: Vec<_> = assignments.iter().collect();
    sorted.sort_by_key(|assignment| (target(assignment), field(assignment)));
    let clash = sorted.windows(2).find(|pair| match pair {
        [one, other] if target(one) == target(other) => match (one, other) {
            (Assignment::Set(..), _) | (_, Assignment::Set(..)) => true,
            _ => field(one).is_some() && field(one) == field(other),
        },
        _ => false,
    })?;
    clash.first().map(|assignment| target(assignment))
}

fn field(assignment: &Assignment) -> Option<&Name> {
    match assignment {
        Assignment::SetField(_, field, _) => Some(field),
        _ => None,
    }
}

fn target(assignment: &Assignment) -> &Name {
    match assignment {
        Assignment::Set(name, _)
        | Assignment::Add(name, _)
        | Assignment::Prepend(name, _)
        | Assignment::Subtract(name, _)
        | Assignment::SetElement(name, _, _)
        | Assignment::SetField(name, _, _) => name,
    }
}

fn assignment(input: Input<'_>) -> Parsed<'_, Assignment> {
    let (input, name) = column(input)?;
    match input.kind() {
        Kind::Equal => whole(input.advance(), name),
        Kind::PlusEqual => {
            let (input, value) = term(input.advance())?;
            Ok((input, Assignment::Add(name, value)))
        }
        Kind::MinusEqual => {
            let (input, value) = term(input.advance())?;
            Ok((input, Assignment::Subtract(name, value)))
        }
        Kind::OpenBracket => {
            let (input, element) = term(input.advance())?;
            let (input, _) = token(Kind::CloseBracket)(input)?;
            let (input, _) = token(Kind::Equal)(input)?;
            let (input, value) = term(input)?;
            Ok((input, Assignment::SetElement(name, element, value)))
        }
        Kind::Dot => {
            let (input, field) = identifier(input.advance())?;
            let (input, _) = token(Kind::Equal)(input)?;
            let (input, value) = term(input)?;
            Ok((input, Assignment::SetField(name, field, value)))
        }
        _ => input.no_viable(0),
    }
}

/// What stands behind `column =`: a term, `term + column`, or `column ± term`.
fn whole(input: Input<'_>, name: Name) -> Parsed<'_, Assignment> {
    if input.kind().is_column() {
        let sign = input.peek(1);
        match sign {
            Kind::Plus | Kind::Minus => {
                let (rest, own) = column(input)?;
                let (rest, value) = term(rest.advance())?;
                if own != name {
                    let sign = if sign == Kind::Plus { '+' } else { '-' };
                    return only(input, &format!("X {sign}<value>"));
                }
                let assignment = match sign {
                    Kind::Plus => Assignment::Add(name, value),
                    _ => Assignment::Subtract(name, value),
                };
                return Ok((rest, assignment));
            }
            Kind::Integer => return signed(input, name),
            _ => {}
        }
    }
    let (input, value) = term(input)?;
    if input.kind() != Kind::Plus {
        return Ok((input, Assignment::Set(name, value)));
    }
    let (rest, own) = column(input.advance())?;
    if own != name {
        return only(input, "<value> + X");
    }
    Ok((rest, Assignment::Prepend(name, value)))
}

/// `c = c -1`, where the lexer takes the sign for the number's.
fn signed(input: Input<'_>, name: Name) -> Parsed<'_, Assignment> {
    let (rest, own) = column(input)?;
    let negative = rest.text().starts_with('-');
    let (rest, value) = constant(rest)?;
    if own != name {
        let sign = if negative { '-' } else { '+' };
        return only(input, &format!("X {sign} <value>"));
    }
    Ok((rest, Assignment::Add(name, Term::Literal(value))))
}

fn only<'a>(input: Input<'a>, form: &str) -> Parsed<'a, Assignment> {
    input.refuse(format!(
        "Only expressions of the form X = {form} are supported."
    ))
}
