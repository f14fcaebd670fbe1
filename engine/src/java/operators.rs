//! Operators on values of one primitive type, as Java computes them (JLS 15.17 to 15.22).

use super::types::Primitive;
use super::value::Value;

/// An operator with two operands that gives a value of their type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    And,
    Or,
    Xor,
}

/// A shift; the distance is an `int` or `long`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shift {
    Left,
    Right,
    Unsigned,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// An integer division by zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ByZero;

macro_rules! integers {
    ($operator:expr, $a:expr, $b:expr) => {
        match $operator {
            Binary::Add => $a.wrapping_add($b),
            Binary::Subtract => $a.wrapping_sub($b),
            Binary::Multiply => $a.wrapping_mul($b),
            Binary::Divide | Binary::Remainder if $b == 0 => return Err(ByZero),
            Binary::Divide => $a.wrapping_div($b),
            Binary::Remainder => $a.wrapping_rem($b),
            Binary::And => $a & $b,
            Binary::Or => $a | $b,
            Binary::Xor => $a ^ $b,
        }
    };
}

macro_rules! floats {
    ($operator:expr, $a:expr, $b:expr) => {
        match $operator {
            Binary::Add => $a + $b,
            Binary::Subtract => $a - $b,
            Binary::Multiply => $a * $b,
            Binary::Divide => $a / $b,
            // The other operators aren't defined on floating point numbers.
            _ => $a % $b,
        }
    };
}

/// The value of `a operator b`, both of the promoted type.
pub(super) fn binary(operator: Binary, a: &Value, b: &Value) -> Result<Value, ByZero> {
    Ok(match (a, b) {
        (Value::Int(a), Value::Int(b)) => Value::Int(integers!(operator, a, *b)),
        (Value::Long(a), Value::Long(b)) => Value::Long(integers!(operator, a, *b)),
        (Value::Float(a), Value::Float(b)) => Value::Float(floats!(operator, a, b)),
        (Value::Double(a), Value::Double(b)) => Value::Double(floats!(operator, a, b)),
        (Value::Boolean(a), Value::Boolean(b)) => Value::Boolean(match operator {
            Binary::And => a & b,
            Binary::Or => a | b,
            _ => a ^ b,
        }),
        _ => Value::Null,
    })
}

/// The value shifted by the low bits of a distance.
pub(super) fn shift(operator: Shift, value: &Value, distance: &Value) -> Value {
    let distance = match distance {
        Value::Int(distance) => *distance as u32,
        Value::Long(distance) => *distance as u32,
        _ => 0,
    };
    match value {
        Value::Int(value) => Value::Int(match operator {
            Shift::Left => value.wrapping_shl(distance),
            Shift::Right => value.wrapping_shr(distance),
            Shift::Unsigned => (*value as u32).wrapping_shr(distance) as i32,
        }),
        Value::Long(value) => Value::Long(match operator {
            Shift::Left => value.wrapping_shl(distance),
            Shift::Right => value.wrapping_shr(distance),
            Shift::Unsigned => (*value as u64).wrapping_shr(distance) as i64,
        }),
        other => other.clone(),
    }
}

/// Whether a comparison of two values of one type holds.
pub(super) fn compare(comparison: Comparison, a: &Value, b: &Value) -> bool {
    let order = match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Long(a), Value::Long(b)) => Some(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Boolean(a), Value::Boolean(b)) => Some(a.cmp(b)),
        _ => None,
    };
    match (comparison, order) {
        // NaN differs from all and compares with none.
        (Comparison::NotEqual, None) => true,
        (_, None) => false,
        (Comparison::Equal, Some(order)) => order.is_eq(),
        (Comparison::NotEqual, Some(order)) => order.is_ne(),
        (Comparison::Less, Some(order)) => order.is_lt(),
        (Comparison::LessOrEqual, Some(order)) => order.is_le(),
        (Comparison::Greater, Some(order)) => order.is_gt(),
        (Comparison::GreaterOrEqual, Some(order)) => order.is_ge(),
    }
}

/// `-value`
pub(super) fn negated(value: &Value) -> Value {
    match value {
        Value::Int(value) => Value::Int(value.wrapping_neg()),
        Value::Long(value) => Value::Long(value.wrapping_neg()),
        Value::Float(value) => Value::Float(-value),
        Value::Double(value) => Value::Double(-value),
        other => other.clone(),
    }
}

/// `~value`
pub(super) fn complement(value: &Value) -> Value {
    match value {
        Value::Int(value) => Value::Int(!value),
        Value::Long(value) => Value::Long(!value),
        other => other.clone(),
    }
}

/// Whether an `int` constant is a value of a narrower type too (JLS 5.2).
pub(super) fn fits(constant: &Value, to: Primitive) -> bool {
    let value = match constant {
        Value::Byte(value) => i64::from(*value),
        Value::Short(value) => i64::from(*value),
        Value::Char(value) => i64::from(*value),
        Value::Int(value) => i64::from(*value),
        _ => return false,
    };
    match to {
        Primitive::Byte => i8::try_from(value).is_ok(),
        Primitive::Short => i16::try_from(value).is_ok(),
        Primitive::Char => u16::try_from(value).is_ok(),
        _ => false,
    }
}
