//! Types as written.

use std::sync::Arc;

use nom::Parser;
use nom::multi::separated_list1;

use super::ast::TypeName;
use super::input::{Input, Parsed, nested, separator, token};
use super::keywords::Keyword;
use super::names::{unquote, user_type};
use super::token::Kind;

/// Any type.
pub(super) fn comparator_type(input: Input<'_>) -> Parsed<'_, TypeName> {
    nested(any_type)(input)
}

fn any_type(input: Input<'_>) -> Parsed<'_, TypeName> {
    let kind = input.kind();
    match kind {
        Kind::String => {
            let name = Arc::from(&*unquote(input.text()));
            return Ok((input.advance(), TypeName::Custom(name)));
        }
        Kind::Key(Keyword::Set) => return parameterised(input, Keyword::Set),
        Kind::Key(
            keyword @ (Keyword::List
            | Keyword::Map
            | Keyword::Tuple
            | Keyword::Vector
            | Keyword::Frozen),
        ) => match input.peek(1) {
            Kind::Less => return parameterised(input, keyword),
            next if next == Kind::Dot || follows_type(next) => {}
            _ => return input.no_viable(1),
        },
        _ if kind.is_native_type() => match input.peek(1) {
            Kind::Dot => {}
            next if follows_type(next) => return native_type(input),
            _ => return input.no_viable(1),
        },
        _ if kind.is_identifier() => {}
        _ => return input.no_viable(0),
    }
    let (rest, name) = user_type(input)?;
    Ok((rest, TypeName::User(name)))
}

/// A native type.
pub(super) fn native_type(input: Input<'_>) -> Parsed<'_, TypeName> {
    match input.kind() {
        Kind::Key(keyword) if input.kind().is_native_type() => {
            let name = Arc::from(keyword.word());
            Ok((input.advance(), TypeName::Native(name)))
        }
        _ => input.no_viable(0),
    }
}

/// `list<…>` and its like.
fn parameterised(input: Input<'_>, keyword: Keyword) -> Parsed<'_, TypeName> {
    let (input, _) = token(Kind::Less)(input.advance())?;
    let (input, first) = comparator_type(input)?;
    let (input, ty) = match keyword {
        Keyword::List => (input, TypeName::List(Box::new(first))),
        Keyword::Set => (input, TypeName::Set(Box::new(first))),
        Keyword::Map => {
            let (input, _) = token(Kind::Comma)(input)?;
            let (input, value) = comparator_type(input)?;
            (input, TypeName::Map(Box::new(first), Box::new(value)))
        }
        Keyword::Tuple => {
            let mut types = vec![first];
            let mut input = input;
            if input.kind() == Kind::Comma {
                let mut others = separated_list1(separator(Kind::Comma), comparator_type);
                let (rest, others) = others.parse(input.advance())?;
                types.extend(others);
                input = rest;
            }
            (input, TypeName::Tuple(types))
        }
        Keyword::Vector => {
            let (input, _) = token(Kind::Comma)(input)?;
            let (rest, digits) = token(Kind::Integer)(input)?;
            let Ok(dimension) = digits.parse() else {
                return input.not_a_number(digits);
            };
            (rest, TypeName::Vector(Box::new(first), dimension))
        }
        _ => return frozen(input, first),
    };
    let (input, _) = token(Kind::Greater)(input)?;
    Ok((input, ty))
}

/// The end of `frozen<…>`.
fn frozen(input: Input<'_>, ty: TypeName) -> Parsed<'_, TypeName> {
    let (input, _) = token(Kind::Greater)(input)?;
    if let TypeName::Native(name) = &ty {
        return input.refuse(format!(
            "frozen<> is only allowed on collections, tuples, and user-defined types (got {name})"
        ));
    }
    Ok((input, TypeName::Frozen(Box::new(ty))))
}

/// Whether a token may stand behind a type in some statement.
fn follows_type(kind: Kind) -> bool {
    use Keyword::*;
    match kind {
        Kind::Eof | Kind::Semicolon | Kind::Comma | Kind::CloseParen | Kind::Greater => true,
        Kind::Key(keyword) => matches!(
            keyword,
            Static | Masked | Primary | Sfunc | Finalfunc | Initcond | Language
        ),
        _ => false,
    }
}
