//! Bytes as hex digits and back, and the dump that points at some of them.

use std::fmt::Write;
use std::ops::Range;

/// Bytes that a row of a dump shows.
const ROW: usize = 16;

/// The bytes that these digits are; blanks between them don't count.
///
/// # Errors
/// What isn't a pair of digits.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .collect();
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| match *pair {
        [high, low] => digit(high)
            .zip(digit(low))
            .map(|(high, low)| high << 4 | low),
        _ => None,
    };
    digits
        .chunks(2)
        .map(|chunk| {
            pair(chunk)
                .ok_or_else(|| format!("{:?} are no hex digits", String::from_utf8_lossy(chunk)))
        })
        .collect()
}

/// Bytes as digits without blanks.
pub(super) fn encode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
            let _ = write!(out, "{byte:02x}");
            out
        })
}

/// At most `most` bytes as digits; of more, the first ones and how many there are.
pub(super) fn brief(bytes: &[u8], most: usize) -> String {
    match bytes.get(..most) {
        Some(start) if bytes.len() > most => format!("{}… ({} bytes)", encode(start), bytes.len()),
        _ => encode(bytes),
    }
}

/// Rows of sixteen bytes with their offsets (from `base`) and their ASCII, and carets below those that are marked.
///
/// Of long bytes only the beginning and what is around the mark are shown.
pub(super) fn dump(bytes: &[u8], base: usize, mark: Option<Range<usize>>) -> String {
    let mark = mark.map(|mark| {
        let start = mark.start.min(bytes.len());
        // A mark of nothing points at one byte, which may be the one that is missing.
        start..mark.end.clamp(start, bytes.len()).max(start + 1)
    });
    let near = |row: usize| match &mark {
        Some(mark) => {
            let (first, last) = (mark.start / ROW, (mark.end - 1) / ROW);
            row < 2 || row + 2 >= first && row <= (first + 3).min(last + 1)
        }
        None => row < 8,
    };
    let rows = bytes.len() / ROW + 1;
    let (mut out, mut skipped) = (String::new(), false);
    for row in 0..rows {
        let start = row * ROW;
        let shown = bytes
            .get(start..bytes.len().min(start + ROW))
            .unwrap_or_default();
        let is_marked = mark
            .as_ref()
            .is_some_and(|mark| mark.start < start + ROW && mark.end > start);
        if shown.is_empty() && !is_marked {
            continue;
        }
        if !near(row) {
            if !skipped {
                out.push_str("      …\n");
            }
            skipped = true;
            continue;
        }
        skipped = false;
        put_row(&mut out, base + start, shown);
        if let Some(mark) = mark.as_ref().filter(|_| is_marked) {
            put_carets(&mut out, start, mark);
        }
    }
    out
}

fn put_row(out: &mut String, offset: usize, bytes: &[u8]) {
    let _ = write!(out, "{offset:06x}");
    for at in 0..ROW {
        let gap = if at == ROW / 2 { "  " } else { " " };
        let _ = match bytes.get(at) {
            Some(byte) => write!(out, "{gap}{byte:02x}"),
            None => write!(out, "{gap}  "),
        };
    }
    out.push_str("  ");
    let printable = |byte: &u8| {
        if matches!(byte, 0x20..0x7F) {
            char::from(*byte)
        } else {
            '.'
        }
    };
    out.extend(bytes.iter().map(printable));
    out.push('\n');
}

fn put_carets(out: &mut String, start: usize, mark: &Range<usize>) {
    let mut line = " ".repeat(6);
    for at in 0..ROW {
        let gap = if at == ROW / 2 { "  " } else { " " };
        line.push_str(gap);
        line.push_str(if mark.contains(&(start + at)) {
            "^^"
        } else {
            "  "
        });
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&bytes)), Ok(bytes));
        assert_eq!(decode("84 00\n0a"), Ok(vec![0x84, 0, 10]));
        assert_eq!(decode("0x"), Err("\"0x\" are no hex digits".to_owned()));
        assert_eq!(decode("123"), Err("\"3\" are no hex digits".to_owned()));
        assert_eq!(brief(&[1, 2, 3], 2), "0102… (3 bytes)");
    }

    #[test]
    fn a_dump_points_at_the_marked_bytes() {
        let bytes: Vec<u8> = (0x41..0x53).collect();
        assert_eq!(
            dump(&bytes, 0, Some(7..9)),
            "000000 41 42 43 44 45 46 47 48  49 4a 4b 4c 4d 4e 4f 50  ABCDEFGHIJKLMNOP\n\
             \x20                           ^^  ^^\n\
             000010 51 52                                             QR\n"
        );
    }

    #[test]
    fn a_dump_points_at_the_byte_that_is_missing() {
        assert_eq!(
            dump(&[0xFF], 0x20, Some(1..1)),
            "000020 ff                                                .\n\x20         ^^\n"
        );
    }

    #[test]
    fn a_long_dump_leaves_out_what_is_far_from_the_mark() {
        let bytes = vec![0; 1 << 20];
        let dumped = dump(&bytes, 0, Some(0x8005..0x8006));
        assert_eq!(dumped.lines().count(), 2 + 1 + 2 + 1 + 1 + 1 + 1);
        assert!(dumped.contains("\n008000 "));
    }
}
