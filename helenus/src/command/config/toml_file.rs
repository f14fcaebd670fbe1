//! The configuration file: TOML with one level of tables, taken apart into assignments with their lines.

use std::ops::Range;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::Assignment;
use super::error::{ConfigError, Origin, Problem};

/// What the file sets, in its tables' order.
pub(super) fn read(path: &Path) -> Result<Vec<Assignment>, ConfigError> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        ConfigError::new(
            Origin::Everywhere,
            Problem::Unreadable {
                file: path.to_owned(),
                reason: error.to_string(),
            },
        )
    })?;
    parse(path, &text)
}

/// What this text of the file sets.
pub(super) fn parse(path: &Path, text: &str) -> Result<Vec<Assignment>, ConfigError> {
    let origin = |span| Origin::File {
        file: path.to_owned(),
        line: line(text, span),
    };
    let file = DeTable::parse(text).map_err(|error| {
        ConfigError::new(
            origin(error.span()),
            Problem::Syntax(error.message().to_owned()),
        )
    })?;
    let mut assignments = Vec::new();
    let mut add = |section: &str, key: &str, span, raw| {
        assignments.push(Assignment {
            origin: origin(Some(span)),
            section: section.to_owned(),
            key: key.to_owned(),
            raw,
        });
    };
    for (name, value) in file.get_ref() {
        let DeValue::Table(table) = value.get_ref() else {
            add("", name.get_ref(), name.span(), value.get_ref().into());
            continue;
        };
        if table.is_empty() {
            add(name.get_ref(), "", name.span(), value.get_ref().into());
        }
        for (key, value) in table {
            add(
                name.get_ref(),
                key.get_ref(),
                key.span(),
                value.get_ref().into(),
            );
        }
    }
    Ok(assignments)
}

/// The line, from 1, where `span` begins; the last one when there is none.
fn line(text: &str, span: Option<Range<usize>>) -> usize {
    let end = span.map_or(text.len(), |span| span.start.min(text.len()));
    1 + text.as_bytes()[..end]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
}
