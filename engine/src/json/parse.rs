//! Parsing JSON (RFC 8259) as Cassandra's parser does it: what stands behind the first value is ignored.

use std::borrow::Cow;
use std::fmt;

use super::clip;

/// How deep arrays and objects may nest. Values nest as deep as their types, which is less.
const MAX_DEPTH: usize = 128;

/// A parsed value. Numbers stay as they are written, so that no digit is lost. Takes some twenty times the memory of
/// its text at most.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Document<'t> {
    Null,
    Boolean(bool),
    /// Digits, perhaps behind a minus.
    Integer(&'t str),
    /// A number with a fraction or an exponent.
    Float(&'t str),
    Text(Cow<'t, str>),
    Array(Vec<Document<'t>>),
    /// Names and values in the order written, doubles among them.
    Object(Vec<(Cow<'t, str>, Document<'t>)>),
}

/// Why a text is no JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonError {
    message: String,
    line: usize,
    column: usize,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} at line {}, column {}",
            self.message, self.line, self.column
        )
    }
}

/// Parses the value that a text begins with.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, JsonError> {
    let mut parser = Parser { text, at: 0 };
    parser.skip_blanks();
    let parsed = match parser.peek() {
        None => Err("No content to map due to end-of-input".to_owned()),
        Some(_) => parser.value(0),
    };
    parsed.map_err(|message| {
        let before = text.get(..parser.at).unwrap_or(text);
        JsonError {
            message,
            line: before.matches('\n').count() + 1,
            column: before
                .rsplit('\n')
                .next()
                .unwrap_or_default()
                .chars()
                .count()
                + 1,
        }
    })
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
}

type Parsed<T> = Result<T, String>;

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected<T>(&self, wanted: &str) -> Parsed<T> {
        Err(match self.rest().chars().next() {
            Some(c) => format!(
                "Unexpected character ('{c}' (code {})): was expecting {wanted}",
                c as u32
            ),
            None => format!("Unexpected end-of-input: was expecting {wanted}"),
        })
    }

    fn value(&mut self, depth: usize) -> Parsed<Document<'t>> {
        if depth > MAX_DEPTH {
            return Err(format!(
                "Document nesting depth exceeds the maximum allowed ({MAX_DEPTH})"
            ));
        }
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.array(depth),
            Some(b'"') => self.string().map(Document::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn word(&mut self) -> Parsed<Document<'t>> {
        let len = self
            .rest()
            .find(|c: char| !c.is_alphanumeric())
            .unwrap_or(self.rest().len());
        let word = self.rest().get(..len).unwrap_or_default();
        let value = match word {
            "null" => Document::Null,
            "true" => Document::Boolean(true),
            "false" => Document::Boolean(false),
            "" => return self.unexpected("a valid value (JSON String, Number, Array, Object or token 'null', 'true' or 'false')"),
            _ => {
                return Err(format!(
                    "Unrecognized token '{}': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or \
                     'false')",
                    clip(word)
                ));
            }
        };
        self.at += len;
        Ok(value)
    }

    fn digits(&mut self) -> Parsed<usize> {
        let len = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        if len == 0 {
            return self.unexpected("a digit");
        }
        self.at += len;
        Ok(len)
    }

    fn number(&mut self) -> Parsed<Document<'t>> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        let has_leading_zero = self.peek() == Some(b'0');
        if self.digits()? > 1 && has_leading_zero {
            return Err("Invalid numeric value: Leading zeroes not allowed".to_owned());
        }
        let mut is_float = false;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
            is_float = true;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
            is_float = true;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        Ok(match is_float {
            true => Document::Float(text),
            false => Document::Integer(text),
        })
    }

    fn string(&mut self) -> Parsed<Cow<'t, str>> {
        self.at += 1;
        let start = self.at;
        let plain = self
            .rest()
            .bytes()
            .take_while(|byte| !matches!(byte, b'"' | b'\\' | 0..=0x1F))
            .count();
        self.at += plain;
        let text = self.text.get(start..self.at).unwrap_or_default();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(text));
        }
        let mut out = text.to_owned();
        loop {
            let Some(c) = self.rest().chars().next() else {
                return Err("Unexpected end-of-input in VALUE_STRING".to_owned());
            };
            match c {
                '"' => {
                    self.at += 1;
                    return Ok(Cow::Owned(out));
                }
                '\\' => self.escape(&mut out)?,
                '\0'..='\u{1F}' => {
                    return Err(format!(
                        "Illegal unquoted character ((CTRL-CHAR, code {})): has to be escaped using backslash to be \
                         included in string value",
                        c as u32
                    ));
                }
                _ => {
                    out.push(c);
                    self.at += c.len_utf8();
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Parsed<()> {
        self.at += 1;
        let Some(c) = self.rest().chars().next() else {
            return Err("Unexpected end-of-input in character escape sequence".to_owned());
        };
        let plain = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{C}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode(out),
            _ => {
                return Err(format!(
                    "Unrecognized character escape '{c}' (code {})",
                    c as u32
                ));
            }
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    /// `\uXXXX`, two of them for a character beyond the basic plane; half a pair becomes a question mark.
    fn unicode(&mut self, out: &mut String) -> Parsed<()> {
        let first = self.unit()?;
        let c = match char::from_u32(first.into()) {
            Some(c) => c,
            None if (0xD800..0xDC00).contains(&first) && self.rest().starts_with("\\u") => {
                let before = self.at;
                self.at += 1;
                let second = self.unit()?;
                match char::decode_utf16([first, second]).next() {
                    Some(Ok(c)) => c,
                    _ => {
                        self.at = before;
                        '?'
                    }
                }
            }
            None => '?',
        };
        out.push(c);
        Ok(())
    }

    /// Four hexadecimal digits behind a `u`.
    fn unit(&mut self) -> Parsed<u16> {
        self.at += 1;
        let digits = self.rest().get(..4).unwrap_or_default();
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        match u16::from_str_radix(digits, 16) {
            Ok(unit) if is_hex => {
                self.at += 4;
                Ok(unit)
            }
            _ => self.unexpected("a hex-digit for character escape sequence"),
        }
    }

    fn array(&mut self, depth: usize) -> Parsed<Document<'t>> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Document::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Document::Array(items));
                }
                _ => return self.unexpected("comma to separate Array entries"),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Parsed<Document<'t>> {
        self.at += 1;
        let mut entries = Vec::new();
        self.skip_blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Document::Object(entries));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return self.unexpected("double-quote to start field name");
            }
            let name = self.string()?;
            self.skip_blanks();
            if self.peek() != Some(b':') {
                return self.unexpected("a colon to separate field name and value");
            }
            self.at += 1;
            entries.push((name, self.value(depth + 1)?));
            self.skip_blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Document::Object(entries));
                }
                _ => return self.unexpected("comma to separate Object entries"),
            }
        }
    }
}
