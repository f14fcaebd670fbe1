//! A value as it was written, before its key's type reads it.

use toml::de::DeValue;

/// A value as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Raw {
    /// On a command line, where nothing says which type it is of.
    Word(String),
    /// In quotes.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// `true` or `false`.
    Boolean(bool),
    /// Several values in brackets.
    List(Vec<Raw>),
    /// A type that no key has.
    Other(&'static str),
}

impl Raw {
    /// The type, for messages.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Word(_) => "word",
            Self::Text(_) => "string",
            Self::Integer(_) => "integer",
            Self::Boolean(_) => "boolean",
            Self::List(_) => "array",
            Self::Other(name) => name,
        }
    }

    /// The text, if it is one.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Word(text) | Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The whole number, if it is one.
    pub(super) fn integer(&self) -> Option<i64> {
        match self {
            Self::Word(text) => text.parse().ok(),
            Self::Integer(number) => Some(*number),
            _ => None,
        }
    }
}

impl From<&DeValue<'_>> for Raw {
    fn from(value: &DeValue<'_>) -> Self {
        match value {
            DeValue::String(text) => Self::Text(text.to_string()),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or(Self::Other("integer beyond 64 bits"), Self::Integer),
            DeValue::Boolean(value) => Self::Boolean(*value),
            DeValue::Array(values) => {
                Self::List(values.iter().map(|value| value.get_ref().into()).collect())
            }
            other => Self::Other(other.type_str()),
        }
    }
}
