//! How Cassandra names the columns of a result, and prints a selected expression.

use std::fmt::Write as _;

use crate::cql::ast::{Selectable, Term};
use crate::term::text as term_text;

/// The name of a result column without an alias.
pub(crate) fn column_name(selectable: &Selectable) -> String {
    text(selectable)
}

/// A selected expression's text.
pub(crate) fn text(selectable: &Selectable) -> String {
    let mut out = String::new();
    write(selectable, &mut out);
    out
}

fn list(items: &[Selectable], out: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write(item, out);
    }
}

fn wrapped(open: &str, inner: &Selectable, close: &str, out: &mut String) {
    out.push_str(open);
    write(inner, out);
    out.push_str(close);
}

fn write(selectable: &Selectable, out: &mut String) {
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
        Selectable::WriteTime(inner) => wrapped("writetime(", inner, ")", out),
        Selectable::MaxWriteTime(inner) => wrapped("maxwritetime(", inner, ")", out),
        Selectable::Ttl(inner) => wrapped("ttl(", inner, ")", out),
        Selectable::Cast(inner, ty) => {
            wrapped("cast(", inner, "", out);
            let _ = write!(out, " as {})", term_text::type_name(ty));
        }
        Selectable::Function {
            keyspace,
            name,
            arguments,
        } => {
            let keyspace = keyspace.as_deref().unwrap_or("system");
            let _ = write!(out, "{keyspace}.{name}(");
            list(arguments, out);
            out.push(')');
        }
        Selectable::Field(inner, name) => {
            write(inner, out);
            let _ = write!(out, ".{name}");
        }
        Selectable::Element(inner, key) => {
            write(inner, out);
            let _ = write!(out, "[{}]", term_text::term(key));
        }
        Selectable::Slice(inner, from, to) => {
            write(inner, out);
            let part = |term: &Option<_>| term.as_ref().map(term_text::term).unwrap_or_default();
            let _ = write!(out, "[{}..{}]", part(from), part(to));
        }
        Selectable::Arithmetic(left, operator, right) => {
            write(left, out);
            let _ = write!(out, " {} ", term_text::operator(*operator));
            write(right, out);
        }
        Selectable::Negation(inner) => wrapped("-", inner, "", out),
        Selectable::Tuple(items) => {
            out.push('(');
            list(items, out);
            out.push(')');
        }
        Selectable::List(items) => {
            out.push('[');
            list(items, out);
            out.push(']');
        }
        Selectable::Set(items) => {
            out.push('{');
            list(items, out);
            out.push('}');
        }
        Selectable::Map(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                wrapped("", key, ": ", out);
                write(value, out);
            }
            out.push('}');
        }
        Selectable::Hint(ty, inner) => {
            let _ = write!(out, "({})", term_text::type_name(ty));
            write(inner, out);
        }
    }
}
