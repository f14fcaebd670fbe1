//! What is answered the short way is what the long way answers. A traced request takes the long one.

use helenus::{ClientConfig, TestServer};
use helenus_client::{Error, Statement, StatementOptions};
use helenus_core::ProtocolVersion;
use helenus_std::Client;

/// What a statement was answered with: rows in their wire form, or the error.
fn answer(client: &Client, text: &str, key: (i32, i32), options: &StatementOptions) -> String {
    let prepared = client.prepare(Statement::from(text)).unwrap();
    let prepared = prepared.with(|to| *to = options.clone());
    let result = match prepared.variables().columns().len() {
        1 => client.execute(&prepared, (key.0,)),
        _ => client.execute(&prepared, key),
    };
    match result {
        Ok(result) => {
            assert_eq!(result.tracing_id().is_some(), options.tracing, "{text}");
            let rows = result
                .rows()
                .map(|rows| (rows.row_count, rows.content.clone()));
            format!("{rows:?} {:?}", result.warnings())
        }
        Err(Error::Server(error)) => format!("{error:?}"),
        Err(error) => panic!("{text}: {error:?}"),
    }
}

/// Both ways of a statement, at every place of a small table.
fn compare(client: &Client, text: &str) {
    for p in 0..4 {
        for c in 0..6 {
            let mut options = StatementOptions::default();
            let short = answer(client, text, (p, c), &options);
            options.tracing = true;
            assert_eq!(
                short,
                answer(client, text, (p, c), &options),
                "{text} at {p}, {c}"
            );
        }
    }
}

/// A server with rows that are whole, partly deleted, deleted, expiring, of several writes and beside tombstones of
/// ranges; `extra` is one more column's definition.
fn start(extra: &str) -> (TestServer, Client) {
    let server = TestServer::start().unwrap();
    let client = Client::connect(server.address(), ClientConfig::default()).unwrap();
    client
        .query(
            "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
            (),
        )
        .unwrap();
    let table = format!(
        "CREATE TABLE k.t (p int, c int, a int, b text, m map<int, text>{extra}, PRIMARY KEY (p, c))"
    );
    client.query(&*table, ()).unwrap();
    client
        .query("CREATE TABLE k.single (p int PRIMARY KEY, v text)", ())
        .unwrap();
    client
        .query("CREATE TABLE k.counters (p int PRIMARY KEY, n counter)", ())
        .unwrap();
    for text in [
        "INSERT INTO k.t (p, c, a, b, m) VALUES (0, 0, 1, 'one', {1: 'x', 2: 'y'})",
        "INSERT INTO k.t (p, c, a) VALUES (0, 1, 7)",
        "UPDATE k.t SET b = 'later' WHERE p = 0 AND c = 1",
        "INSERT INTO k.t (p, c, a, b) VALUES (0, 2, 1, 'dead') ",
        "DELETE b FROM k.t WHERE p = 0 AND c = 2",
        "INSERT INTO k.t (p, c, a) VALUES (0, 3, 1)",
        "DELETE FROM k.t WHERE p = 0 AND c = 3",
        "INSERT INTO k.t (p, c, a) VALUES (0, 4, 1) USING TTL 1000",
        "DELETE FROM k.t WHERE p = 1 AND c > 2 AND c < 5",
        "INSERT INTO k.t (p, c, a) VALUES (1, 3, 5)",
        "DELETE FROM k.t WHERE p = 2",
        "INSERT INTO k.t (p, c, a, m) VALUES (2, 1, 5, {})",
        "INSERT INTO k.single (p, v) VALUES (1, 'one')",
        "INSERT INTO k.single (p, v) VALUES (2, null)",
        "DELETE FROM k.single WHERE p = 3",
        "UPDATE k.counters SET n = n + 3 WHERE p = 1",
    ] {
        client.query(text, ()).unwrap();
    }
    (server, client)
}

#[test]
fn a_row_looked_up_is_the_row_that_is_read() {
    for extra in ["", ", s int static"] {
        let (_server, client) = start(extra);
        if !extra.is_empty() {
            client
                .query("INSERT INTO k.t (p, s) VALUES (0, 9)", ())
                .unwrap();
            client
                .query("INSERT INTO k.t (p, s) VALUES (3, 9)", ())
                .unwrap();
            compare(&client, "SELECT s, a FROM k.t WHERE p = ? AND c = ?");
        }
        for text in [
            "SELECT * FROM k.t WHERE p = ? AND c = ?",
            "SELECT m, b, c, p FROM k.t WHERE p = ? AND c = ?",
            "SELECT a, writetime(a) FROM k.t WHERE p = ? AND c = ?",
            "SELECT count(*) FROM k.t WHERE p = ? AND c = ?",
            "SELECT JSON p, c, a FROM k.t WHERE p = ? AND c = ?",
            "SELECT a FROM k.t WHERE p = ? AND c = ? AND a = 1 ALLOW FILTERING",
            "SELECT a FROM k.t WHERE p = ? AND c = ? LIMIT 1",
            "SELECT a FROM k.t WHERE p = ? AND c IN (?, 3)",
            "SELECT a FROM k.t WHERE p = ? AND c >= ?",
            "SELECT a FROM k.t WHERE p = ?",
            "SELECT * FROM k.single WHERE p = ?",
            "SELECT * FROM k.counters WHERE p = ?",
        ] {
            compare(&client, text);
        }
    }
}

#[test]
fn a_look_up_is_refused_as_a_read_is() {
    let (_server, client) = start("");
    let single = "SELECT * FROM k.single WHERE p = ?";
    let prepared = client.prepare(single).unwrap();
    let mut answers = Vec::new();
    for tracing in [false, true] {
        let mut options = StatementOptions::default();
        options.tracing = tracing;
        let null = client.execute(
            &prepared.clone().with(|to| *to = options.clone()),
            (None::<i32>,),
        );
        options.page_size = Some(0);
        let page = client.execute(&prepared.clone().with(|to| *to = options.clone()), (1,));
        options.page_size = None;
        options.consistency = helenus_core::Consistency::ANY;
        let level = client.execute(&prepared.clone().with(|to| *to = options.clone()), (1,));
        answers.push(format!(
            "{:?} {:?} {:?}",
            null.err(),
            page.err(),
            level.err()
        ));
    }
    assert_eq!(answers[0], answers[1]);
    assert!(
        answers[0].contains("ANY ConsistencyLevel"),
        "{}",
        answers[0]
    );
    assert_eq!(client.version(), ProtocolVersion::V5);
}

#[test]
fn a_change_made_the_short_way_is_the_change_that_is_asked_for() {
    let (_server, client) = start("");
    let (mut plain, mut traced) = (StatementOptions::default(), StatementOptions::default());
    (plain.timestamp, traced.timestamp) =
        (Some(1_000_000_000_000_000), Some(1_000_000_000_000_000));
    traced.tracing = true;
    for text in [
        "INSERT INTO k.t (p, c, a, b) VALUES (?, ?, 5, 'new')",
        "INSERT INTO k.t (p, c, a) VALUES (?, ?, 5) USING TTL 500",
        "UPDATE k.t SET m[4] = 'four', a = 9 WHERE p = ? AND c = ?",
        "UPDATE k.t SET m = m - {4} WHERE p = ? AND c = ?",
        "DELETE m FROM k.t WHERE p = ? AND c = ?",
        "DELETE FROM k.t WHERE p = ? AND c >= ?",
        "UPDATE k.t SET a = 1 WHERE p = ? AND c = ? IF a = 9",
        "DELETE FROM k.t WHERE p = ?",
    ] {
        let short = answer(&client, text, (10, 3), &plain);
        let long = answer(&client, text, (11, 3), &traced);
        assert_eq!(short, long, "{text}");
        let state = |p| {
            let select = "SELECT c, a, b, m, writetime(a) FROM k.t WHERE p = ?";
            answer(&client, select, (p, 0), &StatementOptions::default())
        };
        assert_eq!(state(10), state(11), "{text}");
    }
}
