//! [`Varint`]: an integer of any size, and its decimal digits. Answers to native protocol v5, section 6.24.

use std::fmt;

/// An integer of any size: big-endian two's complement, as on the wire, of at least one byte.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Varint(Vec<u8>);

/// Longer integers are displayed in hexadecimal, as decimal digits take time with the square of the length.
const LONGEST_DECIMAL: usize = 1024;

impl Varint {
    /// The integer of these big-endian two's complement bytes, kept as they are; no bytes are zero.
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(if bytes.is_empty() { vec![0] } else { bytes })
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    fn is_negative(&self) -> bool {
        self.0.first().is_some_and(|first| first & 0x80 != 0)
    }

    /// The number without its sign, in 32-bit digits, the highest first.
    fn magnitude(&self) -> Vec<u32> {
        let (fill, negative) = match self.is_negative() {
            true => (0xFF, true),
            false => (0, false),
        };
        let mut digits: Vec<u32> = self
            .0
            .rchunks(4)
            .rev()
            .map(|chunk| {
                let mut bytes = [fill; 4];
                let (_, low) = bytes.split_at_mut(4 - chunk.len());
                low.copy_from_slice(chunk);
                u32::from_be_bytes(bytes)
            })
            .collect();
        if negative {
            let mut carry = true;
            for digit in digits.iter_mut().rev() {
                (*digit, carry) = (!*digit).overflowing_add(u32::from(carry));
            }
        }
        digits
    }
}

impl From<i128> for Varint {
    /// In the fewest bytes.
    fn from(value: i128) -> Self {
        let bytes = value.to_be_bytes();
        let redundant = |pair: &&[u8]| match pair {
            [0x00, next] => next & 0x80 == 0,
            [0xFF, next] => next & 0x80 != 0,
            _ => false,
        };
        let skip = bytes.windows(2).take_while(redundant).count();
        Self(bytes[skip..].to_vec())
    }
}

impl From<i64> for Varint {
    /// In the fewest bytes.
    fn from(value: i64) -> Self {
        Self::from(i128::from(value))
    }
}

/// A varint is beyond the range of the integer type that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the varint is out of range")]
pub struct VarintOutOfRange;

impl TryFrom<&Varint> for i128 {
    type Error = VarintOutOfRange;

    fn try_from(varint: &Varint) -> Result<Self, VarintOutOfRange> {
        let fill = if varint.is_negative() { 0xFF } else { 0 };
        let bytes = varint.as_bytes();
        let (redundant, low) = bytes.split_at(bytes.len().saturating_sub(16));
        let mut all = [fill; 16];
        let (_, place) = all.split_at_mut(16 - low.len());
        place.copy_from_slice(low);
        let value = Self::from_be_bytes(all);
        let fits = redundant.iter().all(|byte| *byte == fill) && (value < 0) == (fill == 0xFF);
        if fits {
            Ok(value)
        } else {
            Err(VarintOutOfRange)
        }
    }
}

impl TryFrom<&Varint> for i64 {
    type Error = VarintOutOfRange;

    fn try_from(varint: &Varint) -> Result<Self, VarintOutOfRange> {
        Self::try_from(i128::try_from(varint)?).map_err(|_| VarintOutOfRange)
    }
}

/// In decimal digits; an integer of more than 1024 bytes as `0x` and the hexadecimal digits of its two's complement.
impl fmt::Display for Varint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.len() > LONGEST_DECIMAL {
            f.write_str("0x")?;
            return self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
        const BASE: u64 = 1_000_000_000;
        let mut number = self.magnitude();
        // Nine decimal digits each, the lowest first.
        let mut groups = Vec::new();
        while number.iter().any(|digit| *digit != 0) {
            let mut rest = 0;
            for digit in &mut number {
                let value = (rest << 32) | u64::from(*digit);
                *digit = (value / BASE) as u32;
                rest = value % BASE;
            }
            groups.push(rest);
        }
        let mut text = groups.pop().unwrap_or_default().to_string();
        for group in groups.iter().rev() {
            text.push_str(&format!("{group:09}"));
        }
        f.pad_integral(!self.is_negative(), "", &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_the_fewest_bytes_and_come_back() {
        for value in [
            0,
            127,
            128,
            -1,
            -128,
            -129,
            i128::from(i64::MAX),
            i128::MAX,
            i128::MIN,
        ] {
            let varint = Varint::from(value);
            assert_eq!(i128::try_from(&varint), Ok(value));
            assert_eq!(varint.to_string(), value.to_string());
        }
        assert_eq!(Varint::from(-129_i64).as_bytes(), [255, 127]);
    }

    #[test]
    fn redundant_bytes_change_nothing_and_larger_numbers_are_out_of_range() {
        let mut bytes = vec![0xFF; 20];
        assert_eq!(i64::try_from(&Varint::from_bytes(bytes.clone())), Ok(-1));
        bytes[4] = 0x7F;
        let varint = Varint::from_bytes(bytes);
        assert_eq!(i128::try_from(&varint), Err(VarintOutOfRange));
        let mut bytes = vec![0; 17];
        bytes[1] = 0x80;
        let varint = Varint::from_bytes(bytes);
        assert_eq!(i128::try_from(&varint), Err(VarintOutOfRange));
        assert_eq!(
            varint.to_string(),
            "170141183460469231731687303715884105728"
        );
        assert_eq!(
            i64::try_from(&Varint::from(1_i128 << 63)),
            Err(VarintOutOfRange)
        );
    }

    #[test]
    fn a_number_too_long_for_decimal_digits_is_displayed_in_hexadecimal() {
        let longest = Varint::from_bytes(vec![0x7F; LONGEST_DECIMAL]);
        assert_eq!(longest.to_string().len(), 2466);
        let longer = Varint::from_bytes(vec![0x7F; LONGEST_DECIMAL + 1]);
        assert!(longer.to_string().starts_with("0x7f7f"));
    }
}
