//! Numbers of any size: varint and decimal.

use num_bigint::BigInt;

/// Reading and writing decimal digits takes quadratic time: this many take some ten milliseconds.
const MAX_DIGITS: usize = 100_000;

/// A varint: two's complement in as few bytes as it takes.
pub(super) fn varint(digits: &str) -> Result<Vec<u8>, String> {
    let value = big(digits).ok_or_else(|| format!("unable to make int from '{digits}'"))?;
    Ok(value.to_signed_bytes_be())
}

/// A decimal: the scale in four bytes, then the unscaled value as a varint.
pub(super) fn decimal(text: &str) -> Result<Vec<u8>, String> {
    parts(text)
        .and_then(|(digits, scale)| {
            let mut bytes = scale.to_be_bytes().to_vec();
            bytes.extend(big(&digits)?.to_signed_bytes_be());
            Some(bytes)
        })
        .ok_or_else(|| format!("unable to make BigDecimal from '{text}'"))
}

fn big(digits: &str) -> Option<BigInt> {
    if digits.len() > MAX_DIGITS {
        return None;
    }
    BigInt::parse_bytes(digits.as_bytes(), 10)
}

/// The digits of a number without its point, and how many of them stand behind it.
fn parts(text: &str) -> Option<(String, i32)> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let scale = i64::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
    Some((format!("{whole}{fraction}"), i32::try_from(scale).ok()?))
}
