//! Terms as Cassandra prints them in messages and column names.

use std::fmt::Write as _;

use crate::cql::ast::{FunctionCall, Literal, Operator, Term};

/// A term's text.
pub(crate) fn term(term: &Term) -> String {
    let mut out = String::new();
    write_term(term, &mut out);
    out
}

/// Terms with commas between.
pub(crate) fn terms(list: &[Term]) -> String {
    let mut out = String::new();
    write_list(list, &mut out);
    out
}

/// The sign of an operator.
pub(crate) fn operator(operator: Operator) -> char {
    match operator {
        Operator::Add => '+',
        Operator::Subtract => '-',
        Operator::Multiply => '*',
        Operator::Divide => '/',
        Operator::Remainder => '%',
    }
}

/// A literal's text without quotes.
pub(crate) fn literal(literal: &Literal) -> &str {
    match literal {
        Literal::String(text)
        | Literal::Integer(text)
        | Literal::Float(text)
        | Literal::Uuid(text)
        | Literal::Blob(text)
        | Literal::Duration(text) => text,
        Literal::Boolean(true) => "true",
        Literal::Boolean(false) => "false",
    }
}

fn write_list(list: &[Term], out: &mut String) {
    for (index, item) in list.iter().enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        write_term(item, out);
    }
}

fn write_term(term: &Term, out: &mut String) {
    match term {
        Term::Null => out.push_str("NULL"),
        Term::Literal(Literal::String(text)) => {
            let _ = write!(out, "'{text}'");
        }
        Term::Literal(Literal::Blob(text)) => {
            let _ = write!(
                out,
                "0x{}",
                text.trim_start_matches("0x").trim_start_matches("0X")
            );
        }
        Term::Literal(value) => out.push_str(literal(value)),
        Term::Marker { name: None, .. } => out.push('?'),
        Term::Marker {
            name: Some(name), ..
        } => {
            let _ = write!(out, ":{name}");
        }
        Term::List(items) => {
            out.push('[');
            write_list(items, out);
            out.push(']');
        }
        Term::Set(items) => {
            out.push('{');
            write_list(items, out);
            out.push('}');
        }
        Term::Map(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                write_term(key, out);
                out.push_str(": ");
                write_term(value, out);
            }
            out.push('}');
        }
        Term::UserType(fields) => {
            out.push('{');
            for (index, (name, value)) in fields.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                let _ = write!(out, "{name}: ");
                write_term(value, out);
            }
            out.push('}');
        }
        Term::Tuple(items) => {
            out.push('(');
            write_list(items, out);
            out.push(')');
        }
        Term::Function(FunctionCall {
            keyspace,
            name,
            arguments,
        }) => {
            if let Some(keyspace) = keyspace {
                let _ = write!(out, "{keyspace}.");
            }
            let _ = write!(out, "{name}(");
            write_list(arguments, out);
            out.push(')');
        }
        Term::Hint(ty, inner) => {
            let _ = write!(out, "({})", type_name(ty));
            write_term(inner, out);
        }
        Term::Arithmetic(left, op, right) => {
            write_term(left, out);
            let _ = write!(out, " {} ", operator(*op));
            write_term(right, out);
        }
        Term::Cast(inner, ty) => {
            out.push_str("cast(");
            write_term(inner, out);
            let _ = write!(out, " as {})", type_name(ty));
        }
        Term::Negation(inner) => {
            out.push('-');
            write_term(inner, out);
        }
    }
}

/// A type as written.
pub(crate) fn type_name(ty: &crate::cql::ast::TypeName) -> String {
    use crate::cql::ast::TypeName;
    match ty {
        TypeName::Native(name) => name.to_string(),
        TypeName::List(inner) => format!("list<{}>", type_name(inner)),
        TypeName::Set(inner) => format!("set<{}>", type_name(inner)),
        TypeName::Map(key, value) => format!("map<{}, {}>", type_name(key), type_name(value)),
        TypeName::Tuple(types) => {
            let types: Vec<_> = types.iter().map(type_name).collect();
            format!("tuple<{}>", types.join(", "))
        }
        TypeName::Vector(inner, dimension) => format!("vector<{}, {dimension}>", type_name(inner)),
        TypeName::Frozen(inner) => format!("frozen<{}>", type_name(inner)),
        TypeName::User(name) => match &name.keyspace {
            Some(keyspace) => format!("{keyspace}.{}", name.name),
            None => name.name.to_string(),
        },
        TypeName::Custom(class) => format!("'{class}'"),
    }
}
