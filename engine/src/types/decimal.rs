//! The order-preserving form of `decimal`: equal numbers are equal whatever their scale, as Cassandra compares them.

use num_bigint::{BigInt, Sign};

/// Converting to decimal digits takes time quadratic in the length; beyond this many bytes a value counts as malformed.
const MAX_UNSCALED: usize = 4096;

const NEGATIVE: u8 = 0;
const ZERO: u8 = 1;
const POSITIVE: u8 = 2;

/// Appends the form of a serialized decimal (a big-endian `i32` scale, then the unscaled value in two's complement):
/// the sign, the power of ten, the significant digits. Says whether it could; if not, `out` is as it was.
pub(super) fn encode(value: &[u8], out: &mut Vec<u8>) -> bool {
    let Some((scale, unscaled)) = value.split_first_chunk::<4>() else {
        return false;
    };
    if unscaled.is_empty() || unscaled.len() > MAX_UNSCALED {
        return false;
    }
    let scale = i32::from_be_bytes(*scale);
    let (sign, mut digits) = BigInt::from_signed_bytes_be(unscaled).to_radix_be(10);
    let power = digits.len() as i64 - i64::from(scale);
    while digits.last() == Some(&0) {
        digits.pop();
    }
    let start = match sign {
        Sign::NoSign => {
            out.push(ZERO);
            return true;
        }
        Sign::Plus => {
            out.push(POSITIVE);
            out.len()
        }
        Sign::Minus => {
            out.push(NEGATIVE);
            out.len()
        }
    };
    out.extend_from_slice(&(power ^ i64::MIN).to_be_bytes());
    out.extend(digits.iter().map(|digit| digit + 1));
    out.push(0);
    if sign == Sign::Minus {
        out.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
    }
    true
}
