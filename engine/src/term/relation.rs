//! Relations as Cassandra prints them, which a view's `where_clause` is made of.

use std::fmt::Write as _;

use helenus_core::types::quoted;

use super::text::{term, terms};
use crate::cql::ast::{Comparison, InValues, Name, Relation};

/// A `WHERE` clause without the word.
pub(crate) fn relations(relations: &[Relation]) -> String {
    let texts: Vec<_> = relations.iter().map(relation).collect();
    texts.join(" AND ")
}

fn relation(relation: &Relation) -> String {
    let mut out = String::new();
    let _ = match relation {
        Relation::Column(name, comparison, value) => {
            write!(
                out,
                "{} {} {}",
                quoted(name),
                sign(*comparison),
                term(value)
            )
        }
        Relation::In(name, values) => write!(out, "{} IN {}", quoted(name), in_values(values)),
        Relation::Element(name, key, comparison, value) => write!(
            out,
            "{}[{}] {} {}",
            quoted(name),
            term(key),
            sign(*comparison),
            term(value)
        ),
        Relation::Columns(names, comparison, value) => write!(
            out,
            "{} {} {}",
            columns(names),
            sign(*comparison),
            term(value)
        ),
        Relation::ColumnsIn(names, values) => {
            write!(out, "{} IN {}", columns(names), in_values(values))
        }
        Relation::Token(names, comparison, value) => write!(
            out,
            "token{} {} {}",
            columns(names),
            sign(*comparison),
            term(value)
        ),
        Relation::Contains(name, value) => write!(out, "{} CONTAINS {}", quoted(name), term(value)),
        Relation::ContainsKey(name, value) => {
            write!(out, "{} CONTAINS KEY {}", quoted(name), term(value))
        }
        Relation::Like(name, value) => write!(out, "{} LIKE {}", quoted(name), term(value)),
        Relation::IsNotNull(name) => write!(out, "{} IS NOT NULL", quoted(name)),
        Relation::Expression(name, value) => write!(out, "expr({name}, {})", term(value)),
    };
    out
}

fn columns(names: &[Name]) -> String {
    let names: Vec<_> = names.iter().map(|name| quoted(name)).collect();
    format!("({})", names.join(", "))
}

fn in_values(values: &InValues) -> String {
    match values {
        InValues::List(list) => format!("({})", terms(list)),
        InValues::Marker(marker) => term(marker),
    }
}

/// A comparison's sign.
pub(crate) fn sign(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Equal => "=",
        Comparison::NotEqual => "!=",
        Comparison::Less => "<",
        Comparison::LessOrEqual => "<=",
        Comparison::Greater => ">",
        Comparison::GreaterOrEqual => ">=",
    }
}
