//! The `compaction` option: Cassandra's `CompactionParams` and the options of its strategies.

use helenus_core::message::ErrorResponse;

use super::OptionMap;
use super::display::JavaDouble;

const PACKAGE: &str = "org.apache.cassandra.db.compaction.";
const MIN_THRESHOLD: (&str, &str) = ("min_threshold", "4");
const MAX_THRESHOLD: (&str, &str) = ("max_threshold", "32");

/// What a sub-option takes.
#[derive(Clone, Copy)]
enum Rule {
    /// `true` or `false`; how the message begins.
    Boolean(&'static str),
    /// A number above 0.
    PositiveFloat,
    /// A number of 0 or more.
    Float,
    /// An integer above 0.
    PositiveInteger,
    /// An integer of 1 or more, worded as the time window strategy does.
    Window,
    /// A unit of time.
    Unit(&'static [&'static str]),
    /// Scaling parameters of the unified strategy.
    Scaling,
    /// Anything.
    Any,
}

const COMMON: &[(&str, Rule)] = &[
    ("tombstone_threshold", Rule::PositiveFloat),
    ("tombstone_compaction_interval", Rule::PositiveInteger),
    (
        "unchecked_tombstone_compaction",
        Rule::Boolean("'unchecked_tombstone_compaction'"),
    ),
    (
        "only_purge_repaired_tombstones",
        Rule::Boolean("'only_purge_repaired_tombstones'"),
    ),
    ("log_all", Rule::Boolean("log_all")),
    ("enabled", Rule::Boolean("enabled")),
    ("provide_overlapping_tombstones", Rule::Any),
];
const THRESHOLDS: &[(&str, Rule)] = &[("min_threshold", Rule::Any), ("max_threshold", Rule::Any)];
const SIZE_TIERED: &[(&str, Rule)] = &[
    ("min_sstable_size", Rule::Float),
    ("bucket_low", Rule::Float),
    ("bucket_high", Rule::Float),
];
const LEVELED: &[(&str, Rule)] = &[
    ("sstable_size_in_mb", Rule::PositiveInteger),
    ("fanout_size", Rule::PositiveInteger),
    ("single_sstable_uplevel", Rule::Any),
];
const TIME_WINDOW: &[(&str, Rule)] = &[
    (
        "timestamp_resolution",
        Rule::Unit(&["MICROSECONDS", "MILLISECONDS", "NANOSECONDS", "SECONDS"]),
    ),
    (
        "compaction_window_unit",
        Rule::Unit(&["MINUTES", "HOURS", "DAYS"]),
    ),
    ("compaction_window_size", Rule::Window),
    (
        "expired_sstable_check_frequency_seconds",
        Rule::PositiveInteger,
    ),
    ("unsafe_aggressive_sstable_expiration", Rule::Any),
];
const UNIFIED: &[(&str, Rule)] = &[
    ("scaling_parameters", Rule::Scaling),
    ("target_sstable_size", Rule::Any),
    ("min_sstable_size", Rule::Any),
    ("flush_size_override", Rule::Any),
    ("base_shard_count", Rule::PositiveInteger),
    ("sstable_growth", Rule::Float),
    ("max_sstables_to_compact", Rule::Any),
    (
        "expired_sstable_check_frequency_seconds",
        Rule::PositiveInteger,
    ),
    ("unsafe_aggressive_sstable_expiration", Rule::Any),
    ("overlap_inclusion_method", Rule::Any),
    ("parallelize_output_shards", Rule::Any),
];

/// The options a strategy knows beside the common ones; `None` for no strategy.
fn known_options(class: &str) -> Option<&'static [&'static [(&'static str, Rule)]]> {
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
            check(name, value, *rule)?;
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

fn check(name: &str, value: &str, rule: Rule) -> Result<(), ErrorResponse> {
    let message = match rule {
        Rule::Any => return Ok(()),
        Rule::Boolean(subject) => {
            if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false") {
                return Ok(());
            }
            match subject.starts_with('\'') {
                true => format!("{subject} should be either 'true' or 'false', not '{value}'"),
                false => format!("{subject} should either be 'true' or 'false', not {value}"),
            }
        }
        Rule::Float | Rule::PositiveFloat => match value.trim().parse::<f64>() {
            Err(_) => format!("{value} is not a parsable float for {name}"),
            Ok(number)
                if matches!(rule, Rule::PositiveFloat) && (number <= 0.0 || number.is_nan()) =>
            {
                format!("{name} must be greater than 0, but was {number:.6}")
            }
            Ok(number) if number < 0.0 => {
                format!("{name} must be non negative: {}", JavaDouble(number))
            }
            Ok(_) => return Ok(()),
        },
        Rule::PositiveInteger => match value.parse::<i64>() {
            Err(_) => format!("{value} is not a parsable int (base10) for {name}"),
            Ok(number @ ..=0) if name.starts_with("tombstone") => {
                format!("{name} must be greater than 0, but was {number}")
            }
            Ok(number @ ..=0) => format!("{name} must be larger than 0, but was {number}"),
            Ok(_) => return Ok(()),
        },
        Rule::Window => match value.parse::<i32>() {
            Err(_) => format!("{value} is not a parsable int (base10) for {name}"),
            Ok(number @ ..=0) => format!("{number} must be greater than 1 for {name}"),
            Ok(_) => return Ok(()),
        },
        Rule::Unit(units) => match units.contains(&value) {
            true => return Ok(()),
            false => format!("{value} is not valid for {name}"),
        },
        Rule::Scaling => match value
            .split(',')
            .map(str::trim)
            .find(|part| !is_scaling_parameter(part))
        {
            None => return Ok(()),
            Some(part) => {
                format!("Scaling parameter {part} must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+")
            }
        },
    };
    Err(ErrorResponse::config(message))
}

fn is_scaling_parameter(text: &str) -> bool {
    let digits = text.strip_prefix(['L', 'T', '+', '-']).unwrap_or(text);
    text == "N" || (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
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
