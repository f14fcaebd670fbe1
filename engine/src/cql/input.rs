//! The parsers' input: tokens not yet consumed, and what is counted along the way.

use std::cell::Cell;

use nom::{Err, IResult};

use super::error::Fault;
use super::keywords::Keyword;
use super::token::{Kind, Token};

/// How deeply terms, selectors and types may nest, and how many operators and modifiers one of them may chain:
/// a bound on the stack of whoever walks the tree.
pub(super) const MAX_DEPTH: u16 = 128;

/// What a rule gives.
pub(super) type Parsed<'a, O> = IResult<Input<'a>, O, Fault>;

/// The text and its tokens.
pub(super) struct Source<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Its tokens; the last is `Eof` or `Invalid`.
    pub(super) tokens: &'a [Token],
    /// The furthest token looked at, as the number of tokens from it on.
    pub(super) furthest: Cell<usize>,
}

/// The tokens not yet consumed. A copy is a place to come back to.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    source: &'a Source<'a>,
    tokens: &'a [Token],
    /// Bind markers so far.
    pub(super) markers: u32,
    depth: u16,
    operators: u16,
    /// Whether something was parsed that this engine has no tree for, although Cassandra would run it.
    pub(super) unsupported: Option<&'static str>,
}

impl<'a> Input<'a> {
    /// All tokens of a source.
    pub(super) fn new(source: &'a Source<'a>) -> Self {
        Self {
            source,
            tokens: source.tokens,
            markers: 0,
            depth: 0,
            operators: 0,
            unsupported: None,
        }
    }

    /// How many tokens remain.
    pub(super) fn remaining(&self) -> usize {
        self.tokens.len()
    }

    /// The kind of the next token.
    pub(super) fn kind(&self) -> Kind {
        self.peek(0)
    }

    /// The kind of the token `ahead` of the next one; that of the last one beyond the end.
    pub(super) fn peek(&self, ahead: usize) -> Kind {
        let ahead = ahead.min(self.tokens.len().saturating_sub(1));
        let furthest = &self.source.furthest;
        furthest.set(furthest.get().min(self.tokens.len() - ahead));
        self.tokens.get(ahead).map_or(Kind::Eof, |token| token.kind)
    }

    /// Whether the next token is that keyword.
    pub(super) fn at(&self, keyword: Keyword) -> bool {
        self.kind() == Kind::Key(keyword)
    }

    /// The text of the next token.
    pub(super) fn text(&self) -> &'a str {
        let Some(token) = self.tokens.first() else {
            return "";
        };
        let range = token.start as usize..token.end as usize;
        self.source.text.get(range).unwrap_or_default()
    }

    /// The input behind the next token. The last token stays.
    pub(super) fn advance(mut self) -> Self {
        if let [_, rest @ ..] = self.tokens
            && !rest.is_empty()
        {
            self.tokens = rest;
        }
        self
    }

    /// No alternative of the rule at this place goes on with the token that far ahead.
    pub(super) fn no_viable<O>(self, ahead: usize) -> Parsed<'a, O> {
        self.peek(ahead);
        Err(Err::Failure(Fault::NoViable {
            decision: self.remaining(),
            token: self.remaining().saturating_sub(ahead).max(1),
        }))
    }

    /// Another token must stand here.
    pub(super) fn mismatched<O>(self, expected: Kind) -> Parsed<'a, O> {
        Err(Err::Failure(Fault::Mismatched {
            token: self.remaining(),
            expected,
        }))
    }

    /// A syntax error without a position.
    pub(super) fn refuse<O>(self, message: impl Into<String>) -> Parsed<'a, O> {
        Err(Err::Failure(Fault::Syntax(message.into())))
    }

    /// What Cassandra says of a number that its type cannot hold.
    pub(super) fn not_a_number<O>(self, digits: &str) -> Parsed<'a, O> {
        self.failed(&format!("For input string: \"{digits}\""))
    }

    /// What Cassandra says of a number that Java doesn't take.
    pub(super) fn failed<O>(self, reason: &str) -> Parsed<'a, O> {
        self.refuse(format!(
            "Failed parsing statement: [{}] reason: NumberFormatException {reason}",
            super::error::clip(self.source.text)
        ))
    }

    /// Counts an operator or modifier that makes the tree of this term one higher.
    pub(super) fn chained(mut self) -> Result<Self, Err<Fault>> {
        self.operators += 1;
        if self.operators > MAX_DEPTH {
            return Err(self.too_deep());
        }
        Ok(self)
    }

    fn too_deep(self) -> Err<Fault> {
        Err::Failure(Fault::TooDeep {
            token: self.remaining(),
        })
    }
}

/// Runs a rule one level deeper.
pub(super) fn nested<'a, O>(
    mut rule: impl FnMut(Input<'a>) -> Parsed<'a, O>,
) -> impl FnMut(Input<'a>) -> Parsed<'a, O> {
    move |mut input| {
        if input.depth == 0 {
            input.operators = 0;
        }
        input.depth += 1;
        if input.depth > MAX_DEPTH {
            return Err(input.too_deep());
        }
        let (mut rest, output) = rule(input)?;
        rest.depth -= 1;
        Ok((rest, output))
    }
}

/// That token, and no other.
pub(super) fn token<'a>(kind: Kind) -> impl Fn(Input<'a>) -> Parsed<'a, &'a str> {
    move |input| {
        if input.kind() == kind {
            return Ok((input.advance(), input.text()));
        }
        input.mismatched(kind)
    }
}

/// That keyword, and no other token.
pub(super) fn key<'a>(keyword: Keyword) -> impl Fn(Input<'a>) -> Parsed<'a, &'a str> {
    token(Kind::Key(keyword))
}

/// Those keywords, one after the other.
pub(super) fn keys<'a>(keywords: &'static [Keyword]) -> impl Fn(Input<'a>) -> Parsed<'a, ()> {
    move |mut input| {
        for &keyword in keywords {
            (input, _) = key(keyword)(input)?;
        }
        Ok((input, ()))
    }
}

/// That token, or a recoverable error: what stands between the elements of a list.
pub(super) fn separator<'a>(kind: Kind) -> impl Fn(Input<'a>) -> Parsed<'a, ()> {
    move |input| {
        if input.kind() == kind {
            return Ok((input.advance(), ()));
        }
        Err(Err::Error(Fault::Mismatched {
            token: input.remaining(),
            expected: kind,
        }))
    }
}

/// Those keywords if the first of them stands here, and whether it did.
pub(super) fn flag<'a>(keywords: &'static [Keyword]) -> impl Fn(Input<'a>) -> Parsed<'a, bool> {
    move |input| match keywords.first() {
        Some(&first) if input.at(first) => {
            let (input, ()) = keys(keywords)(input)?;
            Ok((input, true))
        }
        _ => Ok((input, false)),
    }
}

/// What follows a keyword, if that stands here.
pub(super) fn clause<'a, O>(
    keyword: Keyword,
    mut rule: impl FnMut(Input<'a>) -> Parsed<'a, O>,
) -> impl FnMut(Input<'a>) -> Parsed<'a, Option<O>> {
    move |input| {
        if !input.at(keyword) {
            return Ok((input, None));
        }
        let (input, output) = rule(input.advance())?;
        Ok((input, Some(output)))
    }
}

impl<'a> nom::Input for Input<'a> {
    type Item = Token;
    type Iter = std::iter::Copied<std::slice::Iter<'a, Token>>;
    type IterIndices = std::iter::Enumerate<Self::Iter>;

    fn input_len(&self) -> usize {
        self.tokens.len()
    }

    fn take(&self, index: usize) -> Self {
        let (tokens, _) = self.tokens.split_at(index.min(self.tokens.len()));
        Self { tokens, ..*self }
    }

    fn take_from(&self, index: usize) -> Self {
        let (_, tokens) = self.tokens.split_at(index.min(self.tokens.len()));
        Self { tokens, ..*self }
    }

    fn take_split(&self, index: usize) -> (Self, Self) {
        (self.take_from(index), self.take(index))
    }

    fn position<P: Fn(Token) -> bool>(&self, predicate: P) -> Option<usize> {
        self.tokens.iter().position(|&token| predicate(token))
    }

    fn iter_elements(&self) -> Self::Iter {
        self.tokens.iter().copied()
    }

    fn iter_indices(&self) -> Self::IterIndices {
        self.iter_elements().enumerate()
    }

    fn slice_index(&self, count: usize) -> Result<usize, nom::Needed> {
        match self.tokens.len() {
            length if length >= count => Ok(count),
            length => Err(nom::Needed::new(count - length)),
        }
    }
}
