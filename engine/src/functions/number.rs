//! CQL's numbers as values: decoding, conversion and encoding.

use bytes::{BufMut as _, Bytes, BytesMut};
use helenus_core::types::CqlType;
use num_bigint::BigInt;

/// The numeric types, narrowest first, as overloads are listed.
pub(super) const TYPES: [CqlType; 9] = [
    CqlType::TinyInt,
    CqlType::SmallInt,
    CqlType::Int,
    CqlType::BigInt,
    CqlType::Counter,
    CqlType::Float,
    CqlType::Double,
    CqlType::Varint,
    CqlType::Decimal,
];

/// The longest number that is computed with, some 20,000 digits: to print longer ones takes time in the square of that.
const MAX_LEN: usize = 8 * 1024;
/// The greatest scale, either way, that arithmetic on decimals goes to.
const MAX_SCALE: i64 = 10_000;

/// A number.
#[derive(Debug, Clone)]
pub(super) enum Number {
    /// `tinyint` to `bigint` and `counter`.
    Integer(i64),
    /// `varint`
    Varint(BigInt),
    /// `float` and `double`
    Float(f64),
    /// `decimal`: an unscaled value and how many of its digits are behind the point.
    Decimal(BigInt, i32),
}

impl Number {
    /// The number that a value of a numeric type is; `None` for an empty value, for other types, and for numbers too
    /// long to compute with.
    pub(super) fn decode(ty: &CqlType, value: &[u8]) -> Option<Self> {
        if value.len() > MAX_LEN {
            return None;
        }
        Some(match ty {
            CqlType::TinyInt => Self::Integer(i8::from_be_bytes(value.try_into().ok()?).into()),
            CqlType::SmallInt => Self::Integer(i16::from_be_bytes(value.try_into().ok()?).into()),
            CqlType::Int => Self::Integer(i32::from_be_bytes(value.try_into().ok()?).into()),
            CqlType::BigInt | CqlType::Counter | CqlType::Timestamp => {
                Self::Integer(i64::from_be_bytes(value.try_into().ok()?))
            }
            CqlType::Float => Self::Float(f32::from_be_bytes(value.try_into().ok()?).into()),
            CqlType::Double => Self::Float(f64::from_be_bytes(value.try_into().ok()?)),
            CqlType::Varint if !value.is_empty() => {
                Self::Varint(BigInt::from_signed_bytes_be(value))
            }
            CqlType::Decimal => {
                let (scale, unscaled) = value.split_first_chunk::<4>()?;
                Self::Decimal(
                    BigInt::from_signed_bytes_be(unscaled),
                    i32::from_be_bytes(*scale),
                )
            }
            _ => return None,
        })
    }

    /// The value of a numeric type nearest to this number, cut as Java's conversions cut.
    pub(super) fn encode(&self, ty: &CqlType) -> Bytes {
        let mut out = BytesMut::new();
        match ty {
            // The narrowing of Java's `byteValue()` and its like keeps the low bits.
            CqlType::TinyInt => out.put_i8(self.integer() as i8),
            CqlType::SmallInt => out.put_i16(self.integer() as i16),
            CqlType::Int => match self {
                Self::Float(float) => out.put_i32(*float as i32),
                _ => out.put_i32(self.integer() as i32),
            },
            CqlType::Float => out.put_f32(self.float() as f32),
            CqlType::Double => out.put_f64(self.float()),
            CqlType::Varint => out.put_slice(&self.big().to_signed_bytes_be()),
            CqlType::Decimal => {
                let (unscaled, scale) = self.decimal();
                out.put_i32(scale);
                out.put_slice(&unscaled.to_signed_bytes_be());
            }
            _ => out.put_i64(self.integer()),
        }
        out.freeze()
    }

    /// The number as a 64-bit integer: fractions cut, too large integers by their low bits.
    pub(super) fn integer(&self) -> i64 {
        match self {
            Self::Integer(integer) => *integer,
            Self::Float(float) => *float as i64,
            _ => low_bits(&self.big()),
        }
    }

    /// The number as an integer, fractions cut.
    pub(super) fn big(&self) -> BigInt {
        match self {
            Self::Integer(integer) => BigInt::from(*integer),
            Self::Varint(big) => big.clone(),
            Self::Float(_) => {
                let (unscaled, scale) = self.decimal();
                cut(unscaled, scale)
            }
            Self::Decimal(unscaled, scale) => cut(unscaled.clone(), *scale),
        }
    }

    /// The number as a double.
    pub(super) fn float(&self) -> f64 {
        match self {
            // Exact up to 2⁵³, rounded beyond, as in Java.
            Self::Integer(integer) => *integer as f64,
            Self::Float(float) => *float,
            Self::Varint(big) => big.to_string().parse().unwrap_or(f64::NAN),
            Self::Decimal(unscaled, scale) => format!("{unscaled}e{}", -i64::from(*scale))
                .parse()
                .unwrap_or(f64::NAN),
        }
    }

    /// The number as an unscaled value and a scale.
    pub(super) fn decimal(&self) -> (BigInt, i32) {
        match self {
            Self::Integer(integer) => (BigInt::from(*integer), 0),
            Self::Varint(big) => (big.clone(), 0),
            Self::Decimal(unscaled, scale) => (unscaled.clone(), *scale),
            Self::Float(float) => parse_decimal(&java_double(*float)).unwrap_or_default(),
        }
    }
}

fn cut(unscaled: BigInt, scale: i32) -> BigInt {
    let distance = u32::try_from(i64::from(scale).abs().min(MAX_SCALE)).unwrap_or(0);
    let factor = BigInt::from(10u8).pow(distance);
    if scale >= 0 {
        unscaled / factor
    } else {
        unscaled * factor
    }
}

fn low_bits(big: &BigInt) -> i64 {
    let bytes = big.to_signed_bytes_be();
    let fill = if bytes.first().is_some_and(|byte| byte & 0x80 != 0) {
        0xFF
    } else {
        0
    };
    let mut low = [fill; 8];
    for (place, byte) in low.iter_mut().rev().zip(bytes.iter().rev()) {
        *place = *byte;
    }
    i64::from_be_bytes(low)
}

/// Reads `-1.5e3` as an unscaled value and a scale; `None` if it is no number or its exponent is out of bounds.
fn parse_decimal(text: &str) -> Option<(BigInt, i32)> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, text.get(at + 1..)?.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let unscaled = format!("{whole}{fraction}").parse().ok()?;
    let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    Some((unscaled, i32::try_from(scale).ok()?))
}

/// A double as Java's `Double.toString` prints it.
pub(crate) fn java_double(float: f64) -> String {
    java_float_text(
        float,
        || format!("{float:?}"),
        || two_digits(float, format!("{float:.1e}")),
    )
}

/// A float as Java's `Float.toString` prints it.
pub(crate) fn java_float(float: f32) -> String {
    java_float_text(
        f64::from(float),
        || format!("{float:?}"),
        || two_digits(float, format!("{float:.1e}")),
    )
}

/// The form of two digits, if that reads back.
fn two_digits<T: PartialEq + std::str::FromStr>(float: T, text: String) -> Option<String> {
    text.parse()
        .is_ok_and(|read: T| read == float)
        .then_some(text)
}

/// Java prints the fewest digits that read back, but two at least: of two digits those nearest to the number.
fn java_float_text(
    float: f64,
    shortest: impl FnOnce() -> String,
    two_digits: impl FnOnce() -> Option<String>,
) -> String {
    if float.is_nan() {
        return "NaN".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let magnitude = float.abs();
    if magnitude == 0.0 || (1e-3..1e7).contains(&magnitude) {
        return shortest();
    }
    let shortest = two_digits().unwrap_or_else(shortest);
    let Some((unscaled, scale)) = parse_decimal(&shortest) else {
        return shortest;
    };
    let sign = if float < 0.0 { "-" } else { "" };
    let digits = unscaled.magnitude().to_string();
    let exponent = i64::try_from(digits.len()).unwrap_or(0) - 1 - i64::from(scale);
    let digits = digits.trim_end_matches('0');
    let (first, rest) = digits.split_at_checked(1).unwrap_or(("0", ""));
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{sign}{first}.{rest}E{exponent}")
}

/// A number as Cassandra prints it; `None` for what is none, or too long to print.
pub(crate) fn text(ty: &CqlType, value: &[u8]) -> Option<String> {
    Some(match Number::decode(ty, value)? {
        Number::Float(float) if *ty == CqlType::Float => java_float(float as f32),
        Number::Float(float) => java_double(float),
        Number::Integer(integer) => integer.to_string(),
        Number::Varint(big) => big.to_string(),
        Number::Decimal(unscaled, scale) => decimal_text(&unscaled, scale),
    })
}

/// A decimal as Java's `BigDecimal.toString` prints it: with an exponent where the plain form hides the scale.
pub(super) fn scientific(unscaled: &BigInt, scale: i32) -> String {
    let digits = unscaled.magnitude().to_string();
    let adjusted = i64::try_from(digits.len()).unwrap_or(0) - 1 - i64::from(scale);
    if scale == 0 || (scale > 0 && adjusted >= -6) {
        return decimal_text(unscaled, scale);
    }
    let sign = match unscaled.sign() {
        num_bigint::Sign::Minus => "-",
        _ => "",
    };
    let (first, rest) = digits.split_at_checked(1).unwrap_or(("0", ""));
    let point = if rest.is_empty() { "" } else { "." };
    match adjusted {
        0 => format!("{sign}{first}{point}{rest}"),
        _ => format!("{sign}{first}{point}{rest}E{adjusted:+}"),
    }
}

/// A decimal as Java's `BigDecimal.toPlainString` prints it; scientific where that would be very long.
pub(super) fn decimal_text(unscaled: &BigInt, scale: i32) -> String {
    if i64::from(scale).abs() > MAX_SCALE {
        return format!("{unscaled}E{}", -i64::from(scale));
    }
    let digits = unscaled.magnitude().to_string();
    let sign = if unscaled.sign() == num_bigint::Sign::Minus {
        "-"
    } else {
        ""
    };
    let Ok(scale) = usize::try_from(scale) else {
        let zeros = "0".repeat(usize::try_from(scale.unsigned_abs()).unwrap_or(0));
        return format!("{sign}{digits}{zeros}");
    };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let padded = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = padded.split_at(padded.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

#[cfg(test)]
mod tests {
    use super::{java_double, java_float};

    #[test]
    fn floating_point_numbers_print_as_in_java() {
        for (float, expected) in [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (100.0, "100.0"),
            (0.001, "0.001"),
            (1e-5, "1.0E-5"),
            (1e7, "1.0E7"),
            (123_456_789.0, "1.23456789E8"),
            (1e23, "1.0E23"),
            (2e-323, "2.0E-323"),
            (f64::from_bits(1), "4.9E-324"),
            (f64::MAX, "1.7976931348623157E308"),
            (-1.5e300, "-1.5E300"),
        ] {
            assert_eq!(java_double(float), expected);
        }
        assert_eq!(java_float(f32::from_bits(1)), "1.4E-45");
        assert_eq!(java_float(3.4e38), "3.4E38");
        assert_eq!(java_float(0.1), "0.1");
    }
}
