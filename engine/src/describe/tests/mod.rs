//! Every `DESCRIBE` on a schema with every kind of thing, against what Apache Cassandra 5.0.4 answers.

mod dependents;

use std::fmt::Write;

use helenus_core::message::{ErrorResponse, Rows};

use crate::cql::ast::Statement;
use crate::cql::parse;
use crate::schema::testing::World;

use super::describe;

/// The statements that make the schema.
const SCHEMA: &str = include_str!("schema.cql");

/// Behind each `> statement` its error (`! message`), or the columns (`# names`) and rows (`= keyspace | type | name`,
/// the statement below). Table ids and drop times, which no two schemas share, are masked.
const ORACLE: &str = include_str!("oracle.txt");

fn world() -> World {
    let mut world = World::new();
    for statement in SCHEMA
        .split(";\n")
        .filter(|statement| !statement.is_empty())
    {
        world.ok(statement);
    }
    world.ok("DROP KEYSPACE ks");
    world
}

fn answer(world: &World, session: Option<&str>, text: &str) -> Result<Rows, ErrorResponse> {
    match parse(text).unwrap().statement {
        Statement::Describe(statement) => describe(&world.schema, &statement, session),
        other => panic!("{other:?}"),
    }
}

/// The rows as texts.
fn texts(rows: &Rows) -> Vec<Vec<String>> {
    let text = |cell: Option<&[u8]>| String::from_utf8(cell.unwrap().to_vec()).unwrap();
    let columns = rows.metadata.column_count();
    let rows = rows.iter().map(|row| row.unwrap());
    rows.map(|row| {
        (0..columns)
            .map(|column| text(row.cell(column).unwrap()))
            .collect()
    })
    .collect()
}

/// The statement with what differs from schema to schema masked.
fn masked(statement: &str) -> String {
    let mask = |text: &str, behind: &str, with: &str| {
        let mut parts = text.split(behind);
        let mut masked = String::from(parts.next().unwrap());
        for part in parts {
            let end = part.find(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
            masked.extend([behind, with, part.get(end.unwrap_or(part.len())..).unwrap()]);
        }
        masked
    };
    mask(&mask(statement, "ID = ", "ID"), "USING TIMESTAMP ", "N")
}

#[test]
fn answers_are_those_of_cassandra() {
    let world = world();
    let mut session = None;
    let mut found = String::new();
    for text in ORACLE.lines().filter_map(|line| line.strip_prefix("> ")) {
        writeln!(found, "> {text}").unwrap();
        if let Some(keyspace) = text.strip_prefix("USE ") {
            session = Some(keyspace);
            continue;
        }
        match answer(&world, session, text) {
            Err(error) => writeln!(found, "! {}", error.message).unwrap(),
            Ok(rows) => {
                let names = rows.metadata.columns().iter().map(|column| &*column.name);
                writeln!(found, "# {}", names.collect::<Vec<_>>().join(" ")).unwrap();
                for row in texts(&rows) {
                    writeln!(found, "= {}", row[..3].join(" | ")).unwrap();
                    for statement in &row[3..] {
                        writeln!(found, "{}", masked(statement)).unwrap();
                    }
                }
            }
        }
    }
    for (found, expected) in found.lines().zip(ORACLE.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, ORACLE);
}

#[test]
fn a_schema_is_its_users_and_a_full_one_the_servers_too() {
    let world = world();
    let keyspaces = |text: &str| {
        let rows = texts(&answer(&world, None, text).unwrap());
        let keyspaces = rows.into_iter().filter(|row| row[1] == "keyspace");
        keyspaces.map(|row| row[2].clone()).collect::<Vec<_>>()
    };
    assert_eq!(keyspaces("DESC SCHEMA"), ["dd1", "\"DD2\""]);
    let full = keyspaces("DESC FULL SCHEMA");
    assert_eq!(full[..3], ["dd1", "\"DD2\"", "system"]);
    assert_eq!(
        full.last().map(String::as_str),
        Some("system_virtual_schema")
    );
    assert_eq!(keyspaces("DESC KEYSPACES"), full);
}

#[test]
fn a_described_schema_can_be_made_again() {
    let world = world();
    let mut again = World::new();
    again.ok("DROP KEYSPACE ks");
    for row in texts(&answer(&world, None, "DESC SCHEMA").unwrap()) {
        again.ok(&row[3]);
    }
    assert_eq!(
        texts(&answer(&again, None, "DESC SCHEMA").unwrap()),
        texts(&answer(&world, None, "DESC SCHEMA").unwrap())
    );
}

#[test]
fn a_cluster_tells_its_ranges_in_a_session_on_a_keyspace_of_its_users() {
    let world = world();
    let names = |session| {
        let rows = answer(&world, session, "DESC CLUSTER").unwrap();
        let names = rows
            .metadata
            .columns()
            .iter()
            .map(|column| column.name.to_string());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(None), ["cluster", "partitioner", "snitch"]);
    assert_eq!(names(Some("system")), ["cluster", "partitioner", "snitch"]);
    assert_eq!(
        names(Some("dd1")),
        ["cluster", "partitioner", "snitch", "range_ownership"]
    );
    let rows = answer(&world, Some("dd1"), "DESC CLUSTER").unwrap();
    let row = rows.iter().next().unwrap().unwrap();
    assert_eq!(row.cell(1), Some(Some(b"Murmur3Partitioner".as_slice())));
    let ranges = b"\0\0\0\x01\0\0\0\x010\0\0\0\x17\0\0\0\x01\0\0\0\x0f/127.0.0.1:7000";
    assert_eq!(row.cell(3), Some(Some(ranges.as_slice())));
}
