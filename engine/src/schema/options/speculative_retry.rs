//! `speculative_retry` and `additional_write_policy`: Cassandra's `SpeculativeRetryPolicy`.

use std::sync::Arc;

use helenus_core::message::ErrorResponse;

use super::display::JavaDouble;

/// Reads a policy and writes it in its short form: `99PERCENTILE` as `99p`, `NONE` as `NEVER`.
pub(super) fn parse(text: &str) -> Result<Arc<str>, ErrorResponse> {
    let upper = text.to_ascii_uppercase();
    match upper.as_str() {
        "NEVER" | "NONE" => return Ok("NEVER".into()),
        "ALWAYS" => return Ok("ALWAYS".into()),
        _ => {}
    }
    if let Some(simple) = simple(text)? {
        return Ok(simple.text.into());
    }
    let invalid = || {
        ErrorResponse::config(format!(
            "Invalid value {text} for option 'speculative_retry'"
        ))
    };
    let (function, arguments) = upper.split_once('(').ok_or_else(invalid)?;
    let arguments = arguments.strip_suffix(')').ok_or_else(invalid)?;
    let (left, right) = arguments.split_once(',').ok_or_else(invalid)?;
    if !matches!(function, "MIN" | "MAX") {
        return Err(invalid());
    }
    let left = simple(left.trim())?.ok_or_else(invalid)?;
    let right = simple(right.trim())?.ok_or_else(invalid)?;
    if left.kind == right.kind {
        return Err(ErrorResponse::config(format!(
            "Invalid value {text} for option 'speculative_retry': MIN()/MAX() arguments should be of different types, \
             but both are of type {}",
            left.kind
        )));
    }
    Ok(format!("{function}({},{})", left.text, right.text).into())
}

struct Simple {
    kind: &'static str,
    text: String,
}

/// `50ms`, `99p` or `99percentile`, in any case.
fn simple(text: &str) -> Result<Option<Simple>, ErrorResponse> {
    let lower = text.to_ascii_lowercase();
    if let Some(number) = lower.strip_suffix("ms") {
        // Milliseconds are whole; a fraction is cut off.
        return Ok(decimal(number).map(|value| Simple {
            kind: "FIXED",
            text: format!("{}ms", value as i64),
        }));
    }
    let number = lower
        .strip_suffix("percentile")
        .or_else(|| lower.strip_suffix('p'));
    let Some(value) = number.and_then(decimal) else {
        return Ok(None);
    };
    if !(value > 0.0 && value < 100.0) {
        return Err(ErrorResponse::config(format!(
            "Invalid value {text} for PERCENTILE option 'speculative_retry': must be between (0.0 and 100.0)"
        )));
    }
    let shown = if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        JavaDouble(value).to_string()
    };
    Ok(Some(Simple {
        kind: "PERCENTILE",
        text: format!("{shown}p"),
    }))
}

/// Digits, perhaps with a fraction.
fn decimal(text: &str) -> Option<f64> {
    let plain = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain && text.starts_with(|first: char| first.is_ascii_digit()) {
        text.parse().ok()
    } else {
        None
    }
}
