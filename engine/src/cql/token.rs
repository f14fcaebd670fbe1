//! Tokens: a kind and the place in the text; what they say is read from the text when needed.

use super::keywords::{Class, Keyword};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The end of the text.
    Eof,
    /// Where the lexer gave up.
    Invalid,
    /// White space or a comment.
    Hidden,
    /// A keyword.
    Key(Keyword),
    /// An identifier.
    Ident,
    /// `"Identifier"`
    QuotedName,
    /// `""`
    EmptyQuotedName,
    /// `'text'` or `$$text$$`
    String,
    /// `-?[0-9]+`
    Integer,
    /// A number with a fraction or an exponent.
    Float,
    /// `true` or `false`
    Boolean,
    /// A duration in one of its four notations.
    Duration,
    /// A UUID.
    Uuid,
    /// `0x…`
    Hex,
    /// `NaN` or `-NaN`
    Nan,
    /// `Infinity`
    Infinity,
    /// `-Infinity`
    NegativeInfinity,
    /// `?`
    Question,
    /// `..`
    Range,
    /// `expr(`
    Expr,
    /// `;`
    Semicolon,
    /// `(`
    OpenParen,
    /// `)`
    CloseParen,
    /// `[`
    OpenBracket,
    /// `]`
    CloseBracket,
    /// `{`
    OpenBrace,
    /// `}`
    CloseBrace,
    /// `,`
    Comma,
    /// `.`
    Dot,
    /// `:`
    Colon,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Star,
    /// `/`
    Slash,
    /// `%`
    Percent,
    /// `+=`
    PlusEqual,
    /// `-=`
    MinusEqual,
}

impl Kind {
    /// The name of the token in error messages.
    pub(super) fn token_name(self) -> String {
        let name = match self {
            Self::Key(keyword) => return keyword.token_name(),
            Self::Eof => "EOF",
            Self::Ident => "IDENT",
            Self::QuotedName => "QUOTED_NAME",
            Self::EmptyQuotedName => "EMPTY_QUOTED_NAME",
            Self::String => "STRING_LITERAL",
            Self::Integer => "INTEGER",
            Self::Float => "FLOAT",
            Self::Boolean => "BOOLEAN",
            Self::Duration => "DURATION",
            Self::Uuid => "UUID",
            Self::Hex => "HEXNUMBER",
            Self::Nan => "K_POSITIVE_NAN",
            Self::Infinity => "K_POSITIVE_INFINITY",
            Self::NegativeInfinity => "K_NEGATIVE_INFINITY",
            Self::Question => "QMARK",
            Self::Range => "RANGE",
            Self::Invalid | Self::Hidden => "WS",
            Self::Expr => "'expr('",
            Self::Semicolon => "';'",
            Self::OpenParen => "'('",
            Self::CloseParen => "')'",
            Self::OpenBracket => "'['",
            Self::CloseBracket => "']'",
            Self::OpenBrace => "'{'",
            Self::CloseBrace => "'}'",
            Self::Comma => "','",
            Self::Dot => "'.'",
            Self::Colon => "':'",
            Self::Equal => "'='",
            Self::NotEqual => "'!='",
            Self::Less => "'<'",
            Self::LessOrEqual => "'<='",
            Self::Greater => "'>'",
            Self::GreaterOrEqual => "'>='",
            Self::Plus => "'+'",
            Self::Minus => "'-'",
            Self::Star => "'*'",
            Self::Slash => "'/'",
            Self::Percent => "'%'",
            Self::PlusEqual => "'+='",
            Self::MinusEqual => "'-='",
        };
        String::from(name)
    }

    /// Whether the token can be an identifier: `IDENT`, `QUOTED_NAME` or an unreserved keyword.
    pub(super) fn is_identifier(self) -> bool {
        match self {
            Self::Ident | Self::QuotedName => true,
            Self::Key(keyword) => keyword.class() != Class::Reserved,
            _ => false,
        }
    }

    /// Whether the token can name a column: an identifier or `""`.
    pub(super) fn is_column(self) -> bool {
        self == Self::EmptyQuotedName || self.is_identifier()
    }

    /// Whether the token can name a function.
    pub(super) fn is_function(self) -> bool {
        match self {
            Self::Ident | Self::QuotedName => true,
            Self::Key(Keyword::Token | Keyword::Count) => true,
            Self::Key(keyword) => matches!(keyword.class(), Class::Basic | Class::Native),
            _ => false,
        }
    }

    /// Whether the token can name a user type.
    pub(super) fn is_user_type(self) -> bool {
        match self {
            Self::Ident | Self::QuotedName | Self::Key(Keyword::Key) => true,
            Self::Key(keyword) => keyword.class() == Class::Basic,
            _ => false,
        }
    }

    /// Whether the token is the keyword of a native type.
    pub(super) fn is_native_type(self) -> bool {
        matches!(self, Self::Key(keyword) if keyword.class() == Class::Native)
    }

    /// Whether the token is a constant by itself.
    pub(super) fn is_constant(self) -> bool {
        matches!(
            self,
            Self::String
                | Self::Integer
                | Self::Float
                | Self::Boolean
                | Self::Duration
                | Self::Uuid
                | Self::Hex
                | Self::Nan
                | Self::Infinity
                | Self::NegativeInfinity
        )
    }
}

/// A token: its kind and its bytes in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    /// The kind.
    pub(super) kind: Kind,
    /// The offset of the first byte.
    pub(super) start: u32,
    /// The offset behind the last byte.
    pub(super) end: u32,
}
