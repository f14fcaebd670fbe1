//! The `caching` option: Cassandra's `CachingParams`.

use std::sync::Arc;

use helenus_core::message::ErrorResponse;

use super::OptionMap;

/// What a table caches that says nothing about it.
pub(super) fn default() -> OptionMap {
    OptionMap::from([
        ("keys".into(), "ALL".into()),
        ("rows_per_partition".into(), "NONE".into()),
    ])
}

/// Validates the map and writes its values in their one form; what is missing is `NONE`.
pub(super) fn parse(map: &OptionMap) -> Result<OptionMap, ErrorResponse> {
    let unknown: Vec<&str> = map
        .keys()
        .map(|key| &**key)
        .filter(|key| !is_known(key))
        .collect();
    if !unknown.is_empty() {
        return Err(ErrorResponse::config(format!(
            "Invalid caching sub-options [{}]: only 'keys' and 'rows_per_partition' are allowed",
            unknown.join(", ")
        )));
    }
    let value = |key: &str| map.get(key).map_or("NONE", |value| value);
    let upper = |key: &str| -> Arc<str> { value(key).to_ascii_uppercase().into() };
    let keys = upper("keys");
    if !matches!(&*keys, "ALL" | "NONE") {
        return Err(ErrorResponse::config(format!(
            "Invalid value '{}' for caching sub-option 'keys': only 'ALL' and 'NONE' are allowed",
            value("keys")
        )));
    }
    let rows = upper("rows_per_partition");
    // Digits alone: a sign makes it no number here.
    let is_count = rows.bytes().all(|byte| byte.is_ascii_digit()) && rows.parse::<i32>().is_ok();
    if !matches!(&*rows, "ALL" | "NONE") && !is_count {
        return Err(ErrorResponse::config(format!(
            "Invalid value '{}' for caching sub-option 'rows_per_partition': only 'ALL', 'NONE', and integer values \
             are allowed",
            value("rows_per_partition")
        )));
    }
    Ok(OptionMap::from([
        ("keys".into(), keys),
        ("rows_per_partition".into(), rows),
    ]))
}

fn is_known(key: &str) -> bool {
    matches!(key, "keys" | "rows_per_partition")
}
