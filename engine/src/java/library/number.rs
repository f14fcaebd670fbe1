//! Numbers: comparing, rounding, `Math`.

use super::super::eval::{Machine, thrown};
use super::super::methods::Method;
use super::super::types::Primitive;
use super::super::value::Value;
use super::{Outcome, is_equal};

/// Calls a method of a number, or of `Math`, whose first argument is one.
pub(super) fn call(
    machine: &mut Machine<'_>,
    method: Method,
    first: &Value,
    second: &Value,
) -> Outcome {
    let double = |change: fn(f64) -> f64| match first {
        Value::Double(value) => Ok(Value::Double(change(*value))),
        _ => Ok(Value::Null),
    };
    match method {
        Method::As(to) => Ok(first.clone().converted(to)),
        Method::ToText => machine.string(first.text()),
        Method::Equals => is_equal(first, second),
        Method::IsNan => Ok(Value::Boolean(match first {
            Value::Float(value) => value.is_nan(),
            Value::Double(value) => value.is_nan(),
            _ => false,
        })),
        Method::IsInfinite => Ok(Value::Boolean(match first {
            Value::Float(value) => value.is_infinite(),
            Value::Double(value) => value.is_infinite(),
            _ => false,
        })),
        Method::CompareBoxes | Method::Max | Method::Min => two(method, first, second),
        Method::Abs => Ok(match first {
            Value::Int(value) => Value::Int(value.wrapping_abs()),
            Value::Long(value) => Value::Long(value.wrapping_abs()),
            Value::Float(value) => Value::Float(value.abs()),
            Value::Double(value) => Value::Double(value.abs()),
            other => other.clone(),
        }),
        Method::Round => Ok(match first {
            Value::Float(value) => Value::Int((f64::from(*value) + 0.5).floor() as i32),
            Value::Double(value) => Value::Long(rounded(*value)),
            other => other.clone(),
        }),
        Method::Sqrt => double(f64::sqrt),
        Method::Floor => double(f64::floor),
        Method::Ceil => double(f64::ceil),
        Method::Log => double(f64::ln),
        Method::Log10 => double(f64::log10),
        Method::Exp => double(f64::exp),
        Method::Signum => double(|value| match value {
            _ if value > 0.0 => 1.0,
            _ if value < 0.0 => -1.0,
            _ => value,
        }),
        Method::Pow => match (first, second) {
            (Value::Double(a), Value::Double(b)) => Ok(Value::Double(power(*a, *b))),
            _ => Ok(Value::Null),
        },
        Method::FloorDiv
        | Method::FloorMod
        | Method::AddExact
        | Method::SubtractExact
        | Method::MultiplyExact => exact(method, first, second),
        _ => Ok(first.clone()),
    }
}

/// `Math.round`: half up, exactly, where adding a half would round.
fn rounded(value: f64) -> i64 {
    let below = value.floor();
    match value - below >= 0.5 {
        true => (below + 1.0) as i64,
        false => below as i64,
    }
}

/// `Math.pow`, which differs from C's where the base is 1 or -1.
fn power(base: f64, exponent: f64) -> f64 {
    let is_undefined = exponent.is_nan() || (base.abs() == 1.0 && exponent.is_infinite());
    match is_undefined {
        true => f64::NAN,
        false => base.powf(exponent),
    }
}

fn two(method: Method, first: &Value, second: &Value) -> Outcome {
    let order = match (first, second) {
        (_, Value::Null) => return Err(thrown("java.lang.NullPointerException", None)),
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Long(a), Value::Long(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => java_order((*a).into(), (*b).into()),
        (Value::Double(a), Value::Double(b)) => java_order(*a, *b),
        _ => return Ok(Value::Null),
    };
    let is_nan = |value: &Value| {
        matches!(value, Value::Float(value) if value.is_nan())
            || matches!(value, Value::Double(value) if value.is_nan())
    };
    Ok(match method {
        Method::CompareBoxes => Value::Int(order as i32),
        _ if is_nan(first) => first.clone(),
        _ if is_nan(second) => second.clone(),
        Method::Max if order.is_ge() => first.clone(),
        Method::Min if order.is_le() => first.clone(),
        _ => second.clone(),
    })
}

/// `Double.compare`: -0.0 before 0.0, NaN behind all and equal to itself.
fn java_order(a: f64, b: f64) -> std::cmp::Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => std::cmp::Ordering::Equal,
        (true, false) => std::cmp::Ordering::Greater,
        (false, true) => std::cmp::Ordering::Less,
        (false, false) => a.total_cmp(&b),
    }
}

fn exact(method: Method, first: &Value, second: &Value) -> Outcome {
    let is_int = matches!(first, Value::Int(_));
    let (Value::Long(a), Value::Long(b)) = (
        first.clone().converted(Primitive::Long),
        second.clone().converted(Primitive::Long),
    ) else {
        return Ok(Value::Null);
    };
    let arithmetic =
        |message: &str| thrown("java.lang.ArithmeticException", Some(message.to_owned()));
    let back = |value: i64| match is_int {
        true => Value::Int(value as i32),
        false => Value::Long(value),
    };
    let result = match method {
        Method::FloorDiv | Method::FloorMod if b == 0 => return Err(arithmetic("/ by zero")),
        Method::FloorDiv => {
            let cut = a.wrapping_div(b);
            let is_below = a.wrapping_rem(b) != 0 && (a < 0) != (b < 0);
            return Ok(back(cut.wrapping_sub(is_below.into())));
        }
        Method::FloorMod => {
            let rest = a.wrapping_rem(b);
            let is_other = rest != 0 && (rest < 0) != (b < 0);
            return Ok(back(if is_other { rest + b } else { rest }));
        }
        Method::AddExact => a.checked_add(b),
        Method::SubtractExact => a.checked_sub(b),
        _ => a.checked_mul(b),
    };
    let fits = |value: &i64| !is_int || i32::try_from(*value).is_ok();
    match result.filter(fits) {
        Some(value) => Ok(back(value)),
        None => Err(arithmetic(if is_int {
            "integer overflow"
        } else {
            "long overflow"
        })),
    }
}
