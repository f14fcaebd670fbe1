//! Literals of numbers (Java Language Specification, 3.10).

use super::types::Primitive;
use super::value::Value;
use super::{Checked, fault};

/// A number's value and type. `negated` allows the one integer that only its negation holds.
pub(super) fn number(text: &str, at: usize, negated: bool) -> Checked<(Value, Primitive)> {
    let wrong = || {
        fault(
            at,
            format!("The literal {text} is out of range or no number"),
        )
    };
    if text.ends_with('_') || text.contains("_.") || text.contains("._") {
        return wrong();
    }
    let digits = text.replace('_', "").to_ascii_lowercase();
    let (radix, body) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, &*digits),
    };
    if radix == 10 && digits.contains(['.', 'e', 'f', 'd']) {
        return float(&digits).map_or_else(wrong, Ok);
    }
    let (body, is_long) = match body.strip_suffix('l') {
        Some(body) => (body, true),
        None => (body, false),
    };
    let (radix, body) = match body.strip_prefix('0') {
        Some(octal) if radix == 10 && !octal.is_empty() => (8, octal),
        _ => (radix, body),
    };
    let Ok(value) = u64::from_str_radix(body, radix) else {
        return wrong();
    };
    let one_more = u64::from(negated && radix == 10);
    if is_long {
        let fits = radix != 10 || value <= i64::MAX as u64 + one_more;
        return match fits {
            true => Ok((Value::Long(value as i64), Primitive::Long)),
            false => wrong(),
        };
    }
    let most = match radix {
        10 => i32::MAX as u64 + one_more,
        _ => u32::MAX.into(),
    };
    match value <= most {
        true => Ok((Value::Int(value as u32 as i32), Primitive::Int)),
        false => wrong(),
    }
}

fn float(digits: &str) -> Option<(Value, Primitive)> {
    let (body, is_float) = match digits.strip_suffix(['f', 'd']) {
        Some(body) => (body, digits.ends_with('f')),
        None => (digits, false),
    };
    let is_zero = !body
        .split('e')
        .next()
        .unwrap_or_default()
        .contains(|c: char| ('1'..='9').contains(&c));
    if is_float {
        let value: f32 = body.parse().ok()?;
        return (value.is_finite() && (value != 0.0 || is_zero))
            .then_some((Value::Float(value), Primitive::Float));
    }
    let value: f64 = body.parse().ok()?;
    (value.is_finite() && (value != 0.0 || is_zero))
        .then_some((Value::Double(value), Primitive::Double))
}
