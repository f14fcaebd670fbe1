//! Sizes and durations with their units, in the one way that all keys take them.

use std::time::Duration;

use super::raw::Raw;
use super::value::Value;

/// A number of bytes: `"16MiB"`, or a whole number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::command) struct Size(pub(in crate::command) u64);

impl Size {
    /// So many times 1,024 bytes.
    pub(in crate::command) const fn kibibytes(count: u64) -> Self {
        Self(count << 10)
    }

    /// So many times 1,048,576 bytes.
    pub(in crate::command) const fn mebibytes(count: u64) -> Self {
        Self(count << 20)
    }

    /// The same as a length in memory.
    pub(in crate::command) fn bytes(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

/// Units of size, the largest first.
const SIZES: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// Units of time in microseconds, the largest first.
const DURATIONS: [(&str, u64); 6] = [
    ("d", 86_400_000_000),
    ("h", 3_600_000_000),
    ("m", 60_000_000),
    ("s", 1_000_000),
    ("ms", 1_000),
    ("us", 1),
];

impl Value for Size {
    fn read(raw: &Raw) -> Result<Self, String> {
        let number = raw.integer().and_then(|number| u64::try_from(number).ok());
        number
            .or_else(|| with_unit(raw.text()?, &SIZES))
            .map(Self)
            .ok_or_else(|| {
                "expected a size such as \"16MiB\", in B, KiB, MiB or GiB, or a number of bytes"
                    .to_owned()
            })
    }

    fn show(&self) -> String {
        shown(self.0, &SIZES)
    }
}

impl Value for Duration {
    fn read(raw: &Raw) -> Result<Self, String> {
        raw.text()
            .and_then(|text| with_unit(text, &DURATIONS))
            .map(Self::from_micros)
            .ok_or_else(|| {
                "expected a duration with its unit, such as \"30s\", in us, ms, s, m, h or d"
                    .to_owned()
            })
    }

    fn show(&self) -> String {
        shown(
            u64::try_from(self.as_micros()).unwrap_or(u64::MAX),
            &DURATIONS,
        )
    }
}

/// A whole number and one of these units.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at_checked(digits)?;
    let (_, factor) = units
        .iter()
        .find(|(name, _)| *name == unit.trim_start_matches(' '))?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// The number in the largest unit that it is a whole number of.
fn shown(number: u64, units: &[(&str, u64)]) -> String {
    units
        .iter()
        .find(|(_, factor)| number >= *factor && number.is_multiple_of(*factor))
        .or(units.last())
        .map_or_else(String::new, |(name, factor)| {
            format!("\"{}{name}\"", number / factor)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(text: &str) -> Option<u64> {
        Size::read(&Raw::Text(text.to_owned()))
            .ok()
            .map(|size| size.0)
    }

    fn micros(text: &str) -> Option<u128> {
        Duration::read(&Raw::Text(text.to_owned()))
            .ok()
            .map(|duration| duration.as_micros())
    }

    #[test]
    fn sizes_have_binary_units_or_are_bytes() {
        assert_eq!(size("16MiB"), Some(16 << 20));
        assert_eq!(size("128 KiB"), Some(128 << 10));
        assert_eq!(size("7B"), Some(7));
        assert_eq!(Size::read(&Raw::Integer(7)), Ok(Size(7)));
        assert_eq!(Size::read(&Raw::Word("7".to_owned())), Ok(Size(7)));
        for wrong in ["", "7", "MiB", "-1MiB", "1.5MiB", "1MB", "17179869184GiB"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
        assert!(Size::read(&Raw::Integer(-1)).is_err());
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(micros("30s"), Some(30_000_000));
        assert_eq!(micros("250ms"), Some(250_000));
        assert_eq!(micros("2d"), Some(172_800_000_000));
        for wrong in ["", "30", "s", "-1s", "0.5s", "30 minutes"] {
            assert_eq!(micros(wrong), None, "{wrong}");
        }
        assert!(Duration::read(&Raw::Integer(30)).is_err());
    }

    #[test]
    fn they_are_shown_in_the_largest_unit_that_fits() {
        assert_eq!(Size::mebibytes(16).show(), "\"16MiB\"");
        assert_eq!(Size(1025).show(), "\"1025B\"");
        assert_eq!(Size(0).show(), "\"0B\"");
        assert_eq!(Duration::from_millis(1500).show(), "\"1500ms\"");
        assert_eq!(Duration::from_secs(60).show(), "\"1m\"");
    }
}
