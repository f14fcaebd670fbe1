//! `CREATE INDEX` and `DROP INDEX`.

use std::sync::Arc;

use nom::Parser;
use nom::multi::separated_list1;
use nom::sequence::delimited;

use super::ast::{CreateIndex, Ddl, IndexTarget, Properties, TargetKind};
use super::ddl::{IF_EXISTS, IF_NOT_EXISTS};
use super::input::{Input, Parsed, clause, flag, key, separator, token};
use super::keywords::Keyword;
use super::names::{column, identifier, index, table, unquote};
use super::properties::with_properties;
use super::token::Kind;

/// `CREATE [CUSTOM] INDEX`, from behind those words.
pub(super) fn create_index(input: Input<'_>, is_custom: bool) -> Parsed<'_, Ddl> {
    let (mut input, if_not_exists) = flag(IF_NOT_EXISTS)(input)?;
    if input.kind() == Kind::Question {
        return input.refuse("Bind variables cannot be used for index names");
    }
    let mut name = None;
    if input.kind().is_identifier() {
        let (rest, written) = identifier(input)?;
        (input, name) = (rest, Some(written));
    }
    let (input, _) = key(Keyword::On)(input)?;
    let (input, table) = table(input)?;
    let (mut input, _) = token(Kind::OpenParen)(input)?;
    let mut targets = Vec::new();
    let kind = input.kind();
    if kind.is_column() || matches!(kind, Kind::Key(Keyword::Entries | Keyword::Full)) {
        (input, targets) = separated_list1(separator(Kind::Comma), target).parse(input)?;
    }
    let (input, _) = token(Kind::CloseParen)(input)?;
    let (input, class) = clause(Keyword::Using, token(Kind::String))(input)?;
    let (input, properties) = match input.at(Keyword::With) {
        true => with_properties(input)?,
        false => (input, Properties::new()),
    };
    let create = CreateIndex {
        name,
        table,
        if_not_exists,
        is_custom,
        targets,
        class: class.map(|class| Arc::from(&*unquote(class))),
        properties,
    };
    Ok((input, Ddl::CreateIndex(create)))
}

fn target(input: Input<'_>) -> Parsed<'_, IndexTarget> {
    use Keyword::{Entries, Full, Keys, Values};
    let kind = match input.kind() {
        Kind::Key(Entries) => TargetKind::Entries,
        Kind::Key(Full) => TargetKind::Full,
        Kind::Key(Keys) if input.peek(1) == Kind::OpenParen => TargetKind::Keys,
        Kind::Key(Values) if input.peek(1) == Kind::OpenParen => TargetKind::Values,
        _ => {
            let (input, column) = column(input)?;
            let kind = TargetKind::Simple;
            return Ok((input, IndexTarget { kind, column }));
        }
    };
    let (open, close) = (token(Kind::OpenParen), token(Kind::CloseParen));
    let (input, column) = delimited(open, column, close).parse(input.advance())?;
    Ok((input, IndexTarget { kind, column }))
}

/// `DROP INDEX`, from behind those words.
pub(super) fn drop_index(input: Input<'_>) -> Parsed<'_, Ddl> {
    let (input, if_exists) = flag(IF_EXISTS)(input)?;
    let (input, name) = index(input)?;
    Ok((input, Ddl::DropIndex { name, if_exists }))
}
