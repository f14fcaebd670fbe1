//! The virtual tables that show a running server, as a client sees them.

use std::net::SocketAddr;

use helenus::{ClientConfig, TestServer};
use helenus_core::ProtocolVersion;
use helenus_core::types::Value;
use helenus_std::Client;

fn connect(server: &TestServer, version: ProtocolVersion) -> Client {
    let mut config = ClientConfig::default();
    config.connection.versions = vec![version];
    Client::connect(server.address(), config).unwrap()
}

/// The rows of a statement, each cell by its column's name.
fn rows(client: &Client, statement: &str) -> Vec<Vec<(String, Option<Value>)>> {
    let result = client.query(statement, ()).unwrap();
    let rows = result.rows().unwrap();
    rows.iter()
        .map(|row| {
            let row = row.unwrap();
            let cells = row.columns().iter().zip(row.cells());
            cells
                .map(|(column, cell)| {
                    let value = cell.map(|cell| Value::decode(&column.ty, cell).unwrap());
                    (column.name.to_string(), value)
                })
                .collect()
        })
        .collect()
}

fn text(text: &str) -> Option<Value> {
    Some(Value::Text(text.to_owned()))
}

/// The columns of Cassandra 5.0.4, in its order, and what it has in them for a client without TLS and authentication.
#[test]
fn clients_are_shown_as_cassandra_shows_them() {
    let server = TestServer::start().unwrap();
    let one = connect(&server, ProtocolVersion::V5);
    let two = connect(&server, ProtocolVersion::V4);
    two.use_keyspace("system").unwrap();
    let rows = rows(&one, "SELECT * FROM system_views.clients");
    assert_eq!(rows.len(), 2);
    let names: Vec<&str> = rows[0].iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        [
            "address",
            "port",
            "client_options",
            "connection_stage",
            "driver_name",
            "driver_version",
            "hostname",
            "keyspace_name",
            "protocol_version",
            "request_count",
            "ssl_cipher_suite",
            "ssl_enabled",
            "ssl_protocol",
            "username",
        ]
    );
    let found = rows
        .iter()
        .find(|row| row[8].1 == Some(Value::Int(4)))
        .unwrap();
    let cell = |name: &str| found.iter().find(|cell| cell.0 == name).unwrap().1.clone();
    let host = server.address().ip();
    assert_eq!(cell("address"), Some(Value::Inet(host)));
    assert_eq!(cell("connection_stage"), text("ready"));
    assert_eq!(cell("driver_name"), text("helenus"));
    assert_eq!(cell("hostname"), text("localhost"));
    assert_eq!(cell("keyspace_name"), text("system"));
    assert_eq!(cell("ssl_enabled"), Some(Value::Boolean(false)));
    assert_eq!(cell("username"), text("anonymous"));
    for null in ["ssl_cipher_suite", "ssl_protocol"] {
        assert_eq!(cell(null), None, "{null}");
    }
    let Some(Value::Map(options)) = cell("client_options") else {
        panic!("no options");
    };
    let names: Vec<_> = options.iter().map(|(name, _)| name.clone()).collect();
    assert!(
        names.contains(&Value::Text("CQL_VERSION".to_owned())),
        "{names:?}"
    );
    assert!(
        names.is_sorted_by_key(|name| format!("{name:?}")),
        "{names:?}"
    );
}

#[test]
fn a_client_that_left_is_shown_no_more() {
    let server = TestServer::start().unwrap();
    let one = connect(&server, ProtocolVersion::V4);
    let clients = || rows(&one, "SELECT port FROM system_views.clients").len();
    let two = connect(&server, ProtocolVersion::V4);
    assert_eq!(clients(), 2);
    drop(two);
    while clients() > 1 {
        std::thread::yield_now();
    }
}

#[test]
fn many_clients_are_shown_page_by_page_and_found_by_their_key() {
    let server = TestServer::start().unwrap();
    let clients: Vec<Client> = (0..300)
        .map(|_| connect(&server, ProtocolVersion::V4))
        .collect();
    let one = &clients[0];
    let all = rows(one, "SELECT address, port FROM system_views.clients");
    assert_eq!(all.len(), 300);
    let (_, Some(Value::Int(port))) = &all[17][1] else {
        panic!("no port");
    };
    let host = SocketAddr::ip(&server.address());
    let key = format!("address = '{host}' AND port = {port}");
    let found = format!("SELECT address, port FROM system_views.clients WHERE {key}");
    assert_eq!(rows(one, &found), [all[17].clone()]);
    let counted = rows(one, "SELECT count(*) FROM system_views.clients");
    assert_eq!(counted[0][0].1, Some(Value::BigInt(300)));
}

#[test]
fn statements_are_counted() {
    let server = TestServer::start().unwrap();
    let client = connect(&server, ProtocolVersion::V4);
    let prepared = client.prepare("SELECT key FROM system.local").unwrap();
    for _ in 0..3 {
        client.execute(&prepared, ()).unwrap();
    }
    let metrics = rows(&client, "SELECT * FROM system_views.cql_metrics");
    let value = |name: &str| {
        let row = metrics.iter().find(|row| row[0].1 == text(name)).unwrap();
        row[1].1.clone()
    };
    assert_eq!(metrics.len(), 5);
    assert_eq!(value("prepared_statements_count"), Some(Value::Double(1.0)));
    assert_eq!(
        value("prepared_statements_executed"),
        Some(Value::Double(3.0))
    );
}
