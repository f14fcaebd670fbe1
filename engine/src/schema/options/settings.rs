//! Reading the `WITH` of a table and validating it.

use std::sync::Arc;

use helenus_core::message::ErrorResponse;
use uuid::Uuid;

use super::display::JavaDouble;
use super::{PropertyReader, TableOptions, caching, compaction, compression, speculative_retry};
use crate::cql::ast::Properties;
use crate::schema::Table;

/// The longest `default_time_to_live`: 20 years, in seconds.
const MAX_TTL: u32 = 630_720_000;
/// The lowest chance a Cassandra bloom filter can have.
const MIN_BLOOM_FILTER_FP_CHANCE: f64 = 6.71e-5;

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
pub(in crate::schema) fn reader(
    properties: &Properties,
) -> Result<PropertyReader<'_>, ErrorResponse> {
    PropertyReader::new(properties, &NAMES)
}

/// The `id` option of `CREATE TABLE`.
pub(in crate::schema) fn table_id(
    reader: &PropertyReader<'_>,
) -> Result<Option<Uuid>, ErrorResponse> {
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
    pub(in crate::schema) fn of(table: &Table) -> Self {
        Self {
            options: (*table.options).clone(),
            default_ttl: table.default_ttl,
            gc_grace_seconds: table.gc_grace_seconds,
        }
    }

    /// These settings with those of `reader` in their place, validated. A `bloom_filter_fp_chance` that nobody set
    /// follows the compaction class of a new table.
    pub(in crate::schema) fn with(
        mut self,
        reader: &PropertyReader<'_>,
        is_new: bool,
    ) -> Result<Self, ErrorResponse> {
        // Cassandra reads all values before it checks any against its rule.
        let numbers = Numbers::read(reader)?;
        self.options.read(reader)?;
        compaction::validate(&self.options.compaction)?;
        self.set_numbers(numbers, is_new)?;
        Ok(self)
    }

    fn set_numbers(&mut self, numbers: Numbers, is_new: bool) -> Result<(), ErrorResponse> {
        let options = &mut self.options;
        let by_compaction = || Some(compaction::default_fp_chance(&options.compaction));
        let chance = match numbers.bloom_filter_fp_chance {
            // -1 stands for the default.
            Some(-1.0) => by_compaction(),
            None if is_new => by_compaction(),
            written => written,
        };
        set(&mut options.bloom_filter_fp_chance, chance);
        let chance = options.bloom_filter_fp_chance;
        if !(chance > MIN_BLOOM_FILTER_FP_CHANCE && chance <= 1.0) {
            return Err(ErrorResponse::config(format!(
                "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got {})",
                JavaDouble(chance)
            )));
        }
        set(&mut options.crc_check_chance, numbers.crc_check_chance);
        let chance = options.crc_check_chance;
        if !(0.0..=1.0).contains(&chance) {
            return Err(ErrorResponse::config(format!(
                "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got {})",
                JavaDouble(chance)
            )));
        }
        set(
            &mut self.default_ttl,
            not_negative("default_time_to_live", numbers.default_ttl)?,
        );
        if self.default_ttl > MAX_TTL {
            return Err(ErrorResponse::config(format!(
                "default_time_to_live must be less than or equal to {MAX_TTL} (got {})",
                self.default_ttl
            )));
        }
        set(
            &mut self.gc_grace_seconds,
            not_negative("gc_grace_seconds", numbers.gc_grace_seconds)?,
        );
        if let Some(interval) = numbers.min_index_interval {
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
        let max = numbers
            .max_index_interval
            .map_or(options.max_index_interval.into(), i64::from);
        options.max_index_interval = u32::try_from(max).ok().filter(|&max| max >= min).ok_or_else(|| {
            ErrorResponse::config(format!(
                "max_index_interval must be greater than or equal to min_index_interval ({min}) (got {max})"
            ))
        })?;
        let period = not_negative(
            "memtable_flush_period_in_ms",
            numbers.memtable_flush_period_in_ms,
        )?;
        set(&mut options.memtable_flush_period_in_ms, period);
        Ok(())
    }
}

/// Numbers as written.
struct Numbers {
    bloom_filter_fp_chance: Option<f64>,
    crc_check_chance: Option<f64>,
    default_ttl: Option<i32>,
    gc_grace_seconds: Option<i32>,
    max_index_interval: Option<i32>,
    memtable_flush_period_in_ms: Option<i32>,
    min_index_interval: Option<i32>,
}

impl Numbers {
    fn read(reader: &PropertyReader<'_>) -> Result<Self, ErrorResponse> {
        Ok(Self {
            bloom_filter_fp_chance: reader.double("bloom_filter_fp_chance")?,
            crc_check_chance: reader.double("crc_check_chance")?,
            default_ttl: reader.integer("default_time_to_live")?,
            gc_grace_seconds: reader.integer("gc_grace_seconds")?,
            max_index_interval: reader.integer("max_index_interval")?,
            memtable_flush_period_in_ms: reader.integer("memtable_flush_period_in_ms")?,
            min_index_interval: reader.integer("min_index_interval")?,
        })
    }
}

impl TableOptions {
    /// Takes over the booleans, strings and maps of `reader`, and what their form decides.
    fn read(&mut self, reader: &PropertyReader<'_>) -> Result<(), ErrorResponse> {
        set(
            &mut self.allow_auto_snapshot,
            reader.boolean("allow_auto_snapshot")?,
        );
        if let Some(map) = reader.map("caching")? {
            self.caching = caching::parse(&map)?;
        }
        set(&mut self.comment, reader.text("comment")?.map(Arc::from));
        if let Some(map) = reader.map("compaction")? {
            self.compaction = compaction::parse(&map)?;
        }
        if let Some(map) = reader.map("compression")? {
            self.compression = compression::parse(&map)?;
        }
        if let Some(name) = reader.text("memtable")?.filter(|name| *name != "default") {
            return Err(ErrorResponse::config(format!(
                "Memtable configuration \"{name}\" not found."
            )));
        }
        set(
            &mut self.incremental_backups,
            reader.boolean("incremental_backups")?,
        );
        if let Some(text) = reader.text("speculative_retry")? {
            self.speculative_retry = speculative_retry::parse(text)?;
        }
        if let Some(text) = reader.text("additional_write_policy")? {
            self.additional_write_policy = speculative_retry::parse(text)?;
        }
        set(&mut self.cdc, reader.boolean("cdc")?);
        if let Some(text) = reader.text("read_repair")? {
            self.read_repair = match text.to_ascii_uppercase().as_str() {
                known @ ("BLOCKING" | "NONE") => known.into(),
                _ => {
                    let message = format!("Invalid value {text} for option 'read_repair'");
                    return Err(ErrorResponse::config(message));
                }
            };
        }
        Ok(())
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

fn not_negative(name: &str, value: Option<i32>) -> Result<Option<u32>, ErrorResponse> {
    let unsigned = |value: i32| {
        u32::try_from(value).map_err(|_| {
            ErrorResponse::config(format!(
                "{name} must be greater than or equal to 0 (got {value})"
            ))
        })
    };
    value.map(unsigned).transpose()
}
