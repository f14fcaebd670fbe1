//! Limits on what statements may ask for, as operators of Cassandra set them: above one the client is warned, above
//! another its statement fails. Answers to Cassandra 5.0's `Guardrails` and to the thresholds of its `cassandra.yaml`.

mod definition;
mod guard;
mod reads;
mod requests;
mod terms;
mod values;

use helenus_core::Consistency;

pub(crate) use definition::check_definition;
pub(crate) use guard::{Guard, Limit};
pub(crate) use reads::{read_size, tombstone_warning, tombstones_exceeded};
pub(crate) use requests::{
    Part, check_change_log, check_modification, check_page_size, check_partitions, check_places,
    check_select, check_timestamp, check_truncate, check_use, check_write_levels,
};
pub(crate) use values::check_values;

/// Two bounds of a figure. A figure above `warn` gets the client a warning, one above `fail` an error; of the minimum
/// ones, a figure below. `None` is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Threshold {
    /// Beyond it the client is warned.
    pub warn: Option<u64>,
    /// Beyond it the statement fails.
    pub fail: Option<u64>,
}

impl Threshold {
    /// Both bounds.
    pub const fn new(warn: u64, fail: u64) -> Self {
        Self {
            warn: Some(warn),
            fail: Some(fail),
        }
    }

    /// Whether there is any bound.
    pub(crate) const fn is_set(&self) -> bool {
        self.warn.is_some() || self.fail.is_some()
    }
}

/// Consistency levels that are advised against or refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConsistencyLevels {
    /// A request at one of these gets a warning.
    pub warned: Vec<Consistency>,
    /// A request at one of these fails.
    pub disallowed: Vec<Consistency>,
}

/// Options of tables (`WITH …`) that are advised against, ignored or refused, by their names in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct TableProperties {
    /// A statement that sets one of these gets a warning.
    pub warned: Vec<String>,
    /// One of these isn't set, and the statement that would gets a warning.
    pub ignored: Vec<String>,
    /// A statement that sets one of these fails.
    pub disallowed: Vec<String>,
}

/// The limits that statements are held against. Each field is named after its key in `cassandra.yaml`; the defaults are
/// Cassandra's, but that user functions and materialized views are on; and that what Cassandra holds against ordinary users
/// without being told to, the sizes of terms of storage-attached indexes and `zero_ttl_on_twcs_warned`, is off: it would
/// count here where nobody logs in too, as it doesn't there.
///
/// Superusers are exempt from most, see [`for_superusers`](Self::for_superusers).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Guardrails {
    /// `tombstone_warn_threshold`, `tombstone_failure_threshold`: tombstones that one read passes over. Counts for
    /// superusers too.
    pub tombstones: Threshold,
    /// `batch_size_warn_threshold`, `batch_size_fail_threshold`: bytes of a batch over several partitions. Counts for
    /// superusers too.
    pub batch_size: Threshold,
    /// `unlogged_batch_across_partitions_warn_threshold`: partitions of an unlogged batch above which the client is
    /// warned. Counts for superusers too.
    pub unlogged_batch_across_partitions: Option<u64>,
    /// `read_thresholds_enabled`: whether `coordinator_read_size` counts.
    pub read_thresholds_enabled: bool,
    /// `coordinator_read_size_warn_threshold`, `coordinator_read_size_fail_threshold`: bytes of the values in a page.
    /// Counts for superusers too.
    pub coordinator_read_size: Threshold,
    /// `cdc_enabled`: whether `cdc_total_space` counts.
    pub cdc_enabled: bool,
    /// `cdc_total_space`: bytes for the log of tables `WITH cdc = true`. No log is kept here, so the space never fills;
    /// but as in Cassandra one that holds not even one segment of it, 32 MiB, makes every write to such a table fail.
    pub cdc_total_space: u64,
    /// `user_defined_functions_enabled`: whether functions and aggregates may be created.
    pub user_defined_functions_enabled: bool,
    /// `materialized_views_enabled`: whether views may be created.
    pub materialized_views_enabled: bool,
    /// `use_statements_enabled`: whether `USE` works.
    pub use_statements_enabled: bool,

    /// `keyspaces_warn_threshold`, `keyspaces_fail_threshold`: keyspaces of users.
    pub keyspaces: Threshold,
    /// `tables_warn_threshold`, `tables_fail_threshold`: tables of users in all keyspaces together.
    pub tables: Threshold,
    /// `columns_per_table_warn_threshold`, `columns_per_table_fail_threshold`
    pub columns_per_table: Threshold,
    /// `secondary_indexes_per_table_warn_threshold`, `secondary_indexes_per_table_fail_threshold`
    pub secondary_indexes_per_table: Threshold,
    /// `materialized_views_per_table_warn_threshold`, `materialized_views_per_table_fail_threshold`
    pub materialized_views_per_table: Threshold,
    /// `fields_per_udt_warn_threshold`, `fields_per_udt_fail_threshold`
    pub fields_per_udt: Threshold,
    /// `vector_dimensions_warn_threshold`, `vector_dimensions_fail_threshold`
    pub vector_dimensions: Threshold,
    /// `minimum_replication_factor_warn_threshold`, `minimum_replication_factor_fail_threshold`
    pub minimum_replication_factor: Threshold,
    /// `maximum_replication_factor_warn_threshold`, `maximum_replication_factor_fail_threshold`
    pub maximum_replication_factor: Threshold,
    /// `table_properties_warned`, `table_properties_ignored`, `table_properties_disallowed`
    pub table_properties: TableProperties,
    /// `page_size_warn_threshold`, `page_size_fail_threshold`: rows that a client asks for a page.
    pub page_size: Threshold,
    /// `partition_keys_in_select_warn_threshold`, `partition_keys_in_select_fail_threshold`: partitions that a
    /// `SELECT … IN` names.
    pub partition_keys_in_select: Threshold,
    /// `in_select_cartesian_product_warn_threshold`, `in_select_cartesian_product_fail_threshold`: combinations of the
    /// values of all `IN`s of a statement.
    pub in_select_cartesian_product: Threshold,
    /// `maximum_timestamp_warn_threshold`, `maximum_timestamp_fail_threshold`: microseconds by which `USING TIMESTAMP` is
    /// ahead of the node's time, but in batches.
    pub maximum_timestamp: Threshold,
    /// `minimum_timestamp_warn_threshold`, `minimum_timestamp_fail_threshold`: microseconds by which it is behind.
    pub minimum_timestamp: Threshold,
    /// `sai_string_term_size_warn_threshold`, `sai_string_term_size_fail_threshold`: bytes of a text that is written and
    /// has a storage-attached index.
    pub sai_string_term_size: Threshold,
    /// `sai_frozen_term_size_warn_threshold`, `sai_frozen_term_size_fail_threshold`: the same of a frozen collection, type
    /// or tuple.
    pub sai_frozen_term_size: Threshold,
    /// `sai_vector_term_size_warn_threshold`, `sai_vector_term_size_fail_threshold`: the same of a vector.
    pub sai_vector_term_size: Threshold,
    /// `column_value_size_warn_threshold`, `column_value_size_fail_threshold`: bytes of a value that is written, or of
    /// an element of one.
    pub column_value_size: Threshold,
    /// `collection_size_warn_threshold`, `collection_size_fail_threshold`: bytes of a collection that is written, as
    /// Cassandra counts them.
    pub collection_size: Threshold,
    /// `items_per_collection_warn_threshold`, `items_per_collection_fail_threshold`: elements of a collection that are
    /// written.
    pub items_per_collection: Threshold,
    /// `read_consistency_levels_warned`, `read_consistency_levels_disallowed`
    pub read_consistency_levels: ConsistencyLevels,
    /// `write_consistency_levels_warned`, `write_consistency_levels_disallowed`
    pub write_consistency_levels: ConsistencyLevels,
    /// `user_timestamps_enabled`: whether statements may say `USING TIMESTAMP`.
    pub user_timestamps_enabled: bool,
    /// `group_by_enabled`
    pub group_by_enabled: bool,
    /// `allow_filtering_enabled`
    pub allow_filtering_enabled: bool,
    /// `read_before_write_list_operations_enabled`: whether elements of lists may be set or removed by index or value.
    pub read_before_write_list_operations_enabled: bool,
    /// `drop_truncate_table_enabled`
    pub drop_truncate_table_enabled: bool,
    /// `drop_keyspace_enabled`
    pub drop_keyspace_enabled: bool,
    /// `alter_table_enabled`: whether columns may be added, dropped and renamed.
    pub alter_table_enabled: bool,
    /// `secondary_indexes_enabled`: whether indexes may be created.
    pub secondary_indexes_enabled: bool,
    /// `uncompressed_tables_enabled`
    pub uncompressed_tables_enabled: bool,
    /// `simplestrategy_enabled`: whether keyspaces may have `SimpleStrategy`.
    pub simplestrategy_enabled: bool,
    /// `vector_type_enabled`: whether columns may be vectors.
    pub vector_type_enabled: bool,
    /// `zero_ttl_on_twcs_warned`: whether to warn of tables with `TimeWindowCompactionStrategy` whose data doesn't expire.
    pub zero_ttl_on_twcs_warned: bool,
    /// `zero_ttl_on_twcs_enabled`: whether there may be such tables.
    pub zero_ttl_on_twcs_enabled: bool,
    /// `non_partition_restricted_index_query_enabled`: whether an index may be asked for rows of all partitions.
    pub non_partition_restricted_index_query_enabled: bool,
    /// `compact_tables_enabled`: whether tables may be created with `COMPACT STORAGE`.
    pub compact_tables_enabled: bool,
}

/// Bytes of one segment of Cassandra's commit log: a smaller `cdc_total_space` holds nothing.
const SEGMENT: u64 = 32 << 20;

impl Default for Guardrails {
    fn default() -> Self {
        Self {
            tombstones: Threshold::new(1_000, 100_000),
            batch_size: Threshold::new(5 << 10, 50 << 10),
            unlogged_batch_across_partitions: Some(10),
            read_thresholds_enabled: false,
            coordinator_read_size: Threshold::default(),
            cdc_enabled: false,
            cdc_total_space: 4 << 30,
            user_defined_functions_enabled: true,
            materialized_views_enabled: true,
            use_statements_enabled: true,
            keyspaces: Threshold::default(),
            tables: Threshold::default(),
            columns_per_table: Threshold::default(),
            secondary_indexes_per_table: Threshold::default(),
            materialized_views_per_table: Threshold::default(),
            fields_per_udt: Threshold::default(),
            vector_dimensions: Threshold::default(),
            minimum_replication_factor: Threshold::default(),
            maximum_replication_factor: Threshold::default(),
            table_properties: TableProperties::default(),
            page_size: Threshold::default(),
            partition_keys_in_select: Threshold::default(),
            in_select_cartesian_product: Threshold::default(),
            maximum_timestamp: Threshold::default(),
            minimum_timestamp: Threshold::default(),
            sai_string_term_size: Threshold::default(),
            sai_frozen_term_size: Threshold::default(),
            sai_vector_term_size: Threshold::default(),
            column_value_size: Threshold::default(),
            collection_size: Threshold::default(),
            items_per_collection: Threshold::default(),
            read_consistency_levels: ConsistencyLevels::default(),
            write_consistency_levels: ConsistencyLevels::default(),
            user_timestamps_enabled: true,
            group_by_enabled: true,
            allow_filtering_enabled: true,
            read_before_write_list_operations_enabled: true,
            drop_truncate_table_enabled: true,
            drop_keyspace_enabled: true,
            alter_table_enabled: true,
            secondary_indexes_enabled: true,
            uncompressed_tables_enabled: true,
            simplestrategy_enabled: true,
            vector_type_enabled: true,
            zero_ttl_on_twcs_warned: false,
            zero_ttl_on_twcs_enabled: true,
            non_partition_restricted_index_query_enabled: true,
            compact_tables_enabled: true,
        }
    }
}

impl Guardrails {
    /// What is left of them for a superuser: those that protect the server from any statement, but none of the rules
    /// about what users ought to do.
    #[must_use]
    pub fn for_superusers(&self) -> Self {
        Self {
            tombstones: self.tombstones,
            batch_size: self.batch_size,
            unlogged_batch_across_partitions: self.unlogged_batch_across_partitions,
            read_thresholds_enabled: self.read_thresholds_enabled,
            coordinator_read_size: self.coordinator_read_size,
            cdc_enabled: self.cdc_enabled,
            cdc_total_space: self.cdc_total_space,
            user_defined_functions_enabled: self.user_defined_functions_enabled,
            materialized_views_enabled: self.materialized_views_enabled,
            use_statements_enabled: self.use_statements_enabled,
            ..Self::default()
        }
    }

    /// Whether no change of a table `WITH cdc = true` may be logged, and therefore none made.
    pub(crate) fn refuses_cdc(&self) -> bool {
        self.cdc_enabled && self.cdc_total_space < SEGMENT
    }

    /// Whether the sizes of written values matter.
    pub(crate) fn measures_values(&self) -> bool {
        self.column_value_size.is_set()
            || self.collection_size.is_set()
            || self.items_per_collection.is_set()
            || self.measures_terms()
    }

    /// Whether the sizes of what storage-attached indexes hold matter.
    fn measures_terms(&self) -> bool {
        self.sai_string_term_size.is_set()
            || self.sai_frozen_term_size.is_set()
            || self.sai_vector_term_size.is_set()
    }
}
