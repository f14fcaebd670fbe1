//! `WITH` entries by name, with the conversions of Cassandra's `PropertyDefinitions`.

use std::collections::BTreeMap;

use helenus_core::message::ErrorResponse;

use super::OptionMap;
use crate::cql::ast::{Properties, Property};

/// The entries of one `WITH`.
#[derive(Debug)]
pub(in crate::schema) struct PropertyReader<'a> {
    entries: BTreeMap<&'a str, &'a Property>,
}

impl<'a> PropertyReader<'a> {
    /// Takes entries whose names are all `known` and each there once.
    pub(in crate::schema) fn new(
        properties: &'a Properties,
        known: &[&str],
    ) -> Result<Self, ErrorResponse> {
        let mut entries = BTreeMap::new();
        for (name, value) in properties {
            if entries.insert(&**name, value).is_some() {
                return Err(ErrorResponse::syntax(format!(
                    "Multiple definitions for property '{name}'"
                )));
            }
        }
        match entries.keys().find(|name| !known.contains(name)) {
            Some(name) => Err(ErrorResponse::syntax(format!("Unknown property '{name}'"))),
            None => Ok(Self { entries }),
        }
    }

    /// Whether the name is among the entries.
    pub(in crate::schema) fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// The text of an entry that isn't a map.
    pub(in crate::schema) fn text(&self, name: &str) -> Result<Option<&'a str>, ErrorResponse> {
        match self.entries.get(name) {
            None => Ok(None),
            Some(Property::Value(text)) => Ok(Some(text)),
            Some(Property::Map(_)) => Err(ErrorResponse::syntax(format!(
                "Invalid value for property '{name}'. It should be a string"
            ))),
        }
    }

    /// The content of an entry that is a map; of a key that stands twice, the last value.
    pub(in crate::schema) fn map(&self, name: &str) -> Result<Option<OptionMap>, ErrorResponse> {
        match self.entries.get(name) {
            None => Ok(None),
            Some(Property::Map(entries)) => Ok(Some(entries.iter().cloned().collect())),
            Some(Property::Value(_)) => Err(ErrorResponse::syntax(format!(
                "Invalid value for property '{name}'. It should be a map."
            ))),
        }
    }

    /// A boolean.
    pub(in crate::schema) fn boolean(&self, name: &str) -> Result<Option<bool>, ErrorResponse> {
        self.text(name)?
            .map(|text| match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" => Ok(true),
                "0" | "false" | "no" => Ok(false),
                _ => Err(ErrorResponse::syntax(format!(
                    "Invalid boolean value {text} for '{name}'. Positive values can be '1', 'true' or 'yes'. \
                     Negative values can be '0', 'false' or 'no'."
                ))),
            })
            .transpose()
    }

    /// A 32-bit integer.
    pub(in crate::schema) fn integer(&self, name: &str) -> Result<Option<i32>, ErrorResponse> {
        self.text(name)?
            .map(|text| {
                text.parse().map_err(|_| {
                    ErrorResponse::syntax(format!("Invalid integer value {text} for '{name}'"))
                })
            })
            .transpose()
    }

    /// A floating-point number.
    pub(in crate::schema) fn double(&self, name: &str) -> Result<Option<f64>, ErrorResponse> {
        self.text(name)?
            .map(|text| {
                text.trim().parse().map_err(|_| {
                    ErrorResponse::syntax(format!("Invalid double value {text} for '{name}'"))
                })
            })
            .transpose()
    }
}
