//! Bounds: no text panics, nests the stack away or takes more than linear time.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::super::parse;
use super::{statement, syntax_error};

const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "INSERT",
    "INTO",
    "VALUES",
    "UPDATE",
    "SET",
    "DELETE",
    "BEGIN",
    "BATCH",
    "APPLY",
    "CREATE",
    "TABLE",
    "TYPE",
    "KEYSPACE",
    "ALTER",
    "DROP",
    "WITH",
    "AND",
    "IF",
    "NOT",
    "EXISTS",
    "PRIMARY",
    "KEY",
    "DESCRIBE",
    "GRANT",
    "ON",
    "TO",
    "LIST",
    "token",
    "count",
    "cast",
    "ttl",
    "AS",
    "IN",
    "CONTAINS",
    "frozen",
    "list",
    "map",
    "set",
    "int",
    "text",
    "a",
    "b",
    "\"C\"",
    "\"\"",
    "'s'",
    "$$t$$",
    "1",
    "-2",
    "3.5",
    "1h",
    "0xab",
    "true",
    "null",
    "NaN",
    "?",
    ":",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "=",
    "!=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "+=",
    ".",
    "..",
    ",",
    ";",
    "é",
    "\n",
    "--",
    "/*",
    "*/",
    "550e8400-e29b-41d4-a716-446655440000",
];

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        let _ = parse(&text);
    }

    #[test]
    fn arbitrary_words_never_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
        let _ = parse(&words.join(" "));
        let _ = parse(&words.concat());
    }
}

#[test]
fn nesting_beyond_the_bound_is_a_syntax_error() {
    let deep = 100_000;
    let nestings = [
        ("SELECT a FROM t WHERE a = ", "[", "1"),
        ("SELECT a FROM t WHERE a = ", "(", "1"),
        ("SELECT a FROM t WHERE a = ", "{", "1"),
        ("SELECT a FROM t WHERE a = ", "f(", "1"),
        ("SELECT a FROM t WHERE a = ", "(int)", "1"),
        ("SELECT a FROM t WHERE a = ", "{a: ", "1"),
        ("SELECT a FROM t WHERE ", "(", "a = 1"),
        ("SELECT a FROM t WHERE a = ", "1 + ", "1"),
        ("SELECT ", "(", "a FROM t"),
        ("SELECT ", "- ", "a FROM t"),
        ("SELECT ", "[", "a FROM t"),
        ("SELECT ", "(int)", "a FROM t"),
        ("SELECT ", "f(", "a FROM t"),
        ("SELECT ", "a + ", "a FROM t"),
        ("SELECT a", ".b", " FROM t"),
        ("CREATE TABLE t (a ", "frozen<list<", "int"),
        ("CREATE KEYSPACE k WITH r = {'a': ", "[", "1"),
    ];
    for (head, repeated, tail) in nestings {
        let message = syntax_error(&format!("{head}{}{tail}", repeated.repeat(deep)));
        assert!(
            message.starts_with("line 1:"),
            "{head}{repeated}: {message}"
        );
    }
}

#[test]
fn nesting_within_the_bound_is_accepted() {
    for depth in [1, 20, 60] {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        statement(&format!("SELECT a FROM t WHERE a = {open}1{close}"));
    }
    let sum = "1 + ".repeat(100);
    statement(&format!("SELECT a FROM t WHERE a = {sum} 1"));
}

#[test]
fn long_statements_take_linear_time() {
    let started = Instant::now();
    let values = "1, ".repeat(200_000);
    statement(&format!("SELECT a FROM t WHERE a IN ({values} 1)"));
    let assignments: Vec<_> = (0..20_000).map(|n| format!("c{n} = {n}")).collect();
    statement(&format!(
        "UPDATE t SET {} WHERE k = 1",
        assignments.join(", ")
    ));
    let properties: Vec<_> = (0..20_000).map(|n| format!("p{n} = {n}")).collect();
    statement(&format!("ALTER TABLE t WITH {}", properties.join(" AND ")));
    statement(&format!("SELECT a FROM t {}", ";".repeat(200_000)));
    syntax_error(&format!("SELECT {}", "/* */".repeat(100_000)));
    // Quadratic time would take minutes.
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn hints_and_tuples_are_told_apart_without_going_back_over_and_over() {
    let started = Instant::now();
    let hints = "(a)".repeat(60);
    let _ = parse(&format!("SELECT {hints} x FROM t"));
    let _ = parse(&format!("SELECT {hints} (1 2) FROM t"));
    let _ = parse(&format!("SELECT DISTINCT {hints} (1 2) FROM t"));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_message_repeats_only_so_much_of_the_text() {
    let long = "x".repeat(1_000_000);
    assert!(syntax_error(&format!("SELECT '{long}' '{long}'")).len() < 10_000);
    assert!(syntax_error(&long).len() < 10_000);
    assert!(
        syntax_error(&format!("SELECT a FROM t WHERE a = {{\"{long}\" : 1, 2}}")).len() < 20_000
    );
}
