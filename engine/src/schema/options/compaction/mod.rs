//! The `compaction` option: Cassandra's `CompactionParams` and the options of its strategies.

mod rules;

use helenus_core::message::ErrorResponse;

use super::OptionMap;
use super::display::JavaDouble;

const PACKAGE: &str = "org.apache.cassandra.db.compaction.";
const MIN_THRESHOLD: (&str, &str) = ("min_threshold", "4");
const MAX_THRESHOLD: (&str, &str) = ("max_threshold", "32");

/// A sub-option by name, and what its value has to satisfy.
type SubOption = (&'static str, rules::Rule);

const COMMON: &[SubOption] = &[
    ("tombstone_threshold", rules::tombstone_threshold),
    ("tombstone_compaction_interval", rules::tombstone_interval),
    ("unchecked_tombstone_compaction", rules::either_boolean),
    ("only_purge_repaired_tombstones", rules::any),
    ("log_all", rules::quoted_boolean),
    ("enabled", rules::boolean),
    (
        "provide_overlapping_tombstones",
        rules::overlapping_tombstones,
    ),
];
const THRESHOLDS: &[SubOption] = &[("min_threshold", rules::any), ("max_threshold", rules::any)];
const SIZE_TIERED: &[SubOption] = &[
    ("min_sstable_size", rules::byte_count),
    ("bucket_low", rules::float),
    ("bucket_high", rules::float),
];
const LEVELED: &[SubOption] = &[
    ("sstable_size_in_mb", rules::positive),
    ("fanout_size", rules::positive),
    ("single_sstable_uplevel", rules::any),
];
const TIME_WINDOW: &[SubOption] = &[
    ("timestamp_resolution", rules::resolution),
    ("compaction_window_unit", rules::window_unit),
    ("compaction_window_size", rules::window_size),
    ("expired_sstable_check_frequency_seconds", rules::frequency),
    ("unsafe_aggressive_sstable_expiration", rules::is_boolean),
];
const UNIFIED: &[SubOption] = &[
    ("scaling_parameters", rules::scaling),
    ("target_sstable_size", rules::target_size),
    ("min_sstable_size", rules::minimal_size),
    ("flush_size_override", rules::size),
    ("base_shard_count", rules::count),
    ("sstable_growth", rules::growth),
    ("max_sstables_to_compact", rules::integer),
    ("expired_sstable_check_frequency_seconds", rules::count),
    ("unsafe_aggressive_sstable_expiration", rules::boolean),
    ("overlap_inclusion_method", rules::overlap_inclusion),
];

/// The options a strategy knows beside the common ones; `None` for no strategy.
fn known_options(class: &str) -> Option<&'static [&'static [SubOption]]> {
    Some(match class {
        "SizeTieredCompactionStrategy" => &[COMMON, THRESHOLDS, SIZE_TIERED],
        "LeveledCompactionStrategy" => &[COMMON, THRESHOLDS, LEVELED, SIZE_TIERED],
        "TimeWindowCompactionStrategy" => &[COMMON, THRESHOLDS, TIME_WINDOW, SIZE_TIERED],
        "UnifiedCompactionStrategy" => &[COMMON, UNIFIED],
        _ => return None,
    })
}

/// The compaction of a table that says nothing about it.
pub(super) fn default() -> OptionMap {
    OptionMap::from([
        (
            "class".into(),
            format!("{PACKAGE}SizeTieredCompactionStrategy").into(),
        ),
        (MAX_THRESHOLD.0.into(), MAX_THRESHOLD.1.into()),
        (MIN_THRESHOLD.0.into(), MIN_THRESHOLD.1.into()),
    ])
}

/// The `bloom_filter_fp_chance` of a table with this compaction that doesn't set it.
pub(super) fn default_fp_chance(map: &OptionMap) -> f64 {
    match simple_class(map) {
        "LeveledCompactionStrategy" => 0.1,
        _ => 0.01,
    }
}

fn simple_class(map: &OptionMap) -> &str {
    let class: &str = map.get("class").map_or("", |class| class);
    class.strip_prefix(PACKAGE).unwrap_or(class)
}

/// Finds the class and adds the thresholds it has.
pub(super) fn parse(map: &OptionMap) -> Result<OptionMap, ErrorResponse> {
    let class = map.get("class").ok_or_else(|| {
        ErrorResponse::config("Missing sub-option 'class' for the 'compaction' option")
    })?;
    let class = if class.contains('.') {
        class.to_string()
    } else {
        format!("{PACKAGE}{class}")
    };
    let simple = class.strip_prefix(PACKAGE);
    if simple.and_then(known_options).is_none() {
        return Err(ErrorResponse::config(format!(
            "Unable to find compaction strategy class '{class}'"
        )));
    }
    let mut result = map.clone();
    if simple != Some("UnifiedCompactionStrategy") {
        for (name, value) in [MIN_THRESHOLD, MAX_THRESHOLD] {
            result.entry(name.into()).or_insert_with(|| value.into());
        }
    }
    result.insert("class".into(), class.into());
    Ok(result)
}

/// Holds each sub-option against the rules of its strategy.
pub(super) fn validate(map: &OptionMap) -> Result<(), ErrorResponse> {
    let class = simple_class(map);
    let known = known_options(class).unwrap_or(&[]);
    for (name, rule) in known.iter().copied().flatten() {
        if let Some(value) = map.get(*name) {
            rule(name, value).map_err(ErrorResponse::config)?;
        }
    }
    buckets(map)?;
    let is_known = |name: &str| {
        name == "class"
            || known
                .iter()
                .copied()
                .flatten()
                .any(|(option, _)| *option == name)
    };
    let unknown: Vec<&str> = map
        .keys()
        .map(|name| &**name)
        .filter(|name| !is_known(name))
        .collect();
    if !unknown.is_empty() {
        return Err(ErrorResponse::config(format!(
            "Properties specified [{}] are not understood by {class}",
            unknown.join(", ")
        )));
    }
    thresholds(map)
}

fn buckets(map: &OptionMap) -> Result<(), ErrorResponse> {
    let number = |name: &str, default: f64| {
        map.get(name)
            .and_then(|text| text.trim().parse::<f64>().ok())
            .unwrap_or(default)
    };
    let (low, high) = (number("bucket_low", 0.5), number("bucket_high", 1.5));
    if high <= low {
        return Err(ErrorResponse::config(format!(
            "bucket_high value ({}) is less than or equal to the bucket_low value ({})",
            JavaDouble(high),
            JavaDouble(low)
        )));
    }
    Ok(())
}

fn thresholds(map: &OptionMap) -> Result<(), ErrorResponse> {
    let threshold = |(name, default): (&str, &str)| {
        let text: &str = map.get(name).map_or(default, |text| text);
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i32>().ok().filter(|_| digits).ok_or_else(|| {
            ErrorResponse::config(format!(
                "Invalid value {text} for '{name}' compaction sub-option - must be an integer"
            ))
        })
    };
    let (min, max) = (threshold(MIN_THRESHOLD)?, threshold(MAX_THRESHOLD)?);
    if min == 0 || max == 0 {
        return Err(ErrorResponse::config(
            "Disabling compaction by setting compaction thresholds to 0 has been removed, set the compaction option \
             'enabled' to false instead.",
        ));
    }
    if min == 1 {
        return Err(ErrorResponse::config(
            "Min compaction threshold cannot be less than 2 (got 1)",
        ));
    }
    if min > max {
        return Err(ErrorResponse::config(format!(
            "Min compaction threshold (got {min}) cannot be greater than max compaction threshold (got {max})"
        )));
    }
    Ok(())
}
