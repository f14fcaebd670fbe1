//! Faults on purpose and guardrails, as a client meets them.

use std::time::{Duration, Instant};

use helenus::{ClientConfig, Fault, Guardrails, TestServer};
use helenus_client::Error;
use helenus_core::ErrorCode;
use helenus_std::Client;

/// A server with a table that has one row, and a client of it.
fn start() -> (TestServer, Client) {
    let server = TestServer::start().unwrap();
    let client = Client::connect(server.address(), ClientConfig::default()).unwrap();
    for text in [
        "CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE shop.orders (k int PRIMARY KEY, v text)",
        "INSERT INTO shop.orders (k, v) VALUES (1, 'one')",
    ] {
        client.query(text, ()).unwrap();
    }
    (server, client)
}

fn faults(texts: &[&str]) -> Vec<Fault> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// The code of the error that a statement is answered.
fn code(client: &Client, text: &str) -> Option<ErrorCode> {
    match client.query(text, ()) {
        Ok(_) => None,
        Err(Error::Server(error)) => Some(error.code),
        Err(error) => panic!("{text}: {error:?}"),
    }
}

fn has_row(client: &Client, key: i32) -> bool {
    let select = format!("SELECT v FROM shop.orders WHERE k = {key}");
    let result = client.query(&*select, ()).unwrap();
    result.rows().unwrap().iter().count() == 1
}

#[test]
fn a_request_that_meets_a_delay_is_answered_after_it_and_others_before() {
    let (server, client) = start();
    let delay = Duration::from_millis(200);
    server
        .service()
        .set_faults(faults(&["read on shop.orders delay 200ms times 1"]));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let slow = scope.spawn(|| has_row(&client, 1));
        while !slow.is_finished() {
            client
                .query("INSERT INTO shop.orders (k) VALUES (2)", ())
                .unwrap();
        }
        assert!(slow.join().unwrap());
    });
    assert!(begun.elapsed() >= delay);
    assert!(has_row(&client, 1));
}

#[test]
fn what_fails_is_not_done_and_what_is_applied_is() {
    let (server, client) = start();
    let service = server.service();
    service.set_faults(faults(&["write on shop error failure times 1"]));
    let insert = "INSERT INTO shop.orders (k) VALUES (7)";
    assert_eq!(code(&client, insert), Some(ErrorCode::WRITE_FAILURE));
    assert!(!has_row(&client, 7));

    service.set_faults(faults(&["write on shop error timeout applied times 1"]));
    assert_eq!(code(&client, insert), Some(ErrorCode::WRITE_TIMEOUT));
    assert!(has_row(&client, 7));
    assert_eq!(code(&client, insert), None);
}

#[test]
fn invalid_statements_and_those_about_no_table_meet_no_fault() {
    let (server, client) = start();
    server
        .service()
        .set_faults(faults(&["any error overloaded"]));
    let invalid = "SELECT nothing FROM shop.orders";
    assert_eq!(code(&client, invalid), Some(ErrorCode::INVALID));
    assert_eq!(code(&client, "USE shop"), None);
    assert_eq!(code(&client, "SELECT key FROM system.local"), None);
    let truncate = "TRUNCATE shop.orders";
    assert_eq!(code(&client, truncate), Some(ErrorCode::OVERLOADED));
    server.service().set_faults([]);
    assert!(has_row(&client, 1));
}

#[test]
fn guardrails_count_from_the_moment_they_are_set() {
    let (server, client) = start();
    let filtering = "SELECT k FROM shop.orders WHERE v = 'one' ALLOW FILTERING";
    assert_eq!(code(&client, filtering), None);
    let mut rules = Guardrails::default();
    rules.allow_filtering_enabled = false;
    rules.column_value_size.warn = Some(2);
    server.service().set_guardrails(rules);
    assert_eq!(code(&client, filtering), Some(ErrorCode::INVALID));
    let result = client
        .query("INSERT INTO shop.orders (k, v) VALUES (1, 'uno')", ())
        .unwrap();
    assert_eq!(
        result.warnings(),
        [
            "Guardrail column_value_size violated: Value of column 'v' has size 3, this exceeds the warning threshold of 2."
        ]
    );
    server.service().set_guardrails(Guardrails::default());
    assert_eq!(code(&client, filtering), None);
}
