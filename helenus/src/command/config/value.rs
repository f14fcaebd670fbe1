//! The types that keys may have: how each is read and shown.

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use super::raw::Raw;

/// A type that a key may have.
pub(super) trait Value: Sized {
    /// Reads it; the error says what would be right.
    fn read(raw: &Raw) -> Result<Self, String>;

    /// As the file would have it.
    fn show(&self) -> String;
}

/// Reads the value of a flag or a variable.
pub(in crate::command) fn flag<T: FromWord>(text: &str) -> Result<T, String> {
    T::from_word(text)
}

/// A [`Value`] to modules outside of the configuration.
pub(in crate::command) trait FromWord: Sized {
    /// Reads it from a command line.
    fn from_word(text: &str) -> Result<Self, String>;
}

impl<T: Value> FromWord for T {
    fn from_word(text: &str) -> Result<Self, String> {
        T::read(&Raw::Word(text.to_owned()))
    }
}

/// The text in quotes.
pub(super) fn text(raw: &Raw) -> Result<&str, String> {
    raw.text().ok_or_else(|| {
        format!(
            "expected a string in quotes, but this is of type {}",
            raw.type_name()
        )
    })
}

impl Value for String {
    fn read(raw: &Raw) -> Result<Self, String> {
        text(raw).map(str::to_owned)
    }

    fn show(&self) -> String {
        // Rust escapes what TOML does, in the same way, but for what no setting holds.
        format!("{self:?}")
    }
}

impl Value for PathBuf {
    fn read(raw: &Raw) -> Result<Self, String> {
        match text(raw)? {
            "" => Err("expected the path of a file".to_owned()),
            path => Ok(path.into()),
        }
    }

    fn show(&self) -> String {
        format!("{:?}", self.to_string_lossy())
    }
}

impl Value for SocketAddr {
    fn read(raw: &Raw) -> Result<Self, String> {
        let text = text(raw)?;
        text.parse().map_err(|_| {
            format!("{text:?} is no address and port; write it as 127.0.0.1:9042 or [::1]:9042")
        })
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

impl Value for bool {
    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::Boolean(value) => Ok(*value),
            Raw::Word(word) if word == "true" => Ok(true),
            Raw::Word(word) if word == "false" => Ok(false),
            _ => Err("expected true or false".to_owned()),
        }
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// Whole numbers of which negative ones make no sense.
macro_rules! numbers {
    ($($number:ty, $expected:literal;)+) => {
        $(impl Value for $number {
            fn read(raw: &Raw) -> Result<Self, String> {
                raw.integer()
                    .and_then(|number| number.try_into().ok())
                    .ok_or_else(|| $expected.to_owned())
            }

            fn show(&self) -> String {
                self.to_string()
            }
        })+
    };
}

numbers! {
    u32, "expected a whole number, 0 or more, below 4294967296";
    u64, "expected a whole number, 0 or more";
    usize, "expected a whole number, 0 or more";
}

impl Value for NonZeroUsize {
    fn read(raw: &Raw) -> Result<Self, String> {
        raw.integer()
            .and_then(|number| usize::try_from(number).ok())
            .and_then(Self::new)
            .ok_or_else(|| "expected a whole number, 1 or more".to_owned())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

/// What may be `"off"`.
impl<T: Value> Value for Option<T> {
    fn read(raw: &Raw) -> Result<Self, String> {
        if raw.text() == Some("off") {
            return Ok(None);
        }
        T::read(raw)
            .map(Some)
            .map_err(|reason| format!("{reason}; or \"off\""))
    }

    fn show(&self) -> String {
        self.as_ref().map_or_else(|| "\"off\"".to_owned(), T::show)
    }
}

/// Several values; on a command line with commas between them.
impl<T: Value> Value for Vec<T> {
    fn read(raw: &Raw) -> Result<Self, String> {
        match raw {
            Raw::List(values) => values.iter().map(T::read).collect(),
            Raw::Word(words) if words.is_empty() => Ok(Self::new()),
            Raw::Word(words) => words
                .split(',')
                .map(|word| T::read(&Raw::Word(word.trim().to_owned())))
                .collect(),
            _ => Err("expected an array in brackets".to_owned()),
        }
    }

    fn show(&self) -> String {
        let values: Vec<String> = self.iter().map(T::show).collect();
        format!("[{}]", values.join(", "))
    }
}
