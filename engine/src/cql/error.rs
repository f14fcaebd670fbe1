//! Why a text isn't a statement, in the words and positions of Cassandra's parser.

use std::fmt::Write;

use nom::error::{ErrorKind, ParseError};

use super::input::Input;
use super::lexer::{Lexer, LexicalFault, Wanted};
use super::names::unquote;
use super::token::{Kind, Token};

/// The most bytes of the text that a message repeats in one place.
const QUOTED: usize = 1024;

/// Why a rule doesn't match. Tokens are named by how many remain from them on, the last one included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    /// No alternative of the rule begins so.
    NoViable {
        /// Where the alternatives begin.
        decision: usize,
        /// The token at which the last of them is out.
        token: usize,
    },
    /// Another token must stand here.
    Mismatched {
        /// The token.
        token: usize,
        /// What must stand here.
        expected: Kind,
    },
    /// Nested more deeply than the parser follows.
    TooDeep {
        /// The token.
        token: usize,
    },
    /// A syntax error that names no position.
    Syntax(String),
    /// An invalid request that the grammar notices.
    Invalid(String),
}

impl<'a> ParseError<Input<'a>> for Fault {
    fn from_error_kind(input: Input<'a>, _: ErrorKind) -> Self {
        let token = input.remaining();
        Self::NoViable {
            decision: token,
            token,
        }
    }

    fn append(_: Input<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }
}

/// What a fault is told with.
pub(super) struct Scene<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Its tokens.
    pub(super) tokens: &'a [Token],
    /// The index of the furthest token that the parser looked at.
    pub(super) furthest: usize,
}

impl Scene<'_> {
    /// The message for a parser's fault.
    pub(super) fn describe(&self, fault: Fault) -> String {
        let (decision, token) = match fault {
            Fault::Syntax(message) | Fault::Invalid(message) => return message,
            Fault::NoViable { decision, token } => (decision, token),
            Fault::Mismatched { token, .. } | Fault::TooDeep { token } => (token, token),
        };
        let token = self.token(token);
        let mut message = match token.kind {
            Kind::Eof => String::from("line 0:-1 "),
            _ => header(self.text, token.start as usize),
        };
        let shown = shown(self.text, token);
        // Writing to a string can't fail.
        let _ = match fault {
            Fault::Mismatched { expected, .. } => write!(
                message,
                "mismatched input '{shown}' expecting {}",
                expected.token_name()
            ),
            Fault::TooDeep { .. } => write!(message, "nested too deeply at input '{shown}'"),
            _ => write!(message, "no viable alternative at input '{shown}'"),
        };
        self.append_snippet(&mut message, self.token(decision));
        message
    }

    fn token(&self, remaining: usize) -> Token {
        let index = self.tokens.len().saturating_sub(remaining);
        self.tokens
            .get(index)
            .or(self.tokens.last())
            .copied()
            .unwrap_or(Token {
                kind: Kind::Eof,
                start: 0,
                end: 0,
            })
    }

    /// The text around a token, which stands in brackets: from ten tokens before it to two behind it, as far as the
    /// parser had looked; white space and comments count.
    fn append_snippet(&self, message: &mut String, marked: Token) {
        let furthest = self.tokens.get(self.furthest).copied();
        let mut lexer = Lexer::new(self.text);
        let mut tokens = Vec::new();
        let mut at = None;
        loop {
            let token = lexer.next_token();
            if token.start == marked.start && token.kind == marked.kind {
                at = Some(tokens.len());
            }
            tokens.push(token);
            let last = at.is_some_and(|at| tokens.len() > at + 2);
            let end = Some(token) == furthest || matches!(token.kind, Kind::Eof | Kind::Invalid);
            if last || end {
                break;
            }
        }
        let Some(at) = at else { return };
        let window = tokens.get(at.saturating_sub(10)..).unwrap_or_default();
        let (Some(&from), Some(&to)) = (window.first(), window.last()) else {
            return;
        };
        if to.kind == Kind::Eof || marked.kind == Kind::Eof {
            return;
        }
        let bounds = (from.start as usize, shown_end(self.text, to));
        let marks = (marked.start as usize, shown_end(self.text, marked));
        message.push_str(" (");
        if bounds.0 > 0 {
            message.push_str("...");
        }
        self.append_lines(message, bounds.0, marks.0);
        message.push('[');
        self.append_lines(message, marks.0, marks.1);
        message.push(']');
        self.append_lines(message, marks.1, bounds.1);
        if bounds.1 < self.text.trim_end_matches('\n').len() {
            message.push_str("...");
        }
        message.push(')');
    }

    /// The text between two offsets, its lines joined.
    fn append_lines(&self, message: &mut String, from: usize, to: usize) {
        let part = clip(self.text.get(from..to).unwrap_or_default());
        message.extend(part.chars().filter(|&letter| letter != '\n'));
    }
}

/// The message for a lexer's fault.
pub(super) fn lexical(text: &str, fault: &LexicalFault) -> String {
    let mut message = header(text, fault.offset);
    let found = match text
        .get(fault.offset..)
        .and_then(|rest| rest.chars().next())
    {
        None => String::from("<EOF>"),
        Some(letter) => escape(letter.encode_utf8(&mut [0; 4])),
    };
    let _ = match fault.wanted {
        Wanted::Character(wanted) => {
            write!(
                message,
                "mismatched character '{found}' expecting '{wanted}'"
            )
        }
        Wanted::Set => write!(message, "mismatched character '{found}' expecting set null"),
        Wanted::AtLeastOne => write!(
            message,
            "required (...)+ loop did not match anything at character '{found}'"
        ),
        Wanted::Token => write!(message, "no viable alternative at character '{found}'"),
    };
    message
}

/// `line 1:7 `: lines from 1, columns from 0 in UTF-16 units as Java counts them.
fn header(text: &str, offset: usize) -> String {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
    let last = before.rsplit('\n').next().unwrap_or_default();
    let column = last.chars().map(char::len_utf16).sum::<usize>();
    format!("line {line}:{column} ")
}

/// What a token says: strings and quoted names without their quotes.
fn shown(text: &str, token: Token) -> String {
    let raw = text
        .get(token.start as usize..token.end as usize)
        .unwrap_or_default();
    match token.kind {
        Kind::Eof => String::from("<EOF>"),
        Kind::String | Kind::QuotedName => escape(&unquote(clip(raw))),
        _ => escape(clip(raw)),
    }
}

/// The offset where Java sees a token's end: it counts the text without the quotes.
fn shown_end(text: &str, token: Token) -> usize {
    let raw = text
        .get(token.start as usize..token.end as usize)
        .unwrap_or_default();
    let length = match token.kind {
        Kind::String | Kind::QuotedName => unquote(raw).chars().count(),
        _ => raw.chars().count(),
    };
    let bytes = raw.chars().take(length).map(char::len_utf8).sum::<usize>();
    token.start as usize + bytes
}

fn escape(text: &str) -> String {
    text.replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace('\t', "\\t")
}

/// The beginning of a text, as much of it as a message repeats.
pub(super) fn clip(text: &str) -> &str {
    text.get(..text.floor_char_boundary(QUOTED)).unwrap_or(text)
}
