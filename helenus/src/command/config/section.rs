//! What a section of the configuration file is, and the macro that declares one as a table of keys.

use super::raw::Raw;

/// A key with its value, as messages and listings have it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::command) struct KeyRow {
    /// The table it stands in; empty for none.
    pub(in crate::command) section: &'static str,
    /// Its name in the table.
    pub(in crate::command) key: &'static str,
    /// What it means, in a line.
    pub(in crate::command) doc: &'static str,
    /// Its value, as the file would have it.
    pub(in crate::command) value: String,
    /// Whether a running server takes another value over.
    pub(in crate::command) reload: Reload,
}

impl KeyRow {
    /// Its name in messages and for `--set`.
    pub(in crate::command) fn name(&self) -> String {
        super::full_name(self.section, self.key)
    }
}

/// What a running server does with another value of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::command) enum Reload {
    /// It takes it over.
    Live,
    /// It keeps what it started with.
    Restart,
}

/// A section of the configuration file.
pub(super) trait Section {
    /// The table's name; empty for what stands outside of any.
    fn name(&self) -> &'static str;
    /// What it is about, in a line.
    fn doc(&self) -> &'static str;
    /// Its keys with their values.
    fn rows(&self) -> Vec<KeyRow>;
    /// Sets a key; `None` if there is none of that name, an error that says what would be right if the value doesn't do.
    fn set(&mut self, key: &str, raw: &Raw) -> Option<Result<(), String>>;
}

/// Declares a section: a struct, its defaults and its [`Section`]. The first line of a key's documentation is what users
/// read. `live` keys are taken over by a running server, those with `restart` are not. A key's type is any
/// [`Value`](super::value::Value).
///
/// ```ignore
/// section! {
///     /// What clients may use up.
///     Limits in "limits" {
///         /// The longest message that is taken.
///         max_envelope: Size = Size::mebibytes(16), live;
///     }
/// }
/// ```
macro_rules! section {
    (
        #[doc = $doc:literal]
        $name:ident in $table:literal {
            $(#[doc = $key_doc:literal] $key:ident: $type:ty = $default:expr, $reload:ident;)+
        }
    ) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq)]
        pub(in crate::command) struct $name {
            $(#[doc = $key_doc] pub(in crate::command) $key: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($key: $default,)+ }
            }
        }

        impl $crate::command::config::section::Section for $name {
            fn name(&self) -> &'static str {
                $table
            }

            fn doc(&self) -> &'static str {
                $doc.trim_ascii()
            }

            fn rows(&self) -> Vec<$crate::command::config::section::KeyRow> {
                vec![$($crate::command::config::section::KeyRow {
                    section: $table,
                    key: stringify!($key),
                    doc: $key_doc.trim_ascii(),
                    value: $crate::command::config::value::Value::show(&self.$key),
                    reload: $crate::command::config::section::reload!($reload),
                },)+]
            }

            fn set(
                &mut self,
                key: &str,
                raw: &$crate::command::config::raw::Raw,
            ) -> Option<Result<(), String>> {
                match key {
                    $(stringify!($key) => Some(
                        $crate::command::config::value::Value::read(raw)
                            .map(|value| self.$key = value)
                    ),)+
                    _ => None,
                }
            }
        }
    };
}

macro_rules! reload {
    (live) => {
        $crate::command::config::section::Reload::Live
    };
    (restart) => {
        $crate::command::config::section::Reload::Restart
    };
}

pub(super) use {reload, section};
