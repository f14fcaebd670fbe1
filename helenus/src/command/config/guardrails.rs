//! `[guardrails]`: the limits of Cassandra's `cassandra.yaml` on what statements may ask for, under their names there.

use std::time::Duration;

use helenus::Guardrails as Rules;
use helenus_core::Consistency;
use helenus_engine::guardrails::Threshold;

use super::raw::Raw;
use super::section::section;
use super::units::Size;
use super::value::{Value, text};

section! {
    /// What statements may ask for, as in cassandra.yaml: above one threshold the client is warned, above the other refused.
    Guardrails in "guardrails" {
        /// Tombstones that a read passes over: above this many the client is warned.
        tombstone_warn_threshold: Option<u64> = Some(1_000), live;
        /// Tombstones that a read passes over: above this many the statement fails.
        tombstone_failure_threshold: Option<u64> = Some(100_000), live;
        /// The size of a batch over several partitions: above this the client is warned.
        batch_size_warn_threshold: Option<Size> = Some(Size::kibibytes(5)), live;
        /// The size of a batch over several partitions: above this the statement fails.
        batch_size_fail_threshold: Option<Size> = Some(Size::kibibytes(50)), live;
        /// Partitions of an unlogged batch: above this many the client is warned.
        unlogged_batch_across_partitions_warn_threshold: Option<u64> = Some(10), live;
        /// Whether the sizes of results are held against the two that follow.
        read_thresholds_enabled: bool = false, live;
        /// The size of a page: above this the client is warned.
        coordinator_read_size_warn_threshold: Option<Size> = None, live;
        /// The size of a page: above this the statement fails.
        coordinator_read_size_fail_threshold: Option<Size> = None, live;
        /// Whether changes of tables WITH cdc = true are logged, for which there must be space.
        cdc_enabled: bool = false, live;
        /// The space for their log; below 32MiB, which is one segment, every write to such a table fails.
        cdc_total_space: Size = Size::mebibytes(4096), live;
        /// Whether functions and aggregates may be created.
        user_defined_functions_enabled: bool = true, live;
        /// Whether materialized views may be created.
        materialized_views_enabled: bool = true, live;
        /// Whether USE works.
        use_statements_enabled: bool = true, live;
        /// Keyspaces: above this many the client is warned.
        keyspaces_warn_threshold: Option<u64> = None, live;
        /// Keyspaces: above this many the statement fails.
        keyspaces_fail_threshold: Option<u64> = None, live;
        /// Tables: above this many the client is warned.
        tables_warn_threshold: Option<u64> = None, live;
        /// Tables: above this many the statement fails.
        tables_fail_threshold: Option<u64> = None, live;
        /// Columns of a table: above this many the client is warned.
        columns_per_table_warn_threshold: Option<u64> = None, live;
        /// Columns of a table: above this many the statement fails.
        columns_per_table_fail_threshold: Option<u64> = None, live;
        /// Indexes of a table: above this many the client is warned.
        secondary_indexes_per_table_warn_threshold: Option<u64> = None, live;
        /// Indexes of a table: above this many the statement fails.
        secondary_indexes_per_table_fail_threshold: Option<u64> = None, live;
        /// Views of a table: above this many the client is warned.
        materialized_views_per_table_warn_threshold: Option<u64> = None, live;
        /// Views of a table: above this many the statement fails.
        materialized_views_per_table_fail_threshold: Option<u64> = None, live;
        /// Fields of a user type: above this many the client is warned.
        fields_per_udt_warn_threshold: Option<u64> = None, live;
        /// Fields of a user type: above this many the statement fails.
        fields_per_udt_fail_threshold: Option<u64> = None, live;
        /// Dimensions of a vector: above this many the client is warned.
        vector_dimensions_warn_threshold: Option<u64> = None, live;
        /// Dimensions of a vector: above this many the statement fails.
        vector_dimensions_fail_threshold: Option<u64> = None, live;
        /// The replication factor: below this the client is warned.
        minimum_replication_factor_warn_threshold: Option<u64> = None, live;
        /// The replication factor: below this the statement fails.
        minimum_replication_factor_fail_threshold: Option<u64> = None, live;
        /// The replication factor: above this the client is warned.
        maximum_replication_factor_warn_threshold: Option<u64> = None, live;
        /// The replication factor: above this the statement fails.
        maximum_replication_factor_fail_threshold: Option<u64> = None, live;
        /// Options of tables that the client is warned of.
        table_properties_warned: Vec<String> = Vec::new(), live;
        /// Options of tables that aren't set though a statement says so, of which the client is warned.
        table_properties_ignored: Vec<String> = Vec::new(), live;
        /// Options of tables that may not be set.
        table_properties_disallowed: Vec<String> = Vec::new(), live;
        /// Rows that a client asks for a page: above this many the client is warned.
        page_size_warn_threshold: Option<u64> = None, live;
        /// Rows that a client asks for a page: above this many the statement fails.
        page_size_fail_threshold: Option<u64> = None, live;
        /// Partitions that a SELECT with IN names: above this many the client is warned.
        partition_keys_in_select_warn_threshold: Option<u64> = None, live;
        /// Partitions that a SELECT with IN names: above this many the statement fails.
        partition_keys_in_select_fail_threshold: Option<u64> = None, live;
        /// Combinations of the values of all INs: above this many the client is warned.
        in_select_cartesian_product_warn_threshold: Option<u64> = None, live;
        /// Combinations of the values of all INs: above this many the statement fails.
        in_select_cartesian_product_fail_threshold: Option<u64> = None, live;
        /// The size of a value that is written: above this the client is warned.
        column_value_size_warn_threshold: Option<Size> = None, live;
        /// The size of a value that is written: above this the statement fails.
        column_value_size_fail_threshold: Option<Size> = None, live;
        /// The size of a collection that is written: above this the client is warned.
        collection_size_warn_threshold: Option<Size> = None, live;
        /// The size of a collection that is written: above this the statement fails.
        collection_size_fail_threshold: Option<Size> = None, live;
        /// Elements of a collection that are written: above this many the client is warned.
        items_per_collection_warn_threshold: Option<u64> = None, live;
        /// Elements of a collection that are written: above this many the statement fails.
        items_per_collection_fail_threshold: Option<u64> = None, live;
        /// How far USING TIMESTAMP is ahead of the server's time, but in batches: above this the client is warned.
        maximum_timestamp_warn_threshold: Option<Duration> = None, live;
        /// How far USING TIMESTAMP is ahead of the server's time, but in batches: above this the statement fails.
        maximum_timestamp_fail_threshold: Option<Duration> = None, live;
        /// How far it is behind: above this the client is warned.
        minimum_timestamp_warn_threshold: Option<Duration> = None, live;
        /// How far it is behind: above this the statement fails.
        minimum_timestamp_fail_threshold: Option<Duration> = None, live;
        /// The size of a text with a storage-attached index: above this the client is warned; Cassandra has "1KiB".
        sai_string_term_size_warn_threshold: Option<Size> = None, live;
        /// The size of a text with a storage-attached index: above this the statement fails; Cassandra has "8KiB".
        sai_string_term_size_fail_threshold: Option<Size> = None, live;
        /// The size of a frozen value with such an index: above this the client is warned; Cassandra has "1KiB".
        sai_frozen_term_size_warn_threshold: Option<Size> = None, live;
        /// The size of a frozen value with such an index: above this the statement fails; Cassandra has "8KiB".
        sai_frozen_term_size_fail_threshold: Option<Size> = None, live;
        /// The size of a vector with such an index: above this the client is warned; Cassandra has "16KiB".
        sai_vector_term_size_warn_threshold: Option<Size> = None, live;
        /// The size of a vector with such an index: above this the statement fails; Cassandra has "32KiB".
        sai_vector_term_size_fail_threshold: Option<Size> = None, live;
        /// Consistency levels of reads that the client is warned of.
        read_consistency_levels_warned: Vec<Consistency> = Vec::new(), live;
        /// Consistency levels that reads may not have.
        read_consistency_levels_disallowed: Vec<Consistency> = Vec::new(), live;
        /// Consistency levels of writes that the client is warned of.
        write_consistency_levels_warned: Vec<Consistency> = Vec::new(), live;
        /// Consistency levels that writes may not have.
        write_consistency_levels_disallowed: Vec<Consistency> = Vec::new(), live;
        /// Whether statements may say USING TIMESTAMP.
        user_timestamps_enabled: bool = true, live;
        /// Whether GROUP BY works.
        group_by_enabled: bool = true, live;
        /// Whether ALLOW FILTERING works.
        allow_filtering_enabled: bool = true, live;
        /// Whether elements of lists may be set and removed by index or value.
        read_before_write_list_operations_enabled: bool = true, live;
        /// Whether tables may be dropped and truncated.
        drop_truncate_table_enabled: bool = true, live;
        /// Whether keyspaces may be dropped.
        drop_keyspace_enabled: bool = true, live;
        /// Whether columns may be added, dropped and renamed.
        alter_table_enabled: bool = true, live;
        /// Whether indexes may be created.
        secondary_indexes_enabled: bool = true, live;
        /// Whether tables may go without compression.
        uncompressed_tables_enabled: bool = true, live;
        /// Whether keyspaces may have SimpleStrategy.
        simplestrategy_enabled: bool = true, live;
        /// Whether columns may be vectors.
        vector_type_enabled: bool = true, live;
        /// Whether to warn of tables with TimeWindowCompactionStrategy and no default_time_to_live; Cassandra does.
        zero_ttl_on_twcs_warned: bool = false, live;
        /// Whether there may be such tables.
        zero_ttl_on_twcs_enabled: bool = true, live;
        /// Whether an index may be asked for rows of all partitions.
        non_partition_restricted_index_query_enabled: bool = true, live;
        /// Whether tables may be created WITH COMPACT STORAGE.
        compact_tables_enabled: bool = true, live;
    }
}

/// The thresholds of a figure, which are keys of their own.
macro_rules! thresholds {
    ($rules:ident, $settings:expr, $($kind:ident $field:ident = $warn:ident, $fail:ident;)+) => {
        $($rules.$field = $kind($settings.$warn, $settings.$fail);)+
    };
}

/// Keys that have the name of what they set.
macro_rules! same {
    ($rules:ident, $settings:expr, $($field:ident,)+) => {
        $($rules.$field = $settings.$field;)+
    };
}

/// Two thresholds of a number.
fn counts(warn: Option<u64>, fail: Option<u64>) -> Threshold {
    Threshold { warn, fail }
}

/// Two thresholds of a size.
fn sizes(warn: Option<Size>, fail: Option<Size>) -> Threshold {
    counts(warn.map(|size| size.0), fail.map(|size| size.0))
}

/// Two thresholds of a time, microseconds.
fn times(warn: Option<Duration>, fail: Option<Duration>) -> Threshold {
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    counts(warn.map(micros), fail.map(micros))
}

/// Guardrails of `cassandra.yaml`, by the beginnings of their keys, that can mean nothing here, and why.
const MEANINGLESS: [(&str, &str); 7] = [
    ("partition_size_", NO_FILES),
    ("partition_tombstones_", NO_FILES),
    ("sai_sstable_indexes_per_query_", NO_FILES),
    ("data_disk_usage_", "nothing is kept on disks here"),
    (
        "intersect_filtering_query_",
        "it is about replicas that disagree, of which there is one here",
    ),
    (
        "drop_compact_storage_enabled",
        "tables with COMPACT STORAGE stay as they are here",
    ),
    ("bulk_load_enabled", NO_FILES),
];

const NO_FILES: &str =
    "it is about the files of tables, and there are none here: data is in memory only";

/// Why a guardrail of Cassandra's can't be set here, if `key` is one of those.
pub(super) fn meaningless(key: &str) -> Option<&'static str> {
    let known = MEANINGLESS.iter().find(|(name, _)| key.starts_with(name));
    known.map(|(_, reason)| *reason)
}

impl Guardrails {
    /// What the engine holds statements against.
    pub(in crate::command) fn rules(&self) -> Rules {
        let mut rules = Rules::default();
        thresholds! {
            rules, self,
            counts tombstones = tombstone_warn_threshold, tombstone_failure_threshold;
            sizes batch_size = batch_size_warn_threshold, batch_size_fail_threshold;
            sizes coordinator_read_size = coordinator_read_size_warn_threshold, coordinator_read_size_fail_threshold;
            sizes column_value_size = column_value_size_warn_threshold, column_value_size_fail_threshold;
            sizes collection_size = collection_size_warn_threshold, collection_size_fail_threshold;
            counts keyspaces = keyspaces_warn_threshold, keyspaces_fail_threshold;
            counts tables = tables_warn_threshold, tables_fail_threshold;
            counts columns_per_table = columns_per_table_warn_threshold, columns_per_table_fail_threshold;
            counts secondary_indexes_per_table = secondary_indexes_per_table_warn_threshold, secondary_indexes_per_table_fail_threshold;
            counts materialized_views_per_table = materialized_views_per_table_warn_threshold, materialized_views_per_table_fail_threshold;
            counts fields_per_udt = fields_per_udt_warn_threshold, fields_per_udt_fail_threshold;
            counts vector_dimensions = vector_dimensions_warn_threshold, vector_dimensions_fail_threshold;
            counts minimum_replication_factor = minimum_replication_factor_warn_threshold, minimum_replication_factor_fail_threshold;
            counts maximum_replication_factor = maximum_replication_factor_warn_threshold, maximum_replication_factor_fail_threshold;
            times maximum_timestamp = maximum_timestamp_warn_threshold, maximum_timestamp_fail_threshold;
            times minimum_timestamp = minimum_timestamp_warn_threshold, minimum_timestamp_fail_threshold;
            sizes sai_string_term_size = sai_string_term_size_warn_threshold, sai_string_term_size_fail_threshold;
            sizes sai_frozen_term_size = sai_frozen_term_size_warn_threshold, sai_frozen_term_size_fail_threshold;
            sizes sai_vector_term_size = sai_vector_term_size_warn_threshold, sai_vector_term_size_fail_threshold;
            counts page_size = page_size_warn_threshold, page_size_fail_threshold;
            counts partition_keys_in_select = partition_keys_in_select_warn_threshold, partition_keys_in_select_fail_threshold;
            counts in_select_cartesian_product = in_select_cartesian_product_warn_threshold, in_select_cartesian_product_fail_threshold;
            counts items_per_collection = items_per_collection_warn_threshold, items_per_collection_fail_threshold;
        }
        same! {
            rules, self,
            read_thresholds_enabled, cdc_enabled, user_defined_functions_enabled, materialized_views_enabled,
            use_statements_enabled,
            user_timestamps_enabled,
            group_by_enabled,
            allow_filtering_enabled,
            read_before_write_list_operations_enabled,
            drop_truncate_table_enabled,
            drop_keyspace_enabled,
            alter_table_enabled,
            secondary_indexes_enabled,
            uncompressed_tables_enabled,
            simplestrategy_enabled,
            vector_type_enabled,
            zero_ttl_on_twcs_warned,
            zero_ttl_on_twcs_enabled,
            non_partition_restricted_index_query_enabled,
            compact_tables_enabled,
        }
        rules.unlogged_batch_across_partitions =
            self.unlogged_batch_across_partitions_warn_threshold;
        rules.cdc_total_space = self.cdc_total_space.0;
        let properties = &mut rules.table_properties;
        properties.warned.clone_from(&self.table_properties_warned);
        properties
            .ignored
            .clone_from(&self.table_properties_ignored);
        properties
            .disallowed
            .clone_from(&self.table_properties_disallowed);
        let levels = &mut rules.read_consistency_levels;
        levels
            .warned
            .clone_from(&self.read_consistency_levels_warned);
        levels
            .disallowed
            .clone_from(&self.read_consistency_levels_disallowed);
        let levels = &mut rules.write_consistency_levels;
        levels
            .warned
            .clone_from(&self.write_consistency_levels_warned);
        levels
            .disallowed
            .clone_from(&self.write_consistency_levels_disallowed);
        rules
    }
}

impl Value for Consistency {
    fn read(raw: &Raw) -> Result<Self, String> {
        let text = text(raw)?;
        let known = Self::KNOWN.iter().find(|level| {
            level
                .name()
                .is_some_and(|name| name.eq_ignore_ascii_case(text))
        });
        known.copied().ok_or_else(|| {
            let names: Vec<_> = Self::KNOWN
                .iter()
                .filter_map(|level| level.name())
                .collect();
            format!(
                "{text:?} is no consistency level; expected one of {}",
                names.join(", ")
            )
        })
    }

    fn show(&self) -> String {
        format!("\"{self}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_those_of_the_engine() {
        assert_eq!(Guardrails::default().rules(), Rules::default());
    }

    #[test]
    fn consistency_levels_are_taken_by_name() {
        let word = |text: &str| Consistency::read(&Raw::Text(text.to_owned()));
        assert_eq!(word("EACH_QUORUM"), Ok(Consistency::EACH_QUORUM));
        assert_eq!(word("all"), Ok(Consistency::ALL));
        assert!(word("MOST").is_err());
    }
}
