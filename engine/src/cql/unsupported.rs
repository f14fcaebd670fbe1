//! Statements on triggers: parsed, so that wrong ones are told, and refused
//! as a whole.

use super::ddl::{IF_EXISTS, IF_NOT_EXISTS};
use super::input::{Input, Parsed, flag, key, token};
use super::keywords::Keyword;
use super::names::{identifier, table};
use super::token::Kind;

/// `CREATE TRIGGER`, from behind those words.
pub(super) fn create_trigger(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, _) = flag(IF_NOT_EXISTS)(input)?;
    let (input, _) = identifier(input)?;
    let (input, _) = key(Keyword::On)(input)?;
    let (input, _) = table(input)?;
    let (input, _) = key(Keyword::Using)(input)?;
    let (input, _) = token(Kind::String)(input)?;
    Ok((input, "CREATE TRIGGER"))
}

/// `DROP TRIGGER`, from behind those words.
pub(super) fn drop_trigger(input: Input<'_>) -> Parsed<'_, &'static str> {
    let (input, _) = flag(IF_EXISTS)(input)?;
    let (input, _) = identifier(input)?;
    let (input, _) = key(Keyword::On)(input)?;
    let (input, _) = table(input)?;
    Ok((input, "DROP TRIGGER"))
}
