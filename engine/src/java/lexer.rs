//! Tokens of Java (Java Language Specification, chapter 3).

use super::{Checked, fault};

/// A token and where it begins, as a byte offset.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token<'s> {
    pub(super) kind: Kind<'s>,
    pub(super) at: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind<'s> {
    /// A keyword or identifier.
    Word(&'s str),
    /// A number as written.
    Number(&'s str),
    /// A string's UTF-16 units.
    Text(Vec<u16>),
    /// A character.
    Character(u16),
    /// An operator or separator.
    Sign(&'static str),
    End,
}

/// Operators and separators, longer ones before their beginnings.
const SIGNS: [&str; 47] = [
    ">>>=", "<<=", ">>=", ">>>", "...", "->", "::", "++", "--", "&&", "||", "==", "!=", "<=", ">=",
    "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "(", ")", "{", "}", "[", "]", ";",
    ",", ".", "@", "=", ">", "<", "!", "~", "?", ":", "+", "-", "*", "/", "&",
];
const LAST_SIGNS: [&str; 3] = ["|", "^", "%"];

/// All tokens of a body, `End` last.
pub(super) fn tokenize(source: &str) -> Checked<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(next) = skip_blanks(source, at)? {
        let (kind, end) = token(source, next)?;
        tokens.push(Token { kind, at: next });
        at = end;
    }
    tokens.push(Token {
        kind: Kind::End,
        at: source.len(),
    });
    Ok(tokens)
}

fn rest(source: &str, at: usize) -> &str {
    source.get(at..).unwrap_or_default()
}

/// Where the next token begins; `None` at the end.
fn skip_blanks(source: &str, mut at: usize) -> Checked<Option<usize>> {
    loop {
        let left = rest(source, at);
        at += left.len()
            - left
                .trim_start_matches([' ', '\t', '\n', '\r', '\u{c}'])
                .len();
        let left = rest(source, at);
        if left.starts_with("//") {
            at += left.find(['\n', '\r']).unwrap_or(left.len());
        } else if let Some(comment) = left.strip_prefix("/*") {
            match comment.find("*/") {
                Some(len) => at += len + 4,
                None => return fault(at, "Unexpected end of comment"),
            }
        } else {
            return Ok((!left.is_empty()).then_some(at));
        }
    }
}

fn token(source: &str, at: usize) -> Checked<(Kind<'_>, usize)> {
    let left = rest(source, at);
    let first = left.chars().next().unwrap_or_default();
    let second = left.chars().nth(1).unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let taken = |len: usize| left.get(..len).unwrap_or_default();
    if first.is_alphabetic() || first == '_' || first == '$' {
        let len = left.find(|c| !is_part(c)).unwrap_or(left.len());
        return Ok((Kind::Word(taken(len)), at + len));
    }
    if first.is_ascii_digit() || (first == '.' && second.is_ascii_digit()) {
        let len = number_len(left);
        return Ok((Kind::Number(taken(len)), at + len));
    }
    if first == '"' {
        if left.starts_with("\"\"\"") {
            return fault(at, "text blocks are not supported");
        }
        return quoted(source, at, '"').map(|(units, end)| (Kind::Text(units), end));
    }
    if first == '\'' {
        let (units, end) = quoted(source, at, '\'')?;
        return match units.as_slice() {
            [unit] => Ok((Kind::Character(*unit), end)),
            _ => fault(at, "Invalid character constant"),
        };
    }
    match SIGNS
        .iter()
        .chain(&LAST_SIGNS)
        .find(|sign| left.starts_with(**sign))
    {
        Some(sign) => Ok((Kind::Sign(sign), at + sign.len())),
        None => fault(at, format!("unexpected character '{first}'")),
    }
}

/// Digits, letters and points, and a sign behind a decimal exponent.
fn number_len(text: &str) -> usize {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut previous = ' ';
    for (index, c) in text.char_indices() {
        let is_exponent = !is_hex && matches!(previous, 'e' | 'E') && matches!(c, '+' | '-');
        if !(c.is_ascii_alphanumeric() || c == '_' || c == '.' || is_exponent) {
            return index;
        }
        previous = c;
    }
    text.len()
}

/// The UTF-16 units between quotes, and the offset behind the closing one.
fn quoted(source: &str, at: usize, quote: char) -> Checked<(Vec<u16>, usize)> {
    let mut units = Vec::new();
    let mut letters = rest(source, at + 1).char_indices();
    while let Some((offset, c)) = letters.next() {
        let here = at + 1 + offset;
        match c {
            '\n' | '\r' => break,
            '\\' => units.push(escape(&mut letters, here)?),
            _ if c == quote => return Ok((units, here + 1)),
            _ => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
        }
    }
    fault(at, "literal is not properly closed by its quote")
}

fn escape(letters: &mut std::str::CharIndices<'_>, at: usize) -> Checked<u16> {
    let wrong = || {
        fault(
            at,
            "Invalid escape sequence (valid ones are  \\b  \\t  \\n  \\f  \\r  \\\"  \\'  \\\\ )",
        )
    };
    let Some((_, c)) = letters.next() else {
        return wrong();
    };
    Ok(match c {
        'b' => 0x08,
        't' => 0x09,
        'n' => 0x0A,
        'f' => 0x0C,
        'r' => 0x0D,
        's' => 0x20,
        '"' | '\'' | '\\' => c as u16,
        '0'..='7' => {
            let mut value = c.to_digit(8).unwrap_or(0);
            let most = if c <= '3' { 2 } else { 1 };
            for _ in 0..most {
                let mut ahead = letters.clone();
                match ahead.next().and_then(|(_, c)| c.to_digit(8)) {
                    Some(digit) => value = value * 8 + digit,
                    None => break,
                }
                *letters = ahead;
            }
            value as u16
        }
        'u' => {
            let mut value = 0;
            let mut digits = 0;
            while digits < 4 {
                match letters.next() {
                    Some((_, 'u')) if digits == 0 => {}
                    Some((_, c)) => match c.to_digit(16) {
                        Some(digit) => {
                            value = value * 16 + digit;
                            digits += 1;
                        }
                        None => return fault(at, "Invalid unicode"),
                    },
                    None => return fault(at, "Invalid unicode"),
                }
            }
            value as u16
        }
        _ => return wrong(),
    })
}
