//! The options of a table (`WITH …`): their values, defaults and rules.
//! Answers to Cassandra 5.0's `TableAttributes` and `TableParams`.

mod caching;
mod compaction;
mod compression;
mod properties;
mod speculative_retry;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use helenus_core::message::ErrorResponse;
use uuid::Uuid;

pub(super) use properties::PropertyReader;

use super::Table;

/// An option that is a map of strings, such as `compaction`.
pub type OptionMap = BTreeMap<Arc<str>, Arc<str>>;

/// The longest `default_time_to_live`: 20 years, in seconds.
const MAX_TTL: i32 = 630_720_000;
/// The lowest chance a Cassandra bloom filter can have.
const MIN_BLOOM_FILTER_FP_CHANCE: f64 = 6.71e-5;

/// The options of a table but for `default_time_to_live` and `gc_grace_seconds`, which [`Table`] has itself.
/// This engine acts on none of them; they are validated, kept and shown.
#[derive(Debug, Clone, PartialEq)]
pub struct TableOptions {
    /// `additional_write_policy`, in its short form such as `99p`.
    pub additional_write_policy: Arc<str>,
    /// `allow_auto_snapshot`
    pub allow_auto_snapshot: bool,
    /// `bloom_filter_fp_chance`
    pub bloom_filter_fp_chance: f64,
    /// `caching`: `keys` and `rows_per_partition`.
    pub caching: OptionMap,
    /// `cdc`
    pub cdc: bool,
    /// `comment`
    pub comment: Arc<str>,
    /// `compaction`, `class` being a full class name.
    pub compaction: OptionMap,
    /// `compression`, `class` being a full class name; `enabled: false` alone is none.
    pub compression: OptionMap,
    /// `crc_check_chance`
    pub crc_check_chance: f64,
    /// `incremental_backups`
    pub incremental_backups: bool,
    /// `max_index_interval`
    pub max_index_interval: u32,
    /// `memtable`: the name of a configuration, of which `default` is the only one.
    pub memtable: Arc<str>,
    /// `memtable_flush_period_in_ms`
    pub memtable_flush_period_in_ms: u32,
    /// `min_index_interval`
    pub min_index_interval: u32,
    /// `read_repair`: `BLOCKING` or `NONE`.
    pub read_repair: Arc<str>,
    /// `speculative_retry`, in its short form such as `99p`.
    pub speculative_retry: Arc<str>,
}

impl Default for TableOptions {
    fn default() -> Self {
        Self {
            additional_write_policy: "99p".into(),
            allow_auto_snapshot: true,
            bloom_filter_fp_chance: 0.01,
            caching: caching::default(),
            cdc: false,
            comment: "".into(),
            compaction: compaction::default(),
            compression: compression::default(),
            crc_check_chance: 1.0,
            incremental_backups: true,
            max_index_interval: 2048,
            memtable: "default".into(),
            memtable_flush_period_in_ms: 0,
            min_index_interval: 128,
            read_repair: "BLOCKING".into(),
            speculative_retry: "99p".into(),
        }
    }
}

/// What the `WITH` of `CREATE TABLE` or `ALTER TABLE` comes to.
#[derive(Debug, Clone)]
pub(crate) struct TableSettings {
    pub(crate) options: TableOptions,
    pub(crate) default_ttl: u32,
    pub(crate) gc_grace_seconds: u32,
}

impl Default for TableSettings {
    fn default() -> Self {
        Self {
            options: TableOptions::default(),
            default_ttl: 0,
            gc_grace_seconds: 864_000,
        }
    }
}

/// Every name `WITH` may have for a table; `id` for `CREATE TABLE` alone.
const NAMES: [&str; 20] = [
    "additional_write_policy",
    "allow_auto_snapshot",
    "bloom_filter_fp_chance",
    "caching",
    "cdc",
    "comment",
    "compaction",
    "compression",
    "crc_check_chance",
    "default_time_to_live",
    "extensions",
    "gc_grace_seconds",
    "id",
    "incremental_backups",
    "max_index_interval",
    "memtable",
    "memtable_flush_period_in_ms",
    "min_index_interval",
    "read_repair",
    "speculative_retry",
];

/// Reads the options of a table as written, refusing unknown and repeated names.
pub(super) fn reader(
    properties: &crate::cql::ast::Properties,
) -> Result<PropertyReader<'_>, ErrorResponse> {
    PropertyReader::new(properties, &NAMES)
}

/// The `id` option of `CREATE TABLE`.
pub(super) fn table_id(reader: &PropertyReader<'_>) -> Result<Option<Uuid>, ErrorResponse> {
    let Some(text) = reader.text("id")? else {
        return Ok(None);
    };
    // Cassandra takes the plain form with hyphens alone.
    match Uuid::try_parse(text) {
        Ok(id) if text.len() == 36 => Ok(Some(id)),
        _ => Err(ErrorResponse::config("Invalid table id")),
    }
}

impl TableSettings {
    /// The settings of an existing table.
    pub(super) fn of(table: &Table) -> Self {
        Self {
            options: (*table.options).clone(),
            default_ttl: table.default_ttl,
            gc_grace_seconds: table.gc_grace_seconds,
        }
    }

    /// These settings with those of `reader` in their place, validated. A `bloom_filter_fp_chance` that nobody set
    /// follows the compaction class of a new table.
    pub(super) fn with(
        mut self,
        reader: &PropertyReader<'_>,
        is_new: bool,
    ) -> Result<Self, ErrorResponse> {
        let options = &mut self.options;
        set(
            &mut options.allow_auto_snapshot,
            reader.boolean("allow_auto_snapshot")?,
        );
        let bloom_filter_fp_chance = reader.double("bloom_filter_fp_chance")?;
        if let Some(map) = reader.map("caching")? {
            options.caching = caching::parse(&map)?;
        }
        set(&mut options.comment, reader.text("comment")?.map(Arc::from));
        if let Some(map) = reader.map("compaction")? {
            options.compaction = compaction::parse(&map)?;
        }
        if let Some(map) = reader.map("compression")? {
            options.compression = compression::parse(&map)?;
        }
        if let Some(name) = reader.text("memtable")?.filter(|name| *name != "default") {
            return Err(ErrorResponse::config(format!(
                "Memtable configuration \"{name}\" not found."
            )));
        }
        let default_ttl = reader.integer("default_time_to_live")?;
        let gc_grace_seconds = reader.integer("gc_grace_seconds")?;
        set(
            &mut options.incremental_backups,
            reader.boolean("incremental_backups")?,
        );
        let max_index_interval = reader.integer("max_index_interval")?;
        let flush_period = reader.integer("memtable_flush_period_in_ms")?;
        let min_index_interval = reader.integer("min_index_interval")?;
        if let Some(text) = reader.text("speculative_retry")? {
            options.speculative_retry = speculative_retry::parse(text)?;
        }
        if let Some(text) = reader.text("additional_write_policy")? {
            options.additional_write_policy = speculative_retry::parse(text)?;
        }
        set(
            &mut options.crc_check_chance,
            reader.double("crc_check_chance")?,
        );
        set(&mut options.cdc, reader.boolean("cdc")?);
        if let Some(text) = reader.text("read_repair")? {
            options.read_repair = match text.to_ascii_uppercase().as_str() {
                known @ ("BLOCKING" | "NONE") => known.into(),
                _ => {
                    return Err(ErrorResponse::config(format!(
                        "Invalid value {text} for option 'read_repair'"
                    )));
                }
            };
        }

        compaction::validate(&options.compaction)?;
        match bloom_filter_fp_chance {
            // -1 stands for the default in Cassandra.
            Some(-1.0) => {
                options.bloom_filter_fp_chance = compaction::default_fp_chance(&options.compaction)
            }
            Some(chance) => options.bloom_filter_fp_chance = chance,
            None if is_new => {
                options.bloom_filter_fp_chance = compaction::default_fp_chance(&options.compaction)
            }
            None => {}
        }
        let chance = options.bloom_filter_fp_chance;
        if !(chance > MIN_BLOOM_FILTER_FP_CHANCE && chance <= 1.0) {
            return Err(ErrorResponse::config(format!(
                "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got {})",
                JavaDouble(chance)
            )));
        }
        let chance = options.crc_check_chance;
        if !(0.0..=1.0).contains(&chance) {
            return Err(ErrorResponse::config(format!(
                "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {})",
                JavaDouble(chance)
            )));
        }
        set(
            &mut self.default_ttl,
            not_negative("default_time_to_live", default_ttl)?,
        );
        if self.default_ttl > MAX_TTL as u32 {
            let got = self.default_ttl;
            return Err(ErrorResponse::config(format!(
                "default_time_to_live must be less than or equal to {MAX_TTL} (got {got})"
            )));
        }
        set(
            &mut self.gc_grace_seconds,
            not_negative("gc_grace_seconds", gc_grace_seconds)?,
        );
        if let Some(interval) = min_index_interval {
            options.min_index_interval = u32::try_from(interval)
                .ok()
                .filter(|&interval| interval >= 1)
                .ok_or_else(|| {
                    ErrorResponse::config(format!(
                        "min_index_interval must be greater than or equal to 1 (got {interval})"
                    ))
                })?;
        }
        let min = options.min_index_interval;
        let max = max_index_interval.map_or(i64::from(options.max_index_interval), i64::from);
        options.max_index_interval = u32::try_from(max).ok().filter(|&max| max >= min).ok_or_else(|| {
            ErrorResponse::config(format!(
                "max_index_interval must be greater than or equal to min_index_interval ({min}) (got {max})"
            ))
        })?;
        set(
            &mut options.memtable_flush_period_in_ms,
            not_negative("memtable_flush_period_in_ms", flush_period)?,
        );
        Ok(self)
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn not_negative(name: &str, value: Option<i32>) -> Result<Option<u32>, ErrorResponse> {
    value
        .map(|value| {
            u32::try_from(value).map_err(|_| {
                ErrorResponse::config(format!(
                    "{name} must be greater than or equal to 0 (got {value})"
                ))
            })
        })
        .transpose()
}

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
