//! The lexer, after Cassandra 5.0's `Lexer.g`: text in, tokens out, in one pass over the bytes.

use super::keywords::Keyword;
use super::numbers;
use super::token::{Kind, Token};

/// Why the lexer gave up, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LexicalFault {
    /// The offset of the character that doesn't fit.
    pub(super) offset: usize,
    /// What was wanted there.
    pub(super) wanted: Wanted,
}

/// What a token wanted instead of the character it met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// This character.
    Character(char),
    /// One of a set.
    Set,
    /// At least one of a repeated set.
    AtLeastOne,
    /// Any token's beginning.
    Token,
}

/// What [`tokenize`] found.
pub(super) struct Lexed {
    /// The tokens without hidden ones. The last is `Eof`, or `Invalid` if there is a fault.
    pub(super) tokens: Vec<Token>,
    /// Where the text stopped making sense.
    pub(super) fault: Option<LexicalFault>,
}

/// Splits a text, which must be shorter than 4 GiB, into tokens.
pub(super) fn tokenize(text: &str) -> Lexed {
    // A token of a typical statement, with the space behind it, takes five bytes or so.
    let mut tokens = Vec::with_capacity((text.len() / 4).min(1 << 16) + 2);
    let mut lexer = Lexer::new(text);
    loop {
        let token = lexer.next_token();
        match token.kind {
            Kind::Hidden => continue,
            Kind::Eof | Kind::Invalid => {
                tokens.push(token);
                return Lexed {
                    tokens,
                    fault: lexer.fault,
                };
            }
            _ => tokens.push(token),
        }
    }
}

/// The lexer's place in the text.
pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
    fault: Option<LexicalFault>,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning.
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            fault: None,
        }
    }

    /// The next token, hidden ones included; `Eof` or `Invalid` again and again at the end.
    pub(super) fn next_token(&mut self) -> Token {
        let start = self.position;
        let rest = self.text.get(start..).unwrap_or_default();
        let scanned = match rest.as_bytes().first() {
            None => Ok((Kind::Eof, 0)),
            Some(_) if self.fault.is_some() => Ok((Kind::Invalid, 0)),
            Some(&first) => scan(first, rest),
        };
        let (kind, length) = scanned.unwrap_or_else(|fault| {
            self.fault = Some(LexicalFault {
                offset: start + fault.offset,
                ..fault
            });
            (Kind::Invalid, 0)
        });
        self.position = start + length;
        Token {
            kind,
            start: start as u32,
            end: self.position as u32,
        }
    }
}

/// A token's kind and length, or the fault with its offset from the token's start.
pub(super) type Scanned = Result<(Kind, usize), LexicalFault>;

/// A fault at an offset from the token's start.
pub(super) fn fault(offset: usize, wanted: Wanted) -> Scanned {
    Err(LexicalFault { offset, wanted })
}

fn scan(first: u8, text: &str) -> Scanned {
    let rest = text.as_bytes();
    let second = rest.get(1).copied().unwrap_or(0);
    let simple = match first {
        b' ' | b'\t' | b'\n' | b'\r' => {
            let blank = |byte: &u8| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
            return Ok((
                Kind::Hidden,
                rest.iter().position(blank).unwrap_or(rest.len()),
            ));
        }
        b'a'..=b'z' | b'A'..=b'Z' => return word(text),
        b'0'..=b'9' => return numbers::scan(rest),
        b'\'' => return quoted(rest, b'\'', '\''),
        b'"' => return quoted(rest, b'"', '"'),
        b'$' => return dollar_quoted(rest),
        b'-' => return minus(rest),
        b'/' => match second {
            b'/' => return Ok((Kind::Hidden, line_comment(rest))),
            b'*' => return block_comment(rest),
            _ => Kind::Slash,
        },
        b'!' if second == b'=' => return Ok((Kind::NotEqual, 2)),
        b'!' => return fault(1, Wanted::Character('=')),
        b'<' if second == b'=' => return Ok((Kind::LessOrEqual, 2)),
        b'<' => Kind::Less,
        b'>' if second == b'=' => return Ok((Kind::GreaterOrEqual, 2)),
        b'>' => Kind::Greater,
        b'+' if second == b'=' => return Ok((Kind::PlusEqual, 2)),
        b'+' => Kind::Plus,
        b'.' if second == b'.' => return Ok((Kind::Range, 2)),
        b'.' => Kind::Dot,
        b'=' => Kind::Equal,
        b';' => Kind::Semicolon,
        b'(' => Kind::OpenParen,
        b')' => Kind::CloseParen,
        b'[' => Kind::OpenBracket,
        b']' => Kind::CloseBracket,
        b'{' => Kind::OpenBrace,
        b'}' => Kind::CloseBrace,
        b',' => Kind::Comma,
        b':' => Kind::Colon,
        b'?' => Kind::Question,
        b'*' => Kind::Star,
        b'%' => Kind::Percent,
        _ => return fault(0, Wanted::Token),
    };
    Ok((simple, 1))
}

/// An identifier, keyword or boolean; or a UUID or duration that begins with a letter.
fn word(text: &str) -> Scanned {
    let rest = text.as_bytes();
    let end = rest
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
        .unwrap_or(rest.len());
    let name = text.get(..end).unwrap_or_default();
    if end == 8 && rest.get(8) == Some(&b'-') && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return numbers::uuid(rest);
    }
    if name.starts_with('P') {
        match numbers::iso_duration(rest) {
            // A longer identifier is one.
            Some(Ok((_, length))) if length < end => {}
            Some(duration) => return duration,
            None => {}
        }
    }
    if name == "expr" && rest.get(4) == Some(&b'(') {
        return Ok((Kind::Expr, 5));
    }
    let kind = match Keyword::lookup(name) {
        Some(keyword) => Kind::Key(keyword),
        None if name.eq_ignore_ascii_case("true") || name.eq_ignore_ascii_case("false") => {
            Kind::Boolean
        }
        None if name.eq_ignore_ascii_case("nan") => Kind::Nan,
        None if name.eq_ignore_ascii_case("infinity") => Kind::Infinity,
        None => Kind::Ident,
    };
    Ok((kind, end))
}

/// What begins with a minus: a comment, a number, a duration, an operator.
fn minus(rest: &[u8]) -> Scanned {
    match rest.get(1).copied().unwrap_or(0) {
        b'-' => Ok((Kind::Hidden, line_comment(rest))),
        b'=' => Ok((Kind::MinusEqual, 2)),
        b'0'..=b'9' => numbers::scan(rest),
        b'n' | b'N' => spelled(rest, b"-nan", Kind::Nan),
        b'i' | b'I' => spelled(rest, b"-infinity", Kind::NegativeInfinity),
        b'P' => match numbers::iso_duration(rest.get(1..).unwrap_or_default()) {
            Some(Ok((kind, length))) => Ok((kind, length + 1)),
            Some(Err(problem)) => fault(problem.offset + 1, problem.wanted),
            None => Ok((Kind::Minus, 1)),
        },
        _ => Ok((Kind::Minus, 1)),
    }
}

/// A word that must go on as it began: `-n` can only be the begin of `-NaN`.
fn spelled(rest: &[u8], word: &[u8], kind: Kind) -> Scanned {
    let matching = word
        .iter()
        .zip(rest)
        .take_while(|(wanted, byte)| wanted.eq_ignore_ascii_case(byte))
        .count();
    if matching < word.len() {
        return fault(matching, Wanted::Set);
    }
    Ok((kind, matching))
}

/// A string or quoted name, in which a doubled quote stands for one.
fn quoted(rest: &[u8], quote: u8, shown: char) -> Scanned {
    let mut end = 1;
    loop {
        let tail = rest.get(end..).unwrap_or_default();
        match tail.iter().position(|&byte| byte == quote) {
            None => return fault(rest.len(), Wanted::Character(shown)),
            Some(at) if tail.get(at + 1) == Some(&quote) => end += at + 2,
            Some(at) => {
                end += at + 1;
                break;
            }
        }
    }
    let kind = match (quote, end) {
        (b'\'', _) => Kind::String,
        (_, 2) => Kind::EmptyQuotedName,
        _ => Kind::QuotedName,
    };
    Ok((kind, end))
}

/// `$$text$$`
fn dollar_quoted(rest: &[u8]) -> Scanned {
    let Some(body) = rest.strip_prefix(b"$$") else {
        return fault(1, Wanted::Character('$'));
    };
    if let Some(length) = body.windows(2).position(|pair| pair == b"$$") {
        return Ok((Kind::String, length + 4));
    }
    // The end is looked for up to the last character, which then isn't the wanted dollar.
    let last = match body.last() {
        None | Some(b'$') => rest.len(),
        Some(_) => {
            let tail = body
                .iter()
                .rev()
                .take_while(|&&byte| byte & 0xC0 == 0x80)
                .count();
            rest.len() - tail - 1
        }
    };
    fault(last, Wanted::Character('$'))
}

/// The length of a comment up to its line's end, or to the text's. (Cassandra insists on a line end.)
fn line_comment(rest: &[u8]) -> usize {
    rest.iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'))
        .map_or(rest.len(), |end| end + 1)
}

/// `/* text */`
fn block_comment(rest: &[u8]) -> Scanned {
    let body = rest.get(2..).unwrap_or_default();
    match body.windows(2).position(|pair| pair == b"*/") {
        Some(length) => Ok((Kind::Hidden, length + 4)),
        None => fault(rest.len(), Wanted::Character('*')),
    }
}
