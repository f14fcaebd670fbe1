//! Literals of every kind for every type, as Apache Cassandra 5.0.4 reads them.

use super::*;
use crate::cql::ast::{Relation, Statement, Term};
use crate::cql::parse;

include!("oracle.rs");

fn literal(text: &str) -> Literal {
    let parsed = parse(&format!("SELECT * FROM t WHERE a = {text}")).unwrap();
    let Statement::Select(select) = parsed.statement else {
        panic!("{text}");
    };
    match select.restrictions.as_slice() {
        [Relation::Column(_, _, Term::Literal(literal))] => literal.clone(),
        other => panic!("{text}: {other:?}"),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn values_are_those_of_cassandra() {
    for (name, text, expected) in ORACLE {
        let ty = CqlType::from_native_name(name).unwrap();
        let found = constant(&ty, &literal(text), 0);
        let found = found
            .map(|bytes| hexadecimal(&bytes))
            .map_err(|e| e.to_string());
        let expected = expected.map(String::from).map_err(String::from);
        assert_eq!(found, expected, "({name}) {text}");
    }
}

#[test]
fn now_is_the_time_given() {
    let value = constant(&CqlType::Timestamp, &literal("'NOW'"), 258);
    assert_eq!(value, Ok(vec![0, 0, 0, 0, 0, 0, 1, 2]));
}

#[test]
fn a_literal_of_another_kind_is_a_mismatch() {
    let cases = [
        (
            CqlType::Int,
            "'x'",
            "Invalid STRING constant (x) for \"c\" of type int",
        ),
        (
            CqlType::Text,
            "5",
            "Invalid INTEGER constant (5) for \"c\" of type text",
        ),
        (
            CqlType::Text,
            "1.50",
            "Invalid FLOAT constant (1.50) for \"c\" of type text",
        ),
        (
            CqlType::Text,
            "true",
            "Invalid BOOLEAN constant (true) for \"c\" of type text",
        ),
        (
            CqlType::Text,
            "0xAB",
            "Invalid HEX constant (0xAB) for \"c\" of type text",
        ),
        (
            CqlType::Text,
            "1h",
            "Invalid DURATION constant (1h) for \"c\" of type text",
        ),
        (
            CqlType::Blob,
            "550e8400-e29b-41d4-a716-446655440000",
            "Invalid UUID constant (550e8400-e29b-41d4-a716-446655440000) for \"c\" of type blob",
        ),
    ];
    for (ty, text, message) in cases {
        let literal = literal(text);
        assert_eq!(constant(&ty, &literal, 0), Err(LiteralError::Mismatch));
        assert_eq!(mismatch(&literal, "c", &ty), message);
    }
}

#[test]
fn huge_numbers_are_refused_before_they_take_quadratic_time() {
    let digits = Literal::Integer("9".repeat(1_000_000).into());
    for ty in [CqlType::Varint, CqlType::Decimal] {
        assert!(matches!(
            constant(&ty, &digits, 0),
            Err(LiteralError::Invalid(_))
        ));
    }
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in "[-+0-9:.TPZ YMDHSa-z]{0,24}") {
        for ty in [CqlType::Timestamp, CqlType::Date, CqlType::Time, CqlType::Inet] {
            let _ = constant(&ty, &Literal::String(text.as_str().into()), 0);
        }
        let _ = parse_duration(&text);
        for ty in [CqlType::Decimal, CqlType::Float, CqlType::Double, CqlType::Varint, CqlType::Int] {
            let _ = constant(&ty, &Literal::Integer(text.as_str().into()), 0);
        }
        let _ = constant(&CqlType::Decimal, &Literal::Float(text.as_str().into()), 0);
        let _ = constant(&CqlType::Blob, &Literal::Blob(text.as_str().into()), 0);
    }
}
