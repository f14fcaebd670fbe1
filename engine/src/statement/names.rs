//! How Cassandra names the columns of a result, and prints a selected expression.

use std::fmt::Write as _;

use crate::cql::ast::{Name, Selectable, Term};
use crate::term::text as term_text;

/// The name of a result column without an alias. `own` are the functions written without keyspace that are of `keyspace`.
pub(crate) fn column_name(selectable: &Selectable, keyspace: &str, own: &[Name]) -> String {
    let mut out = String::new();
    write(selectable, &Home { keyspace, own }, &mut out);
    out
}

/// Where functions without a keyspace are from.
struct Home<'a> {
    keyspace: &'a str,
    own: &'a [Name],
}

impl Home<'_> {
    /// The server's, all of them.
    const SYSTEM: Self = Self {
        keyspace: "system",
        own: &[],
    };

    fn of(&self, name: &Name) -> &str {
        match self.own.contains(name) {
            true => self.keyspace,
            false => "system",
        }
    }
}

/// What aliases of a function are called in a column's name.
fn known_name(name: &str) -> &str {
    match name {
        "to_json" => "tojson",
        other => other,
    }
}

/// A selected expression's text.
pub(crate) fn text(selectable: &Selectable) -> String {
    let mut out = String::new();
    write(selectable, &Home::SYSTEM, &mut out);
    out
}

fn list(items: &[Selectable], home: &Home<'_>, out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(item, home, out);
    }
}

fn wrapped(open: &str, inner: &Selectable, close: &str, home: &Home<'_>, out: &mut String) {
    out.push_str(open);
    write(inner, home, out);
    out.push_str(close);
}

fn write(selectable: &Selectable, home: &Home<'_>, out: &mut String) {
    match selectable {
        Selectable::Column(name) => out.push_str(name),
        Selectable::Term(term) => out.push_str(&term_text::term(term)),
        Selectable::CountAll => out.push_str("count"),
        // `count(1)` is `count(*)`.
        Selectable::Function {
            keyspace: None,
            name,
            arguments,
        } if &**name == "count"
            && matches!(arguments.as_slice(), [Selectable::Term(Term::Literal(_))]) =>
        {
            out.push_str("count");
        }
        Selectable::WriteTime(inner) => wrapped("writetime(", inner, ")", home, out),
        Selectable::MaxWriteTime(inner) => wrapped("maxwritetime(", inner, ")", home, out),
        Selectable::Ttl(inner) => wrapped("ttl(", inner, ")", home, out),
        Selectable::Cast(inner, ty) => {
            wrapped("cast(", inner, "", home, out);
            let _ = write!(out, " as {})", term_text::type_name(ty));
        }
        Selectable::Function {
            keyspace,
            name,
            arguments,
        } => {
            let keyspace = keyspace.as_deref().unwrap_or_else(|| home.of(name));
            let name = match keyspace {
                "system" => known_name(name),
                _ => name,
            };
            let _ = write!(out, "{keyspace}.{name}(");
            list(arguments, home, out);
            out.push(')');
        }
        Selectable::Field(inner, name) => {
            write(inner, home, out);
            let _ = write!(out, ".{name}");
        }
        Selectable::Element(inner, key) => {
            write(inner, home, out);
            let _ = write!(out, "[{}]", term_text::term(key));
        }
        Selectable::Slice(inner, from, to) => {
            write(inner, home, out);
            let part = |term: &Option<_>| term.as_ref().map(term_text::term).unwrap_or_default();
            let _ = write!(out, "[{}..{}]", part(from), part(to));
        }
        Selectable::Arithmetic(left, operator, right) => {
            write(left, home, out);
            let _ = write!(out, " {} ", term_text::operator(*operator));
            write(right, home, out);
        }
        Selectable::Negation(inner) => wrapped("-", inner, "", home, out),
        Selectable::Tuple(items) => {
            out.push('(');
            list(items, home, out);
            out.push(')');
        }
        Selectable::List(items) => {
            out.push('[');
            list(items, home, out);
            out.push(']');
        }
        Selectable::Set(items) => {
            out.push('{');
            list(items, home, out);
            out.push('}');
        }
        Selectable::Map(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                wrapped("", key, ": ", home, out);
                write(value, home, out);
            }
            out.push('}');
        }
        Selectable::Hint(ty, inner) => {
            let _ = write!(out, "({})", term_text::type_name(ty));
            write(inner, home, out);
        }
    }
}
