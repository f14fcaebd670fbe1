//! `WITH` and its properties.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::ast::{Literal, Name, Properties, Property, Term};
use super::collections::map_literal;
use super::input::{Input, Parsed, key};
use super::keywords::Keyword;
use super::names::{identifier, unquote};
use super::token::Kind;

/// `WITH a = b AND …`
pub(super) fn with_properties(input: Input<'_>) -> Parsed<'_, Properties> {
    let (mut input, _) = key(Keyword::With)(input)?;
    let mut properties = Collected::default();
    loop {
        input = properties.property(input)?.0;
        if !input.at(Keyword::And) {
            return Ok((input, properties.entries));
        }
        input = input.advance();
    }
}

/// Properties so far.
#[derive(Default)]
pub(super) struct Collected {
    /// In the order written.
    pub(super) entries: Properties,
    names: BTreeSet<Name>,
}

impl Collected {
    /// One `name = value`, which must be new.
    pub(super) fn property<'a>(&mut self, input: Input<'a>) -> Parsed<'a, ()> {
        if !input.kind().is_identifier() {
            return input.no_viable(0);
        }
        if input.peek(1) != Kind::Equal {
            return input.no_viable(1);
        }
        let ahead = input.peek(2);
        let is_value = ahead.is_constant()
            || (ahead.is_identifier() && !matches!(ahead, Kind::Ident | Kind::QuotedName));
        if ahead != Kind::OpenBrace && !is_value {
            return input.no_viable(2);
        }
        let (rest, name) = identifier(input)?;
        let rest = rest.advance();
        let (rest, value) = match is_value {
            true => (rest.advance(), Property::Value(Arc::from(&*raw(rest)))),
            false => property_map(rest)?,
        };
        if !self.names.insert(Arc::clone(&name)) {
            return rest.refuse(format!("Multiple definitions for property '{name}'"));
        }
        self.entries.push((name, value));
        Ok((rest, ()))
    }
}

/// What a constant or keyword says.
fn raw(input: Input<'_>) -> Cow<'_, str> {
    let text = input.text();
    match input.kind() {
        Kind::String => unquote(text),
        Kind::Nan => Cow::Borrowed("NaN"),
        Kind::Infinity => Cow::Borrowed("Infinity"),
        Kind::NegativeInfinity => Cow::Borrowed("-Infinity"),
        kind if kind.is_native_type() => Cow::Owned(text.to_ascii_lowercase()),
        _ => Cow::Borrowed(text),
    }
}

fn property_map(input: Input<'_>) -> Parsed<'_, Property> {
    let (rest, entries) = map_literal(input)?;
    let mut keys = BTreeSet::new();
    let mut pairs = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        let Some(name) = literal(&key) else {
            return input.refuse(format!(
                "Invalid property name: {}{}",
                show(&key),
                hint(&key)
            ));
        };
        let Some(text) = literal(&value) else {
            return input.refuse(format!(
                "Invalid property value: {} for property: {}{}",
                show(&value),
                show(&key),
                hint(&value)
            ));
        };
        if !keys.insert(Arc::clone(&name)) {
            return input.refuse(format!("Multiple definition for property {name}"));
        }
        pairs.push((name, text));
    }
    Ok((rest, Property::Map(pairs)))
}

fn hint(term: &Term) -> &'static str {
    match term {
        Term::Marker { .. } => " (bind variables are not supported in DDL queries)",
        _ => "",
    }
}

/// The text of a literal.
fn literal(term: &Term) -> Option<Arc<str>> {
    let Term::Literal(literal) = term else {
        return None;
    };
    Some(match literal {
        Literal::String(text)
        | Literal::Integer(text)
        | Literal::Float(text)
        | Literal::Uuid(text)
        | Literal::Duration(text) => Arc::clone(text),
        Literal::Boolean(value) => Arc::from(if *value { "true" } else { "false" }),
        Literal::Blob(digits) => Arc::from(format!("0x{digits}")),
    })
}

/// A term as Cassandra shows it.
fn show(term: &Term) -> String {
    let list = |terms: &[Term]| terms.iter().map(show).collect::<Vec<_>>().join(", ");
    match term {
        Term::Null => String::from("NULL"),
        Term::Marker { name: None, .. } => String::from("?"),
        Term::Marker {
            name: Some(name), ..
        } => format!(":{name}"),
        Term::Literal(Literal::String(text)) => format!("'{text}'"),
        Term::Literal(_) => literal(term).map_or_else(String::new, |text| text.to_string()),
        Term::List(terms) => format!("[{}]", list(terms)),
        Term::Set(terms) => format!("{{{}}}", list(terms)),
        Term::Tuple(terms) => format!("({})", list(terms)),
        Term::Map(entries) => {
            let entries = entries
                .iter()
                .map(|(k, v)| format!("{}: {}", show(k), show(v)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Term::UserType(fields) => {
            let fields = fields
                .iter()
                .map(|(name, v)| format!("{name}: {}", show(v)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        Term::Function(call) => {
            let keyspace = call
                .keyspace
                .as_deref()
                .map(|keyspace| format!("{keyspace}."));
            let arguments = list(&call.arguments);
            format!("{}{}({arguments})", keyspace.unwrap_or_default(), call.name)
        }
        Term::Cast(term, _) | Term::Hint(_, term) => show(term),
        Term::Arithmetic(left, operator, right) => {
            use super::ast::Operator::*;
            let sign = match operator {
                Add => '+',
                Subtract => '-',
                Multiply => '*',
                Divide => '/',
                Remainder => '%',
            };
            format!("{} {sign} {}", show(left), show(right))
        }
        Term::Negation(term) => format!("-{}", show(term)),
    }
}
