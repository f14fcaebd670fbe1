use super::World;

fn create(option: &str) -> String {
    format!("CREATE TABLE t (a int PRIMARY KEY) WITH {option}")
}

#[test]
fn compressors_hold_their_options_to_their_rules() {
    let mut world = World::new();
    for (class, option, message) in [
        (
            "LZ4Compressor",
            "'min_compress_ratio': '-1'",
            "Invalid negative min_compress_ratio",
        ),
        (
            "LZ4Compressor",
            "'chunk_length_in_kb': '2097152'",
            "Value of chunk_length_in_kb is too large (2097152)",
        ),
        (
            "LZ4Compressor",
            "'lz4_high_compressor_level': '23'",
            "Invalid value [23] for parameter 'lz4_high_compressor_level'. Value must be between 1 and 17.",
        ),
        (
            "LZ4Compressor",
            "'lz4_compressor_type': 'x'",
            "Invalid compressor type 'x' specified for LZ4 parameter 'lz4_compressor_type'. Valid options are [high, \
             fast].",
        ),
        (
            "ZstdCompressor",
            "'compression_level': '23'",
            "Invalid value [23] for parameter 'compression_level'. Value must be between -131072 and 22.",
        ),
    ] {
        let map = format!("{{'class': '{class}', {option}}}");
        world.configuration(&create(&format!("compression = {map}")), message);
    }
    world.ok(&create(
        "compression = {'class': 'LZ4Compressor', 'min_compress_ratio': '0'}",
    ));
    assert_eq!(
        world
            .schema
            .table("ks", "t")
            .unwrap()
            .options
            .compression
            .len(),
        2
    );
}

#[test]
fn compaction_strategies_hold_their_options_to_their_rules() {
    let mut world = World::new();
    for (strategy, option, message) in [
        (
            "SizeTiered",
            "'unchecked_tombstone_compaction': 'x'",
            "'unchecked_tombstone_compaction' should be either 'true' or 'false', not 'x'",
        ),
        (
            "SizeTiered",
            "'log_all': 'x'",
            "'log_all' should either be 'true' or 'false', not x",
        ),
        (
            "SizeTiered",
            "'provide_overlapping_tombstones': 'x'",
            "Invalid value X for 'provide_overlapping_tombstones' compaction sub-option - must be one of the following \
             [NONE, ROW, CELL].",
        ),
        (
            "SizeTiered",
            "'tombstone_threshold': 'x'",
            "x is not a parsable int (base10) for tombstone_threshold",
        ),
        (
            "SizeTiered",
            "'min_sstable_size': '-1'",
            "min_sstable_size must be non negative: -1",
        ),
        (
            "SizeTiered",
            "'min_sstable_size': '1.5'",
            "1.5 is not a parsable int (base10) for min_sstable_size",
        ),
        (
            "SizeTiered",
            "'bucket_high': '0'",
            "bucket_high value (0.0) is less than or equal to the bucket_low value (0.5)",
        ),
        (
            "SizeTiered",
            "'max_threshold': '-3'",
            "Invalid value -3 for 'max_threshold' compaction sub-option - must be an integer",
        ),
        (
            "Leveled",
            "'fanout_size': '0'",
            "fanout_size must be larger than 0, but was 0",
        ),
        (
            "Leveled",
            "'min_sstable_size': 'x'",
            "x is not a parsable int (base10) for min_sstable_size",
        ),
        (
            "TimeWindow",
            "'timestamp_resolution': 'MINUTES'",
            "MINUTES is not valid for timestamp_resolution",
        ),
        (
            "TimeWindow",
            "'compaction_window_unit': 'days'",
            "days is not valid for compaction_window_unit",
        ),
        (
            "TimeWindow",
            "'compaction_window_size': '-1'",
            "-1 must be greater than 1 for compaction_window_size",
        ),
        (
            "TimeWindow",
            "'expired_sstable_check_frequency_seconds': '-1'",
            "expired_sstable_check_frequency_seconds must not be negative, but was -1",
        ),
        (
            "TimeWindow",
            "'unsafe_aggressive_sstable_expiration': 'x'",
            "unsafe_aggressive_sstable_expiration is not 'true' or 'false' (x)",
        ),
        (
            "Unified",
            "'base_shard_count': '0'",
            "Invalid configuration, base_shard_count should be positive: 0",
        ),
        (
            "Unified",
            "'target_sstable_size': 'x'",
            "target_sstable_size x is not a valid size in bytes: x does not end in unit B",
        ),
        (
            "Unified",
            "'target_sstable_size': '1KiB'",
            "target_sstable_size 1KiB is not acceptable, size must be at least 1.000MiB",
        ),
        (
            "Unified",
            "'min_sstable_size': 'auto'",
            "auto is not a valid size in bytes for min_sstable_size",
        ),
        (
            "Unified",
            "'sstable_growth': 'x'",
            "sstable_growth is not a valid number between 0 and 1: For input string: \"x\"",
        ),
        (
            "Unified",
            "'sstable_growth': '2'",
            "sstable_growth 2 must be between 0 and 1",
        ),
        (
            "Unified",
            "'overlap_inclusion_method': 'x'",
            "Invalid overlap inclusion method x. The valid options are [NONE, SINGLE, TRANSITIVE].",
        ),
        (
            "Unified",
            "'scaling_parameters': ''",
            "Scaling parameter  must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+",
        ),
        (
            "Unified",
            "'scaling_parameters': 'L0'",
            "Fan factor cannot be lower than 2 in L0",
        ),
        (
            "Unified",
            "'min_threshold': '4'",
            "Properties specified [min_threshold] are not understood by UnifiedCompactionStrategy",
        ),
    ] {
        let map = format!("{{'class': '{strategy}CompactionStrategy', {option}}}");
        world.configuration(&create(&format!("compaction = {map}")), message);
    }
    for (strategy, option) in [
        ("SizeTiered", "'tombstone_compaction_interval': '0'"),
        ("SizeTiered", "'bucket_low': '-1'"),
        ("SizeTiered", "'enabled': 'TRUE'"),
        ("Leveled", "'bucket_low': '0.4'"),
        ("TimeWindow", "'bucket_low': '0.4'"),
        ("Unified", "'scaling_parameters': '-5, N, T4'"),
        ("Unified", "'flush_size_override': '1GiB'"),
        ("Unified", "'min_sstable_size': '1B'"),
    ] {
        let map = format!("{{'class': '{strategy}CompactionStrategy', {option}}}");
        world.ok(&create(&format!("compaction = {map}")));
        world.ok("DROP TABLE t");
    }
}
