//! Tokens that begin with a digit: integers, floats, durations, blobs and UUIDs.

use super::lexer::{Scanned, Wanted, fault};
use super::token::Kind;

/// A token that begins with a digit, or with a minus and a digit.
pub(super) fn scan(rest: &[u8]) -> Scanned {
    let sign = usize::from(rest.first() == Some(&b'-'));
    let digits = digits(rest, sign);
    let end = sign + digits;
    let next = at(rest, end);
    if sign == 0 {
        if digits == 1 && rest.first() == Some(&b'0') && matches!(next, b'x' | b'X') {
            let hex = run(rest, 2, u8::is_ascii_hexdigit);
            return Ok((Kind::Hex, 2 + hex));
        }
        // A letter that only a UUID can have, or a first group that is one.
        let group = run(rest, 0, u8::is_ascii_hexdigit);
        if (digits < 8 && matches!(next, b'a' | b'A' | b'b' | b'B' | b'c' | b'C' | b'f' | b'F'))
            || (group == 8 && at(rest, 8) == b'-')
        {
            return uuid(rest);
        }
    }
    if unit(rest, end).is_some() || begins_short(next) {
        return duration(rest, end);
    }
    float(rest, end)
}

/// An integer, or a float: a fraction, an exponent, or both. `1..2` is a range of integers.
fn float(rest: &[u8], integer: usize) -> Scanned {
    let mut end = integer;
    if at(rest, end) == b'.' {
        if at(rest, end + 1) == b'.' {
            // Three dots: the first is the float's.
            return Ok(match at(rest, end + 2) {
                b'.' => (Kind::Float, end + 1),
                _ => (Kind::Integer, end),
            });
        }
        end += 1 + digits(rest, end + 1);
    }
    if matches!(at(rest, end), b'e' | b'E') {
        let signed = matches!(at(rest, end + 1), b'+' | b'-');
        let start = end + 1 + usize::from(signed);
        match digits(rest, start) {
            0 if signed => return fault(start, Wanted::AtLeastOne),
            0 => return fault(start, Wanted::Token),
            exponent => end = start + exponent,
        }
    }
    let kind = if end == integer {
        Kind::Integer
    } else {
        Kind::Float
    };
    Ok((kind, end))
}

/// `1h30m` and the like, from the end of its first number.
fn duration(rest: &[u8], number: usize) -> Scanned {
    let mut end = number;
    loop {
        match unit(rest, end) {
            Some(length) => end += length,
            // `u` and `n` begin a unit of two letters.
            None if begins_short(at(rest, end)) => return fault(end + 1, Wanted::Set),
            None => return fault(end, Wanted::Token),
        }
        match digits(rest, end) {
            0 => return Ok((Kind::Duration, end)),
            more => end += more,
        }
    }
}

/// Whether a byte can only begin a unit of microseconds or nanoseconds.
fn begins_short(byte: u8) -> bool {
    matches!(byte, b'u' | b'U' | b'n' | b'N' | 0xC2)
}

/// The length of the duration's unit at an offset.
fn unit(rest: &[u8], offset: usize) -> Option<usize> {
    let second = at(rest, offset + 1).to_ascii_lowercase();
    match at(rest, offset).to_ascii_lowercase() {
        b'm' if matches!(second, b'o' | b's') => Some(2),
        b'u' | b'n' if second == b's' => Some(2),
        b'y' | b'w' | b'd' | b'h' | b'm' | b's' => Some(1),
        // µ, U+00B5.
        0xC2 if second == 0xB5 && at(rest, offset + 2).eq_ignore_ascii_case(&b's') => Some(3),
        _ => None,
    }
}

/// A UUID: whoever calls is sure that it can be nothing else.
pub(super) fn uuid(rest: &[u8]) -> Scanned {
    for offset in 0..36 {
        let byte = at(rest, offset);
        if matches!(offset, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return fault(offset, Wanted::Character('-'));
            }
        } else if !byte.is_ascii_hexdigit() {
            return fault(offset, Wanted::Set);
        }
    }
    Ok((Kind::Uuid, 36))
}

/// An ISO 8601 duration, `P1Y2M3DT4H5M6S`, `P4W` or `P0001-02-03T04:05:06`; none if this may be something else.
pub(super) fn iso_duration(rest: &[u8]) -> Option<Scanned> {
    if digits(rest, 1) == 4 && at(rest, 5) == b'-' {
        return Some(alternative_duration(rest));
    }
    let end = designated(rest, 1, b"W").or_else(|| {
        let date = designated(rest, 1, b"YMD").unwrap_or(1);
        let time = match at(rest, date) {
            b'T' => designated(rest, date + 1, b"HMS"),
            _ => None,
        };
        time.or(Some(date)).filter(|&end| end > 1)
    })?;
    Some(Ok((Kind::Duration, end)))
}

/// Numbers each followed by a designator, in the order given: the offset behind them.
fn designated(rest: &[u8], start: usize, designators: &[u8]) -> Option<usize> {
    let mut end = start;
    for &designator in designators {
        let digits = digits(rest, end);
        if digits > 0 && at(rest, end + digits) == designator {
            end += digits + 1;
        }
    }
    (end > start).then_some(end)
}

/// `P0001-02-03T04:05:06`: what begins like it can be nothing else.
fn alternative_duration(rest: &[u8]) -> Scanned {
    let pattern = b"P0000-00-00T00:00:00";
    for (offset, &wanted) in pattern.iter().enumerate() {
        let byte = at(rest, offset);
        if wanted == b'0' && !byte.is_ascii_digit() {
            return fault(offset, Wanted::Set);
        }
        if wanted != b'0' && byte != wanted {
            return fault(offset, Wanted::Character(char::from(wanted)));
        }
    }
    Ok((Kind::Duration, pattern.len()))
}

fn at(rest: &[u8], offset: usize) -> u8 {
    rest.get(offset).copied().unwrap_or(0)
}

fn digits(rest: &[u8], start: usize) -> usize {
    run(rest, start, u8::is_ascii_digit)
}

fn run(rest: &[u8], start: usize, of: impl Fn(&u8) -> bool) -> usize {
    let tail = rest.get(start..).unwrap_or_default();
    tail.iter().take_while(|byte| of(byte)).count()
}
