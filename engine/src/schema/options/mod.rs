//! The options of a table (`WITH …`): their values, defaults and rules.
//! Answers to Cassandra 5.0's `TableAttributes` and `TableParams`.

mod caching;
mod compaction;
mod compression;
mod display;
mod properties;
mod settings;
mod speculative_retry;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use display::PropertyText;
pub(super) use properties::PropertyReader;
pub(crate) use settings::TableSettings;
pub(super) use settings::{reader, table_id};

/// An option that is a map of strings, such as `compaction`.
pub type OptionMap = BTreeMap<Arc<str>, Arc<str>>;

/// The options of a table but for `default_time_to_live` and `gc_grace_seconds`, which
/// [`Table`](super::Table) has itself.
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
