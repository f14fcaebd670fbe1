//! What the values of compaction's sub-options have to satisfy, in the words of each strategy.

use std::str::FromStr;

/// Checks a value; the error is the message.
pub(super) type Rule = fn(name: &str, value: &str) -> Result<(), String>;

type Checked = Result<(), String>;

fn require(holds: bool, message: impl FnOnce() -> String) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(message()),
    }
}

fn number<T: FromStr>(name: &str, value: &str) -> Result<T, String> {
    value
        .parse()
        .map_err(|_| format!("{value} is not a parsable int (base10) for {name}"))
}

fn names_boolean(value: &str) -> bool {
    value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("false")
}

pub(super) fn any(_: &str, _: &str) -> Checked {
    Ok(())
}

pub(super) fn boolean(name: &str, value: &str) -> Checked {
    require(names_boolean(value), || {
        format!("{name} should either be 'true' or 'false', not {value}")
    })
}

pub(super) fn quoted_boolean(name: &str, value: &str) -> Checked {
    require(names_boolean(value), || {
        format!("'{name}' should either be 'true' or 'false', not {value}")
    })
}

pub(super) fn either_boolean(name: &str, value: &str) -> Checked {
    require(names_boolean(value), || {
        format!("'{name}' should be either 'true' or 'false', not '{value}'")
    })
}

pub(super) fn is_boolean(name: &str, value: &str) -> Checked {
    require(names_boolean(value), || {
        format!("{name} is not 'true' or 'false' ({value})")
    })
}

pub(super) fn integer(name: &str, value: &str) -> Checked {
    number::<i32>(name, value).map(drop)
}

pub(super) fn float(name: &str, value: &str) -> Checked {
    let number = value.trim().parse::<f64>();
    require(number.is_ok(), || {
        format!("{value} is not a parsable float for {name}")
    })
}

pub(super) fn byte_count(name: &str, value: &str) -> Checked {
    let bytes: i64 = number(name, value)?;
    require(bytes >= 0, || {
        format!("{name} must be non negative: {bytes}")
    })
}

pub(super) fn positive(name: &str, value: &str) -> Checked {
    let size: i32 = number(name, value)?;
    require(size >= 1, || {
        format!("{name} must be larger than 0, but was {size}")
    })
}

pub(super) fn count(name: &str, value: &str) -> Checked {
    let count: i64 = number(name, value)?;
    require(count >= 1, || {
        format!("Invalid configuration, {name} should be positive: {count}")
    })
}

pub(super) fn frequency(name: &str, value: &str) -> Checked {
    let seconds: i64 = number(name, value)?;
    require(seconds >= 0, || {
        format!("{name} must not be negative, but was {seconds}")
    })
}

pub(super) fn tombstone_threshold(name: &str, value: &str) -> Checked {
    let threshold: f32 = number(name, value.trim())?;
    require(threshold >= 0.0, || {
        format!("{name} must be greater than 0, but was {threshold:.6}")
    })
}

pub(super) fn tombstone_interval(name: &str, value: &str) -> Checked {
    let seconds: i64 = number(name, value)?;
    require(seconds >= 0, || {
        format!("{name} must be greater than 0, but was {seconds}")
    })
}

pub(super) fn overlapping_tombstones(name: &str, value: &str) -> Checked {
    let upper = value.to_ascii_uppercase();
    require(matches!(upper.as_str(), "NONE" | "ROW" | "CELL"), || {
        format!(
            "Invalid value {upper} for '{name}' compaction sub-option - must be one of the following [NONE, ROW, CELL]."
        )
    })
}

pub(super) fn overlap_inclusion(_: &str, value: &str) -> Checked {
    let upper = value.to_ascii_uppercase();
    require(
        matches!(upper.as_str(), "NONE" | "SINGLE" | "TRANSITIVE"),
        || {
            format!(
                "Invalid overlap inclusion method {value}. The valid options are [NONE, SINGLE, TRANSITIVE]."
            )
        },
    )
}

pub(super) fn resolution(name: &str, value: &str) -> Checked {
    let known = matches!(
        value,
        "MICROSECONDS" | "MILLISECONDS" | "NANOSECONDS" | "SECONDS"
    );
    require(known, || format!("{value} is not valid for {name}"))
}

pub(super) fn window_unit(name: &str, value: &str) -> Checked {
    require(matches!(value, "MINUTES" | "HOURS" | "DAYS"), || {
        format!("{value} is not valid for {name}")
    })
}

pub(super) fn window_size(name: &str, value: &str) -> Checked {
    let size: i32 = number(name, value)?;
    require(size >= 1, || {
        format!("{size} must be greater than 1 for {name}")
    })
}

pub(super) fn growth(name: &str, value: &str) -> Checked {
    let growth: f64 = value.trim().parse().map_err(|_| {
        format!("{name} is not a valid number between 0 and 1: For input string: \"{value}\"")
    })?;
    require((0.0..=1.0).contains(&growth), || {
        format!("{name} {value} must be between 0 and 1")
    })
}

/// `N`, `L4`, `T4`, or a number, of which several stand between commas.
pub(super) fn scaling(_: &str, value: &str) -> Checked {
    for part in value.split(',').map(str::trim) {
        let fan = part.strip_prefix(['L', 'T']);
        let digits = fan.or(part.strip_prefix(['+', '-'])).unwrap_or(part);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        require(part == "N" || is_number, || {
            format!("Scaling parameter {part} must match N|L[0-9]+|T[0-9]+|[+-]?[0-9]+")
        })?;
        let factor = fan.and_then(|factor| factor.parse::<i32>().ok());
        require(
            fan.is_none() || factor.is_some_and(|factor| factor >= 2),
            || format!("Fan factor cannot be lower than 2 in {part}"),
        )?;
    }
    Ok(())
}

/// Bytes of a size such as `1.5GiB`.
fn bytes(text: &str) -> Option<f64> {
    let number = text.strip_suffix('B')?;
    let (number, base) = match number.strip_suffix('i') {
        Some(number) => (number, 1024.0_f64),
        None => (number, 1000.0),
    };
    let power = match number.chars().next_back()? {
        'K' => 1,
        'M' => 2,
        'G' => 3,
        'T' => 4,
        _ => 0,
    };
    let number = number
        .strip_suffix(['K', 'M', 'G', 'T'])
        .unwrap_or(number)
        .trim();
    Some(number.parse::<f64>().ok()? * base.powi(power))
}

pub(super) fn size(name: &str, value: &str) -> Checked {
    require(bytes(value.trim()).is_some(), || {
        format!("{name} {value} is not a valid size in bytes: {value} does not end in unit B")
    })
}

pub(super) fn target_size(name: &str, value: &str) -> Checked {
    size(name, value)?;
    let large = bytes(value.trim()).is_some_and(|bytes| bytes >= 1024.0 * 1024.0);
    require(large, || {
        format!("{name} {value} is not acceptable, size must be at least 1.000MiB")
    })
}

pub(super) fn minimal_size(name: &str, value: &str) -> Checked {
    require(bytes(value.trim()).is_some(), || {
        format!("{value} is not a valid size in bytes for {name}")
    })
}
