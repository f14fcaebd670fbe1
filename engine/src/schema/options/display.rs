//! Options as `DESCRIBE` and error messages show them.

use std::collections::BTreeMap;
use std::fmt;

use super::OptionMap;
use crate::schema::Table;

/// The value of an option as CQL writes it; `Display` gives the text behind the `=`.
#[derive(Debug, Clone, PartialEq)]
pub enum PropertyText<'a> {
    /// A number or boolean.
    Bare(String),
    /// A string, to be quoted.
    Text(&'a str),
    /// A map of strings.
    Map(&'a OptionMap),
}

impl fmt::Display for PropertyText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bare(text) => f.write_str(text),
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Map(map) => {
                f.write_str("{")?;
                for (index, (key, value)) in map.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(
                        f,
                        "{comma}{}: {}",
                        PropertyText::Text(key),
                        PropertyText::Text(value)
                    )?;
                }
                f.write_str("}")
            }
        }
    }
}

static NO_EXTENSIONS: OptionMap = BTreeMap::new();

impl Table {
    /// Every option with its value, in the order of `DESCRIBE`.
    pub fn properties(&self) -> [(&'static str, PropertyText<'_>); 19] {
        use PropertyText::{Bare, Map, Text};
        let options = &*self.options;
        [
            (
                "additional_write_policy",
                Text(&options.additional_write_policy),
            ),
            (
                "allow_auto_snapshot",
                Bare(options.allow_auto_snapshot.to_string()),
            ),
            (
                "bloom_filter_fp_chance",
                Bare(JavaDouble(options.bloom_filter_fp_chance).to_string()),
            ),
            ("caching", Map(&options.caching)),
            ("cdc", Bare(options.cdc.to_string())),
            ("comment", Text(&options.comment)),
            ("compaction", Map(&options.compaction)),
            ("compression", Map(&options.compression)),
            ("memtable", Text(&options.memtable)),
            (
                "crc_check_chance",
                Bare(JavaDouble(options.crc_check_chance).to_string()),
            ),
            ("default_time_to_live", Bare(self.default_ttl.to_string())),
            ("extensions", Map(&NO_EXTENSIONS)),
            ("gc_grace_seconds", Bare(self.gc_grace_seconds.to_string())),
            (
                "incremental_backups",
                Bare(options.incremental_backups.to_string()),
            ),
            (
                "max_index_interval",
                Bare(options.max_index_interval.to_string()),
            ),
            (
                "memtable_flush_period_in_ms",
                Bare(options.memtable_flush_period_in_ms.to_string()),
            ),
            (
                "min_index_interval",
                Bare(options.min_index_interval.to_string()),
            ),
            ("read_repair", Text(&options.read_repair)),
            ("speculative_retry", Text(&options.speculative_retry)),
        ]
    }
}

/// A number as Java's `Double.toString` writes it, which error messages and `DESCRIBE` show.
pub(super) struct JavaDouble(pub(super) f64);

impl fmt::Display for JavaDouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = self.0;
        if value == 0.0 || !value.is_finite() || (1e-3..1e7).contains(&value.abs()) {
            return match value {
                f64::INFINITY => f.write_str("Infinity"),
                f64::NEG_INFINITY => f.write_str("-Infinity"),
                value => write!(f, "{value:?}"),
            };
        }
        let text = format!("{value:E}");
        match text.split_once('E') {
            Some((digits, exponent)) if !digits.contains('.') => write!(f, "{digits}.0E{exponent}"),
            _ => f.write_str(&text),
        }
    }
}
