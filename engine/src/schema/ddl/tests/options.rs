use super::World;

fn create(option: &str) -> String {
    format!("CREATE TABLE t (a int PRIMARY KEY) WITH {option}")
}

#[test]
fn values_that_break_their_rule_are_configuration_errors() {
    let mut world = World::new();
    for (option, message) in [
        (
            "additional_write_policy = 'foo'",
            "Invalid value foo for option 'speculative_retry'",
        ),
        (
            "additional_write_policy = 5",
            "Invalid value 5 for option 'speculative_retry'",
        ),
        (
            "speculative_retry = '101p'",
            "Invalid value 101p for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)",
        ),
        (
            "speculative_retry = 'custom'",
            "Invalid value custom for option 'speculative_retry'",
        ),
        (
            "speculative_retry = '50'",
            "Invalid value 50 for option 'speculative_retry'",
        ),
        (
            "speculative_retry = ''",
            "Invalid value  for option 'speculative_retry'",
        ),
        (
            "speculative_retry = 'MIN(99p,50p)'",
            "Invalid value MIN(99p,50p) for option 'speculative_retry': MIN()/MAX() arguments should be of different types, but both are of type PERCENTILE",
        ),
        (
            "bloom_filter_fp_chance = 0",
            "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got 0.0)",
        ),
        (
            "bloom_filter_fp_chance = 0.000001",
            "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got 1.0E-6)",
        ),
        (
            "bloom_filter_fp_chance = 1.5",
            "bloom_filter_fp_chance must be larger than 6.71E-5 and less than or equal to 1.0 (got 1.5)",
        ),
        (
            "caching = {'keys': 'foo'}",
            "Invalid value 'foo' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed",
        ),
        (
            "caching = {'keys': 'ALL', 'rows_per_partition': 'x'}",
            "Invalid value 'x' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values are allowed",
        ),
        (
            "caching = {'keys': 'ALL', 'rows_per_partition': '-1'}",
            "Invalid value '-1' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values are allowed",
        ),
        (
            "caching = {'foo': 'x'}",
            "Invalid caching sub-options [foo]: only 'keys' and 'rows_per_partition' are allowed",
        ),
        (
            "compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 0}",
            "sstable_size_in_mb must be larger than 0, but was 0",
        ),
        (
            "compaction = {'class': 'LeveledCompactionStrategy', 'foo': 10}",
            "Properties specified [foo] are not understood by LeveledCompactionStrategy",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 1}",
            "Min compaction threshold cannot be less than 2 (got 1)",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 'x'}",
            "Invalid value x for 'min_threshold' compaction sub-option - must be an integer",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 33}",
            "Min compaction threshold (got 33) cannot be greater than max compaction threshold (got 32)",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 5, 'max_threshold': 3}",
            "Min compaction threshold (got 5) cannot be greater than max compaction threshold (got 3)",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'max_threshold': 0}",
            "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction option 'enabled' to false instead.",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'bucket_low': 2, 'bucket_high': 1}",
            "bucket_high value (1.0) is less than or equal to the bucket_low value (2.0)",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'bucket_low': 'x'}",
            "x is not a parsable float for bucket_low",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'foo': 1}",
            "Properties specified [foo] are not understood by SizeTieredCompactionStrategy",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': 'x'}",
            "enabled should either be 'true' or 'false', not x",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'tombstone_threshold': '-1'}",
            "tombstone_threshold must be greater than 0, but was -1.000000",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'tombstone_compaction_interval': -1}",
            "tombstone_compaction_interval must be greater than 0, but was -1",
        ),
        (
            "compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'FOO'}",
            "FOO is not valid for compaction_window_unit",
        ),
        (
            "compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_size': 0}",
            "0 must be greater than 1 for compaction_window_size",
        ),
        (
            "compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_size': 'x'}",
            "x is not a parsable int (base10) for compaction_window_size",
        ),
        (
            "compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'Q4'}",
            "Scaling parameter Q4 must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+",
        ),
        (
            "compaction = {'class': 'UnifiedCompactionStrategy', 'foo': '1GiB'}",
            "Properties specified [foo] are not understood by UnifiedCompactionStrategy",
        ),
        (
            "compaction = {'class': 'DateTieredCompactionStrategy'}",
            "Unable to find compaction strategy class 'org.apache.cassandra.db.compaction.DateTieredCompactionStrategy'",
        ),
        (
            "compaction = {'class': 'NopeStrategy'}",
            "Unable to find compaction strategy class 'org.apache.cassandra.db.compaction.NopeStrategy'",
        ),
        (
            "compaction = {'min_threshold': 4}",
            "Missing sub-option 'class' for the 'compaction' option",
        ),
        (
            "compaction = {}",
            "Missing sub-option 'class' for the 'compaction' option",
        ),
        (
            "compression = {'class': 'FooCompressor'}",
            "Could not create Compression for type org.apache.cassandra.io.compress.FooCompressor",
        ),
        (
            "compression = {'sstable_compression': 'LZ4Compressor'}",
            "Missing sub-option 'class' for the 'compression' option.",
        ),
        (
            "compression = {'sstable_compression': ''}",
            "Missing sub-option 'class' for the 'compression' option.",
        ),
        (
            "compression = {'enabled': true}",
            "Missing sub-option 'class' for the 'compression' option.",
        ),
        (
            "compression = {'enabled': false, 'class': 'LZ4Compressor'}",
            "If the 'enabled' option is set to false no other options must be specified",
        ),
        (
            "compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 3}",
            "chunk_length_in_kb must be a power of 2",
        ),
        (
            "compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 'x'}",
            "Invalid value for chunk_length_in_kb",
        ),
        (
            "compression = {'class': 'LZ4Compressor', 'chunk_length_kb': 8}",
            "Unknown compression options chunk_length_kb",
        ),
        (
            "compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 0}",
            "Invalid negative or null chunk_length_in_kb",
        ),
        (
            "compression = {'class': 'LZ4Compressor', 'foo': 0}",
            "Unknown compression options foo",
        ),
        (
            "compression = {'class': 'LZ4Compressor', 'crc_check_chance': 0.5}",
            "Unknown compression options crc_check_chance",
        ),
        (
            "compression = {'class': 'LZ4Compressor', 'min_compress_ratio': 0.5}",
            "min_compress_ratio can either be 0 or greater than or equal to 1",
        ),
        (
            "compression = {'class': ''}",
            "The 'class' option must not be empty. To disable compression use 'enabled' : false",
        ),
        (
            "compression = {'chunk_length_in_kb': 8}",
            "Missing sub-option 'class' for the 'compression' option.",
        ),
        (
            "memtable = 'foo'",
            "Memtable configuration \"foo\" not found.",
        ),
        ("memtable = ''", "Memtable configuration \"\" not found."),
        (
            "crc_check_chance = 2",
            "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got 2.0)",
        ),
        (
            "crc_check_chance = -0.5",
            "crc_check_chance must be larger than or equal to 0 and smaller than or equal to 1.0 (got -0.5)",
        ),
        (
            "default_time_to_live = -1",
            "default_time_to_live must be greater than or equal to 0 (got -1)",
        ),
        (
            "default_time_to_live = 630720001",
            "default_time_to_live must be less than or equal to 630720000 (got 630720001)",
        ),
        (
            "gc_grace_seconds = -1",
            "gc_grace_seconds must be greater than or equal to 0 (got -1)",
        ),
        (
            "max_index_interval = 64",
            "max_index_interval must be greater than or equal to min_index_interval (128) (got 64)",
        ),
        (
            "max_index_interval = 0",
            "max_index_interval must be greater than or equal to min_index_interval (128) (got 0)",
        ),
        (
            "min_index_interval = 0",
            "min_index_interval must be greater than or equal to 1 (got 0)",
        ),
        (
            "min_index_interval = 4096",
            "max_index_interval must be greater than or equal to min_index_interval (4096) (got 2048)",
        ),
        (
            "memtable_flush_period_in_ms = -1",
            "memtable_flush_period_in_ms must be greater than or equal to 0 (got -1)",
        ),
        ("id = 'x'", "Invalid table id"),
    ] {
        world.configuration(&create(option), message);
    }
}

#[test]
fn values_of_the_wrong_kind_are_syntax_errors() {
    let mut world = World::new();
    for (option, message) in [
        (
            "speculative_retry = {'a':'b'}",
            "Invalid value for property 'speculative_retry'. It should be a string",
        ),
        (
            "allow_auto_snapshot = 'zz'",
            "Invalid boolean value zz for 'allow_auto_snapshot'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'.",
        ),
        (
            "bloom_filter_fp_chance = 'x'",
            "Invalid double value x for 'bloom_filter_fp_chance'",
        ),
        (
            "caching = 'ALL'",
            "Invalid value for property 'caching'. It should be a map.",
        ),
        (
            "cdc = 'x'",
            "Invalid boolean value x for 'cdc'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'.",
        ),
        (
            "comment = {'a': 'b'}",
            "Invalid value for property 'comment'. It should be a string",
        ),
        (
            "compaction = 'STCS'",
            "Invalid value for property 'compaction'. It should be a map.",
        ),
        (
            "compression = 'lz4'",
            "Invalid value for property 'compression'. It should be a map.",
        ),
        (
            "crc_check_chance = 'x'",
            "Invalid double value x for 'crc_check_chance'",
        ),
        (
            "default_time_to_live = 'x'",
            "Invalid integer value x for 'default_time_to_live'",
        ),
        (
            "default_time_to_live = 1.5",
            "Invalid integer value 1.5 for 'default_time_to_live'",
        ),
        (
            "default_time_to_live = 99999999999",
            "Invalid integer value 99999999999 for 'default_time_to_live'",
        ),
        (
            "gc_grace_seconds = 'x'",
            "Invalid integer value x for 'gc_grace_seconds'",
        ),
        (
            "incremental_backups = 'x'",
            "Invalid boolean value x for 'incremental_backups'. Positive values can be '1', 'true' or 'yes'. Negative values can be '0', 'false' or 'no'.",
        ),
        (
            "read_repair_chance = 0.1",
            "Unknown property 'read_repair_chance'",
        ),
        (
            "dclocal_read_repair_chance = 0.1",
            "Unknown property 'dclocal_read_repair_chance'",
        ),
        ("nodesync = 'x'", "Unknown property 'nodesync'"),
        ("index_interval = 5", "Unknown property 'index_interval'"),
        (
            "replicate_on_write = true",
            "Unknown property 'replicate_on_write'",
        ),
        (
            "populate_io_cache_on_flush = true",
            "Unknown property 'populate_io_cache_on_flush'",
        ),
        ("\"Comment\" = 'a'", "Unknown property 'Comment'"),
    ] {
        world.syntax(&create(option), message);
    }
}

#[test]
fn values_are_shown_in_one_form() {
    let mut world = World::new();
    for (option, shown) in [
        ("additional_write_policy = '50p'", "'50p'"),
        ("additional_write_policy = '10ms'", "'10ms'"),
        ("additional_write_policy = 'ALWAYS'", "'ALWAYS'"),
        ("additional_write_policy = 'NEVER'", "'NEVER'"),
        ("speculative_retry = 'NONE'", "'NEVER'"),
        ("speculative_retry = '99PERCENTILE'", "'99p'"),
        ("speculative_retry = '99.5p'", "'99.5p'"),
        ("speculative_retry = '50ms'", "'50ms'"),
        ("speculative_retry = '50.5ms'", "'50ms'"),
        ("speculative_retry = 'MIN(99p,50ms)'", "'MIN(99p,50ms)'"),
        (
            "speculative_retry = 'max(99percentile, 50ms)'",
            "'MAX(99p,50ms)'",
        ),
        ("allow_auto_snapshot = false", "false"),
        ("allow_auto_snapshot = true", "true"),
        ("bloom_filter_fp_chance = 0.5", "0.5"),
        ("bloom_filter_fp_chance = 1", "1.0"),
        ("bloom_filter_fp_chance = -1", "0.01"),
        (
            "caching = {'keys': 'NONE'}",
            "{'keys': 'NONE', 'rows_per_partition': 'NONE'}",
        ),
        (
            "caching = {'keys': 'none', 'rows_per_partition': '10'}",
            "{'keys': 'NONE', 'rows_per_partition': '10'}",
        ),
        (
            "caching = {}",
            "{'keys': 'NONE', 'rows_per_partition': 'NONE'}",
        ),
        ("cdc = true", "true"),
        ("cdc = false", "false"),
        ("comment = 'it''s'", "'it''s'"),
        ("comment = 5", "'5'"),
        (
            "compaction = {'class': 'LeveledCompactionStrategy'}",
            "{'class': 'org.apache.cassandra.db.compaction.LeveledCompactionStrategy', 'max_threshold': '32', 'min_threshold': '4'}",
        ),
        (
            "compaction = {'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 10}",
            "{'class': 'org.apache.cassandra.db.compaction.LeveledCompactionStrategy', 'max_threshold': '32', 'min_threshold': '4', 'sstable_size_in_mb': '10'}",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'min_threshold': 6, 'max_threshold': 12, 'enabled': 'false'}",
            "{'class': 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy', 'enabled': 'false', 'max_threshold': '12', 'min_threshold': '6'}",
        ),
        (
            "compaction = {'class': 'SizeTieredCompactionStrategy', 'tombstone_threshold': '0.3', 'tombstone_compaction_interval': 86400}",
            "{'class': 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy', 'max_threshold': '32', 'min_threshold': '4', 'tombstone_compaction_interval': '86400', 'tombstone_threshold': '0.3'}",
        ),
        (
            "compaction = {'class': 'TimeWindowCompactionStrategy'}",
            "{'class': 'org.apache.cassandra.db.compaction.TimeWindowCompactionStrategy', 'max_threshold': '32', 'min_threshold': '4'}",
        ),
        (
            "compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'DAYS', 'compaction_window_size': 1}",
            "{'class': 'org.apache.cassandra.db.compaction.TimeWindowCompactionStrategy', 'compaction_window_size': '1', 'compaction_window_unit': 'DAYS', 'max_threshold': '32', 'min_threshold': '4'}",
        ),
        (
            "compaction = {'class': 'UnifiedCompactionStrategy'}",
            "{'class': 'org.apache.cassandra.db.compaction.UnifiedCompactionStrategy'}",
        ),
        (
            "compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T4, L10'}",
            "{'class': 'org.apache.cassandra.db.compaction.UnifiedCompactionStrategy', 'scaling_parameters': 'T4, L10'}",
        ),
        (
            "compaction = {'class': 'UnifiedCompactionStrategy', 'target_sstable_size': '1GiB'}",
            "{'class': 'org.apache.cassandra.db.compaction.UnifiedCompactionStrategy', 'target_sstable_size': '1GiB'}",
        ),
        (
            "compaction = {'class': 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy'}",
            "{'class': 'org.apache.cassandra.db.compaction.SizeTieredCompactionStrategy', 'max_threshold': '32', 'min_threshold': '4'}",
        ),
        (
            "compression = {'class': 'SnappyCompressor'}",
            "{'chunk_length_in_kb': '16', 'class': 'org.apache.cassandra.io.compress.SnappyCompressor'}",
        ),
        (
            "compression = {'class': 'LZ4Compressor', 'chunk_length_in_kb': 64}",
            "{'chunk_length_in_kb': '64', 'class': 'org.apache.cassandra.io.compress.LZ4Compressor'}",
        ),
        (
            "compression = {'class': 'DeflateCompressor', 'chunk_length_in_kb': 64}",
            "{'chunk_length_in_kb': '64', 'class': 'org.apache.cassandra.io.compress.DeflateCompressor'}",
        ),
        (
            "compression = {'class': 'ZstdCompressor', 'compression_level': 3}",
            "{'chunk_length_in_kb': '16', 'class': 'org.apache.cassandra.io.compress.ZstdCompressor', 'compression_level': '3'}",
        ),
        (
            "compression = {'class': 'NoopCompressor'}",
            "{'chunk_length_in_kb': '16', 'class': 'org.apache.cassandra.io.compress.NoopCompressor'}",
        ),
        ("compression = {'enabled': false}", "{'enabled': 'false'}"),
        (
            "compression = {'class': 'LZ4Compressor', 'min_compress_ratio': 2}",
            "{'chunk_length_in_kb': '16', 'class': 'org.apache.cassandra.io.compress.LZ4Compressor', 'min_compress_ratio': '2.0'}",
        ),
        ("compression = {}", "{'enabled': 'false'}"),
        ("memtable = 'default'", "'default'"),
        ("crc_check_chance = 0.5", "0.5"),
        ("default_time_to_live = 100", "100"),
        ("default_time_to_live = 630720000", "630720000"),
        ("gc_grace_seconds = 100", "100"),
        ("gc_grace_seconds = '5'", "5"),
        ("incremental_backups = false", "false"),
        ("incremental_backups = true", "true"),
        ("max_index_interval = 256", "256"),
        ("min_index_interval = 64", "64"),
        ("memtable_flush_period_in_ms = 1000", "1000"),
        ("read_repair = 'NONE'", "'NONE'"),
        ("read_repair = 'BLOCKING'", "'BLOCKING'"),
        ("read_repair = 'none'", "'NONE'"),
        ("COMMENT = 'a'", "'a'"),
    ] {
        world.ok(&create(option));
        let name = option.split(' ').next().unwrap().to_ascii_lowercase();
        let table = world.schema.table("ks", "t").unwrap();
        let (_, value) = table
            .properties()
            .into_iter()
            .find(|(known, _)| **known == *name)
            .unwrap();
        assert_eq!(value.to_string(), shown, "{option}");
        world.ok("DROP TABLE t");
    }
}

#[test]
fn extensions_are_accepted_and_ignored() {
    let mut world = World::new();
    world.ok(&create("extensions = {'a': '0x1234'}"));
    assert!(
        world
            .schema
            .table("ks", "t")
            .unwrap()
            .properties()
            .iter()
            .all(|(name, value)| { *name != "extensions" || value.to_string() == "{}" })
    );
}

#[test]
fn the_bloom_filter_follows_the_compaction_of_a_new_table() {
    let mut world = World::new();
    let chance = |world: &World| {
        world
            .schema
            .table("ks", "t")
            .unwrap()
            .options
            .bloom_filter_fp_chance
    };
    world.ok(&create(
        "compaction = {'class': 'LeveledCompactionStrategy'}",
    ));
    assert_eq!(chance(&world), 0.1);
    world.ok("ALTER TABLE t WITH compaction = {'class': 'SizeTieredCompactionStrategy'}");
    assert_eq!(chance(&world), 0.1);
    world.ok("ALTER TABLE t WITH bloom_filter_fp_chance = -1");
    assert_eq!(chance(&world), 0.01);
}
