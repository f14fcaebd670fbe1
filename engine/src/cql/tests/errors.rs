//! Errors, word for word as Apache Cassandra 5.0.4 answers them.

use super::super::{Error, parse};
use super::syntax_error;

include!("oracle.rs");

#[test]
fn errors_are_those_of_cassandra() {
    for (text, message) in ORACLE {
        assert_eq!(&syntax_error(text), message, "{text}");
    }
}

#[test]
fn columns_are_counted_in_utf_16_units_and_lines_by_line_feeds() {
    assert_eq!(
        syntax_error("SELECT 'é😀', x y\nFROM t"),
        "line 1:16 no viable alternative at input 'y' (SELECT 'é😀', [x] y...)"
    );
    assert_eq!(
        syntax_error("SELECT a\nFROM t\n WHERE a ="),
        "line 0:-1 no viable alternative at input '<EOF>'"
    );
    assert_eq!(
        syntax_error("SELECT a\nFROM t\n\n WHERE\na b c\n"),
        "line 5:2 no viable alternative at input 'b' (SELECT aFROM t WHERE[a] b...)"
    );
    assert_eq!(
        syntax_error("SELECT a\n  FRO t"),
        "line 2:2 no viable alternative at input 'FRO' (SELECT [a]  FRO...)"
    );
}

#[test]
fn two_primary_keys_are_invalid() {
    let twice = "CREATE TABLE ks.t (a int, PRIMARY KEY (a), PRIMARY KEY (a))";
    let message = "Multiple PRIMARY KEY specified for table 'ks.t' (exactly one required)";
    assert_eq!(parse(twice), Err(Error::Invalid(message.into())));
}

#[test]
fn texts_without_a_statement_end_too_early() {
    for text in ["", " ", "\n", "-- c\n", "/* c */"] {
        let message = "line 0:-1 no viable alternative at input '<EOF>'";
        assert_eq!(syntax_error(text), message);
    }
}

#[test]
fn characters_of_no_token_are_named_where_they_stand() {
    assert_eq!(
        syntax_error("SELECT v FROM kv WHERE k = 1\0"),
        "line 1:28 no viable alternative at character '\0'"
    );
    assert_eq!(
        syntax_error("\u{feff}SELECT a FROM t"),
        "line 1:0 no viable alternative at character '\u{feff}'"
    );
    assert_eq!(
        syntax_error("SELECT\n\n\n'"),
        "line 4:1 mismatched character '<EOF>' expecting '''"
    );
}

#[test]
fn comments_count_as_tokens_of_the_snippet() {
    assert_eq!(
        syntax_error("SELECT a FROM t -- c\n WHERE x y"),
        "line 2:9 no viable alternative at input 'y' (...a FROM t -- c WHERE [x] y)"
    );
}
